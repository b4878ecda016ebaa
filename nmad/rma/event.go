package rma

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// Event tells when an operation is done, and how it ended. The zero value is ready for an operation; once a wait or
// Test has said that it is done, the Event is ready for the next one. It must not be copied. Any number of threads may
// wait for it; one operation at a time uses it (nmad.ErrActive).
//
//	zero --- take ---> busy --- end ---> busy, done --- take ---> busy
//	                     '--- unclaim: the operation was not started ---> zero
type Event struct {
	engine     atomic.Pointer[pioman.Engine] // that of the World of its last operation
	completion pioman.Completion
	err        error // how the operation ended; end writes it before it signals eventDone
}

// Bits of an Event's completion.
const (
	eventDone = 1 << iota
	eventBusy // an operation uses it, or has used it
)

// take gives the event to an operation; false: it has one under way. Of nil it does nothing.
func (e *Event) take(engine *pioman.Engine) bool {
	if e == nil {
		return true
	}
	if e.completion.Status() == eventBusy {
		return false
	}
	e.completion.Reset()
	e.engine.Store(engine)
	e.completion.Signal(eventBusy)
	return true
}

// claim takes two events, each of which may be nil.
func (d *Domain) claim(a, b *Event) error {
	switch {
	case a == nil && b == nil:
		return nil
	case d == nil:
		return fmt.Errorf("%w: no domain: World.Default gives one", nmad.ErrConfig)
	case !a.take(d.w.engine):
		return nmad.ErrActive
	case !b.take(d.w.engine):
		unclaim(a, nil)
		return nmad.ErrActive
	}
	return nil
}

// unclaim takes two events, each of which may be nil, from an operation that was not started.
func unclaim(a, b *Event) {
	for _, e := range []*Event{a, b} {
		if e != nil {
			e.completion.Clear(eventBusy)
		}
	}
}

// end makes the event done. Any thread or callback may call it, which does not touch the event afterwards.
func (e *Event) end(err error) {
	if e == nil {
		return
	}
	e.err = err
	e.completion.Signal(eventDone)
}

// busy reports whether an operation uses the event, or has used it.
func (e *Event) busy() bool { return e != nil && e.completion.Status() != 0 }

// IsDone reports whether the operation is done, or no operation has used the event. Unlike Test it moves nothing on.
func (e *Event) IsDone() bool { return !e.busy() || e.completion.Test(eventDone) }

// Test reports whether the operation is done, and, if so, how it ended. If not, it polls the engine once. It never
// blocks. If no operation has used the event it returns false and nmad.ErrNotStarted, as nmad.Request does.
func (e *Event) Test() (bool, error) {
	if !e.busy() {
		return false, nmad.ErrNotStarted
	}
	if !e.completion.Test(eventDone) {
		e.engine.Load().Poll()
		if !e.completion.Test(eventDone) {
			return false, nil
		}
	}
	return true, e.err
}

// Wait blocks the calling thread or goroutine until the operation is done, and says how it ended: it polls for some
// microseconds, and then leaves the work to the engine. Waiting again gives the same answer. nmad.ErrNotStarted: no
// operation has used the event.
func (e *Event) Wait() error { return e.WaitContext(context.Background()) }

// WaitContext is Wait until ctx, which may be nil, is done; then it returns the cause, and the operation goes on: it
// can be waited for again.
func (e *Event) WaitContext(ctx context.Context) error {
	if !e.busy() {
		return nmad.ErrNotStarted
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if !e.completion.Test(eventDone) {
		if err := e.completion.WaitContext(ctx, e.engine.Load(), eventDone); err != nil {
			return err
		}
	}
	return e.err
}

// Case returns the case of a marcel.Select that can be taken once the operation is done. Then Wait says how it ended,
// at once. An event that no operation has used counts as done, and Wait says nmad.ErrNotStarted.
func (e *Event) Case() marcel.Case {
	if !e.busy() {
		return alwaysDone.Case(nil, eventDone)
	}
	return e.completion.Case(e.engine.Load(), eventDone)
}

// alwaysDone is a completion that is always done.
var alwaysDone = func() *pioman.Completion {
	c := &pioman.Completion{}
	c.Signal(eventDone)
	return c
}()
