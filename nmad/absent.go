package nmad

import (
	"context"
	"fmt"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Exported functions accept nil and zero values. A nil gate leads nowhere, a nil session
// is closed, a zero request was never started, a nil context never ends. Such a call locks and
// starts nothing, so it leaves nothing behind.

// made says that Open has made this session.
func (s *Session) made() bool { return s != nil && s.job.made() }

// loopbackHost is the address of a process that has not been told another one.
const loopbackHost = "127.0.0.1"

var (
	errNoGate    = fmt.Errorf("nmad: %w: a gate that no session has made", ErrRank)
	errNoSession = fmt.Errorf("nmad: %w: it was never opened", ErrClosed)
	errNoRequest = fmt.Errorf("nmad: %w: no request to start", ErrConfig)
	errNoOp      = fmt.Errorf("nmad: %w: no operation to start", ErrConfig)
)

// failed makes a request that has ended with err without having been started.
func failed(err error) *Request {
	r := &Request{}
	r.core.EndsWith(err)
	r.core.Stage = flow.Done
	r.core.State.Store(flow.Over)
	return r
}

// lacking says what is missing to start a request where barred is what keeps the caller from the gate; nil: nothing is.
func lacking(barred error, r *Request, op bool) error {
	switch {
	case barred != nil:
		return barred
	case r == nil:
		return errNoRequest
	case !op:
		return errNoOp
	}
	return nil
}

// orBackground is ctx, or one that never ends.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
