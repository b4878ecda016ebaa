package nmad

import (
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/shelf"
)

// EventKind is a kind of event. Monitor takes a set of kinds, joined by |.
type EventKind uint8

const (
	MessageArrived EventKind = 1 << iota // a message that has no receive yet has come, or was announced
	SendDone                             // a send has ended
	RecvDone                             // a receive has ended
	GateEnded                            // a gate has ended: the other process has left, has died, or has broken the protocol
)

// Event is an event of a session, as monitors get it.
type Event struct {
	Kind     EventKind
	Gate     *Gate    // the gate at which it has happened
	Envelope          // the message; of GateEnded only Source, the rank of the peer
	Request  *Request // of SendDone and RecvDone: the request; nil for calls that block
	Err      error    // of SendDone, RecvDone and GateEnded: how it has ended
}

// monitors is the list of the monitors of a session. Safe for concurrent use.
type monitors struct {
	kinds atomic.Uint32 // all EventKinds that any monitor wants; every gate reads it
	mu    sync.Mutex    // serializes changes
	list  shelf.Snapshot[*monitor]
}

type monitor struct {
	kinds EventKind
	fn    func(Event)
}

// Monitor calls f for each event of the given kinds until stop is called. f is called as Operation.Done is: without any
// lock, by the thread that polls the gate, which may be in a hook of the scheduler. So f must not block or wait, but it
// may start requests. Events of one gate come one at a time and in order; those of different gates may come at the same
// time. An event does not name the context of its message. After stop has returned, one more call may be under way.
func (s *Session) Monitor(kinds EventKind, f func(Event)) (stop func()) {
	if s == nil || f == nil {
		return func() {}
	}
	m := &monitor{kinds, f}
	s.monitors.change(func(list *shelf.Snapshot[*monitor]) { list.Add(m) })
	return func() {
		s.monitors.change(func(list *shelf.Snapshot[*monitor]) {
			list.Delete(func(x *monitor) bool { return x == m })
		})
	}
}

func (ms *monitors) change(how func(*shelf.Snapshot[*monitor])) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	how(&ms.list)
	kinds := EventKind(0)
	for _, m := range ms.list.All() {
		kinds |= m.kinds
	}
	ms.kinds.Store(uint32(kinds))
}

func (ms *monitors) tell(e Event) {
	for _, m := range ms.list.All() {
		if m.kinds&e.Kind != 0 {
			m.fn(e)
		}
	}
}
