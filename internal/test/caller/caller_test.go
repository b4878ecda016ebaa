package caller

import (
	"testing"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
)

// TestWays: each way has the caller and the engine that it says, and leaves nothing behind.
func TestWays(t *testing.T) {
	for _, w := range Ways() {
		if same, err := Parse(w.String()); err != nil || same != w {
			t.Errorf("%v is read as %v, %v", w, same, err)
		}
		ran := 0
		err := w.Run(func(s *Spawner) {
			check := func() {
				ran++
				if marcel.OnThread() != (w.Caller == Thread) {
					t.Errorf("%v: on a thread: %v", w, marcel.OnThread())
				}
				if runs := sched.Running() != nil; runs != (w.Engine == Default || w == Way{Thread, Explicit}) {
					t.Errorf("%v: the default scheduler runs: %v", w, runs)
				}
				if hooked := pioman.Default().Hooked(); hooked != (w.Engine != Explicit) {
					t.Errorf("%v: the engine is hooked: %v", w, hooked)
				}
			}
			check()
			s.Go(check)()
		})
		if err != nil || ran != 2 {
			t.Errorf("%v: %d of 2 callers ran, %v", w, ran, err)
		}
		if s := sched.Running(); s != nil { // an explicit engine's threads start it
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := Parse("thread-none"); err == nil {
		t.Error("threads without a scheduler are taken")
	}
}
