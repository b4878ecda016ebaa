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
