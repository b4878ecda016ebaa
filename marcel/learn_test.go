package marcel_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/direct"
)

// What is learned of the functions that wait in Go, which are begun as goroutines from then on, is learned of the user's,
// not of what wraps them: a function of the same WaitGroup, or Group, that does not is begun on a VP.
func TestHabitIsTheFunctions(t *testing.T) {
	if !direct.Supported() {
		t.Skip("nothing is learned in the portable mode")
	}
	outside := func() bool { return direct.Locks() == 0 } // as goroutines are; a VP's threads have a locked OS thread
	const ms = time.Millisecond
	var wg marcel.WaitGroup
	var g marcel.Group
	wrappers := []struct {
		name      string
		nap, work func(note func(outside bool)) // each starts a thread
		wait      func()
	}{
		{
			"WaitGroup",
			func(note func(bool)) { wg.Go(func() { note(outside()); time.Sleep(ms) }) },
			func(note func(bool)) { wg.Go(func() { note(outside()) }) },
			wg.Wait,
		},
		{
			"Group",
			func(note func(bool)) { g.Go(func() error { note(outside()); time.Sleep(ms); return nil }) },
			func(note func(bool)) { g.Go(func() error { note(outside()); return nil }) },
			func() { _ = g.Wait() },
		},
	}
	for _, w := range wrappers {
		run(t, undisturbed(), func(*sched.Scheduler) {
			var learned atomic.Bool
			for !learned.Load() {
				w.nap(learned.Store)
				w.wait()
			}
			for range 10 {
				w.work(func(outside bool) {
					if outside {
						t.Errorf("%s: a function that does not wait in Go has the habit of one that does", w.name)
					}
				})
			}
			w.wait()
		})
	}
}
