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
	callReturned callOutcome = iota
	callFailed               // with an error; the result is its text
	callUnknown
	callPanicked
	callBusy
	callClosing // the target leaves; it tells the caller nothing
)

// callTag is the tag of the long argument of a call, or, if back is set, of its long result.
func callTag(number uint64, back bool) uint64 { return number<<1 | bit(back) }

// init registers the handler of the requests that end calls.
func (x *outgoingCalls) init(w *World) {
	x.world, x.open = w, map[uint64]*outgoingCall{}
	w.handle(callEnds, x.ended)
}

// begin gives a call its number. The error says that the world is closed.
func (x *outgoingCalls) begin(c *outgoingCall) (uint64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closedErr != nil {
		return 0, x.closedErr
	}
	x.last++
	x.open[x.last] = c
	return x.last, nil
}

// take takes a call of that rank out of open, since it has ended, or its caller gives up. It returns nil if the call
// was taken before.
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

// begun notes that the request of a call to the own process is handled, and returns the call; nil if the caller has
// given up before.
func (x *outgoingCalls) begun(number uint64) *outgoingCall {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.open[number]
	if c != nil {
		c.begun.Store(true)
	}
	return c
}

// lost ends the calls to a rank, or, below 0, to all, with the error why.
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
		c.done.Signal(1)
	}
}

// end ends all calls with ErrClosed; none begins any more.
func (x *outgoingCalls) end() {
	why := fmt.Errorf("am: %w", ErrClosed)
	x.mu.Lock()
	x.closedErr = why
	x.mu.Unlock()
	x.lost(-1, why)
}

// ended is the handler of callEnds.
func (x *outgoingCalls) ended(t *Token, args []uint64, body []byte) {
	if len(args) != 4 || args[3] > 1 || args[3] == 0 && args[2] != uint64(len(body)) || args[1] > uint64(callBusy) {
		t.peer.violation(fmt.Errorf("%w: the end of a call", ErrMessage))
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
		c.done.Signal(1)
		return
	}
	if args[2] > uint64(x.world.cfg.Longest) {
		x.drop(t.Rank(), callTag(args[0], true))
		c.err = fmt.Errorf("%w: a result of %d bytes, the bound is %d", ErrConfig, args[2], x.world.cfg.Longest)
		c.done.Signal(1)
		return
	}
	c.result = make([]byte, args[2])
	c.op = nmad.Operation{Kind: nmad.KindRecv, Match: x.match(callTag(args[0], true)), Buf: c.result}
	c.op.Done = func(r *nmad.Request) {
		_, c.err = r.Test()
		c.result = c.result[:r.Len()]
		c.done.Signal(1)
	}
	if err := x.world.session.Post(t.Rank(), &c.req, &c.op); err != nil {
		c.err = err
		c.done.Signal(1)
	}
}

// match is the Match of the long argument, or result, with that tag.
func (x *outgoingCalls) match(tag uint64) nmad.Match {
	return nmad.Match{Tag: tag, Mask: ^uint64(0), Context: x.longContext}
}

// drop receives a long argument or result that is not needed any more, and forgets it.
func (x *outgoingCalls) drop(rank int, tag uint64) {
	x.world.session.Start(rank, &nmad.Operation{Kind: nmad.KindRecv, Match: x.match(tag), Done: func(*nmad.Request) {}})
}

// Call runs the function of that name (World.Serve) at a rank, which may be the own one, with a copy of args, and
// returns its result. It blocks the calling thread or goroutine only. When ctx, which may be nil, is done it returns
// the cause at once, and the context of the function ends. Errors: a *RemoteError, with the text of an error that the
// function has returned; ErrUnknown; ErrPanicked; ErrBusy; a *nmad.PeerError if the target dies before it has answered;
// ErrInHandler; ErrClosed; ErrConfig if args or the result is longer than Config.Longest.
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

// call is Call with bare errors.
func (w *World) call(ctx context.Context, rank int, name string, args []byte) ([]byte, error) {
	switch {
	case w == nil || w.session == nil:
		return nil, fmt.Errorf("%w: no world", ErrConfig)
	case len(name) > maxName || len(args) > w.cfg.Longest:
		return nil, fmt.Errorf("%w: a name of %d bytes, an argument of %d: at most %d and %d",
			ErrConfig, len(name), len(args), maxName, w.cfg.Longest)
	case nmad.InCallback():
		return nil, ErrInHandler
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p, err := w.defaultDomain.to(rank)
	if err != nil {
		return nil, err
	}
	c := &outgoingCall{rank: rank}
	number, err := w.calls.begin(c)
	if err != nil {
		return nil, err
	}
	if err := p.failed(); err != nil { // a failure after this look finds the call in open (lost)
		w.calls.take(number, rank)
		return nil, err
	}
	long := len(name)+len(args) > w.cfg.Medium
	body := append(make([]byte, 0, len(name)+len(args)), name...)
	if long && rank == w.session.Rank() {
		c.args = slices.Clone(args) // before the request, whose handler reads it
	} else if long {
		w.calls.send(rank, callTag(number, false), args)
	} else {
		body = append(body, args...)
	}
	head := []uint64{number, uint64(len(name)), uint64(len(args)), bit(long)}
	if err := w.defaultDomain.Request(rank, callBegins, head, body); err != nil {
		w.calls.take(number, rank)
		return nil, err
	}
	// A long request to the own process moves only while a thread polls.
	for tries := 0; rank == w.session.Rank() && !c.begun.Load() && !c.done.Test(1) && ctx.Err() == nil; tries++ {
		w.defaultDomain.Poll()
		rest(tries)
	}
	if err := c.done.WaitContext(ctx, w.session.Engine(), 1); err != nil {
		if w.calls.take(number, rank) != nil {
			w.cancel(rank, number)
		}
		return nil, err
	}
	return c.outcome(rank, name)
}

// send sends a copy of a long argument or result. It does not wait; an error is the peer's, which then fails.
func (x *outgoingCalls) send(rank int, tag uint64, data []byte) {
	x.world.session.Start(rank, &nmad.Operation{Match: x.match(tag), Buf: slices.Clone(data)})
}

// cancel tells the target that the caller has given up. It does not wait.
func (w *World) cancel(rank int, number uint64) {
	if rank == w.session.Rank() { // a message to the own process may wait until a thread polls
		w.served.giveUp(callID{rank, number})
		return
	}
	args := []uint64{number}
	if sent, err := w.defaultDomain.TryRequest(rank, callCanceled, args, nil); !sent && err == nil {
		w.served.starts(func() { _ = w.defaultDomain.Request(rank, callCanceled, args, nil) }) // fails with the peer
	}
}

// outcome returns the result of a call that has ended, or its error.
func (c *outgoingCall) outcome(rank int, name string) ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	switch c.end {
	case callReturned:
		return c.result, nil
	case callFailed:
		return nil, &RemoteError{rank, name, string(c.result)}
	case callUnknown:
		return nil, ErrUnknown
	case callPanicked:
		return nil, fmt.Errorf("%w: %s", ErrPanicked, c.result)
	}
	return nil, ErrBusy
}
