package marcel_test

import (
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// It is not FIFO: the one that comes when it is free has it, though others have spun for
// long.
func TestSpinLockIsNotFIFO(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var s marcel.SpinLock
		s.Lock()
		spins := marcel.Spawn(func() { s.Lock(); computed.Add(1); s.Unlock() })
		marcel.Yield() // it spins, and lets us run again
		s.Unlock()
		if !s.TryLock() {
			t.Error("free, but kept for another one")
		}
		s.Unlock()
		must(t, spins.Join())
	})
}

// Threads, goroutines and hooks of all points count with one lock.
func TestSpinLockInHooks(t *testing.T) {
	worlds(t, func(w *world) {
		var (
			l       marcel.SpinLock
			count   int // guarded by l
			counted atomic.Int64
		)
		add := func() {
			l.Lock()
			count++
			l.Unlock()
			counted.Add(1)
		}
		for _, point := range []hooks.Point{hooks.Idle, hooks.Switch, hooks.Timer} {
			h, err := w.s.Hooks().Register(point, 1, "counter", func(int) hooks.Verdict { add(); return hooks.Quiet })
			if err != nil {
				w.Fatal(err)
			}
			defer h.Unregister()
		}
		for range 4 {
			w.Go(func() {
				for range effort.Of(1000) {
					add()
					marcel.Yield()
				}
			})
		}
		w.all.Wait()
		for !l.TryLock() {
			marcel.Yield() // a hook
		}
		if n := counted.Load(); int64(count) < n {
			w.Errorf("%d were counted of %d", count, n)
		}
		l.Unlock()
	})
}
