package observe

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/sched"
)

// ring holds the latest events of one row of a trace. Exactly one party at a
// time adds: the holder of the VP, or, for the row of those without a VP, the one that has
// the lock of the tracer. The one that stops the trace reads while a holder that had found
// the tracer just before may still add one event. It goes to place n, which is the
// oldest event's if the ring is full: the reader leaves that one out.
type ring struct {
	n    atomic.Uint64 // events so far: stored after the event, loaded before the events are read
	mask uint64
	e    []sched.Event
}

func newRing(events int) *ring {
	n := 2
	for n < events {
		n *= 2
	}
	return &ring{mask: uint64(n - 1), e: make([]sched.Event, n)}
}

func (r *ring) add(e *sched.Event) {
	n := r.n.Load()
	r.e[n&r.mask] = *e
	r.n.Store(n + 1)
}

// take returns what is in the ring, oldest first, and how many events were lost.
func (r *ring) take() (events []sched.Event, lost uint64) {
	n := r.n.Load()
	from := uint64(0)
	if n > r.mask {
		from = n - r.mask
	}
	for i := from; i != n; i++ {
		events = append(events, r.e[i&r.mask])
	}
	return events, from
}
