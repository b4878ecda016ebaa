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

// follower follows the plan of a collective operation: it starts messages, waits for them at fences, and computes.
// The caller of a blocking operation does all of that itself. In an immediate operation the thread that moves the
// last message of a fence goes on:
//
//	the starter                   sets posting, starts the messages up to the fence, and looks how many are under way.
//	                              None: it goes on. Some: it clears posting, and goes away
//	the end of the last message   finds posting clear: its thread sets posting, and goes on
//
// Both decide under mu, so exactly one of them goes on. The thread that would go on after an error ends the operation.
type follower struct {
	comm     *Comm
	what     operationKind
	root     int      // of the operation; noRoot: it has none
	wrong    error    // why this rank cannot take part; nil: it can
	alike    likewise // what the ranks compare (EnvCheck)
	plan     plan.Plan
	tag      uint64         // of the messages
	turn     uint64         // how many operations of the communicator there were up to this one
	lasts    bool           // the operation is persistent: it has got its turn as it was made, for all its rounds
	messages []*planMessage // the first open ones belong to the fence to come; the others are spare
	open     int            // how many were started since the last fence

	next int // the next step; only the thread that goes on uses it
	over pioman.Completion

	mu      marcel.SpinLock
	posting bool
	left    int // messages under way
	failed  bool
	err     error
}

// finished is the bit of over.
const finished = 1

// planMessage is a message of a plan.
type planMessage struct {
	request nmad.Request
	step    *plan.Step
	done    func(*nmad.Request) // what nmad calls at its end, in an immediate operation
}

// noRoot is the root of operations that have none.
const noRoot = -1

// begin begins a collective operation, and returns the memory that its ranks share, if they do; the caller then makes
// the plan. wrong says why this rank cannot take part: the operation then ends with an error at all ranks, in its
// turn. That is at once if the caller waits for the end, else when it is started. If the communicator cannot be used
// the operation has no turn, and no follower. A persistent operation gets its turn here, so the ranks may start
// several in orders that differ.
func (c *Comm) begin(what operationKind, root int, m manner, x likewise, wrong error) (*follower, *shared, error) {
	if err := c.usable(); err != nil {
		return nil, nil, fmt.Errorf("mpi: %v: %w", what, err)
	}
	c.mu.Lock()
	var f *follower
	if n := len(c.idle); n > 0 {
		f, c.idle = c.idle[n-1], c.idle[:n-1]
		f.plan.Reset()
	} else {
		f = &follower{}
	}
	f.comm, f.what, f.root, f.plan.Table, f.wrong, f.lasts = c, what, root, c.job.table, wrong, m == lasting
	if c.job.checks {
		f.alike = x
	}
	if m != now {
		var late []uint64
		if m == lasting {
			late = f.reserve()
		}
		c.mu.Unlock()
		c.aloud(late)
		if m == lasting && c.job.checks {
			f.announce()
		}
		if wrong != nil {
			wrong = f.because(wrong)
		}
		return f, nil, wrong
	}
	err := f.number()
	h, looked := c.shared, c.looked
	c.mu.Unlock()
	if err == nil && c.job.checks {
		err = c.compare(f, m)
	}
	if wrong != nil {
		err = wrong
	}
	if err == nil && !looked {
		h, err = c.together()
	}
	if err != nil {
		err = c.fails(f, err)
	}
	return f, h, err
}

// draw gives the operation its number, which tells the operations of a communicator apart. The caller holds the
// communicator's mu.
func (f *follower) draw() {
	f.comm.turns++
	f.turn, f.tag = f.comm.turns, f.comm.collectiveTags|f.comm.turns
}

// reserve is draw for a persistent operation, which keeps one number for all its rounds. If an operation has failed
// before, it returns the tags that the caller has to refuse. The caller holds the communicator's mu.
func (f *follower) reserve() (late []uint64) {
	c := f.comm
	f.draw()
	if c.kept == nil {
		c.kept = map[uint64]bool{}
	}
	c.kept[f.turn] = true
	if c.broken != nil {
		late = c.ahead(nil, c.turns+1)
	}
	return late
}

// announce has the ranks compare a persistent operation once, as it is made. If it is wrong at this rank, the rank
// tells the others.
func (f *follower) announce() {
	if f.wrong != nil {
		f.comm.aloud([]uint64{f.tag | ofChecks})
		return
	}
	_ = f.comm.compare(f, lasting) // goes on beside it
}

// forget is called when the program has dropped the request of a persistent operation: the operation cannot be
// started any more, so it needs no refusals.
func (c *Comm) forget(turn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, turn)
}

// number notes that the operation is under way, one of several perhaps, and draws a number unless it has one. The
// error says why an operation before has failed; the caller then calls fails. The caller holds the communicator's mu.
func (f *follower) number() error {
	c := f.comm
	if !f.lasts {
		f.draw()
	}
	if c.broken == nil {
		c.active = append(c.active, f)
	}
	return c.broken
}

// finish follows the plan to its end.
func (f *follower) finish() error {
	if err := f.follow(); err != nil {
		return f.comm.fails(f, err)
	}
	f.comm.succeeds(f, true)
	return nil
}

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
		case plan.Put, plan.Take, plan.Fold, plan.Merge, plan.Took:
			err = h.do(f, s)
		case plan.Send, plan.Receive:
			err = f.start(s)
		case plan.Fence:
			err = f.fence()
		default:
			err = compute(s)
		}
		if err != nil {
			f.giveUp()
			return err
		}
	}
	return nil
}

// compute does a step that is no message: it combines two operands, or copies.
//
// In an immediate operation it runs in whatever thread moves the last message of the fence before: one that waits,
// the progressor, or a hook of the scheduler that polls. Nothing cuts such a step by time. Its bytes bound it: the
// plan combines or copies what came before the fence, so at most one operand per message of that fence, and of a long
// operand only a part where the ranks share the work (plan.Table). An operation that the program has defined runs
// there, too, so it must not wait.
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

// take returns a message to be started: one of an earlier fence, or a new one.
func (f *follower) take(s *plan.Step) *planMessage {
	if f.open == len(f.messages) {
		f.messages = append(f.messages, &planMessage{})
	}
	m := f.messages[f.open]
	f.open++
	m.step = s
	return m
}

// start starts a message that the caller waits for.
func (f *follower) start(s *plan.Step) (err error) {
	m, c := f.take(s), f.comm
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

// post starts a message. done, if it is not nil, is called at its end.
func (f *follower) post(m *planMessage, done func(*nmad.Request)) error {
	op := nmad.Op{Kind: nmad.OpSend, Match: nmad.Tag(f.tag), Done: done}
	if m.step.Kind == plan.Receive {
		op.Kind = nmad.OpRecv
	}
	op.Context = f.comm.collective
	b, whole := m.buffer(), false
	if op.Buf, whole = b.Dense(); !whole {
		op.Data = b
	}
	return f.comm.gates[m.step.Peer].Post(&m.request, &op)
}

// fence waits for all messages that were started.
func (f *follower) fence() error {
	for i, m := range f.messages[:f.open] {
		if err := m.ended(m.request.Wait()); err != nil {
			f.messages = append(f.messages[:0], f.messages[i+1:f.open]...)
			f.open = len(f.messages)
			return err
		}
	}
	f.open = 0
	return nil
}

// ended returns what is wrong with a message that has ended.
func (me *planMessage) ended(err error) error {
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

// giveUp cancels the receives that are under way. Sends end when their receivers drop them (nmad.Context.Drop).
func (f *follower) giveUp() {
	for _, m := range f.messages[:f.open] {
		if m.step.Kind == plan.Receive {
			m.request.Cancel()
		}
	}
}

// background starts the operation, which goes on while the program computes.
func (f *follower) background() error {
	c := f.comm
	c.mu.Lock()
	err := f.number()
	c.mu.Unlock()
	if f.wrong != nil {
		err = f.wrong
	}
	if err != nil {
		return c.fails(f, err)
	}
	if c.job.checks && !f.lasts {
		_ = c.compare(f, later)
	}
	f.over.Reset()
	f.next, f.open, f.left, f.failed, f.err, f.posting = 0, 0, 0, false, nil, true
	f.goOn()
	return nil
}

// goOn follows the plan up to the next fence with messages under way, or to the end. See compute for the threads that
// it runs in.
func (f *follower) goOn() {
	for f.next < len(f.plan.Steps) {
		s := &f.plan.Steps[f.next]
		f.next++
		switch s.Kind {
		case plan.Send, plan.Receive:
			f.startLater(s)
		case plan.Fence:
			if !f.passes() {
				return
			}
			f.open = 0
		default:
			if err := compute(s); err != nil {
				f.note(err)
			}
		}
		if f.stops() {
			return
		}
	}
	f.comm.succeeds(f, false)
	f.over.Signal(finished)
}

// startLater starts a message whose end another thread may see.
func (f *follower) startLater(s *plan.Step) {
	m := f.take(s)
	if m.done == nil {
		m.done = func(r *nmad.Request) { f.came(m, r) }
	}
	f.mu.Lock()
	f.left++
	f.mu.Unlock()
	if err := f.post(m, m.done); err != nil {
		f.open--
		f.mu.Lock()
		f.left--
		f.mu.Unlock()
		f.note(fmt.Errorf("rank %d: %w", s.Peer, err))
	}
}

func (f *follower) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// passes says whether the thread that posts may go on behind a fence: no message is under way any more. Otherwise the
// thread that ends the last one goes on. After an error it may go on, too: goOn then calls stops, which ends the
// operation.
func (f *follower) passes() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.posting = f.left == 0 || f.err != nil
	return f.posting
}

// stops says whether the operation has failed. The first caller that sees the failure ends the operation.
func (f *follower) stops() bool {
	f.mu.Lock()
	stop := f.err != nil && !f.failed
	f.failed = f.failed || stop
	f.mu.Unlock()
	if stop {
		go f.end()
	}
	return stop
}

// end ends an operation that has failed.
func (f *follower) end() {
	f.giveUp()
	f.mu.Lock()
	err := f.err
	f.mu.Unlock()
	err = f.comm.fails(f, err)
	f.mu.Lock()
	f.err = err // and no message changes it any more
	f.mu.Unlock()
	f.over.Signal(finished)
}

// came is called when a message has ended.
func (f *follower) came(m *planMessage, r *nmad.Request) {
	_, err := r.Test()
	err = m.ended(err)
	f.mu.Lock()
	if f.err == nil && !f.failed {
		f.err = err
	}
	f.left--
	mine := !f.posting && !f.failed && (f.left == 0 || f.err != nil)
	if mine {
		f.posting = true
	}
	f.mu.Unlock()
	if mine && !f.stops() {
		f.open = 0
		f.goOn()
	}
}

// wait waits for the end of the operation, until ctx is done.
func (f *follower) wait(ctx context.Context) error {
	return f.comm.domain.Await(ctx, &f.over, finished, f.reason())
}

// outcome returns how the operation has ended, and nil while it is under way.
func (f *follower) outcome() error {
	if !f.over.Test(finished) {
		return nil
	}
	return f.err
}
