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

// follower follows the plan of a collective operation: it starts messages, waits for them at fences, and computes. A
// caller that blocks does all of that itself. Of an immediate operation the thread that moves the last message of a
// fence goes on:
//
//	starter: posting; starts the messages up to the fence; not posting: none is left: goes on; else goes away
//	message: is over; not posting, and none is left: this thread goes on, posting
//
// Both decide under mu, so one of them goes on. An error is dealt with by the thread that would go on, at once.
type follower struct {
	comm     *Comm
	what     operation
	root     int      // of the operation; noRoot: it has none
	wrong    error    // why this rank cannot take part
	alike    likewise // what is compared
	plan     plan.Plan
	tag      uint64     // of the messages
	turn     uint64     // how many operations of the communicator there were up to this one
	lasts    bool       // it is persistent: it has its turn since it was made, for all its rounds
	messages []*message // of the fence to come, and more to be used again
	open     int        // of these, started since the last fence

	next int // step; of the thread that goes on
	over pioman.Completion

	mu      marcel.SpinLock
	posting bool
	left    int // messages under way
	failed  bool
	err     error
}

// finished is the bit of over.
const finished = 1

// message is one of a plan.
type message struct {
	request nmad.Request
	step    *plan.Step
	done    func(*nmad.Request) // of an immediate operation
}

// noRoot is the root of operations that have none.
const noRoot = -1

// begin begins a collective operation, whose plan the caller then makes: for ranks that share memory, if these do.
// wrong: why this rank cannot take part in it; then the operation ends everywhere, in its turn: at once if the caller
// waits for its end, else when it is started. Without a communicator that can be used there is no turn, and no
// follower. A persistent one has its turn here, so ranks may start several in orders that differ.
func (c *Comm) begin(what operation, root int, m manner, x likewise, wrong error) (*follower, *shared, error) {
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

// draw gives the operation its number, by which those of a communicator are told apart. Under the communicator's mu.
func (f *follower) draw() {
	f.comm.calls++
	f.turn, f.tag = f.comm.calls, f.comm.collectiveTags|f.comm.calls
}

// reserve is draw of a persistent operation, which has one number for all its rounds. It returns what is to be
// refused, if one before has failed. Under the communicator's mu.
func (f *follower) reserve() (late []uint64) {
	c := f.comm
	f.draw()
	if c.kept == nil {
		c.kept = map[uint64]bool{}
	}
	c.kept[f.turn] = true
	if c.broken != nil {
		late = c.ahead(nil, c.calls+1)
	}
	return late
}

// announce has the ranks compare a persistent operation, once: as it is made. One that is wrong here the others are
// told of.
func (f *follower) announce() {
	if f.wrong != nil {
		f.comm.aloud([]uint64{f.tag | ofChecks})
		return
	}
	_ = f.comm.compare(f, lasting) // goes on beside it
}

// forget is called when the program has no request of a persistent operation any more: it is started no more, and
// needs no refusals.
func (c *Comm) forget(turn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, turn)
}

// number has the operation under way, with a number of its own unless it has one. Several may be under way. The error
// is why one before has failed; the caller then calls fails. Under the communicator's mu.
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

// compute does a step that is no message.
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

// take is a message to be started.
func (f *follower) take(s *plan.Step) *message {
	if f.open == len(f.messages) {
		f.messages = append(f.messages, &message{})
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

// buffer is where the message lies.
func (me *message) buffer() *Buffer {
	if me.step.Kind == plan.Send {
		return &me.step.From
	}
	return &me.step.Into
}

// post starts a message, at whose end done is called, if it is not nil.
func (f *follower) post(m *message, done func(*nmad.Request)) error {
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

// ended says what is wrong with a message that has ended.
func (me *message) ended(err error) error {
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

// giveUp takes back the receives that are under way. Sends end when their receivers drop them (nmad.Context.Drop).
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

// goOn does what can be done up to the next fence whose messages are under way, or to the end.
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

// passes says that no message is left before a fence. Else the last one of them goes on.
func (f *follower) passes() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.posting = f.left == 0 || f.err != nil // of an error stops sees
	return f.posting
}

// stops says whether the operation has failed; then it ends it.
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
func (f *follower) came(m *message, r *nmad.Request) {
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

// outcome is how the operation has ended, if it has.
func (f *follower) outcome() error {
	if !f.over.Test(finished) {
		return nil
	}
	return f.err
}
