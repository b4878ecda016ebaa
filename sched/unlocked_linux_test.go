package sched

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/pm2-go/pm2/sched/topo"
)

// TestUnlockedTooOften: a thread that calls runtime.UnlockOSThread more often than LockOSThread stays
// on its LWP, and no OS thread that Go makes meanwhile inherits the CPU of that.
func TestUnlockedTooOften(t *testing.T) {
	if !isDirect || topo.ProcessMask().Count() < 2 {
		t.Skip("no OS thread is bound here")
	}
	for name, a := range map[string]Attr{"ordinary": {}, "pinned": {Pinned: true}} {
		t.Run(name, func(t *testing.T) {
			s, err := New(Config{VPs: 1})
			if err != nil {
				t.Fatal(err)
			}
			release, ended := make(chan struct{}), make(chan struct{})
			const crowd = 40
			h := s.Spawn(a, func() {
				for range 3 {
					runtime.UnlockOSThread()
				}
				tid := gettid()
				for range crowd { // each needs an OS thread of its own, which this one has Go start
					go func() {
						runtime.LockOSThread()
						<-release
						runtime.UnlockOSThread()
						ended <- struct{}{}
					}()
					spinFor(300 * time.Microsecond)
				}
				if now := gettid(); now != tid {
					t.Errorf("from OS thread %d it has come to %d", tid, now)
				}
				Yield()
			})
			within(t, "its end", h.Ended)
			close(release)
			for range crowd {
				<-ended
			}
			if err := s.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			tasks, err := os.ReadDir("/proc/self/task")
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range tasks {
				tid, _ := strconv.Atoi(e.Name())
				if m, err := topo.Affinity(tid); err == nil && !m.Equal(topo.ProcessMask()) {
					t.Errorf("OS thread %d may run on CPUs %v of %v", tid, m, topo.ProcessMask())
				}
			}
		})
	}
}
