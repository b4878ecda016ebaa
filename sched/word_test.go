package sched

import (
	"sync"
	"sync/atomic"
	"testing"
)

const (
	me    = 7
	other = 9
)

func at(id uint32, m mode) uint32 { return id<<2 | uint32(m) }

// TestWordTransitions: every transition from every state, as README.md draws
// them.
func TestWordTransitions(t *testing.T) {
	states := []uint32{0, at(0, lent), at(me, user), at(me, held), at(me, lent), at(other, user), at(other, held), at(other, lent)}
	cases := []struct {
		name string
		do   func(w *word) bool
		to   map[uint32]uint32 // where it is allowed
	}{
		{"tryEnter", func(w *word) bool { return w.tryEnter(me) }, map[uint32]uint32{at(me, user): at(me, held)}},
		{"claim", func(w *word) bool { return w.claim(me) }, map[uint32]uint32{0: at(me, held)}},
		{"seize", func(w *word) bool { return w.seize(w.v, me) }, map[uint32]uint32{
			at(me, user): at(me, held), at(other, user): at(me, held)}},
		{"borrow", func(w *word) bool { _, ok := w.borrow(); return ok }, map[uint32]uint32{
			0: at(0, lent), at(me, user): at(me, lent), at(other, user): at(other, lent)}},
	}
	for _, c := range cases {
		for _, from := range states {
			w := word{from}
			want, allowed := c.to[from]
			if ok := c.do(&w); ok != allowed {
				t.Errorf("%s from %#x: %v", c.name, from, ok)
			}
			if !allowed {
				want = from
			}
			if w.v != want {
				t.Errorf("%s from %#x: to %#x, want %#x", c.name, from, w.v, want)
			}
		}
	}
	w := word{at(other, user)}
	if w.seize(at(me, user), me) || !w.seize(at(other, user), me) || !w.holds(me) {
		t.Errorf("seize ends in %#x", w.v)
	}
	w.leave(me)
	old, ok := w.borrow()
	if w.giveBack(old); !ok || w.v != at(me, user) {
		t.Errorf("borrow and giveBack end in %#x", w.v)
	}
}

// TestWordExcludes: one thread enters and leaves, spares seize, thieves borrow,
// all as fast as they can. What is done in held or lent must not overlap: plain
// counters would lose updates, and the race detector would see it.
func TestWordExcludes(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	var (
		w     = word{at(1, user)}
		plain int
		sum   atomic.Int64
		wg    sync.WaitGroup
	)
	inside := func() { plain++; sum.Add(1) }
	for id := uint32(1); id <= 3; id++ {
		wg.Go(func() { // threads that enter, or take a VP that is free
			for range n {
				if w.tryEnter(id) || w.claim(id) {
					inside()
					if id == 3 {
						w.release()
					} else {
						w.leave(id)
					}
				}
			}
		})
		wg.Go(func() { // spares
			for range n / 10 {
				if w.seize(w.load(), id) {
					inside()
					w.leave(id)
				}
			}
		})
		wg.Go(func() { // thieves
			for range n {
				if old, ok := w.borrow(); ok {
					inside()
					w.giveBack(old)
				}
			}
		})
	}
	wg.Wait()
	if int64(plain) != sum.Load() || plain == 0 {
		t.Errorf("%d of %d updates lost", sum.Load()-int64(plain), sum.Load())
	}
}
