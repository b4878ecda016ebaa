package sched

import (
	"runtime"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestLockedWithoutLWP: a thread whose OS thread was taken back, and which then locks the one on
// which it goes on, keeps that over all it does.
func TestLockedWithoutLWP(t *testing.T) {
	s := running(t, Config{VPs: 1})
	var other Thread
	over := false
	other = s.Spawn(Attr{}, func() {
		for !over {
			Yield()
		}
	})
	for range effort.Of(20) {
		h := s.Spawn(Attr{}, func() {
			time.Sleep(5 * time.Millisecond)
			runtime.LockOSThread()
			tid := gettid()
			for i := range 10 {
				if i%3 == 1 {
					time.Sleep(time.Millisecond)
				}
				Yield()
				if now := gettid(); now != tid {
					t.Errorf("locked to OS thread %d, it is on %d after step %d", tid, now, i)
					break
				}
			}
			runtime.UnlockOSThread()
			Yield()
		})
		within(t, "its end", h.Ended)
	}
	h := s.Spawn(Attr{}, func() { over = true })
	_, _ = h.Join(), other.Join()
}
