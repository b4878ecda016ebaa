package workload

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Run keeps s busy until ctx is done: a pair that plays ping-pong, a fan of workers every now and then, a stage that
// waits for a slow reader (Blocking), a sleeper, and a thread that computes past its slice. It blocks until all of its
// threads have ended, some ten milliseconds after ctx.
func Run(ctx context.Context, s *sched.Scheduler) {
	var over atomic.Bool
	stop := context.AfterFunc(ctx, func() { over.Store(true) })
	defer stop()
	var all []marcel.Thread
	spawn := func(name string, f func()) {
		all = append(all, s.Spawn(marcel.Attr{Name: name}, f))
	}
	var there, back marcel.Semaphore
	var played atomic.Bool // ping has given its last ball
	spawn("ping", func() {
		for !over.Load() {
			for range 20 {
				compute(2 * time.Microsecond)
				there.Release()
				back.Acquire()
			}
			marcel.Sleep(300 * time.Microsecond)
		}
		played.Store(true)
		there.Release()
	})
	spawn("pong", func() {
		for {
			there.Acquire()
			if played.Load() {
				return
			}
			compute(3 * time.Microsecond)
			back.Release()
		}
	})
	spawn("fan", func() {
		for !over.Load() {
			workers := make([]marcel.Thread, 16)
			for i := range workers {
				workers[i] = marcel.SpawnWith(marcel.Attr{Name: fmt.Sprint("worker ", i)}, func() {
					compute(time.Duration(20+10*i) * time.Microsecond)
				})
			}
			for _, w := range workers {
				_ = w.Join() // cannot fail
			}
			marcel.Sleep(time.Millisecond)
		}
	})
	spawn("reader", func() {
		for !over.Load() {
			marcel.Blocking(func() { time.Sleep(700 * time.Microsecond) })
			compute(30 * time.Microsecond)
			marcel.Yield()
		}
	})
	spawn("cpu-bound", func() {
		for !over.Load() {
			compute(8 * time.Millisecond)
			marcel.Sleep(5 * time.Millisecond)
		}
	})
	for _, t := range all {
		_ = t.Join() // none of them panics, is detached, or joins itself
	}
}

// compute uses the CPU for d.
func compute(d time.Duration) {
	for t0 := time.Now(); time.Since(t0) < d; {
	}
}
