package pioman

import (
	"fmt"
	"strings"
	"time"

	"github.com/pm2-go/pm2/pioman/pollers"
	"github.com/pm2-go/pm2/sched"
)

// An engine asks two things of the program that it is in, one interface each. Nothing
// else in this package knows what carries it.
//
//	             what polls beside the waiters    how the caller of Wait waits
//	             Scheduler (attach.go)            waiting (below)
//	 Marcel      *sched.Scheduler                 marcel's threads: flavour_marcel.go
//	 Threads     *pollers.Pool                    goroutines: flavour_threads.go
//	 NoThreads   nothing
//
// The second goes by the caller, not by the engine: a goroutine waits as goroutines do in
// every flavour, and one of marcel's threads as threads do. So both may wait for the same
// engine, and an engine may change its flavour while they wait.

// Flavour says what polls besides the waiters.
type Flavour uint8

const (
	// Marcel polls at the hooks of marcel's default scheduler, which it starts: for
	// programs whose threads are marcel's.
	Marcel Flavour = iota
	// Threads polls on OS threads of its own (package pollers), on CPUs that have nothing
	// better to run, and from a clock while all of them compute: for programs
	// of plain goroutines. Marcel's scheduler is not started.
	Threads
	// NoThreads polls only in Wait and Poll: for programs that wait soon after they
	// start a request, and for those that want no thread but their own.
	NoThreads
)

var flavourNames = [...]string{"marcel", "threads", "none"}

// String returns the flavour's name as ParseFlavour takes it.
func (f Flavour) String() string {
	if int(f) < len(flavourNames) {
		return flavourNames[f]
	}
	return "unknown"
}

// ParseFlavour is the inverse of String. The error is ErrParameter.
func ParseFlavour(name string) (Flavour, error) {
	for i, n := range flavourNames {
		if strings.EqualFold(name, n) {
			return Flavour(i), nil
		}
	}
	return Marcel, fmt.Errorf("%w: flavour %q: give one of %s", ErrParameter, name, strings.Join(flavourNames[:], ", "))
}

func (f *Flavour) parse(text string) (err error) { *f, err = ParseFlavour(text); return err }
func (f *Flavour) text() string                  { return f.String() }
func (f *Flavour) check() error                  { return allowed(int(*f) < len(flavourNames)) }

// Start makes requests progress in the background, in the way that f says, besides Poll and Wait. stop
// undoes that: the engine is explicit again, and a waiter polls for itself. Calling stop again has no
// effect. Requests may be pending at either moment. Started in the same way again, the engine goes on
// until the last of the stops. ErrAttached if it is started in another way, ErrClosed; NoThreads changes
// nothing, and never fails.
func (e *Engine) Start(f Flavour) (stop func(), err error) {
	switch f {
	case Marcel:
		return e.Attach(sched.Default())
	case Threads:
		return e.AttachThreads(pollers.Config{})
	case NoThreads:
		return func() {}, nil
	}
	return nil, fmt.Errorf("start engine %s: %w: there is no flavour %d", e.config.Name, ErrParameter, f)
}

// AttachThreads starts poller threads and hooks the engine to them: one thread on each CPU of c, by
// default on all that the process may use. stop ends them; so does Close. Engines that are attached with
// the same c again are shared as by Attach; c.Warn is the first one's. The errors are those of Attach, and
// pollers.ErrConfig.
func (e *Engine) AttachThreads(c pollers.Config) (stop func(), err error) {
	c.Shared = c.Shared || e.config.Shared
	return e.attach(func(by Scheduler) bool {
		pool, ok := by.(*pollers.Pool)
		return ok && pool.Fits(c)
	}, func() (Scheduler, func(), error) {
		pool, err := pollers.Start(c)
		if err != nil {
			return nil, nil, err
		}
		return pool, func() {
			if e.inHandler() { // a handler unhooks the engine: its own thread cannot wait for itself
				go pool.Stop()
			} else {
				pool.Stop()
			}
		}, nil
	})
}

// Start starts the default engine in the flavour of its parameters: that of the variable PIOM_FLAVOUR,
// else Marcel. Libraries of one program may each do so: see Engine.Start.
func Start() (stop func(), err error) {
	e := Default()
	return e.Start(e.params.Flavour)
}

// EnableThreads is AttachThreads for the default engine: for programs of plain goroutines. As Enable it
// may be called by several libraries of a program, with the same c.
func EnableThreads(c pollers.Config) (stop func(), err error) { return Default().AttachThreads(c) }

// waiting is how a caller waits: what Wait needs of the caller's world.
type waiting interface {
	// ready tells whether another thread waits for the caller's processor, so that
	// spinning would cost that one time.
	ready() bool
	// yield lets others run.
	yield()
	// blocking runs f, which blocks in the kernel, without holding up others.
	blocking(f func())
	// acquire takes the unit of s, or waits for it, at most for limit; false: there was none.
	// Only the caller of claim may.
	acquire(s *semaphore, limit time.Duration) bool
	// acquireOrCancel is acquire without a limit; false: the caller was cancelled, and has no unit.
	acquireOrCancel(s *semaphore) bool
	// release gives the unit to the claimer of s. From anywhere; never blocks.
	release(s *semaphore)
}

// semaphore is what a passive waiter sleeps on: one at a time, which claims it first, and
// one unit for each claim.
type semaphore struct {
	by     waiting         // the claimer writes it, before it lets itself be found
	thread threadSemaphore // one of marcel's threads sleeps here
	unit   chan struct{}   // a goroutine sleeps here; of capacity 1, so that giving never blocks
	timer  *time.Timer     // the goroutine's
}

// init comes before first use.
func (s *semaphore) init() {
	s.thread.Uninterruptible()
	s.unit = make(chan struct{}, 1)
}

// claim makes the semaphore the caller's.
func (s *semaphore) claim(by waiting) { s.by = by }

// Acquire waits for the unit.
func (s *semaphore) Acquire() { s.by.acquire(s, forever) }

// AcquireOrCancel is Acquire until the caller is cancelled.
func (s *semaphore) AcquireOrCancel() bool { return s.by.acquireOrCancel(s) }

// AcquireTimeout is Acquire for at most limit.
func (s *semaphore) AcquireTimeout(limit time.Duration) bool { return s.by.acquire(s, limit) }

// TryAcquire takes the unit if it is there, whichever claim it was for.
func (s *semaphore) TryAcquire() bool {
	select {
	case <-s.unit:
		return true
	default:
		return s.thread.TryAcquire()
	}
}

// Release gives the unit.
func (s *semaphore) Release() { s.by.release(s) }

// yield lets others run.
func yield() { caller().yield() }
