package rma

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// Event tells when an operation is done. The zero value is ready for one; when that is done, and its end was seen, it
// is ready for the next. It must not be copied. Any number of threads may wait for it; one at a time has an operation
// use it.
type Event struct {
	engine     atomic.Pointer[pioman.Engine] // that of its last operation
	completion pioman.Completion
	err        error // set before the completion
}

// Bits of an Event's completion.
const (
	eventDone = 1 << iota
	eventBusy // an operation has it, or has had it
)

// take makes the event one operation's; false: it has one.
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

// unclaim gives events back of an operation that was not started.
func unclaim(a, b *Event) {
	for _, e := range []*Event{a, b} {
		if e != nil {
			e.completion.Clear(eventBusy)
		}
	}
}

// end says how the operation has ended. Any thread may call it; it is the last touch.
func (e *Event) end(err error) {
	if e == nil {
		return
	}
	e.err = err
	e.completion.Signal(eventDone)
}

func (e *Event) busy() bool { return e != nil && e.completion.Status() != 0 }

// Test says whether the operation is done, and how it has ended. If not it polls once. It never blocks. ErrIdle of
// nmad: no operation has had the event.
func (e *Event) Test() (bool, error) {
	if !e.busy() {
		return false, nmad.ErrIdle
	}
	if !e.completion.Test(eventDone) {
		e.engine.Load().Poll()
		if !e.completion.Test(eventDone) {
			return false, nil
		}
	}
	return true, e.err
}

// Wait blocks the calling thread or goroutine until the operation is done, and says how it has ended: it polls for
// some microseconds, and then leaves the work to the engine. Waiting again gives the same answer. ErrIdle of nmad: no
// operation has had the event.
func (e *Event) Wait() error { return e.WaitContext(context.Background()) }

// WaitContext is Wait until ctx is done: then it returns the cause, and the operation goes on.
func (e *Event) WaitContext(ctx context.Context) error {
	if !e.busy() {
		return nmad.ErrIdle
	}
	if !e.completion.Test(eventDone) {
		if err := e.completion.WaitContext(ctx, e.engine.Load(), eventDone); err != nil {
			return err
		}
	}
	return e.err
}

// Case returns the case of a marcel.Select that can be taken once the operation is done; Wait then says how, at once.
// An event that no operation has had counts as done.
func (e *Event) Case() marcel.Case {
	if !e.busy() {
		return over.Case(nil, eventDone)
	}
	return e.completion.Case(e.engine.Load(), eventDone)
}

// over is what is done always.
var over = func() *pioman.Completion {
	c := &pioman.Completion{}
	c.Signal(eventDone)
	return c
}()
