package marcel_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// joined is what a form of Join has returned.
type joined struct {
	ended bool
	err   error
}

// forms are the four forms of Join, of a Thread or a Bubble, none of which is in a hurry
// but the Try form.
func forms(x interface {
	Join() error
	TryJoin() (bool, error)
	JoinTimeout(time.Duration) (bool, error)
	JoinContext(context.Context) (bool, error)
}) map[string]func() joined {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	return map[string]func() joined{
		"Join": func() joined { err := x.Join(); return joined{err == nil, err} },
		"TryJoin": func() joined {
			for {
				if ended, err := x.TryJoin(); ended || err != nil {
					return joined{ended, err}
				}
				marcel.Yield()
			}
		},
		"JoinTimeout": func() joined { ended, err := x.JoinTimeout(patience); return joined{ended, err} },
		"JoinContext": func() joined {
			defer cancel()
			ended, err := x.JoinContext(ctx)
			return joined{ended, err}
		},
	}
}

// All forms tell how a thread has ended, of all ways to end, whether it has done so
// before or does it meanwhile.
func TestJoinForms(t *testing.T) {
	limit := errors.New("not an outcome of Join itself")
	ends := map[string]struct {
		attr marcel.Attr
		body func()
		want error
	}{
		"returns":                     {marcel.Attr{}, func() {}, nil},
		"exits":                       {marcel.Attr{}, marcel.Exit, nil},
		"panics":                      {marcel.Attr{Catch: true}, func() { panic(limit) }, limit},
		"panics with a time limit's":  {marcel.Attr{Catch: true}, func() { panic(context.DeadlineExceeded) }, context.DeadlineExceeded},
		"is canceled":                 {marcel.Attr{}, func() { must(t, marcel.Self().Cancel()); marcel.TestCancel() }, marcel.ErrCanceled},
		"is pinned, has another name": {marcel.Attr{Pinned: true, Name: "x"}, func() {}, nil},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			onThreadAndOff(t, func(t *testing.T) {
				for range effort.Of(40) {
					var permit marcel.Semaphore
					x := marcel.SpawnWith(end.attr, func() { permit.Acquire(); end.body() })
					if ended, err := x.TryJoin(); ended || err != nil {
						t.Errorf("TryJoin of one that lives: %v, %v", ended, err)
					}
					if ended, err := x.JoinTimeout(time.Microsecond); ended || err != nil {
						t.Errorf("JoinTimeout of one that lives: %v, %v", ended, err)
					}
					cause := errors.New("the cause")
					ctx, cancel := context.WithCancelCause(context.Background())
					cancel(cause)
					if ended, err := x.JoinContext(ctx); ended || err != cause {
						t.Errorf("JoinContext of one that lives: %v, %v", ended, err)
					}
					var waits []marcel.Thread
					for form, f := range forms(x) {
						waits = append(waits, marcel.Spawn(func() { sameEnd(t, form, f(), end.want) }))
					}
					permit.Release()
					for form, f := range forms(x) {
						sameEnd(t, form, f(), end.want)
					}
					for _, w := range waits {
						must(t, w.Join())
					}
					for form, f := range forms(x) { // it has ended
						sameEnd(t, form, f(), end.want)
					}
					if ended, err := x.JoinContext(ctx); ended || err != cause {
						t.Errorf("JoinContext of one that has ended: %v, %v", ended, err)
					}
				}
			})
		})
	}
}

func sameEnd(t *testing.T, form string, got joined, want error) {
	t.Helper()
	if !errors.Is(got.err, want) || got.err != nil && want == nil || !got.ended && form != "Join" {
		t.Errorf("%s: %v, %v; want %v", form, got.ended, got.err, want)
	}
}

// What cannot be joined is refused at once by all forms.
func TestJoinRefused(t *testing.T) {
	run(t, undisturbed(), func(s *sched.Scheduler) {
		var permit marcel.Semaphore
		detached := marcel.SpawnWith(marcel.Attr{Detached: true}, permit.Acquire)
		for what, it := range map[string]struct {
			x    marcel.Thread
			want error
		}{
			"no thread": {marcel.Thread{}, marcel.ErrNoThread},
			"detached":  {detached, marcel.ErrDetached},
			"self":      {marcel.Self(), marcel.ErrJoinSelf},
		} {
			for form, f := range forms(it.x) {
				if got := f(); got.ended || got.err != it.want {
					t.Errorf("%s of %s: %v", form, what, got)
				}
			}
		}
		must(t, marcel.Spawn(func() { // it begins when it is joined
			if ended, err := marcel.Self().TryJoin(); ended || err != marcel.ErrJoinSelf {
				t.Errorf("TryJoin of itself: %v, %v", ended, err)
			}
		}).Join())
		b := marcel.NewBubbleOn(s, nil)
		must(t, b.Wake())
		in := marcel.SpawnWith(marcel.Attr{Bubble: b}, func() {
			for form, f := range forms(b) {
				if got := f(); got.ended || got.err != marcel.ErrJoinSelf {
					t.Errorf("%s of a bubble by a thread in it: %v", form, got)
				}
			}
			permit.Acquire()
		})
		if empty, err := b.JoinTimeout(time.Microsecond); empty || err != nil {
			t.Errorf("JoinTimeout of a bubble: %v, %v", empty, err)
		}
		if empty, err := shortlyJoin(b); empty || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("JoinContext of a bubble: %v, %v", empty, err)
		}
		marcel.Sleep(0)
		permit.Release()
		permit.Release()
		for form, f := range forms(b) {
			if got := f(); !got.ended || got.err != nil {
				t.Errorf("%s of a bubble: %v", form, got)
			}
		}
		must(t, in.Join())
	})
}

func shortlyJoin(b *marcel.Bubble) (empty bool, err error) {
	_ = shortly(time.Microsecond, func(ctx context.Context) error {
		empty, err = b.JoinContext(ctx)
		return nil
	})
	return empty, err
}

// One that gives up leaves no trace with the thread, whose descriptor serves others later.
func TestJoinGivesUp(t *testing.T) {
	worlds(t, func(w *world) {
		for range 3 {
			w.Go(func() {
				for range effort.Of(300) {
					var permit marcel.Semaphore
					x := marcel.Spawn(permit.Acquire)
					for d := time.Duration(1); ; d += time.Microsecond {
						if ended, err := x.JoinTimeout(d); ended {
							must(w, err)
							break
						}
						if ended, err := joinWithin(x, d); ended {
							must(w, err)
							break
						}
						if d == 1+2*time.Microsecond {
							permit.Release()
						}
					}
				}
			})
		}
	})
}

func joinWithin(x marcel.Thread, d time.Duration) (ended bool, err error) {
	_ = shortly(d, func(ctx context.Context) error {
		ended, err = x.JoinContext(ctx)
		return nil
	})
	return ended, err
}

// The timed form allocates nothing on a thread.
func TestJoinTimeoutDoesNotAllocate(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates")
	}
	run(t, undisturbed(), func(*sched.Scheduler) {
		var permit marcel.Semaphore
		x := marcel.Spawn(permit.Acquire)
		if n := testing.AllocsPerRun(100, func() { _, _ = x.JoinTimeout(time.Nanosecond) }); n != 0 {
			t.Errorf("JoinTimeout of one that lives: %v allocations", n)
		}
		permit.Release()
		must(t, x.Join())
	})
}

// A Group, a Timer and a Ticker tell apart what has come and what has not.
func TestWaitFormsWithOutcomes(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		cause := errors.New("the cause")
		over, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		var g marcel.Group
		var permit marcel.Semaphore
		g.Go(func() error { permit.Acquire(); return errOops })
		if done, err := g.TryWait(); done || err != nil {
			t.Errorf("TryWait of a group at work: %v, %v", done, err)
		}
		if done, err := g.WaitTimeout(time.Microsecond); done || err != nil {
			t.Errorf("WaitTimeout of a group at work: %v, %v", done, err)
		}
		permit.Release()
		if done, err := g.WaitTimeout(patience); !done || err != errOops {
			t.Errorf("WaitTimeout of a group: %v, %v", done, err)
		}
		if done, err := g.TryWait(); !done || err != errOops {
			t.Errorf("TryWait of a group that has done its work: %v, %v", done, err)
		}

		x := marcel.NewTimer(time.Hour)
		if x.WaitTimeout(time.Microsecond) || x.WaitTimeout(-1) {
			t.Error("an hour is over")
		}
		if took, err := x.WaitContext(over); took || err != cause {
			t.Errorf("WaitContext of a timer: %v, %v", took, err)
		}
		x.Reset(time.Microsecond)
		if !x.WaitTimeout(patience) {
			t.Error("the timer did not expire")
		}
		x.Reset(time.Microsecond)
		if took, err := x.WaitContext(context.Background()); !took || err != nil {
			t.Errorf("WaitContext of a timer: %v, %v", took, err)
		}
		if x.WaitTimeout(patience) { // it does not run
			t.Error("it expired twice")
		}

		k := marcel.NewTicker(time.Hour)
		if n := k.WaitTimeout(time.Microsecond); n != 0 {
			t.Errorf("%d hours are over", n)
		}
		if n, err := k.WaitContext(over); n != 0 || err != cause {
			t.Errorf("WaitContext of a ticker: %d, %v", n, err)
		}
		if n, err := waitShortly(k); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitContext of a ticker: %d, %v", n, err)
		}
		k.Reset(10 * time.Microsecond)
		if n := k.WaitTimeout(patience); n < 1 {
			t.Errorf("%d ticks", n)
		}
		if n, err := k.WaitContext(context.Background()); n < 1 || err != nil {
			t.Errorf("%d ticks, %v", n, err)
		}
		k.Stop()
		if n := k.WaitTimeout(patience); n != 0 {
			t.Errorf("%d ticks of a ticker that was stopped", n)
		}
	})
}

func waitShortly(k *marcel.Ticker) (n int, err error) {
	_ = shortly(time.Microsecond, func(ctx context.Context) error {
		n, err = k.WaitContext(ctx)
		return nil
	})
	return n, err
}

// Each method that waits has the three other forms.
func TestFourForms(t *testing.T) {
	waits := []string{"Acquire", "Lock", "RLock", "Wait", "Send", "Recv", "Do", "Join"}
	without := []string{"Cond.TryWait", "Futex.TryWait"} // see README.md
	found := 0
	for _, typ := range objects {
		ptr := reflect.PointerTo(typ)
		has := func(name string) bool { _, ok := ptr.MethodByName(name); return ok }
		for _, name := range waits {
			if !has(name) {
				continue
			}
			found++
			for _, form := range []string{"Try" + name, name + "Timeout", name + "Context"} {
				if full := nameOf(typ) + "." + form; !has(form) && !slices.Contains(without, full) {
					t.Errorf("there is no %s", full)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("%d methods wait: are these the objects?", found)
	}
}

// A thread that is not migratable is where it began, also if it is spawned elsewhere; until
// it is given another set.
func TestNonMigratable(t *testing.T) {
	run(t, brisk(3), func(s *sched.Scheduler) {
		var all []marcel.Thread
		for i := range 3 * effort.Of(100) {
			attr := marcel.Attr{NonMigratable: true}
			if i%3 == 1 {
				attr.VPs = marcel.OneVP(1)
				attr.VPs.Set(2)
			}
			all = append(all, marcel.SpawnWith(attr, func() {
				set := marcel.Self().VPs()
				if set.Count() != 1 || set.And(attr.VPs) != set && attr.VPs != (marcel.VPSet{}) {
					t.Errorf("it may run on %v, of %v", set, attr.VPs)
				}
				for range 5 {
					marcel.Yield()
					if at := here(s); marcel.OneVP(at) != set {
						t.Errorf("it runs on VP %d, and may on %v", at, set)
					}
				}
				must(t, marcel.Self().SetVPs(marcel.FullVPs()))
				if marcel.Self().VPs().Count() != 3 {
					t.Error("SetVPs does not let it go")
				}
			}))
		}
		for _, x := range all {
			must(t, x.Join())
		}
	})
}

// here is the index of the VP that the calling thread is on.
func here(s *sched.Scheduler) int {
	me := marcel.Self()
	for _, i := range s.Threads() {
		if i.Thread == me {
			return i.VP
		}
	}
	return -1
}

// A stopped scheduler says so.
func TestStoppedScheduler(t *testing.T) {
	s, err := sched.New(brisk(1))
	must(t, err)
	b := marcel.NewBubbleOn(s, nil)
	stop(t, s)
	for i, err := range []error{b.Wake(), b.WakeOn(nil), b.Place(nil), observe.StartTrace(s, observe.TraceConfig{})} {
		if !errors.Is(err, marcel.ErrStopped) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	panics(t, marcel.ErrStopped.Error(), func() { s.Spawn(marcel.Attr{}, func() {}) })
}
