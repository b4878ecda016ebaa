package stress

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
	"github.com/pm2-go/pm2/sched/topo"
)

// meddling is what goes on beside the actors until quit is closed, once for each
// scheduler.
var meddling = []struct {
	name string
	do   func(w *round, s *sched.Scheduler, r *rand.Rand, quit <-chan bool)
}{
	{"vps", (*round).meddleVPs},
	{"threads", (*round).meddleThreads},
	{"watch", (*round).watch},
}

// each calls f with pauses until quit is closed.
func each(r *rand.Rand, quit <-chan bool, pause time.Duration, f func()) {
	for {
		select {
		case <-quit:
			return
		case <-time.After(upTo(r, pause)):
			f()
		}
	}
}

// meddleVPs takes VPs out of use for a while.
func (w *round) meddleVPs(s *sched.Scheduler, r *rand.Rand, quit <-chan bool) {
	each(r, quit, 10*time.Millisecond, func() {
		vp := r.IntN(s.NumVP())
		if err := s.DisableVP(vp); s.NumVP() == 1 != errors.Is(err, sched.ErrLastVP) || s.NumVP() > 1 && err != nil {
			w.fail("DisableVP of 1 of %d: %v", s.NumVP(), err)
		}
		marcel.Sleep(upTo(r, 3*time.Millisecond))
		w.must(s.EnableVP(vp))
	})
}

// meddleThreads moves, stops and resumes threads, of whichever scheduler.
func (w *round) meddleThreads(s *sched.Scheduler, r *rand.Rand, quit <-chan bool) {
	meddle := func() {
		all := w.actors.list()
		if len(all) == 0 {
			return
		}
		h := pick(r, all...)
		var err error
		switch r.IntN(5) {
		case 0:
			err = h.Suspend()
			marcel.Sleep(upTo(r, time.Millisecond))
			if err == nil {
				err = h.Resume()
			}
		case 1:
			err = h.SetPriority(pick(r, priorities...))
		case 2:
			err = h.SetVPs(w.someVPs(r))
		case 3:
			err = h.SetVPs(marcel.FullVPs())
		case 4:
			err = h.Place(someItem(s, r))
			if errors.Is(err, marcel.ErrNoItem) {
				err = nil // it is another scheduler's
			}
		}
		if err != nil && !errors.Is(err, marcel.ErrNoThread) {
			w.fail("%v cannot be meddled with: %v", h, err)
		}
	}
	each(r, quit, 500*time.Microsecond, func() {
		if r.IntN(4) == 0 { // as a thread
			marcel.RunOn(s, meddle)
		} else {
			meddle()
		}
	})
}

// someItem is a part of the scheduler's machine, nil for a VP's own queue.
func someItem(s *sched.Scheduler, r *rand.Rand) *topo.Item {
	it := s.PU(r.IntN(s.NumVP()))
	for range r.IntN(5) {
		if it != nil {
			it = it.Parent
		}
	}
	return it
}

// watch looks at everything, records it, and tries to stop it.
func (w *round) watch(s *sched.Scheduler, r *rand.Rand, quit <-chan bool) {
	tracing := false
	toggle := func() {
		if !tracing {
			w.must(observe.StartTrace(s, observe.TraceConfig{Events: 64 << r.IntN(6)}))
		} else if trace, err := observe.StopTrace(s); err != nil || len(trace.Rows) != s.NumVP()+1 {
			w.fail("StopTrace: %v", err)
		}
		tracing = !tracing
	}
	each(r, quit, 5*time.Millisecond, func() {
		switch r.IntN(9) {
		case 8:
			observe.CountThreads(s, r.IntN(2) == 0)
		case 0, 1, 2:
			toggle()
		case 3:
			if n := s.Stats(); n.Alive < 1 || len(n.VPs) != s.NumVP() {
				w.fail("the counters of %d VPs know of %d threads", len(n.VPs), n.Alive)
			}
		case 4:
			_ = s.Threads()
			w.must(observe.WriteThreads(io.Discard, s.Threads()))
		case 5:
			s.Dump(io.Discard)
		case 6:
			w.collect()
		case 7:
			ctx, cancel := context.WithTimeout(context.Background(), upTo(r, time.Millisecond))
			defer cancel()
			if err := s.Stop(ctx); !errors.Is(err, sched.ErrAlive) && !errors.Is(err, context.DeadlineExceeded) {
				w.fail("Stop of a scheduler in use: %v", err)
			}
		}
	})
	if tracing {
		toggle()
	}
}
