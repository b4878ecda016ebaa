package pioman

import (
	"fmt"
	"log"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// Config configures an engine. The zero value is a good default.
type Config struct {
	// Name shows in reports. Default: "pioman".
	Name string
	// OnPanic is called by the poller after a handler has panicked or ended its goroutine, and after the poller has
	// ended the task and released the queue. It must not panic. nil: one line and the stack go to the log package.
	OnPanic func(*PanicError)
	// SharedCPUs says that other processes use the CPUs of this one: waiters then yield to the kernel between two
	// polls. It holds while the engine is not hooked to a scheduler, which has a setting of its own.
	SharedCPUs bool
	// Params are the engine's numbers and switches. nil: ParamsFromEnvironment. If a value is not allowed Attach fails
	// with ErrParameter, and the engine uses DefaultParams.
	Params *Params

	isDefault bool
}

// Engine is a progress engine: queues of tasks, and the pollers that run them. New makes one. It is explicit at first:
// tasks run only inside Poll and Wait. Hooked to a scheduler, by Attach or Enable, it also runs them at the scheduler's
// hook points. All methods are safe for concurrent use, from threads and plain goroutines.
type Engine struct {
	load     load         // written by AddPending and RemovePending, read by every hook
	waiters  atomic.Int32 // waiters that sleep, or are about to, and functions of Then: admit and dismiss write it, idle VPs read it
	dueCalls dueCalls
	_        [line - 32]byte

	// Constant after New.
	config   Config
	params   Params
	paramErr error // why the parameters are not those that the program asked for; Attach returns it
	ticks    ticks
	root     *Queue      // for tasks that may run anywhere; part of every tree
	watch    accessWatch // nil but in simulations

	tree     atomic.Pointer[taskTree]       // Attach writes, pollers read
	attached atomic.Pointer[attachedEngine] // Attach and stop write; waiters and posters read
	closed   atomic.Bool                    // Close writes
	blind    atomic.Int32                   // Blind tasks in queues: see countBlind

	_             [line]byte
	sleeper       kernelSleeper
	_             [line]byte
	arrivals      sched.Estimator // of the times until arrivals, as idle VPs and the progressor observe them: see window
	unhookedWaits sched.Estimator // of the lengths of waits for which no hook polls: see insist

	mu mutex // serializes Attach, Enable, stop and Close
}

// New makes an engine, explicit until Attach. It holds no system resource before the first AddSource, Attach, or Wait
// that sleeps; from then on until Close two descriptors.
func New(c Config) *Engine {
	if c.Name == "" {
		c.Name = "pioman"
	}
	e := &Engine{config: c}
	e.params, e.paramErr = c.params()
	e.ticks = e.params.ticks()
	e.root = &Queue{engine: e}
	e.tree.Store(e.plant(nil))
	e.sleeper.engine = e
	return e
}

// Default returns the default engine, and makes it at the first call. It is explicit until Enable
// hooks it to marcel's default scheduler. It is never closed.
func Default() *Engine { return defaultEngine() }

var defaultEngine = sync.OnceValue(func() *Engine { return New(Config{isDefault: true}) })

// Close ends the engine: it unregisters the hooks, cancels all tasks, waits for handlers that run, calls
// the functions of Then that are due, and releases the sources; waiters get ErrClosed. A second Close
// does nothing. From inside a handler, or a function of Then, it fails with ErrInHandler.
func (e *Engine) Close() error {
	if e.inHandler() {
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
	for i := 0; e.dueCalls.busy(); i++ {
		e.callDue()
		relax(i, true)
	}
	parking.wakeAll(e)
	e.sleeper.close()
	return nil
}

// reap cancels every task of a closed engine.
func (e *Engine) reap() {
	for _, q := range e.queues() {
		if q.held(asm.G()) { // a handler submitted to an engine that is being closed
			q.cancelAll()
			continue
		}
		for i := 0; !q.enter(); i++ {
			relax(i, true)
		}
		q.cancelAll()
		q.exit()
	}
}

// panicked reports a handler that did not return.
func (e *Engine) panicked(p *PanicError) {
	if e.config.OnPanic == nil {
		log.Printf("%s: %v\n%s", e.config.Name, p, p.Stack)
		return
	}
	e.config.OnPanic(p)
}

// complain reports a caller's mistake that no return value can tell.
func (e *Engine) complain(err error) { log.Printf("%s: %v", e.config.Name, err) }

// shared reports whether a waiter that spins should yield to the kernel.
func (e *Engine) shared() bool {
	if a := e.attached.Load(); a != nil {
		return a.scheduler.SharedCPUs()
	}
	s := sched.Running() // the default engine, while it is explicit, does as the default scheduler does, and starts none
	return e.config.SharedCPUs || sched.SharedCPUs() || e.config.isDefault && s != nil && s.SharedCPUs()
}

// params returns the parameters that the engine uses, and an error if they are not those that the program asked for.
func (cfg *Config) params() (Params, error) {
	if cfg.Params == nil {
		return ParamsFromEnvironment()
	}
	if err := cfg.Params.Check(); err != nil {
		return DefaultParams(), err
	}
	p := *cfg.Params
	if p.fixedParams == (fixedParams{}) { // made by hand, not from DefaultParams
		p.fixedParams = defaultFixedParams
	}
	return p, nil
}
