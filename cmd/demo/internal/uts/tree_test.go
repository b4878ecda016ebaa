package uts

import "testing"

// TestSizes: the trees are the public ones, node for node.
func TestSizes(t *testing.T) {
	for _, tree := range []*Tree{&T1, &T3} {
		if testing.Short() && tree == &T3 {
			continue
		}
		if n := tree.Count(tree.Root()); n != tree.Nodes {
			t.Errorf("%s has %d nodes, not the published %d", tree.Name, n, tree.Nodes)
		}
	}
}

// late is a Team whose tasks run when they are joined.
type late struct{ task Task }

func (l *late) Start(_ *late, t Task) { l.task = t }
func (l *late) Ended(*late)           { l.task = nil }
func (l *late) Join(*late)            { l.task.Run() }

// early is a Team whose tasks run when they are started.
type early struct{ ended bool }

func (*early) Start(_ *early, t Task) { t.Run() }
func (e *early) Ended(*early)         { e.ended = true }
func (e *early) Join(*early) {
	if !e.ended {
		panic("joined, but not ended")
	}
}

// TestRecursion: counted recursively, the tree has the same size, whenever its tasks run.
func TestRecursion(t *testing.T) {
	for _, tree := range []Tree{T1, T3} {
		if tree.m == 0 {
			tree.depth = 6
		} else {
			tree.q = 0.1
		}
		want := tree.Count(tree.Root())
		l := NewRecursion[late](&tree)
		l.Run()
		e := NewRecursion[early](&tree)
		e.Run()
		if l.Size != want || e.Size != want || want < 1000 {
			t.Errorf("%s: %d and %d nodes, one after the other it is %d", tree.Name, l.Size, e.Size, want)
		}
	}
}

// TestSearch: counted by tasks, in any order, the tree has the same size.
func TestSearch(t *testing.T) {
	small := T1
	small.depth = 6
	for _, inPlace := range []bool{false, true} {
		var pending []Task
		size := int64(0)
		s := NewSearch(&small, func(task Task) { pending = append(pending, task) }, func(n int64) { size = n })
		s.InPlace = inPlace
		s.Start()
		for len(pending) > 0 {
			i := len(pending) / 2
			task := pending[i]
			pending = append(pending[:i], pending[i+1:]...)
			task.Run()
		}
		if want := small.Count(small.Root()); size != want {
			t.Errorf("the tasks counted %d nodes, one after the other it is %d", size, want)
		}
	}
}

// TestNodeBytes: a node is the same after it was written and read, and a tree that is cut off ends there.
func TestNodeBytes(t *testing.T) {
	root := T1.Root()
	n := root.Child(1)
	var b [NodeBytes]byte
	n.Put(b[:])
	if got := NodeOf(b[:]); got != n {
		t.Errorf("%+v, want %+v", got, n)
	}
	one := T1.To(1)
	if got, want := one.Count(one.Root()), 1+int64(T1.Children(&root)); got != want || one.Nodes != 0 || T1.To(20).Nodes != T1.Nodes {
		t.Errorf("%d nodes, want %d", got, want)
	}
}
