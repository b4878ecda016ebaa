package sched_test

import (
	"runtime"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// TestGoexitStacks: threads that end by Goexit leave frames on their runners'
// stacks; runners must be retired before that adds up.
func TestGoexitStacks(t *testing.T) {
	n := effort.Of(200_000)
	t.Run("seeds", func(t *testing.T) {
		s := start(t, sched.Config{VPs: 1})
		before := stacks()
		marcel.RunOn(s, func() { // all of them in the queue before the first one runs
			all := make([]marcel.Thread, n)
			for i := range all {
				all[i] = marcel.Spawn(marcel.Exit)
			}
			for _, h := range all {
				if err := h.Join(); err != nil {
					t.Error(err)
				}
			}
		})
		if grown := growth(s, before, 8<<20); grown > 8<<20 {
			t.Errorf("stacks grew by %d bytes over %d Goexits", grown, n)
		}
		stop(t, s)
	})
	for i := range 4 {
		vps, busy := 1+i%2, i < 2 // busy: with other runners idle now and then
		s := start(t, sched.Config{VPs: vps})
		before := stacks()
		marcel.RunOn(s, func() {
			for i := range n {
				h := marcel.Spawn(func() {
					if i%3 == 0 {
						marcel.Yield()
					}
					marcel.Exit()
				})
				if busy && i%100 == 0 {
					for range 20 {
						marcel.Spawn(func() { marcel.Yield() })
					}
				}
				if err := h.Join(); err != nil {
					t.Error(err)
				}
			}
		})
		if grown := growth(s, before, 16<<20); grown > 16<<20 {
			t.Errorf("%d VPs: stacks grew by %d bytes over %d Goexits", vps, grown, n)
		}
		stop(t, s)
	}
}

// growth is by how much stacks have grown. On a busy machine the threads of the last moment may have kept many runners
// from their end, which comes with the next threads; what is lost stays: so there are some attempts to get below limit.
func growth(s *sched.Scheduler, before, limit int64) (grown int64) {
	for range 20 {
		if grown = stacks() - before; grown <= limit {
			break
		}
		marcel.RunOn(s, func() {
			for range 1000 {
				_ = marcel.Spawn(marcel.Yield).Join()
			}
		})
	}
	return grown
}

func stacks() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse)
}
