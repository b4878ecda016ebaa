package nmad

import (
	"context"
	"errors"
)

// SendContext is g.Send until ctx is done: then it returns the cause, and the message goes on, so buf is not to be changed until it was received, or the session is closed. A short message is done at once.
func SendContext(ctx context.Context, g *Gate, tag uint64, buf []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return g.Isend(tag, buf).WaitContext(ctx)
}

// RecvContext is g.Recv until ctx is done: then the receive is taken back, and it returns the cause; a message that is coming in just then is waited for, and received.
func RecvContext(ctx context.Context, g *Gate, tag uint64, buf []byte) (n int, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	r := g.Irecv(tag, buf)
	if err = r.WaitContext(ctx); err != nil && ctx.Err() != nil {
		r.Cancel()
		if err = r.Wait(); errors.Is(err, ErrCanceled) {
			return 0, context.Cause(ctx)
		}
	}
	return r.Len(), err
}
