package pioman

import (
	"fmt"
	"log"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/topo"
)

// Config says how an engine is made. The zero value is fine.
type Config struct {
	// Name shows in reports. Default: "pioman".
	Name string
	// OnPanic is called when a handler panicked or ended its goroutine, after its task was
	// ended and its queue released, by whoever polled. nil: one line and the stack go to the log package.
	OnPanic func(*PanicError)
	// Shared says that other processes use our CPUs, for an engine that is not hooked to a
	// scheduler which knows: who spins then yields to the kernel between two polls.
	Shared bool
	// Params are the engine's numbers and switches. nil: ParamsFromEnvironment. One
	// that is not allowed makes Attach fail, and is as in DefaultParams meanwhile.
	Params *Params

	sharedBy func() bool // asks later, for the default engine

	// Topology is the machine over which the queues are laid once the engine is hooked to a
	// scheduler, and virtual processor i is on its i-th PU in turn. nil: the machine that
	// the scheduler was arranged for, if it says so, else this one.
	Topology *topo.Topology

	// Watch is told of accesses to lines that several cores write, in simulations. nil: nobody.
	Watch Watch

	tune func(*Params) // for tests
}

// Engine is a progress engine: queues of tasks, and those who poll them. Make it
// with New. Explicit at first: tasks run only when somebody calls Poll or
// waits. Hooked to a scheduler by Attach, they also run at its hook points.
// All methods are safe for concurrent use, from threads and plain goroutines.
type Engine struct {
	load load // written by Need and Done, read by every hook
	_    [line - 8]byte

	// Constant after New.
	config   Config
	params   Params
	paramErr error // what is wrong with what was asked for; Attach says it
	ticks    ticks
	root     *Queue // for tasks that may run anywhere; part of every tree
	alone    [1]*Queue

	tree     atomic.Pointer[tree]       // nil: root is the only queue; Attach writes
	attached atomic.Pointer[attachment] // Attach and stop write; waiters and posters read
	closed   atomic.Bool
	points   atomic.Uint32 // Points in use; SetPoints writes
	away     atomic.Int32  // tasks whose blocking functions run
	blind    atomic.Int32  // Blind tasks in queues

	_        [line]byte
	sleeper  sleeper
	adapt    adaptation
	arrivals arrivals

	mu mutex // serialises Attach, stop and Close
}

// New makes an engine, explicit until Attach. It holds no system resource before the
// first AddSource or Attach. Close it when done.
func New(c Config) *Engine {
	if c.Name == "" {
		c.Name = "pioman"
	}
	e := &Engine{config: c}
	e.params, e.paramErr = c.params()
	if c.tune != nil {
		c.tune(&e.params)
	}
	e.ticks = e.params.ticks()
	if c.Watch != nil {
		e.ticks.survey = -never / 2 // one survey: real time has no meaning in a simulation
	}
	e.root = &Queue{engine: e, watch: c.Watch}
	e.alone[0] = e.root
	e.sleeper.e = e
	e.arrivals.e = e
	e.points.Store(uint32(e.params.Points))
	e.adapt.delay, e.adapt.adapts = e.ticks.delay, e.params.adaptive
	return e
}

// Default returns the engine that Enable hooks to marcel's default scheduler, making
// it if need be: explicit unless enabled. It is never closed.
func Default() *Engine { return defaultEngine() }

var defaultEngine = sync.OnceValue(func() *Engine { return New(Config{sharedBy: sharedByDefault}) })

// Submit puts a task into its queue; somebody will poll it soon if requests are pending
// (Need), or if it is OneShot. Allocates nothing and never blocks; allowed
// inside handlers and hooks. ErrScheduled if the task is in a queue (a handler
// that wants to run again returns Again), ErrNotInitialised, ErrClosed.
func (e *Engine) Submit(t *Task) error {
	if err := e.claim(t); err != nil {
		return err
	}
	if t.opt&hasBlock != 0 {
		t.since = 0
	}
	e.enqueue(t)
	return nil
}

// enqueue puts a claimed task where it belongs.
func (e *Engine) enqueue(t *Task) {
	if t.opt&hasCPUs == 0 {
		e.put(t, e.root, nil)
		return
	}
	tr := e.tree.Load()
	e.put(t, e.where(tr, t), tr)
}

// claim makes a resting task the caller's to put into a queue.
func (e *Engine) claim(t *Task) error {
	if t == nil || t.state.load() == StateUnset || t.fn == nil {
		return fmt.Errorf("submit: %w", ErrNotInitialised)
	}
	if e.closed.Load() {
		return fmt.Errorf("submit task %q: %w", t.name, ErrClosed)
	}
	if t.opt&NoWait != 0 && t.state.load().AtRest() && t.notify != nil {
		return fmt.Errorf("submit task %q: %w", t.name, ErrNoWait)
	}
	if !t.state.schedule() {
		return fmt.Errorf("submit task %q: %w", t.name, ErrScheduled)
	}
	return nil
}

// put puts a claimed task into a queue: the root's, or one of tr.
func (e *Engine) put(t *Task, q *Queue, tr *tree) {
	if t.queue.Load() != q {
		t.queue.Store(q)
	}
	opt := t.opt
	e.tally(opt, 1) // before the push: whoever ends the task takes it back
	if q.watch != nil {
		q.watch(q.item, Push)
	}
	q.submitted.push(t) // from here on t may run, end, and be reused
	e.announce(q, opt)
	if q != e.root && e.tree.Load() != tr { // Attach may have looked before the push
		e.rehome(q)
	}
	if e.closed.Load() { // Close likewise
		e.reap()
	}
}

// announce sees to it that somebody comes to poll what was just put within reach.
func (e *Engine) announce(q *Queue, opt Options) {
	if opt&Repeat == 0 && !q.stake.in() {
		e.Need() // before: whoever takes the stake out calls Done
		if !q.stake.join() {
			e.Done()
		}
		return
	}
	v := e.load.view()
	if opt&Repeat != 0 || v.asleep() { // who sleeps has not seen it, if he was in the count before
		v = e.load.posted()
	}
	if v.asleep() {
		e.rouse(v)
	}
}

// tally counts what keeps idle processors from sleeping for long, or at all.
func (e *Engine) tally(opt Options, n int32) {
	if opt&(Blind|byKernel) == 0 {
		return
	}
	if opt&Blind != 0 {
		e.blind.Add(n)
	}
	if opt&byKernel != 0 {
		e.arrivals.active.Add(n)
	}
}

// Need announces a pending request: until the matching Done, hooks poll, and idle
// virtual processors watch the sources. One atomic addition; the first
// request that a plain goroutine posts while every virtual processor sleeps
// also wakes one (a few microseconds). Allowed inside handlers and hooks.
func (e *Engine) Need() {
	if e.config.Watch != nil {
		e.config.Watch(nil, Count)
	}
	if v := e.load.need(); v.remarkable() {
		e.rouse(v)
	}
}

// Done ends what Need began. One atomic addition.
func (e *Engine) Done() {
	if e.config.Watch != nil {
		e.config.Watch(nil, Count)
	}
	if e.load.done().pending() == uint32(pendingMask) {
		e.underflow()
	}
}

// Pending returns how many requests are pending: needed, or OneShot and not run. Exact while nobody
// submits or polls; takes the lock of each queue for a moment.
func (e *Engine) Pending() int {
	shots := 0
	for _, q := range e.queues() {
		n, in := q.waiting()
		if shots += n; in {
			shots--
		}
	}
	return max(int(e.load.view().pending())+shots, 0)
}

func (e *Engine) underflow() {
	e.load.undone()
	e.complain(fmt.Errorf("engine %s: %w", e.config.Name, ErrUnderflow))
}

// rouse wakes who must see what was just posted. A poster that carries a virtual
// processor of a hooked engine wakes no other: that processor is awake, and
// its own hooks poll before it sleeps; the kick sees to it that its timer
// ticks. Explicit engines wake nobody at all: who waits polls.
func (e *Engine) rouse(v view) {
	if v.watched() {
		e.load.outdate()
	}
	a := e.attached.Load()
	if a == nil {
		return
	}
	if a.dedicated != nil {
		a.dedicated.rouse()
		return
	}
	switch vp := a.s.CurrentVP(); {
	case !v.asleep():
		a.s.Kick(vp)
	case vp < 0:
		e.sleeper.wake()
	default:
		a.roused()
	}
}

// Poll runs one bounded round: each task of the queues from the caller's virtual
// processor to the root of the machine is polled at most once; on a plain goroutine,
// of all queues. It never waits: a queue in which somebody else polls is skipped. Quiet:
// nothing is pending; Waiting: something is; Busy: something happened in this
// round. About 20 ns plus the handlers; runs them on the caller's stack.
func (e *Engine) Poll() hooks.Verdict {
	if e.Points()&AtExplicit == 0 {
		return e.verdict()
	}
	vp := e.here()
	if e.visit(vp, true) == moved {
		return hooks.Busy
	}
	e.settle(vp)
	return e.verdict()
}

func (e *Engine) verdict() hooks.Verdict {
	if e.load.view().pending() == 0 {
		return hooks.Quiet
	}
	return hooks.Waiting
}

// here is the virtual processor of the caller, as far as queues depend on it.
func (e *Engine) here() int {
	if e.tree.Load() == nil {
		return -1
	}
	if a := e.attached.Load(); a != nil {
		return a.s.CurrentVP()
	}
	return -1
}

// poll makes the round of a virtual processor (vp < 0: of nobody's).
func (e *Engine) poll(vp int) outcome { return e.visit(vp, false) }

// visit is poll; whole: of all queues on the way, whosever turn it is.
func (e *Engine) visit(vp int, whole bool) outcome {
	out := empty
	if e.arrivals.parked.Load() != 0 {
		out = e.arrivals.harvest(whole)
	}
	switch tr := e.tree.Load(); {
	case tr == nil:
		return max(out, e.root.round(e.params.round))
	case uint(vp) < uint(len(tr.ways)):
		return max(out, tr.round(e, vp, whole))
	default:
		return max(out, tr.everywhere(e))
	}
}

// own visits the leaf of a virtual processor, and nothing else.
func (e *Engine) own(vp int) outcome {
	tr := e.tree.Load()
	if tr == nil || uint(vp) >= uint(len(tr.ways)) {
		return empty
	}
	q := tr.ways[vp][0].queue
	out := q.round(e.params.round)
	if out != moved {
		q.settle()
	}
	return out
}

// survey visits the queues that nobody polls, if it is time.
func (e *Engine) survey() {
	if tr := e.tree.Load(); tr != nil {
		tr.survey(e)
	}
}

// inHandler tells whether the caller is a handler of this engine.
func (e *Engine) inHandler() bool {
	g := asm.G()
	for _, q := range e.queues() {
		if q.held(g) {
			return true
		}
	}
	return false
}

// tasks tells whether any main list has a task.
func (e *Engine) tasks() bool {
	for _, q := range e.queues() {
		if q.length() != 0 || !q.submitted.empty() {
			return true
		}
	}
	return false
}

// Close ends the engine: hooks are unregistered, tasks cancelled (a running handler is
// waited for), waiters get ErrClosed, sources are let go. Close again does
// nothing. From inside a handler: ErrInHandler.
func (e *Engine) Close() error {
	if e.inHandler() || stackOf(asm.G()) != nil {
		return fmt.Errorf("close engine %s: %w", e.config.Name, ErrInHandler)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Swap(true) {
		return nil
	}
	if a := e.attached.Load(); a != nil {
		a.detach()
	}
	e.reap()
	for i := 0; e.away.Load() != 0; i++ { // they drop their tasks
		relax(i, true)
	}
	parking.wakeAll(e)
	e.arrivals.close()
	e.sleeper.close()
	return nil
}

// reap cancels every task of a closed engine.
func (e *Engine) reap() {
	for _, q := range e.queues() {
		if q.held(asm.G()) { // a handler submitted to an engine that is being closed
			q.cancelAll()
			runOrphans(q.takeOrphans())
			continue
		}
		for i := 0; !q.enter(); i++ {
			relax(i, true)
		}
		q.cancelAll()
		orphans := q.takeOrphans()
		q.exit()
		runOrphans(orphans)
	}
}

// panicked reports a handler that did not return.
func (e *Engine) panicked(p *PanicError) {
	if e.config.OnPanic == nil {
		log.Printf("%s: %v\n%s", e.config.Name, p, p.Stack)
		return
	}
	defer func() {
		if v := recover(); v != nil {
			log.Printf("%s: %v; OnPanic itself panicked: %v", e.config.Name, p, v)
		}
	}()
	e.config.OnPanic(p)
}

// complain reports a mistake of the caller's that no return value can.
func (e *Engine) complain(err error) { log.Printf("%s: %v", e.config.Name, err) }

// shared tells whether who spins should yield to the kernel.
func (e *Engine) shared() bool {
	if a := e.attached.Load(); a != nil {
		return a.s.Shared()
	}
	return e.config.Shared || e.config.sharedBy != nil && e.config.sharedBy()
}
