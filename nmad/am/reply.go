package am

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// prepare makes r ready for the answer to a new request of p.
func (r *Reply) prepare(p *peer, id ID) error {
	if r.sent && !r.req.IsDone() {
		return fmt.Errorf("am: request of rank %d: %w: its reply has not come", p.rank, ErrActive)
	}
	r.settle()
	if r.buf == nil {
		n := r.Size
		if n <= 0 {
			n = p.domain.world.cfg.Medium
		}
		r.buf = make([]byte, wordSize+argsRoom+n)
	}
	r.listening.Store(false) // before r is in awaited again
	r.peer, r.id, r.creditErr, r.sent = p, id, nil, false
	return nil
}

// listen posts the receive of the answer.
func (r *Reply) listen(seq uint8) (err error) {
	p := r.peer
	if p.shortContext != nil {
		err = p.shortContext.IrecvInto(&r.req, p.rank, answerTag(seq), r.buf)
	} else {
		err = p.gate.IrecvInto(&r.req, answerTag(seq), r.buf)
	}
	r.listening.Store(err == nil)
	return err
}

// settle takes the credit that came with the answer, unless a thread that looked for room has taken it (harvest).
func (r *Reply) settle() {
	if r.peer != nil {
		r.peer.harvest(r)
	}
}

// take takes the credit of an answer that has come, and keeps what is wrong with it in creditErr. The caller holds the
// peer's mu.
func (r *Reply) take() {
	r.creditPending, r.next = false, nil
	if !r.listening.Load() {
		return // the peer has failed
	}
	if _, err := r.req.Test(); err != nil && !errors.Is(err, nmad.ErrTruncated) {
		return // the peer has failed; a body that is too long was cut, and its credit is here
	}
	v, err := decodeAnswer(r.buf[:r.req.Len()])
	if err == nil {
		err = r.peer.takeCredit(v.credit)
	}
	r.creditErr = err
}

// harvest takes the credit of answers that have come: of all of them if r is nil; else it stops once it has that of r,
// whose receive has ended.
func (p *peer) harvest(r *Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at := &p.awaited; *at != nil && (r == nil || r.creditPending); {
		x := *at
		if x != r && (!x.listening.Load() || !x.req.IsDone()) {
			at = &x.next
			continue
		}
		*at = x.next
		x.take()
	}
}

// IsDone reports whether the answer has come, or will not come, or no request was sent. Unlike Test it moves nothing
// on.
func (r *Reply) IsDone() bool { return r == nil || !r.sent || r.req.IsDone() }

// Test reports whether the answer has come, or will not come, and, if so, with which error Wait returns. If not, it
// moves the domain on, once. It never blocks. If no request was sent it returns false and nmad.ErrNotStarted, as
// nmad.Request does.
func (r *Reply) Test() (bool, error) {
	if r == nil || !r.sent {
		return false, fmt.Errorf("am: test a reply: %w", nmad.ErrNotStarted)
	}
	if !r.advance() {
		return false, nil
	}
	_, _, err := r.result()
	return true, err
}

// advance moves the domain on, once, unless the receive of the answer has ended, and reports whether it has. It cancels
// the receive if the peer has failed.
func (r *Reply) advance() bool {
	if !r.req.IsDone() {
		r.peer.domain.Poll()
		if r.peer.failed() != nil && !nmad.InCallback() {
			r.req.Cancel()
		}
	}
	return r.req.IsDone()
}

// Wait blocks the calling thread or goroutine until the answer has come, and returns what the handler gave to
// Token.Reply; args and body are valid until the next request for r. Waiting again gives the same answer. Errors:
// ErrHandler, ErrNoReply; a *nmad.PeerError if the target has died; nmad.ErrTruncated if the body is longer than
// Size; ErrMessage; ErrInHandler in a handler, unless the answer is there; nmad.ErrNotStarted if no request was sent.
func (r *Reply) Wait() (args []uint64, body []byte, err error) {
	return r.WaitContext(context.Background())
}

// WaitContext is Wait until ctx is done; then it returns the cause, and the answer can be waited for again.
func (r *Reply) WaitContext(ctx context.Context) (args []uint64, body []byte, err error) {
	if r == nil || !r.sent {
		return nil, nil, fmt.Errorf("am: wait for a reply: %w", nmad.ErrNotStarted)
	}
	if !r.req.IsDone() {
		if nmad.InCallback() {
			return nil, nil, fmt.Errorf("am: wait for a reply: %w", ErrInHandler)
		}
		err = r.peer.domain.waitFor(ctx, r.peer, &r.req)
		if !r.req.IsDone() {
			return nil, nil, fmt.Errorf("am: wait for the reply of rank %d: %w", r.peer.rank, err)
		}
	}
	return r.result()
}

// result returns the answer, or why there is none, once its receive has ended.
func (r *Reply) result() ([]uint64, []byte, error) {
	r.settle()
	_, err := r.req.Test()
	if err == nil {
		err = r.creditErr
	}
	if err != nil {
		return nil, nil, fmt.Errorf("am: reply of rank %d: %w", r.peer.rank, r.peer.orFailed(err))
	}
	data := r.buf[:r.req.Len()]
	v, err := decodeAnswer(data)
	switch {
	case err != nil:
	case v.status == statusUnhandled:
		err = fmt.Errorf("%w: %d", ErrHandler, r.id)
	case v.status == statusSilent:
		err = fmt.Errorf("%w: %d", ErrNoReply, r.id)
	case v.status >= statusNoKey:
		err = fmt.Errorf("%w: the memory of a long request, at rank %d", statusErrors[v.status], r.peer.rank)
	case len(data)-wordSize-8*v.args > len(r.buf)-wordSize-argsRoom:
		err = fmt.Errorf("%w: its body is longer than %d bytes", nmad.ErrTruncated, len(r.buf)-wordSize-argsRoom)
	default:
		data = data[wordSize:]
		return getArgs(&r.args, data, v.args), data[8*v.args:], nil
	}
	return nil, nil, fmt.Errorf("am: reply of rank %d: %w", r.peer.rank, err)
}

// Case returns the case of a marcel.Select that can be taken once the answer has come, or will not come. Then Wait
// returns at once. A Reply for which no request was sent counts as done, and Wait says nmad.ErrNotStarted. Any number
// of Selects and Waits may wait for one Reply. Where no other thread moves the answer, in a Private domain and from the
// own process, Select polls instead of sleeping. Of the default domain Case allocates nothing.
func (r *Reply) Case() marcel.Case {
	switch {
	case r == nil || !r.sent:
		return (*nmad.Request)(nil).Case()
	case r.peer.polledByWaiters() || r.peer.outlives():
		return &replyCase{Case: r.req.Case(), reply: r}
	}
	return r.req.Case()
}

// replyCase is the case of the receive of an answer, for a peer whose waiters have more to do than those of the
// receive: they move other domains, or cancel the receive when the peer fails.
type replyCase struct {
	marcel.Case // that of the receive
	reply       *Reply

	// From Enlist to Withdraw, where the peer's own gate outlives the failure of the peer.
	stop     func() bool   // gives up the cancellation below; nil if there is none
	canceled *marcel.Latch // opens once the receive was canceled, since the peer has failed
}

var _ marcel.PollingCase = (*replyCase)(nil)

// Try moves the domain on, once, if the answer has not come.
func (rc *replyCase) Try() bool { return rc.reply.advance() || rc.Case.Try() }

// Poll tells Select to poll on where no other thread moves the answer.
func (rc *replyCase) Poll() bool {
	if rc.reply.peer.polledByWaiters() {
		return !rc.reply.advance()
	}
	return rc.Case.(marcel.PollingCase).Poll()
}

// Enlist is for Select. The end of the peer cancels the receive, which wakes the waiter.
func (rc *replyCase) Enlist(w *marcel.Waiter) bool {
	if !rc.Case.Enlist(w) {
		return false
	}
	if p := rc.reply.peer; p.outlives() {
		canceled := marcel.NewLatch(1)
		rc.canceled = canceled
		rc.stop = context.AfterFunc(p.ended, func() {
			rc.reply.req.Cancel()
			canceled.CountDown()
		})
	}
	return true
}

// Withdraw is for Select. When it returns the cancellation does not touch the receive any more.
func (rc *replyCase) Withdraw(w *marcel.Waiter) {
	rc.Case.Withdraw(w)
	if rc.stop != nil && !rc.stop() {
		rc.canceled.Wait()
	}
	rc.stop = nil
}
