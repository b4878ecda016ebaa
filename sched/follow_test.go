package sched

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// still fails the test if n does not move for a while: the collector, which would set free
// the one that is left behind, is off.
func still(t *testing.T, n *atomic.Int64, what string, long time.Duration) {
	t.Helper()
	last, since := int64(-1), time.Now()
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if now := n.Load(); now != last {
			last, since = now, time.Now()
		} else if time.Since(since) > 20*time.Second {
			t.Fatalf("%s: nothing moves", what)
		}
	}
}

// TestAskedAndGone: a thread that is asked to stop, and then locks its OS thread, or is inside
// the scheduler when it stops, or loses its VP in a system call, goes on even so.
func TestAskedAndGone(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, step := range map[string]func(){
		"locks": func() {
			runtime.LockOSThread()
			spinFor(300 * time.Microsecond)
			runtime.UnlockOSThread()
		},
		"yields": func() {
			spinFor(100 * time.Microsecond)
			for range 1000 {
				Yield()
			}
		},
		"calls": func() {
			spinFor(100 * time.Microsecond)
			giveWay()
			osNap()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(t, Config{VPs: 2, Slice: 50 * time.Microsecond, Period: 50 * time.Microsecond})
			var turns, over atomic.Int64
			var hs []Thread
			for range 6 {
				hs = append(hs, s.Spawn(Attr{}, func() {
					for over.Load() == 0 {
						step()
						turns.Add(1)
					}
				}))
			}
			still(t, &turns, name, effort.Of(3*time.Second))
			over.Store(1)
			for _, h := range hs {
				within(t, "each comes to its end", h.Ended)
			}
		})
	}
}

// spinFor computes for so long without a scheduling point.
func spinFor(d time.Duration) {
	for end := nanotime() + int64(d); nanotime() < end; {
	}
}
