package shelf

import (
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
	l.Put(new([4]int))
	var sum int
	if n := testing.AllocsPerRun(100, func() {
		if x := l.Get(); x != nil {
			sum++
			l.Put(x)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
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
