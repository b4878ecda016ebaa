package marcel_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// TestGang: the threads of a gang run at the same time, those of others meanwhile do
// not: in the order of all steps gangs seldom change, though all are always ready. And
// all get their turns.
func TestGang(t *testing.T) {
	const gangs, threads = 3, 4
	count := func(policy marcel.BubblePolicy) (steps [gangs]int, changes int) {
		s := start(t, machine(t, "core:4 pu:1"))
		var mu sync.Mutex
		last := -1
		total := 0
		within(t, func() {
			root := marcel.NewBubbleOn(s, policy)
			var stop atomic.Bool
			for g := range gangs {
				b := marcel.NewBubbleOn(s, nil)
				must(t, root.InsertBubble(b))
				fill(s, b, threads, func() {
					for !stop.Load() {
						burn(5 * time.Microsecond)
						mu.Lock()
						steps[g]++
						total++
						if last != g {
							changes++
							last = g
						}
						if steps[0] > 500 && steps[1] > 500 && steps[2] > 500 {
							stop.Store(true)
						}
						mu.Unlock()
						marcel.Yield()
					}
				})
			}
			must(t, root.Wake())
			must(t, root.Join())
		}, s)
		return steps, changes * 1000 / total
	}
	steps, changes := count(marcel.NewGang(2 * time.Millisecond))
	mixed, without := count(nil)
	t.Logf("simulated: steps %v, %d changes of the gang in 1000; without the policy %v, %d", steps, changes, mixed, without)
	if changes*4 > without {
		t.Errorf("the gang changed %d times in 1000 steps, without the policy %d times", changes, without)
	}
}

// TestGangWaits: a gang that waits for another one gets what it waits for, also when
// nothing else moves; and one that comes later gets its turn.
func TestGangWaits(t *testing.T) {
	s := start(t, machine(t, "core:2 pu:1"))
	within(t, func() {
		root := marcel.NewBubbleOn(s, marcel.NewGang(time.Millisecond))
		var sem, back marcel.Semaphore
		a, b, c := marcel.NewBubbleOn(s, nil), marcel.NewBubbleOn(s, nil), marcel.NewBubbleOn(s, nil)
		must(t, root.InsertBubble(a))
		must(t, root.InsertBubble(b))
		fill(s, a, 2, func() { sem.Acquire(); back.Release() })
		fill(s, b, 2, func() { sem.Release(); back.Acquire() })
		must(t, root.Wake())
		var late atomic.Bool
		fill(s, c, 1, func() { late.Store(true) })
		must(t, root.InsertBubble(c))
		must(t, root.Join())
		if !late.Load() {
			t.Error("the late gang has not run")
		}
	}, s)
}
