package am

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
)

// prepare makes r ready for a new answer.
func (r *Reply) prepare(p *peer, id ID) error {
	if r == nil {
		return fmt.Errorf("am: %w: no reply", ErrConfig)
	}
	if r.begun && !r.req.IsDone() {
		return fmt.Errorf("am: request of rank %d: %w: its reply has not come", p.rank, ErrActive)
	}
	r.settle()
	if r.buf == nil {
		n := r.Size
		if n <= 0 {
			n = p.d.w.cfg.Medium
		}
		r.buf = make([]byte, wordSize+argsRoom+n)
	}
	r.posted.Store(false) // before r is in awaited again
	r.p, r.id, r.bad, r.begun = p, id, nil, false
	return nil
}

// listen posts the receive of the answer.
func (r *Reply) listen(seq uint8) (err error) {
	p := r.p
	if p.in != nil {
		err = p.in.IrecvInto(&r.req, p.rank, answerTag(seq), r.buf)
	} else {
		err = p.gate.IrecvInto(&r.req, answerTag(seq), r.buf)
	}
	r.posted.Store(err == nil)
	return err
}

// settle takes the credit that has come with the answer, if there is one, unless a thread that looks for room has.
func (r *Reply) settle() {
	if r.p != nil {
		r.p.harvest(r)
	}
}

// take takes the credit of an answer that has come. Under the peer's mu.
func (r *Reply) take() {
	r.credits, r.next = false, nil
	if !r.posted.Load() {
		return // the peer has failed
	}
	if _, err := r.req.Test(); err != nil && !errors.Is(err, nmad.ErrTruncated) {
		return // the peer has failed; of a body that is too long the beginning is here
	}
	v, err := decodeAnswer(r.buf[:r.req.Len()])
	if err == nil {
		err = r.p.takeCredit(v.credit)
	}
	r.bad = err
}

// harvest takes the credit of answers that have come: of all, or up to that of r, whose receive is over.
func (p *peer) harvest(r *Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at := &p.awaited; *at != nil && (r == nil || r.credits); {
		x := *at
		if x != r && (!x.posted.Load() || !x.req.IsDone()) {
			at = &x.next
			continue
		}
		*at = x.next
		x.take()
	}
}

// Test says whether the answer is there, or will not come; it moves the domain on, once. It never blocks.
func (r *Reply) Test() bool {
	if r == nil || !r.begun {
		return false
	}
	if !r.req.IsDone() {
		r.p.d.Poll()
		if r.p.failed() != nil && !nmad.InCallback() {
			r.req.Cancel()
		}
	}
	return r.req.IsDone()
}

// Wait waits for the answer, and returns what the handler has given to Token.Reply; both are valid until r is used
// again. It ends with the error of ctx; the answer may still come then, and be waited for again. Other errors:
// ErrHandler, ErrNoReply; a *nmad.PeerError if the target has died; nmad.ErrTruncated if the body is longer than
// Size; ErrMessage; ErrInHandler in a handler, unless the answer is there. nmad.ErrIdle: no request was sent.
func (r *Reply) Wait(ctx context.Context) (args []uint64, body []byte, err error) {
	if r == nil || !r.begun {
		return nil, nil, fmt.Errorf("am: wait for a reply: %w", nmad.ErrIdle)
	}
	if !r.req.IsDone() {
		if nmad.InCallback() {
			return nil, nil, fmt.Errorf("am: wait for a reply: %w", ErrInHandler)
		}
		err = r.p.d.waitFor(ctx, r.p, &r.req)
		if !r.req.IsDone() {
			return nil, nil, fmt.Errorf("am: wait for the reply of rank %d: %w", r.p.rank, err)
		}
	}
	r.settle()
	_, err = r.req.Test()
	return r.result(err)
}

func (r *Reply) result(err error) ([]uint64, []byte, error) {
	if err == nil {
		err = r.bad
	}
	if err != nil {
		return nil, nil, fmt.Errorf("am: reply of rank %d: %w", r.p.rank, r.p.orFailed(err))
	}
	data := r.buf[:r.req.Len()]
	v, err := decodeAnswer(data)
	switch {
	case err != nil:
	case v.status == unhandled:
		err = fmt.Errorf("%w: %d", ErrHandler, r.id)
	case v.status == silent:
		err = fmt.Errorf("%w: %d", ErrNoReply, r.id)
	case v.status >= noKey:
		err = fmt.Errorf("%w: the memory of a long request, at rank %d", lacks[v.status], r.p.rank)
	case len(data)-wordSize-8*v.args > len(r.buf)-wordSize-argsRoom:
		err = fmt.Errorf("%w: its body is longer than %d bytes", nmad.ErrTruncated, len(r.buf)-wordSize-argsRoom)
	default:
		data = data[wordSize:]
		return getArgs(&r.args, data, v.args), data[8*v.args:], nil
	}
	return nil, nil, fmt.Errorf("am: reply of rank %d: %w", r.p.rank, err)
}
