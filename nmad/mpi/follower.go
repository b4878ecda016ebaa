package mpi

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
	"github.com/pm2-go/pm2/pioman"
)

// follower follows the plan of a collective operation at this rank: it starts messages, waits for them at the wait
// steps (plan.WaitMessages), and computes. The caller of a blocking operation does all of that itself. In an immediate
// operation the thread that moves the last message before a wait step goes on with the steps behind it:
//
//	the starter                   sets stepping, starts the messages up to the wait step, and looks how many are pending.
//	                              None: it goes on. Some: it clears stepping, and returns
//	the end of the last message   finds stepping clear: its thread sets stepping, and goes on
//
// Both decide under mu, so exactly one of them goes on. The thread that would go on after an error ends the operation.
type follower struct {
	comm       *Comm
	kind       operationKind
	root       int       // the rank of the root; noRoot: the operation has none
	wrong      error     // why this rank cannot take part; nil: it can
	signature  signature // what the ranks compare (EnvCheck)
	plan       plan.Plan
	tag        uint64         // of the messages
	turn       uint64         // the number of the operation among those of the communicator, from 1 on
	persistent bool           // the operation is persistent: all its rounds have the turn that it got when it was made
	messages   []*planMessage // the first open ones were started since the last wait step; the others are spare
	open       int            // how many of messages were started since the last wait step

	next       int               // the index of the next step; only the thread that has set stepping uses it
	completion pioman.Completion // of an immediate or persistent operation: set to bitDone at its end

	mu       marcel.SpinLock // guards the fields below
	stepping bool            // a thread takes steps
	pending  int             // messages under way
	ending   bool            // a thread ends the operation because of err
	err      error           // the first error; constant once completion is set
}

// bitDone is the bit of a completion that says that an operation, or a generalized request, is done.
const bitDone = 1

// planMessage is a message of a plan.
type planMessage struct {
	request nmad.Request
	step    *plan.Step
	done    func(*nmad.Request) // in an immediate operation: nmad calls it when the message has ended
}

// noRoot is the root of operations that have none.
const noRoot = -1

// begin begins a collective operation, and returns its follower. If the operation blocks and the ranks share memory,
// begin also returns that memory; else nil. The caller then makes the plan, unless there is an error. A persistent
// operation gets its turn here, so the ranks may start several in orders that differ. If the communicator cannot be
// used the operation has no turn, and begin returns an error without a follower.
//
// wrong is why this rank cannot take part; nil: it can. An operation that is wrong at one rank fails at all ranks, in
// its turn:
//
//	form         begin returns                       what ends the operation
//	blocking     the follower, the error of fails    begin itself
//	immediate    the follower, wrong                 runInBackground, which startOperation calls
//	persistent   the follower, wrong                 runInBackground, which Request.Start calls, each time
func (c *Comm) begin(kind operationKind, root int, callForm form, sig signature, wrong error) (*follower, *shared, error) {
	if err := c.usable(); err != nil {
		return nil, nil, fmt.Errorf("mpi: %v: %w", kind, err)
	}
	c.mu.Lock()
	var f *follower
	if n := len(c.idle); n > 0 {
		f, c.idle = c.idle[n-1], c.idle[:n-1]
		f.plan.Reset()
	} else {
		f = &follower{}
	}
	f.comm, f.kind, f.root, f.plan.Table, f.wrong, f.persistent = c, kind, root, c.job.table, wrong, callForm == persistent
	if c.job.checks {
		f.signature = sig
	}
	if callForm != blocking {
		var refused []uint64
		if callForm == persistent {
			refused = f.reserveTurn()
		}
		c.mu.Unlock()
		c.sendRefusals(refused)
		if callForm == persistent && c.job.checks {
			f.announce()
		}
		if wrong != nil {
			wrong = f.because(wrong)
		}
		return f, nil, wrong
	}
	err := f.activate()
	h, looked := c.shared, c.sharedKnown
	c.mu.Unlock()
	if err == nil && c.job.checks {
		err = c.compare(f, callForm)
	}
	if wrong != nil {
		err = wrong
	}
	if err == nil && !looked {
		h, err = c.makeShared()
	}
	if err != nil {
		err = c.fails(f, err)
	}
	return f, h, err
}

// drawTurn gives the operation its turn, and the tag that belongs to the turn. The caller holds the communicator's mu.
func (f *follower) drawTurn() {
	f.comm.turns++
	f.turn, f.tag = f.comm.turns, f.comm.collectiveTags|f.comm.turns
}

// reserveTurn is drawTurn for a persistent operation, which keeps one turn for all its rounds. If an operation has
// failed before, reserveTurn returns the tags that the caller has to refuse. The caller holds the communicator's mu.
func (f *follower) reserveTurn() (refused []uint64) {
	c := f.comm
	f.drawTurn()
	if c.kept == nil {
		c.kept = map[uint64]bool{}
	}
	c.kept[f.turn] = true
	if c.broken != nil {
		refused = c.addRefusals(nil, c.turns+1)
	}
	return refused
}

// announce has the ranks compare a persistent operation once, when it is made. A rank at which the operation is wrong
// sends refusals instead.
func (f *follower) announce() {
	if f.wrong != nil {
		f.comm.sendRefusals([]uint64{f.tag | ofChecks})
		return
	}
	_ = f.comm.compare(f, persistent) // a goroutine compares
}

// forget is called when the program has dropped the request of a persistent operation: the operation cannot be
// started any more, so it needs no refusals.
func (c *Comm) forget(turn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, turn)
}

// activate puts the operation among those under way, and draws its turn, which a persistent operation has already. The
// error says why an earlier operation has failed; the caller then calls fails. The caller holds the communicator's mu.
func (f *follower) activate() error {
	c := f.comm
	if !f.persistent {
		f.drawTurn()
	}
	if c.broken == nil {
		c.active = append(c.active, f)
	}
	return c.broken
}

// finish takes all steps of a blocking operation, and ends it.
func (f *follower) finish() error {
	if err := f.follow(); err != nil {
		return f.comm.fails(f, err)
	}
	f.comm.succeeds(f, true)
	return nil
}

// follow takes all steps. It blocks at wait steps, and where it waits for members that share memory.
func (f *follower) follow() error {
	h := f.comm.shared
	if f.plan.Shares {
		if err := h.enter(f.turn); err != nil {
			return err
		}
		defer h.leave()
	}
	for i := range f.plan.Steps {
		var err error
		switch s := &f.plan.Steps[i]; s.Kind {
		case plan.Publish, plan.Take, plan.Fold, plan.Merge, plan.Release:
			err = h.do(f, s)
		case plan.Send, plan.Receive:
			err = f.postMessage(s)
		case plan.WaitMessages:
			err = f.waitMessages()
		default:
			err = compute(s)
		}
		if err != nil {
			f.cancelReceives()
			return err
		}
	}
	return nil
}

// compute takes a step that is no message: it combines two operands, or copies.
//
// In an immediate operation the thread that starts it takes the steps before the first wait step. The thread that
// moves the last message before a wait step takes the steps behind it: a waiter, the progressor, a sleeper, or a
// thread in a hook that polls. The step has no bound in time, only in bytes: the plan combines or copies what has come
// before the wait step, so at most one operand for each message, and of a long operand only a part where the ranks
// share the work (plan.Table). That thread also runs an operation that the program has defined, which therefore must
// not wait.
func compute(s *plan.Step) error {
	if s.Kind == plan.Reduce {
		s.Op.Apply(s.From, s.Into)
		return nil
	}
	if n := datatype.Copy(&s.Into, &s.From); n != s.From.Size() || n != s.Into.Size() {
		return fmt.Errorf("%w: %d bytes go to %d", ErrCount, s.From.Size(), s.Into.Size())
	}
	return nil
}

// nextMessage returns the planMessage for a step: a spare one, or a new one.
func (f *follower) nextMessage(s *plan.Step) *planMessage {
	if f.open == len(f.messages) {
		f.messages = append(f.messages, &planMessage{})
	}
	m := f.messages[f.open]
	f.open++
	m.step = s
	return m
}

// postMessage starts the message of a step of a blocking operation; waitMessages waits for its end.
func (f *follower) postMessage(s *plan.Step) (err error) {
	m, c := f.nextMessage(s), f.comm
	peer := c.group.job[s.Peer]
	b := m.buffer()
	switch whole, ok := b.Dense(); {
	case !ok:
		err = f.post(m, nil)
	case s.Kind == plan.Send:
		err = c.collective.IsendInto(&m.request, peer, f.tag, whole)
	default:
		err = c.collective.IrecvInto(&m.request, peer, f.tag, whole)
	}
	if err != nil {
		f.open--
		return fmt.Errorf("rank %d: %w", s.Peer, err)
	}
	return nil
}

// buffer returns the memory that the message is sent from, or received into.
func (me *planMessage) buffer() *Buffer {
	if me.step.Kind == plan.Send {
		return &me.step.From
	}
	return &me.step.Into
}

// post starts a message. nmad calls done, if it is not nil, when the message has ended.
func (f *follower) post(m *planMessage, done func(*nmad.Request)) error {
	op := nmad.Operation{Kind: nmad.KindSend, Match: nmad.Tag(f.tag), Done: done}
	if m.step.Kind == plan.Receive {
		op.Kind = nmad.KindRecv
	}
	op.Context = f.comm.collective
	b, whole := m.buffer(), false
	if op.Buf, whole = b.Dense(); !whole {
		op.Data = b
	}
	return f.comm.gates[m.step.Peer].Post(&m.request, &op)
}

// waitMessages waits for all messages that were started since the last wait step. After an error they stay open, so
// that cancelReceives finds those that are still under way.
func (f *follower) waitMessages() error {
	for _, m := range f.messages[:f.open] {
		if err := m.outcome(m.request.Wait()); err != nil {
			return err
		}
	}
	f.open = 0
	return nil
}

// outcome returns the error of a message that has ended with err.
func (me *planMessage) outcome(err error) error {
	if me.step.Kind == plan.Receive && (err == nil || errors.Is(err, nmad.ErrTruncated)) {
		n, want := int(me.request.Envelope().Size), me.step.Into.Size()
		switch {
		case n == len(refusal) && isRefusal(&me.step.Into):
			err = ErrElsewhere
		case n != want:
			err = fmt.Errorf("%w: it sends %d bytes, of which %d are expected", ErrCount, n, want)
		}
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", me.step.Peer, err)
	}
	return nil
}

// cancelReceives cancels the receives that are under way; Cancel does nothing to those that have ended. Sends end when
// their receivers drop them (nmad.Context.Drop).
func (f *follower) cancelReceives() {
	for _, m := range f.messages[:f.open] {
		if m.step.Kind == plan.Receive {
			m.request.Cancel()
		}
	}
}

// runInBackground starts an immediate or persistent operation, which goes on while the program computes. It does not
// block.
func (f *follower) runInBackground() error {
	c := f.comm
	c.mu.Lock()
	err := f.activate()
	c.mu.Unlock()
	if f.wrong != nil {
		err = f.wrong
	}
	if err != nil {
		return c.fails(f, err)
	}
	if c.job.checks && !f.persistent {
		_ = c.compare(f, immediate)
	}
	f.completion.Reset()
	f.next, f.open, f.pending, f.ending, f.err, f.stepping = 0, 0, 0, false, nil, true
	f.proceed()
	return nil
}

// proceed takes the steps up to the next wait step with messages under way, or to the end. Only the thread that has
// set stepping calls it; compute says which threads these are.
func (f *follower) proceed() {
	for f.next < len(f.plan.Steps) {
		s := &f.plan.Steps[f.next]
		f.next++
		switch s.Kind {
		case plan.Send, plan.Receive:
			f.postWithCallback(s)
		case plan.WaitMessages:
			if !f.messagesDone() {
				return
			}
			f.open = 0
		default:
			if err := compute(s); err != nil {
				f.recordError(err)
			}
		}
		if f.endsIfFailed() {
			return
		}
	}
	f.comm.succeeds(f, false)
	f.completion.Signal(bitDone)
}

// postWithCallback starts the message of a step of an immediate operation. When the message has ended nmad calls
// messageDone, in any thread.
func (f *follower) postWithCallback(s *plan.Step) {
	m := f.nextMessage(s)
	if m.done == nil {
		m.done = func(r *nmad.Request) { f.messageDone(m, r) }
	}
	f.mu.Lock()
	f.pending++
	f.mu.Unlock()
	if err := f.post(m, m.done); err != nil {
		f.open--
		f.mu.Lock()
		f.pending--
		f.mu.Unlock()
		f.recordError(fmt.Errorf("rank %d: %w", s.Peer, err))
	}
}

// recordError keeps the first error.
func (f *follower) recordError(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// messagesDone reports whether the calling thread, which has set stepping, goes on behind a wait step: no message is
// pending, or there is an error, for which proceed then calls endsIfFailed. Otherwise it clears stepping, and the
// thread that ends the last message goes on.
func (f *follower) messagesDone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stepping = f.pending == 0 || f.err != nil
	return f.stepping
}

// endsIfFailed reports whether the caller is the first to see that the operation has failed. If so, endsIfFailed has
// begun to end the operation, and the caller takes no more steps.
func (f *follower) endsIfFailed() bool {
	f.mu.Lock()
	stop := f.err != nil && !f.ending
	f.ending = f.ending || stop
	f.mu.Unlock()
	if stop {
		go f.endFailed()
	}
	return stop
}

// endFailed ends an operation that has failed. It runs in a goroutine: a callback of nmad must not cancel requests, and
// the error handler of the program may block.
func (f *follower) endFailed() {
	f.cancelReceives()
	f.mu.Lock()
	err := f.err
	f.mu.Unlock()
	err = f.comm.fails(f, err)
	f.mu.Lock()
	f.err = err // ending is set, so no message changes err any more
	f.mu.Unlock()
	f.completion.Signal(bitDone)
}

// messageDone is called when a message has ended. If the message was the last one before the wait step, or has
// failed, the calling thread goes on with the steps.
func (f *follower) messageDone(m *planMessage, r *nmad.Request) {
	_, err := r.Test()
	err = m.outcome(err)
	f.mu.Lock()
	if f.err == nil && !f.ending {
		f.err = err
	}
	f.pending--
	proceeds := !f.stepping && !f.ending && (f.pending == 0 || f.err != nil)
	if proceeds {
		f.stepping = true
	}
	f.mu.Unlock()
	if proceeds && !f.endsIfFailed() {
		f.open = 0
		f.proceed()
	}
}

// wait waits for the end of the operation, until ctx is done.
func (f *follower) wait(ctx context.Context) error {
	return f.comm.domain.Await(ctx, &f.completion, bitDone, f.reason())
}
