package stress

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// forms are the four forms of an operation that may have to wait.
type forms struct {
	plain func()
	try   func() bool
	timed func(time.Duration) bool
	under func(context.Context) error
}

// once does the operation in one of its forms and reports whether it was done.
func (f forms) once(w *round, r *rand.Rand) bool {
	switch r.IntN(5) {
	case 0:
		return f.try()
	case 1:
		return f.timed(upTo(r, 300*time.Microsecond))
	case 2:
		ctx, cancel := brief(r)
		defer cancel()
		err := f.under(ctx)
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			w.fail("a wait under a context ended with %v", err)
		}
		return err == nil
	default:
		f.plain()
		return true
	}
}

// until does the operation, after some attempts with limits perhaps. It is not for
// operations that give up what others wait for more often than they keep it.
func (f forms) until(w *round, r *rand.Rand) {
	for range 3 {
		if f.once(w, r) {
			return
		}
		if r.IntN(2) == 0 {
			marcel.Yield()
		}
	}
	f.plain()
}

// brief returns a context that is done soon, or is done already.
func brief(r *rand.Rand) (context.Context, context.CancelFunc) {
	switch r.IntN(3) {
	case 0:
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx, cancel
	case 1: // by its own deadline
		return context.WithTimeout(context.Background(), upTo(r, 300*time.Microsecond))
	default: // by one of our timers
		ctx, cancel := context.WithCancel(context.Background())
		timer := marcel.AfterFunc(upTo(r, 300*time.Microsecond), cancel)
		return ctx, func() { timer.Stop(); cancel() }
	}
}

// upTo is a duration at random, sometimes none.
func upTo(r *rand.Rand, d time.Duration) time.Duration {
	return max(0, time.Duration(r.Int64N(int64(d)*9/8))-d/8)
}

func acquire(s *marcel.Semaphore) forms {
	return forms{s.Acquire, s.TryAcquire, s.AcquireTimeout, s.AcquireContext}
}

// choose is the same with a Select of one case.
func choose(c marcel.Case) forms {
	return forms{
		func() { marcel.Select(c) },
		func() bool { return marcel.TrySelect(c) == 0 },
		func(d time.Duration) bool { return marcel.SelectTimeout(d, c) == 0 },
		func(ctx context.Context) error { _, err := marcel.SelectContext(ctx, c); return err },
	}
}

func join(w *round, h marcel.Thread) forms {
	f := choose(marcel.Ended(h))
	f.plain = func() { w.joined(h, nil) }
	f.try = h.Ended
	return f
}

func barrier(b *marcel.Barrier) forms {
	return forms{func() { b.Wait() }, b.TryWait, b.WaitTimeout, b.WaitContext}
}

func phase(p marcel.Phase) forms { return forms{p.Wait, p.TryWait, p.WaitTimeout, p.WaitContext} }

func latch(l *marcel.Latch) forms { return forms{l.Wait, l.TryWait, l.WaitTimeout, l.WaitContext} }

func group(g *marcel.WaitGroup) forms {
	return forms{g.Wait, g.TryWait, g.WaitTimeout, g.WaitContext}
}

func once(o *marcel.Once, f func()) forms {
	return forms{
		func() { o.Do(f) },
		func() bool { return o.TryDo(f) },
		func(d time.Duration) bool { return o.DoTimeout(d, f) },
		func(ctx context.Context) error { return o.DoContext(ctx, f) },
	}
}

// wait has no try form.
func wait(c *marcel.Cond) forms {
	return forms{c.Wait, func() bool { return c.WaitTimeout(0) }, c.WaitTimeout, c.WaitContext}
}

func send[T any](w *round, m *marcel.Mailbox[T], v T) forms {
	return forms{
		func() { w.must(m.Send(v)) },
		func() bool { return w.inTime(m.TrySend(v)) },
		func(d time.Duration) bool { return w.inTime(m.SendTimeout(v, d)) },
		func(ctx context.Context) error { return m.SendContext(ctx, v) },
	}
}

// recv receives into v.
func recv[T any](w *round, m *marcel.Mailbox[T], v *T) forms {
	put := func(x T, err error) error {
		if err == nil {
			*v = x
		}
		return err
	}
	return forms{
		func() { w.must(put(m.Recv())) },
		func() bool { return w.inTime(put(m.TryRecv())) },
		func(d time.Duration) bool { return w.inTime(put(m.RecvTimeout(d))) },
		func(ctx context.Context) error { return put(m.RecvContext(ctx)) },
	}
}

// inTime reports whether a message was passed. A message may be too late; any other error fails the round.
func (w *round) inTime(err error) bool {
	if err != nil && !errors.Is(err, marcel.ErrWouldBlock) && !errors.Is(err, context.DeadlineExceeded) {
		w.fail("a message was not passed: %v", err)
	}
	return err == nil
}

func (w *round) must(err error) {
	if err != nil {
		w.fail("%v", err)
	}
}
