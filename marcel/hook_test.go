package marcel_test

import (
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
)

// Hooks at all points wake threads and goroutines: Release, Unlock, Signal,
// Broadcast and the Try forms never block.
func TestHooksWake(t *testing.T) {
	for point, name := range map[hooks.Point]string{hooks.Idle: "idle", hooks.Switch: "switch", hooks.Timer: "timer",
		hooks.Yield: "yield", hooks.Library: "library"} {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(w *world) { hooksWake(w, point) })
		})
	}
}

func hooksWake(w *world, point hooks.Point) {
	const (
		release = 1 + iota
		unlock
		signal
		broadcast
	)
	var (
		s       marcel.Semaphore
		m, free marcel.Mutex
		c       = marcel.NewCond(&free)
		order   atomic.Int32 // to the hook
		end     atomic.Bool
	)
	h, err := w.s.Hooks().Register(point, 1, "waker", func(int) hooks.Verdict {
		switch o := order.Swap(0); o {
		case release:
			s.Release()
		case unlock:
			m.Unlock()
		case signal, broadcast:
			if !free.TryLock() { // none waits yet
				order.Store(o)
				return hooks.Busy
			}
			free.Unlock()
			if o == signal {
				c.Signal()
			} else {
				c.Broadcast()
			}
		}
		return hooks.Quiet
	})
	if err != nil {
		w.Fatal(err)
	}
	defer h.Unregister()
	if point != hooks.Idle { // two that keep a VP awake and switching
		ample := marcel.NewSemaphore(2)
		for range 2 {
			w.s.Spawn(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
				for !end.Load() {
					marcel.Yield()
					ample.Acquire() // enters the library
					ample.Release()
				}
			})
		}
	}
	ask := func(o int32) {
		order.Store(o)
		if point == hooks.Idle {
			w.s.Kick(0)
		}
	}
	m.Lock()
	const waiters, rounds = 3, 5 // one after the other: of each kind in a mixed world
	turn := marcel.NewSemaphore(1)
	for range waiters {
		w.Go(func() {
			turn.Acquire()
			for range rounds {
				ask(release)
				s.Acquire()
				ask(unlock)
				m.Lock()
				free.Lock()
				ask(signal)
				c.Wait()
				ask(broadcast)
				c.Wait()
				free.Unlock()
			}
			turn.Release()
		})
	}
	w.all.Wait()
	end.Store(true)
}
