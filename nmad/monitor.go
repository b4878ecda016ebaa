package nmad

import (
	"slices"
	"sync"
	"sync/atomic"
)

// EventKind says what has happened; Monitor takes a set of kinds, joined by |.
type EventKind uint8

const (
	MessageArrived EventKind = 1 << iota // a message has come, or was announced, for which there is no receive yet
	SendDone                             // a send has ended
	RecvDone                             // a receive has ended
	GateEnded                            // the other process has left, has died, or broke the protocol
)

// Event is what has happened, as Monitor tells it.
type Event struct {
	Kind EventKind
	Gate *Gate // between which two processes
	Envelope
	Request *Request // SendDone, RecvDone: which one; nil for the calls that block
	Err     error    // SendDone, RecvDone, GateEnded: how it ended
}

// monitors are the functions that want to hear what happens in a session.
type monitors struct {
	kinds atomic.Uint32 // all that any of them wants; read by every gate
	mu    sync.Mutex    // serializes changes
	list  atomic.Pointer[[]*monitor]
}

type monitor struct {
	kinds EventKind
	f     func(Event)
}

// Monitor calls f for each event of the given kinds from now on, until stop is called. It is called as a request's Done is
// (Op): outside of all locks, by the thread that moves the gate on, which may be a hook of the scheduler: it must not
// block nor wait, but may start requests. An event does not say the context of its message. Events of one gate come one at
// a time and in order; those of different gates may come at the same time. After stop one more may be on its way.
func (s *Session) Monitor(kinds EventKind, f func(Event)) (stop func()) {
	if s == nil || f == nil {
		return func() {}
	}
	m := &monitor{kinds, f}
	s.monitors.change(func(l []*monitor) []*monitor { return append(l, m) })
	return func() {
		s.monitors.change(func(l []*monitor) []*monitor {
			return slices.DeleteFunc(l, func(x *monitor) bool { return x == m })
		})
	}
}

func (ms *monitors) all() []*monitor {
	if l := ms.list.Load(); l != nil {
		return *l
	}
	return nil
}

func (ms *monitors) change(how func([]*monitor) []*monitor) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	list := how(slices.Clone(ms.all()))
	kinds := EventKind(0)
	for _, m := range list {
		kinds |= m.kinds
	}
	ms.list.Store(&list)
	ms.kinds.Store(uint32(kinds))
}

func (ms *monitors) tell(e Event) {
	for _, m := range ms.all() {
		if m.kinds&e.Kind != 0 {
			m.f(e)
		}
	}
}
