package sched

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
)

// patient starts a scheduler of two VPs whose threads spin until something happens.
func patient(t *testing.T) *Scheduler {
	t.Helper()
	s, err := New(Config{VPs: 2})
	if err != nil {
		t.Fatal(err)
	}
	s.spinTime = 1 << 60
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// within waits for something that the scheduler's own threads bring about.
func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// line is the simplest object that can be waited for.
type line struct {
	mu   Spin
	q    WaitQueue
	lim  Limit
	err  error // of the last wait
	from atomic.Int32
}

// wait waits in l, and notes on which VP it has gone on.
func (ln *line) wait() {
	c := Enter()
	ln.mu.Lock()
	_, ln.err = c.As(InSemaphore).WaitUntil(&ln.q, &ln.mu, ln.lim)
	ln.from.Store(int32(CurrentVP()))
}

func (ln *line) wake() {
	c := Visit()
	ln.mu.Lock()
	w := ln.q.Pop()
	ln.mu.Unlock()
	if w != nil {
		c.Wake(w)
	}
	c.Leave()
}

// awaitSpinning waits until h's thread spins.
func awaitSpinning(t *testing.T, h Thread) {
	t.Helper()
	within(t, "a thread that has no other one to run spins", func() bool {
		return atomic.LoadUint32(&h.thread.waiter.spins) == isSpinning
	})
	if v := h.thread.vpHint(); v.mode() != vpHeld {
		t.Error("it spins without holding its VP")
	}
}

// Whatever may be done to a waiting thread, or to its VP, finds it spinning.
func TestSpinWait(t *testing.T) {
	both := VPSet{}
	both.Set(0)
	both.Set(1)
	done, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, test := range []struct {
		name  string
		lim   Limit
		do    func(t *testing.T, s *Scheduler, l *line, h Thread) // ends the wait
		err   error                                               // of the wait
		join  error
		from  int32 // where it goes on
		brief bool  // the wait may be over before any thread has looked
	}{
		{name: "woken", do: func(_ *testing.T, _ *Scheduler, l *line, _ Thread) { l.wake() }},
		{name: "woken by a thread", do: func(t *testing.T, s *Scheduler, l *line, _ Thread) {
			if err := s.Spawn(Attr{VPs: OneVP(1)}, l.wake).Join(); err != nil {
				t.Error(err)
			}
		}},
		{name: "time limit", lim: Limit{Timeout: time.Millisecond}, do: func(*testing.T, *Scheduler, *line, Thread) {},
			err: context.DeadlineExceeded, brief: true},
		{name: "woken before its time limit", lim: Limit{Timeout: time.Hour}, do: func(_ *testing.T, _ *Scheduler, l *line, _ Thread) { l.wake() }},
		{name: "context", lim: Limit{Context: done}, do: func(*testing.T, *Scheduler, *line, Thread) { cancel() }, err: context.Canceled},
		{name: "cancel", do: func(t *testing.T, _ *Scheduler, _ *line, h Thread) {
			if err := h.Cancel(); err != nil {
				t.Error(err)
			}
		}, join: ErrCanceled, from: -1},
		{name: "suspension", do: func(t *testing.T, s *Scheduler, l *line, h Thread) {
			if err := h.Suspend(); err != nil {
				t.Error(err)
			}
			l.wake()
			within(t, "it is suspended", func() bool {
				all := s.Threads()
				return len(all) == 1 && all[0].State == StateSuspended
			})
			if err := h.Resume(); err != nil {
				t.Error(err)
			}
		}},
		{name: "others", do: func(t *testing.T, s *Scheduler, l *line, h Thread) {
			if err := s.Spawn(Attr{VPs: OneVP(0)}, func() {}).Join(); err != nil {
				t.Error(err)
			}
			if h.Ended() {
				t.Error("it did not wait any longer")
			}
			l.wake()
		}},
		{name: "another set", do: func(t *testing.T, s *Scheduler, l *line, h Thread) {
			if err := h.SetVPs(OneVP(1)); err != nil {
				t.Error(err)
			}
			l.wake()
		}, from: 1},
		{name: "its VP is disabled", do: func(t *testing.T, s *Scheduler, l *line, h Thread) {
			if err := errors.Join(h.SetVPs(both), s.DisableVP(0)); err != nil {
				t.Error(err)
			}
			l.wake()
		}, from: 1},
		{name: "an idle hook", do: func(t *testing.T, s *Scheduler, l *line, h Thread) {
			var fired [2]atomic.Int32
			hook, err := s.Hooks().Register(hooks.Idle, 0, "test", func(vp int) hooks.Verdict { fired[vp].Add(1); return hooks.Quiet })
			if err != nil {
				t.Error(err)
				return
			}
			within(t, "the hook is called for its VP", func() bool { return fired[0].Load() > 0 })
			hook.Unregister()
			l.wake()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := patient(t)
			l := line{lim: test.lim}
			l.from.Store(-1)
			h := s.Spawn(Attr{VPs: OneVP(0)}, l.wait)
			if !test.brief {
				awaitSpinning(t, h)
			}
			test.do(t, s, &l, h)
			if err := h.Join(); !errors.Is(err, test.join) {
				t.Errorf("the thread: %v, not %v", err, test.join)
			}
			if !errors.Is(l.err, test.err) {
				t.Errorf("the wait: %v, not %v", l.err, test.err)
			}
			if at := l.from.Load(); at != test.from {
				t.Errorf("it went on on VP %d, not %d", at, test.from)
			}
		})
	}
}

// One that has given up is published once: by its waker if that comes later, and by one that
// runs next if it came before.
func TestSpinWaitTransitions(t *testing.T) {
	v := &vp{sched: &Scheduler{}, word: vpWord{1}, cur: &co{inside: isIn}}
	th := newThread()
	th.vp = v
	if th.wakeSpinning() {
		t.Error("one that is parked was taken for one that spins")
	}
	th.waiter.spins = isSpinning
	v.endSpin(th)
	if th.waiter.spins != isParked || v.inbox.Load() != nil {
		t.Errorf("not woken: state %d, posted %v", th.waiter.spins, v.inbox.Load() != nil)
	}
	th.waiter.spins = isSpinning
	if !th.wakeSpinning() || th.waiter.spins != isWoken || th.wakeSpinning() {
		t.Errorf("woken: state %d", th.waiter.spins)
	}
	v.endSpin(th)
	if th.waiter.spins != isParked || v.inbox.Load() != th {
		t.Errorf("woken, then parked: state %d, posted %v", th.waiter.spins, v.inbox.Load() == th)
	}
}

// A VP on which no thread is ever woken in time tries less and less often, and at last
// once in 64 waits.
func TestSpinWaitInVain(t *testing.T) {
	s := patient(t)
	s.spinTime = 64
	const waits = 1000
	h := s.Spawn(Attr{VPs: OneVP(0)}, func() {
		v := s.vps[0]
		for range waits {
			l := line{lim: Limit{Timeout: time.Microsecond}}
			l.wait()
		}
		tried := 0
		for range waits {
			if v.spins.ProbeWindow(s.spinTime) != 0 {
				tried++
			}
		}
		if most := waits/64 + 1; tried > most || tried < most-2 {
			t.Errorf("%d of %d waits are to spin: %d should", tried, waits, most)
		}
	})
	if err := h.Join(); err != nil {
		t.Error(err)
	}
}
