package marcel_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// queue makes n threads wait for m, one behind the other; each notes its number
// in order when it has got it. For a thread of an undisturbed scheduler whose VP it has
// for itself then.
func queue(n int, m *marcel.Mutex, order *[]int) (all []marcel.Thread) {
	for i := range n {
		all = append(all, marcel.Spawn(func() {
			m.Lock()
			*order = append(*order, i)
			m.Unlock()
		}))
	}
	marcel.Yield() // they run in order of spawning, and park
	return all
}

func TestMutexIsFIFO(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var m marcel.Mutex
		var order []int
		m.Lock()
		all := queue(5, &m, &order)
		m.Unlock()
		for _, x := range all {
			must(t, x.Join())
		}
		if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
			t.Errorf("served in the order %v", order)
		}
	})
}

// One that has been woken may be overtaken before it runs; but once it has found
// the mutex taken, the next Unlock gives it to that one and to no other one.
func TestMutexHandsOver(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var m marcel.Mutex
		for range 2 { // the second time as the first
			var order []int
			m.Lock()
			all := queue(4, &m, &order)
			for range 3 {
				if m.Unlock(); !m.TryLock() { // wakes the first one, which does not run yet
					t.Error("free, but TryLock failed: a thread waits")
				}
			}
			marcel.Yield() // number 0 finds it taken
			if m.Unlock(); m.TryLock() {
				t.Error("took the mutex from the one that it was handed to")
			}
			if len(order) != 0 {
				t.Errorf("%v were let in without having run", order)
			}
			m.Lock() // behind the four
			if !slices.Equal(order, []int{0, 1, 2, 3}) {
				t.Errorf("served before this thread, which came last: %v, want 0 to 3", order)
			}
			m.Unlock()
			for _, x := range all {
				must(t, x.Join())
			}
		}
	})
}

// One that takes and frees the mutex all the time, and never lets others run, gets it
// so often and no more while a thread on its VP waits.
func TestMutexTurnsEnd(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		const turn = 512
		var m marcel.Mutex
		for range 3 {
			in := false
			m.Lock()
			waiter := marcel.Spawn(func() {
				m.Lock()
				in = true
				m.Unlock()
			})
			marcel.Yield() // it waits
			m.Unlock()
			n := 0
			for ; !in && n < 10*turn; n++ {
				m.Lock()
				computed.Add(1)
				m.Unlock()
			}
			if n < turn/2 || n > turn+2 {
				t.Errorf("the waiter was overtaken %d times, a turn has %d sections", n, turn)
			}
			must(t, waiter.Join())
		}
	})
}

// Every one of several waiters that are overtaken all the time gets in.
func TestMutexStarvesNoThread(t *testing.T) {
	worlds(t, func(w *world) {
		const greedy, modest = 2, 4
		var (
			m    marcel.Mutex
			left atomic.Int32
			rest int
		)
		left.Store(modest)
		for range greedy {
			w.Go(func() {
				for left.Load() > 0 {
					m.Lock()
					rest++
					m.Unlock()
				}
			})
		}
		for range modest {
			w.Go(func() {
				for range effort.Of(100) {
					m.Lock()
					rest--
					m.Unlock()
					marcel.Yield()
				}
				left.Add(-1)
			})
		}
	})
}

// The one that unlocks need not be the one that locked.
func TestMutexUnlockedByAnother(t *testing.T) {
	worlds(t, func(w *world) {
		var m, n marcel.Mutex
		n.Lock()
		count := 0
		w.Go(func() {
			for range effort.Of(500) {
				m.Lock() // unlocked by the other
				count++
				n.Unlock()
			}
		})
		w.Go(func() {
			for range effort.Of(500) {
				n.Lock()
				count++
				m.Unlock()
			}
		})
		w.all.Wait()
		if count != 2*effort.Of(500) {
			w.Errorf("%d turns of %d", count, 2*effort.Of(500))
		}
	})
}

// Misuse comes out as a panic that a thread may recover from: nothing is left
// half done, neither in the mutex nor in the scheduler.
func TestMutexMisuse(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var m marcel.Mutex
		panics(t, "unlock of an unlocked", m.Unlock)
		lockUnlock(&m)
		panics(t, "unlock of an unlocked", m.Unlock)
		if !m.TryLock() {
			t.Error("locked by an Unlock too many")
		}
		panics(t, "nil pointer", (*marcel.Mutex)(nil).Lock)
		panics(t, "nil pointer", (*marcel.Mutex)(nil).Unlock)
		var s *marcel.Semaphore
		panics(t, "nil pointer", s.Acquire)
		panics(t, "nil pointer", s.Release)
		panics(t, "nil pointer", func() { s.TryAcquire() })
		panics(t, "nil pointer", func() { s.AcquireTimeout(1) })
		panics(t, "nil pointer", func() { (*marcel.Barrier)(nil).Wait() })
		panics(t, "nil pointer", (*marcel.Cond)(nil).Signal)
		panics(t, "nil pointer", (*marcel.Cond)(nil).Broadcast)
		panics(t, "nil pointer", (*marcel.Cond)(nil).Wait)
		if marcel.OnThread() {
			must(t, marcel.Spawn(func() {}).Join()) // the VP is in order
		}
	})
}
