package uts

import "sync/atomic"

// Task is what a Search asks to be run.
type Task interface{ Run() }

// Search counts a tree with one task per node, as a program does that knows nothing of the tree beforehand. A node's
// task makes those of its children and ends; the thread that ends last below a node hands the size of that subtree up.
// No task ever waits.
type Search struct {
	tree    *Tree
	spawn   func(Task)
	done    func(size int64)
	InPlace bool // nodes without children get no task of their own: their parent counts them
}

// NewSearch prepares a search in which spawn starts the tasks; done gets the tree's size from the last of them.
func NewSearch(t *Tree, spawn func(Task), done func(size int64)) *Search {
	return &Search{tree: t, spawn: spawn, done: done}
}

// Start begins with the root, in the caller.
func (s *Search) Start() {
	(&visit{Node: s.tree.Root(), search: s}).Run()
}

// visit is a node whose subtree is being counted.
type visit struct {
	Node
	search *Search
	parent *visit
	below  atomic.Int64 // nodes counted below, and how many children are not counted yet, times open
}

const open = 1 << 40

// Run implements Task.
func (v *visit) Run() {
	s := v.search
	n := s.tree.Children(&v.Node)
	if n == 0 {
		v.counted(0)
		return
	}
	if s.InPlace {
		v.runInPlace(n)
		return
	}
	v.below.Store(int64(n) * open)
	children := make([]visit, n) // one piece of memory for all
	for i := range children {
		c := &children[i]
		c.Node, c.search, c.parent = v.Child(i), s, v
		s.spawn(c)
	}
}

// runInPlace spawns those of v's n children that have children.
func (v *visit) runInPlace(n int) {
	s := v.search
	v.below.Store(int64(n) * open)
	leaves := int64(0)
	for i := range n {
		child := v.Child(i)
		if s.tree.Children(&child) == 0 {
			leaves++
			continue
		}
		s.spawn(&visit{Node: child, search: s, parent: v})
	}
	if left := v.below.Add(leaves - leaves*open); left < open {
		v.counted(left)
	}
}

// counted: all below v, that many, are counted.
func (v *visit) counted(below int64) {
	for p := v.parent; p != nil; p = p.parent {
		if below = p.below.Add(below + 1 - open); below >= open {
			return
		}
	}
	v.search.done(below + 1)
}
