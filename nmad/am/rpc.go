package am

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
)

// A call is a request that begins it, one that gives its result, and perhaps one that cancels it. All go by the
// default domain. An argument or result that is longer than a body goes as a message of nmad, in a context of its
// own. Its tag is the number of the call and a bit for the way back.
//
//	caller                                        server
//	callBegins  number, bytes of the name, bytes of the argument, 1 if it follows; name, argument ----> a thread runs the function
//	callCanceled  number -------------------------------------------------------------------> its context ends
//	callEnds  number, outcome, bytes, 1 if they follow; result or text  <------------------- it has returned
const (
	callBegins ID = firstReserved + iota
	callCanceled
	callEnds
)

const (
	returned callOutcome = iota
	failed               // with an error, whose text is the result
	unknown
	panicked
	busy
	closing // it is not told
)

// callTag is the tag of a long argument, or, back, a long result.
func callTag(number uint64, back bool) uint64 { return number<<1 | bit(back) }

func (x *outgoingCalls) init(w *World) {
	x.w, x.open = w, map[uint64]*outgoingCall{}
	w.handle(callEnds, x.ended)
}

func (x *outgoingCalls) begin(c *outgoingCall) (uint64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.why != nil {
		return 0, x.why
	}
	x.last++
	x.open[x.last] = c
	return x.last, nil
}

// take takes a call out that has ended, or was given up; nil: it was before.
func (x *outgoingCalls) take(number uint64, rank int) *outgoingCall {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.open[number]
	if c == nil || c.rank != rank {
		return nil
	}
	delete(x.open, number)
	return c
}

// begun notes that a call of the own process has come; false: it was given up before.
func (x *outgoingCalls) begun(number uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.open[number]
	if c != nil {
		c.begun.Store(true)
	}
	return c != nil
}

// argument takes the long argument of a call of the own process.
func (x *outgoingCalls) argument(number uint64) []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c := x.open[number]; c != nil {
		return c.args
	}
	return nil
}

// lost ends the calls to a rank; below 0: all.
func (x *outgoingCalls) lost(rank int, why error) {
	var all []*outgoingCall
	x.mu.Lock()
	for number, c := range x.open {
		if c.rank == rank || rank < 0 {
			delete(x.open, number)
			all = append(all, c)
		}
	}
	x.mu.Unlock()
	for _, c := range all {
		c.err = why
		c.over.Signal(1)
	}
}

func (x *outgoingCalls) end() {
	why := fmt.Errorf("am: %w", ErrClosed)
	x.mu.Lock()
	x.why = why
	x.mu.Unlock()
	x.lost(-1, why)
}

// ended is the handler of callEnds.
func (x *outgoingCalls) ended(t *Token, args []uint64, body []byte) {
	if len(args) != 4 || args[3] > 1 || args[3] == 0 && args[2] != uint64(len(body)) || args[1] > uint64(busy) {
		t.p.violation(fmt.Errorf("%w: the end of a call", ErrMessage))
		return
	}
	c := x.take(args[0], t.Rank())
	long := args[3] == 1
	if c == nil {
		if long {
			x.drop(t.Rank(), callTag(args[0], true))
		}
		return
	}
	c.end = callOutcome(args[1])
	if !long {
		c.result = slices.Clone(body)
		c.over.Signal(1)
		return
	}
	if args[2] > uint64(x.w.cfg.Longest) {
		x.drop(t.Rank(), callTag(args[0], true))
		c.err = fmt.Errorf("%w: a result of %d bytes, the bound is %d", ErrConfig, args[2], x.w.cfg.Longest)
		c.over.Signal(1)
		return
	}
	c.result = make([]byte, args[2])
	c.op = nmad.Op{Kind: nmad.OpRecv, Match: nmad.Match{Tag: callTag(args[0], true), Mask: ^uint64(0), Context: x.long}, Buf: c.result}
	c.op.Done = func(r *nmad.Request) {
		_, c.err = r.Test()
		c.result = c.result[:r.Len()]
		c.over.Signal(1)
	}
	if err := x.w.s.Post(t.Rank(), &c.req, &c.op); err != nil {
		c.err = err
		c.over.Signal(1)
	}
}

// drop receives and forgets a message that has become useless.
func (x *outgoingCalls) drop(rank int, tag uint64) {
	x.w.s.Start(rank, &nmad.Op{Kind: nmad.OpRecv, Match: nmad.Match{Tag: tag, Mask: ^uint64(0), Context: x.long}, Done: func(*nmad.Request) {}})
}

// Call has the function of that name (World.Serve) run at a rank, the own one included, with a copy of args, and
// returns its result. It blocks the calling thread, or goroutine, only. When ctx ends it returns its cause at once,
// and the context of the function ends. Errors: a *RemoteError, with the text of an error that the function has
// returned; ErrUnknown; ErrPanicked; ErrBusy; a *nmad.PeerError if the target dies before it has answered;
// ErrInHandler; ErrClosed; ErrConfig, where args or the result are longer than Config.Longest.
func (w *World) Call(ctx context.Context, rank int, name string, args []byte) ([]byte, error) {
	result, err := w.call(ctx, rank, name, args)
	if err != nil {
		var remote *RemoteError
		if !errors.As(err, &remote) {
			err = fmt.Errorf("am: call %q at rank %d: %w", name, rank, err)
		}
		return nil, err
	}
	return result, nil
}

func (w *World) call(ctx context.Context, rank int, name string, args []byte) ([]byte, error) {
	switch {
	case w == nil || w.s == nil:
		return nil, fmt.Errorf("%w: no world", ErrConfig)
	case len(name) > maxName || len(args) > w.cfg.Longest:
		return nil, fmt.Errorf("%w: a name of %d bytes, an argument of %d: at most %d and %d", ErrConfig, len(name), len(args), maxName, w.cfg.Longest)
	case nmad.InCallback():
		return nil, ErrInHandler
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p, err := w.def.to(rank)
	if err != nil {
		return nil, err
	}
	c := &outgoingCall{rank: rank}
	number, err := w.calls.begin(c)
	if err != nil {
		return nil, err
	}
	if err := p.failed(); err != nil { // else calls.lost finds it
		w.calls.take(number, rank)
		return nil, err
	}
	long := len(name)+len(args) > w.cfg.Medium
	body := append(make([]byte, 0, len(name)+len(args)), name...)
	if long && rank == w.s.Rank() {
		c.args = slices.Clone(args) // before the request, whose handler takes it
	} else if long {
		w.calls.send(rank, callTag(number, false), args)
	} else {
		body = append(body, args...)
	}
	err = w.def.Request(rank, callBegins, []uint64{number, uint64(len(name)), uint64(len(args)), bit(long)}, body)
	if err != nil {
		w.calls.take(number, rank)
		return nil, err
	}
	for tries := 0; rank == w.s.Rank() && !c.begun.Load() && !c.over.Test(1) && ctx.Err() == nil; tries++ { // the request may be one by rendezvous, which to the own process moves only while a thread polls
		w.def.Poll()
		rest(tries)
	}
	if err := c.over.WaitContext(ctx, w.s.Engine(), 1); err != nil {
		if w.calls.take(number, rank) != nil {
			w.cancel(rank, number)
		}
		return nil, err
	}
	return c.outcome(rank, name)
}

// send sends a copy of what is too long for a body.
func (x *outgoingCalls) send(rank int, tag uint64, data []byte) {
	x.w.s.Start(rank, &nmad.Op{Match: nmad.Match{Tag: tag, Context: x.long}, Buf: slices.Clone(data)}) // what fails fails with the peer
}

// cancel tells that a call was given up.
func (w *World) cancel(rank int, number uint64) {
	if rank == w.s.Rank() { // a message to the own process may wait until a thread polls
		w.served.giveUp(callID{rank, number})
		return
	}
	args := []uint64{number}
	if sent, err := w.def.TryRequest(rank, callCanceled, args, nil); !sent && err == nil {
		w.served.starts(func() { _ = w.def.Request(rank, callCanceled, args, nil) }) // fails with the peer
	}
}

func (c *outgoingCall) outcome(rank int, name string) ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	switch c.end {
	case returned:
		return c.result, nil
	case failed:
		return nil, &RemoteError{rank, name, string(c.result)}
	case unknown:
		return nil, ErrUnknown
	case panicked:
		return nil, fmt.Errorf("%w: %s", ErrPanicked, c.result)
	}
	return nil, ErrBusy
}
