package life

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver"
)

// What State can have: bits that are only ever added, but for those of a driver's own.
const (
	Closed uint32 = 1 << iota // by this side
	Broken                    // the peer violated the protocol
	Lost                      // the peer closed the link or died: no use in sending; what has come can still be taken in
	Own                       // this bit and those above are the driver's own
)

// Life is embedded in a link. Any thread may call its methods after Init.
type Life struct {
	State atomic.Uint32
	Rank  int                   // of the peer
	Name  string                // of the driver
	fault atomic.Pointer[error] // what broke the link, or how it was lost; set before State is
	calls *inFlight
}

// Init prepares the life of a link to a rank. free frees what the link has: it runs once, after Drain, in the
// goroutine that leaves last, and must not block.
func (l *Life) Init(driver string, rank int, free func()) {
	l.Name, l.Rank, l.calls = driver, rank, newInFlight(free)
}

// Enter reports whether a call may go on; its caller then calls Leave. It costs one atomic addition.
func (l *Life) Enter(as Caller) bool { return l.calls.counts[as].enter() }

// Leave ends what Enter began.
func (l *Life) Leave(as Caller) { l.calls.counts[as].leave() }

// Begin is Enter for a direction that sends. The error says why the call may not go on.
func (l *Life) Begin(as Caller) error {
	if s := l.State.Load(); s != 0 {
		return l.Why(s)
	}
	if !l.Enter(as) {
		return l.Why(Closed)
	}
	return nil
}

// End notes that this side closes the link. It returns false if it was closed before. Callers that are inside go on
// until Drain.
func (l *Life) End() bool { return l.State.Or(Closed)&Closed == 0 }

// Drain makes all later calls of Enter fail, and has the link freed once no caller is inside. It does not wait.
func (l *Life) Drain() { l.calls.close() }

// Break notes that the peer has violated the protocol, and returns the error of all later calls. If this side has
// closed the link the violation is not the peer's, and the error says that the link is closed.
func (l *Life) Break(err error) error {
	if s := l.State.Load(); s&Closed != 0 {
		return l.Why(s)
	}
	l.fail(err)
	l.State.Or(Broken)
	return *l.fault.Load()
}

// Lose notes that the peer is lost, and returns the error of all later calls. err is nil if the connection has
// ended in the regular way.
func (l *Life) Lose(err error) error {
	if err == nil {
		err = fmt.Errorf("%w: its process ended or closed the link", driver.ErrPeerLost)
	} else {
		err = fmt.Errorf("%w: %w", driver.ErrPeerLost, err)
	}
	l.fail(err)
	return l.Why(l.State.Or(Lost) | Lost)
}

// fail keeps err unless there is an earlier error.
func (l *Life) fail(err error) {
	err = l.wrap(err)
	l.fault.CompareAndSwap(nil, &err)
}

// Why returns the error that belongs to a State other than 0.
func (l *Life) Why(s uint32) error {
	if s&Closed != 0 {
		return l.wrap(driver.ErrClosed)
	}
	return *l.fault.Load()
}

func (l *Life) wrap(err error) error {
	return fmt.Errorf("%s: link to rank %d: %w", l.Name, l.Rank, err)
}
