package uts

import (
	"crypto/sha1"
	"encoding/binary"
	"math"
)

// Tree is the recipe of a tree.
type Tree struct {
	Name     string
	Nodes    int64 // its size, as published
	seed     uint32
	Branches float64 // of the root; geometric: of every node, on average
	depth    int     // geometric: no children from there on
	q        float64 // binomial: a node has m children with this probability, else none
	m        int     // binomial; 0: the tree is geometric
}

// The public sample trees, of about 4.1 million nodes each, and a small one.
var (
	// T1 is geometric: 10 levels, 80 % of the nodes are leaves.
	T1 = Tree{Name: "T1", Nodes: 4130071, seed: 19, Branches: 4, depth: 10}
	// T3 is binomial: deep (1572 levels) and as unbalanced as can be.
	T3 = Tree{Name: "T3", Nodes: 4112897, seed: 42, Branches: 2000, q: 0.124875, m: 8}
)

// Node is a node: 20 bytes of hash, and its level.
type Node struct {
	state [sha1.Size]byte
	level int32
}

// To returns a geometric tree cut off at a level; Nodes is then 0: counting says it.
func (t Tree) To(level int) Tree {
	if level < t.depth {
		t.depth, t.Nodes = level, 0
	}
	return t
}

// NodeBytes is the length of a node in messages, in bytes.
const NodeBytes = sha1.Size + 4

// Put writes the node into the first NodeBytes bytes of b.
func (n *Node) Put(b []byte) {
	binary.LittleEndian.PutUint32(b[copy(b, n.state[:]):], uint32(n.level))
}

// NodeOf reads what Put has written.
func NodeOf(b []byte) (n Node) {
	n.level = int32(binary.LittleEndian.Uint32(b[copy(n.state[:], b):]))
	return n
}

// Root returns the root of t.
func (t *Tree) Root() Node {
	var seed [sha1.Size]byte
	binary.BigEndian.PutUint32(seed[16:], t.seed)
	return Node{state: sha1.Sum(seed[:])}
}

// Child returns child number i of n. The work of a node, one hash, is done here.
func (n *Node) Child(i int) Node {
	var path [sha1.Size + 4]byte
	copy(path[:], n.state[:])
	binary.BigEndian.PutUint32(path[sha1.Size:], uint32(i))
	return Node{state: sha1.Sum(path[:]), level: n.level + 1}
}

// maxChildren bounds what a geometric node can have.
const maxChildren = 100

// Children returns how many children n has in t.
func (t *Tree) Children(n *Node) int {
	u := float64(binary.BigEndian.Uint32(n.state[16:])&math.MaxInt32) / (1 << 31)
	switch {
	case t.m > 0 && n.level == 0:
		return int(t.Branches)
	case t.m > 0:
		if u < t.q {
			return t.m
		}
		return 0
	case int(n.level) >= t.depth:
		return 0
	}
	p := 1 / (1 + t.Branches)
	return min(int(math.Log(1-u)/math.Log(1-p)), maxChildren)
}

// Count visits the subtree of n, one node after the other, and returns its size.
func (t *Tree) Count(n Node) int64 {
	stack := []Node{n}
	size := int64(0)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		size++
		for i := range t.Children(&n) {
			stack = append(stack, n.Child(i))
		}
	}
	return size
}
