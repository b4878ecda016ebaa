package shelf

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// TestFree: what is taken out is nothing that another caller has, and no more is kept than was said.
func TestFree(t *testing.T) {
	type thing struct{ used atomic.Bool }
	l := Free[thing]{Most: 3}
	var made atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2000 {
				x := l.Get()
				if x == nil {
					x = new(thing)
					made.Add(1)
				}
				if x.used.Swap(true) {
					t.Error("two have it")
				}
				x.used.Store(false)
				l.Put(x)
			}
		})
	}
	all.Wait()
	if n := made.Load(); n == 8*2000 {
		t.Error("nothing was kept")
	}
	for range 100 {
		l.Put(new(thing))
	}
	for i := range l.shards {
		if n := len(l.shards[i].free); n > l.Most {
			t.Errorf("%d are kept", n)
		}
	}
}

func TestFreeAllocatesNothing(t *testing.T) {
	l := Free[[4]int]{Most: 4}
	var sum int
	for range 100 {
		l.Put(new([4]int)) // the kernel may move the test to a CPU of another group at any time
		if n := testing.AllocsPerRun(100, func() {
			if x := l.Get(); x != nil {
				sum++
				l.Put(x)
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
		if sum > 0 {
			break
		}
	}
	if sum == 0 {
		t.Error("nothing was kept")
	}
}

// TestUses: exactly one drops the last share, after Close; no user comes in then.
func TestUses(t *testing.T) {
	for range 200 {
		var u Uses
		u.Open()
		var last, in atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for u.Take() {
					in.Add(1)
					if last.Load() != 0 {
						t.Error("in use after the last share")
					}
					in.Add(-1)
					if u.Drop() {
						last.Add(1)
					}
				}
			})
		}
		for u.Count() < 2 && in.Load() == 0 {
		}
		if !u.Close() || u.Close() {
			t.Error("closed not once")
		}
		if u.Drop() {
			last.Add(1)
		}
		all.Wait()
		if last.Load() != 1 || u.Count() != 0 || u.Take() {
			t.Errorf("%d times the last, %d users", last.Load(), u.Count())
		}
	}
}

func BenchmarkFree(b *testing.B) {
	l := Free[[4]int]{Most: 4}
	for b.Loop() {
		x := l.Get()
		if x == nil {
			x = new([4]int)
		}
		l.Put(x)
	}
}

// TestList: pushes and removals anywhere leave the others in their order, from both ends.
func TestList(t *testing.T) {
	type thing struct {
		node Node[thing]
		n    int
	}
	var l List[thing]
	var want []*thing
	check := func() {
		t.Helper()
		i := 0
		for x := l.First(); x != nil; x = x.node.Next() {
			if i == len(want) || x != want[i] {
				t.Fatalf("element %d is %d", i, x.n)
			}
			i++
		}
		for x := l.Last(); x != nil; x = x.node.Prev() {
			if i--; x != want[i] {
				t.Fatalf("backwards element %d is %d", i, x.n)
			}
		}
		if i != 0 || l.Empty() != (len(want) == 0) {
			t.Fatalf("%d elements differ", i)
		}
	}
	check()
	for n := range 300 {
		if n%3 < 2 {
			x := &thing{n: n}
			want = append(want, x)
			l.Push(&x.node, x)
		} else {
			i := n * 7 % len(want)
			l.Remove(&want[i].node)
			want = append(want[:i:i], want[i+1:]...)
		}
		check()
	}
	for len(want) > 0 {
		l.Remove(&want[len(want)-1].node)
		want = want[:len(want)-1]
		check()
	}
}

// TestPop: the elements come out in the order in which they went in.
func TestPop(t *testing.T) {
	type thing struct{ node Node[thing] }
	var l List[thing]
	var want []*thing
	for range 5 {
		x := &thing{}
		want = append(want, x)
		l.Push(&x.node, x)
	}
	for i, x := range want {
		if got := l.Pop(); got != x {
			t.Errorf("element %d is another one", i)
		}
	}
	if l.Pop() != nil || !l.Empty() {
		t.Error("an empty list has an element")
	}
}

// TestSpares: what was put last comes out first, and an empty list makes new objects.
func TestSpares(t *testing.T) {
	var s Spares[int]
	x, y := s.Get(), s.Get()
	if x == y || s.Len() != 0 {
		t.Fatal("an empty list has an object")
	}
	s.Put(x)
	s.Put(y)
	if n, a, b := s.Len(), s.Get(), s.Get(); n != 2 || a != y || b != x || s.Len() != 0 {
		t.Errorf("%d objects, not in the expected order", n)
	}
	if n := testing.AllocsPerRun(100, func() { s.Put(x); s.Get() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSnapshot: a change does not show in what readers have got before.
func TestSnapshot(t *testing.T) {
	var s Snapshot[int]
	var seen [][]int
	var want []string
	look := func() {
		seen = append(seen, s.All())
		want = append(want, fmt.Sprint(s.All()))
	}
	look()
	for i := range 20 {
		s.Add(i)
		look()
		if i%3 == 0 {
			s.Delete(func(x int) bool { return x == i-1 || x == i })
			look()
		}
	}
	for i, x := range seen {
		if got := fmt.Sprint(x); got != want[i] {
			t.Errorf("what was %s is now %s", want[i], got)
		}
	}
	if s.Delete(func(int) bool { return true }); s.All() != nil || want[len(want)-1] != "[1 4 7 10 13 16 19]" {
		t.Errorf("at the end %v, before %s", s.All(), want[len(want)-1])
	}
}
