package am

import (
	"context"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// maxName is the longest name of a function, in bytes.
const maxName = 255

// init registers the handlers of the requests that begin and cancel calls.
func (x *served) init(w *World) {
	x.world, x.names, x.run = w, map[string]Func{}, map[callID]context.CancelCauseFunc{}
	w.handle(callBegins, x.begins)
	w.handle(callCanceled, x.canceled)
}

// Serve makes f the function of that name, of 1 to 255 bytes, for the calls of all processes (Call). Each call runs f
// in a thread of marcel of its own, so f may wait. If f is nil, the name is not served any more. The caller gets an
// error of f as a *RemoteError, a panic as ErrPanicked, and ErrUnknown if its call comes before Serve. Serve does not
// block.
func (w *World) Serve(name string, f Func) error {
	if len(name) == 0 || len(name) > maxName {
		return fmt.Errorf("am: %w: serve: a name of %d bytes: 1 to %d", ErrConfig, len(name), maxName)
	}
	x := &w.served
	x.mu.Lock()
	defer x.mu.Unlock()
	if f == nil {
		delete(x.names, name)
	} else {
		x.names[name] = f
	}
	return nil
}

// servedCall is a call of another process, or of the own one, that runs, or is refused. Its thread alone uses it once
// begins has started that.
type servedCall struct {
	callID
	fn      Func
	args    []byte
	refusal callOutcome // returned: f runs; else the call is refused with this outcome

	ctx    context.Context // of f
	cancel context.CancelCauseFunc
}

// begins is the handler of callBegins.
func (x *served) begins(t *Token, args []uint64, body []byte) {
	n := uint64(len(body))
	if len(args) != 4 || args[3] > 1 || args[1] > min(maxName, n) || args[3] == 0 && args[1]+args[2] != n {
		t.peer.violation(fmt.Errorf("%w: the begin of a call", ErrMessage))
		return
	}
	j := &servedCall{callID: callID{t.Rank(), args[0]}}
	own := j.rank == x.world.session.Rank() // long messages to the own process move only while a thread polls
	long := args[3] == 1 && !own
	if !x.admit(j, string(body[:args[1]]), args[2]) {
		t.peer.violation(fmt.Errorf("%w: more than %d calls at once", ErrMessage, refusals*x.world.cfg.Calls))
		return
	}
	// The caller in this process may have given up. The look comes after admit, so that a later giveUp finds the call.
	if own && j.refusal != callClosing {
		c := x.world.calls.begun(j.number)
		if c == nil {
			x.ended(j)
			x.leave()
			return
		}
		j.args = c.args // if it is long
	}
	if why := t.peer.failed(); why != nil { // lost may have run before admit
		j.cancel(why)
	}
	switch {
	case j.refusal == callClosing:
		return // the end of this process ends the call at its caller
	case long && j.refusal != callReturned:
		x.world.calls.drop(j.rank, callTag(j.number, false))
	case long:
		j.args = make([]byte, args[2])
	case args[3] == 0:
		j.args = slices.Clone(body[args[1]:])
	}
	marcel.Spawn(func() {
		defer x.leave()
		j.do(x, long)
	})
}

// refusals times Config.Calls is the most threads for calls, those that only tell a caller of a refusal included.
const refusals = 4

// admit decides whether a call may run (j.refusal), and counts its thread. It returns false if the peer has broken the
// protocol, by too many calls.
func (x *served) admit(j *servedCall, name string, size uint64) bool {
	j.ctx, j.cancel = context.WithCancelCause(context.Background())
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closedErr != nil {
		j.refusal = callClosing
		return true
	}
	if x.threads >= refusals*x.world.cfg.Calls {
		return false
	}
	j.fn = x.names[name]
	_, twice := x.run[j.callID]
	switch {
	case j.fn == nil:
		j.refusal = callUnknown
	case len(x.run) >= x.world.cfg.Calls || twice || size > uint64(x.world.cfg.Longest):
		j.refusal = callBusy
	default:
		x.run[j.callID] = j.cancel
	}
	x.threads++
	x.work.Add(1)
	return true
}

// leave ends what admit has counted.
func (x *served) leave() {
	x.mu.Lock()
	x.threads--
	x.mu.Unlock()
	x.work.Done()
}

// starts runs f on a goroutine that end waits for. Once end has begun it does nothing.
func (x *served) starts(f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closedErr == nil {
		x.work.Go(f)
	}
}

// do runs a call, and tells the caller how it has ended. With long the argument comes as a message of its own.
func (j *servedCall) do(x *served, long bool) {
	if j.refusal != callReturned {
		x.tell(j, j.refusal, nil)
		return
	}
	if long {
		op := nmad.Operation{Kind: nmad.KindRecv, Match: x.world.calls.match(callTag(j.number, false)), Buf: j.args}
		if err := x.world.session.Start(j.rank, &op).Wait(); err != nil {
			x.ended(j)
			return // the caller has died, or this world closes
		}
	}
	end, result := callPanicked, []byte("it has ended its thread")
	defer func() { // also if f ends the thread
		if why := recover(); why != nil {
			result = fmt.Append(nil, why)
		}
		x.ended(j)
		x.tell(j, end, result)
	}()
	out, err := j.fn(j.ctx, j.rank, j.args)
	if err != nil {
		end, result = callFailed, []byte(err.Error())
	} else {
		end, result = callReturned, out
	}
}

// ended takes a call that has ended out of run.
func (x *served) ended(j *servedCall) {
	x.mu.Lock()
	cancel := x.run[j.callID]
	delete(x.run, j.callID)
	x.mu.Unlock()
	if cancel != nil {
		cancel(nil)
	}
}

// tell tells the caller how a call has ended.
func (x *served) tell(j *servedCall, end callOutcome, result []byte) {
	if len(result) > x.world.cfg.Longest {
		end, result = callFailed, fmt.Appendf(nil, "a result of %d bytes, the bound is %d", len(result), x.world.cfg.Longest)
	}
	if j.rank == x.world.session.Rank() {
		if c := x.world.calls.take(j.number, j.rank); c != nil {
			c.end, c.result = end, slices.Clone(result)
			c.done.Signal(1)
		}
		return
	}
	n, long := uint64(len(result)), len(result) > x.world.cfg.Medium
	if long {
		x.world.calls.send(j.rank, callTag(j.number, true), result)
		result = nil
	}
	head := []uint64{j.number, uint64(end), n, bit(long)}
	_ = x.world.defaultDomain.Request(j.rank, callEnds, head, result) // fails with the caller
}

// canceled is the handler of callCanceled.
func (x *served) canceled(t *Token, args []uint64, _ []byte) {
	if len(args) != 1 {
		t.peer.violation(fmt.Errorf("%w: the cancellation of a call", ErrMessage))
		return
	}
	x.giveUp(callID{t.Rank(), args[0]})
}

// giveUp cancels the context of a call, if it runs.
func (x *served) giveUp(c callID) {
	x.mu.Lock()
	cancel := x.run[c]
	x.mu.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
}

// lost cancels the contexts of the calls of a rank, or, below 0, of all, with the cause why.
func (x *served) lost(rank int, why error) {
	var all []context.CancelCauseFunc
	x.mu.Lock()
	for c, cancel := range x.run {
		if c.rank == rank || rank < 0 {
			all = append(all, cancel)
		}
	}
	x.mu.Unlock()
	for _, cancel := range all {
		cancel(why)
	}
}

// end cancels the contexts of all calls, and waits until their functions have returned. No call runs any more.
func (x *served) end() {
	x.mu.Lock()
	x.closedErr = fmt.Errorf("am: %w", ErrClosed)
	x.mu.Unlock()
	x.lost(-1, x.closedErr)
	x.work.Wait()
}
