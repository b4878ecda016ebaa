package marcel

import "github.com/pm2-go/pm2/sched"

// ChanReceiver is the case of a receive from a Go channel. It is made once, by ReceiveFrom, and may be used by one
// Select at a time, again and again.
//
// A channel cannot be told to wake a thread, so while a Select waits a goroutine receives in its name. It is told to
// stop when another case has won. A value that arrives just then is not lost: the ChanReceiver keeps it, and the next
// Select, or TryRecv, gets it first. So as long as it is used all values come out, once and in the order of the
// channel; a receiver that gives it up while others go on to receive from the channel calls Stop, and gets a value that
// was kept.
//
// There is no such case for sends: a value that was sent while another case won could not be taken back. That is what a
// Mailbox is for.
type ChanReceiver[T any] struct {
	Value T    // what was received, after the case was taken
	OK    bool // false: the channel is closed and empty

	ch   <-chan T
	run  func()        // receive, made once
	stop chan struct{} // of capacity 1: a token ends receive

	mu          sched.Spin // guards the fields below
	state       chanState
	hasKept     bool // v and ok were received, and no caller has got them
	keptValue   T
	keptOK      bool
	waiter      *sched.Waiter   // receive fires it when a value comes
	ticket      uint64          // the number of w's wait
	settleWaits sched.WaitQueue // callers that wait until the goroutine has stopped
}

// chanState is what the goroutine of a ChanReceiver does.
//
//	unused ──── Enlist starts the goroutine ─────────────────────► receiving
//	receiving ─ it receives a value, keeps it, and fires waiter ─► unused
//	receiving ─ Withdraw puts a token into stop ─────────────────► stopping
//	stopping ── it gets the token, or a value, which it keeps ───► unused
type chanState uint8

const (
	unused    chanState = iota // no goroutine runs
	receiving                  // the goroutine receives for waiter
	stopping                   // the goroutine may still receive a value before it gets the token
)

// ReceiveFrom returns a case that can be taken when a receive from ch would not wait. Then Value and OK say what came,
// as in v, ok := <-ch. A nil channel is never ready.
func ReceiveFrom[T any](ch <-chan T) *ChanReceiver[T] {
	r := &ChanReceiver[T]{ch: ch, stop: make(chan struct{}, 1)}
	r.run = r.receive
	return r
}

// TryRecv receives a value if one is there, or was kept; taken: v and ok are valid. It may wait for a moment, until the
// goroutine of the last Select has stopped.
func (r *ChanReceiver[T]) TryRecv() (v T, ok, taken bool) {
	r.settle()
	if r.hasKept {
		v, ok = r.take()
		return v, ok, true
	}
	select {
	case v, ok = <-r.ch:
		return v, ok, true
	default:
		return v, false, false
	}
}

// Stop waits for a moment until no goroutine receives from the channel in r's name, and returns the value that was
// kept, if any. r may be used again.
func (r *ChanReceiver[T]) Stop() (v T, ok bool) {
	r.settle()
	return r.take()
}

// take returns the value that was kept, if any, and forgets it.
func (r *ChanReceiver[T]) take() (v T, ok bool) {
	var none T
	v, ok = r.keptValue, r.keptOK
	r.hasKept, r.keptValue, r.keptOK = false, none, false
	return v, ok
}

// settle waits until the goroutine of the last Select has stopped; then only the caller uses r.
func (r *ChanReceiver[T]) settle() {
	_ = &r.mu // nil panics here, not while the VP is held
	c := sched.Enter()
	r.mu.Lock()
	if r.state == stopping {
		c.Wait(&r.settleWaits, &r.mu)
		return
	}
	r.mu.Unlock()
	c.Leave()
}

// receive runs on the goroutine: it receives one value, unless it is stopped first.
func (r *ChanReceiver[T]) receive() {
	var v T
	ok, came := false, false
	select {
	case v, ok = <-r.ch:
		came = true
	case <-r.stop:
	}
	c := sched.Visit()
	r.mu.Lock()
	if came {
		r.keptValue, r.keptOK, r.hasKept = v, ok, true
		if r.state == stopping {
			<-r.stop // the token is there, but is not needed any more
		}
	}
	w, ticket := r.waiter, r.ticket
	fire := r.state == receiving
	r.state = unused
	waits := r.settleWaits.PopAll()
	r.mu.Unlock()
	if fire {
		w.Fire(ticket)
	}
	c.WakeAll(waits)
	c.Leave()
}

// Try implements Case.
func (r *ChanReceiver[T]) Try() bool {
	v, ok, taken := r.TryRecv()
	if taken {
		r.Value, r.OK = v, ok
	}
	return taken
}

// Enlist implements Case.
func (r *ChanReceiver[T]) Enlist(w *sched.Waiter) bool {
	if r.ch == nil {
		return true
	}
	if len(r.ch) > 0 {
		return false
	}
	r.waiter, r.ticket = w, w.Ticket()
	r.state = receiving // no other thread has r: Try has just settled
	go r.run()
	return true
}

// Withdraw implements Case.
func (r *ChanReceiver[T]) Withdraw(*sched.Waiter) {
	holding(&r.mu, func() *sched.Waiter {
		if r.state == receiving {
			r.state = stopping
			r.stop <- struct{}{} // there is room: it is the only token
		}
		r.waiter = nil
		return nil
	})
}

// Taken implements Case.
func (r *ChanReceiver[T]) Taken(*sched.Waiter) bool {
	r.Value, r.OK = r.take()
	return true
}
