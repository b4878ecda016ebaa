package pio

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// Reactor connects descriptors with one progress engine: a single task polls for all of them, a single source announces
// their events to the engine's sleeper. Most programs use the default one, through the package's functions. All methods
// are safe for concurrent use, by threads and plain goroutines.
type Reactor struct {
	engine *pioman.Engine
	epoll  int // the set of the descriptors for which threads have waited
	task   pioman.Task

	mu      marcel.Mutex // guards refusal, and changes of descriptors
	refusal error        // why it takes no descriptors: it is closed, or could not be made; nil: it takes some
	// The descriptors by their numbers; adopt replaces it by a longer one, under mu. If the poller handles an event
	// late, when its number belongs to another descriptor, the user of that one calls the kernel once in vain.
	descriptors atomic.Pointer[[]atomic.Pointer[descriptor]]

	_             [line]byte
	waiters       atomic.Int32 // threads that wait for a descriptor; with 0 the task makes no system call
	mayBeReadable atomic.Bool  // the epoll descriptor may be readable though no thread waits; Disarm sets it, poll clears it

	_      [line]byte
	events [64]unix.EpollEvent // only poll uses it
}

// NewReactor makes a reactor on an engine; nil: the default one. It takes an epoll descriptor, and a task of the
// engine, until Close.
func NewReactor(e *pioman.Engine) (*Reactor, error) {
	if e == nil {
		e = pioman.Default()
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("new reactor: %w", os.NewSyscallError("epoll_create1", err))
	}
	r := &Reactor{engine: e, epoll: epoll}
	r.descriptors.Store(new([]atomic.Pointer[descriptor]))
	r.task.Init("pio", r.poll, pioman.Repeat)
	if err = e.AddSource((*reactorSource)(r)); err == nil {
		if err = e.Submit(&r.task); err != nil {
			e.RemoveSource((*reactorSource)(r))
		}
	}
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("new reactor: %w", err)
	}
	return r, nil
}

// defaultReactor is made by the first caller of Default. After an error the next caller tries again.
var defaultReactor struct {
	mu marcel.Mutex
	r  *Reactor
}

// Default returns the reactor on pioman's default engine, which the package's functions use. It is never closed.
func Default() (r *Reactor, err error) {
	defaultReactor.mu.Lock()
	defer defaultReactor.mu.Unlock()
	if defaultReactor.r == nil {
		defaultReactor.r, err = NewReactor(nil)
	}
	return defaultReactor.r, err
}

// defaultOrRefusing returns the default reactor; if that cannot be made, one that takes no descriptors and says why.
func defaultOrRefusing() *Reactor {
	r, err := Default()
	if err != nil {
		r = &Reactor{refusal: err}
	}
	return r
}

// Close closes all descriptors of the reactor, whose waiters end with net.ErrClosed, and takes the reactor off its
// engine. Close again returns net.ErrClosed.
func (r *Reactor) Close() error {
	r.mu.Lock()
	ended, all := r.refusal, *r.descriptors.Load()
	r.refusal = net.ErrClosed
	r.mu.Unlock()
	if ended != nil {
		return fmt.Errorf("close reactor: %w", ended)
	}
	for i := range all {
		if d := all[i].Load(); d != nil {
			_ = d.Close() // fails if another caller closes it
			d.gone.Wait()
		}
	}
	err := r.task.Cancel()
	r.engine.RemoveSource((*reactorSource)(r))
	unix.Close(r.epoll)
	return err
}

// adopt enters a descriptor into the table, before any thread waits for it. The error says why the reactor takes none.
func (r *Reactor) adopt(d *descriptor) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refusal != nil {
		return r.refusal
	}
	list := *r.descriptors.Load()
	if d.fd >= len(list) {
		longer := make([]atomic.Pointer[descriptor], max(64, 2*d.fd))
		for i := range list {
			longer[i].Store(list[i].Load())
		}
		list = longer
		r.descriptors.Store(&list)
	}
	list[d.fd].Store(d)
	return nil
}

// forget takes a descriptor out of the table.
func (r *Reactor) forget(d *descriptor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	(*r.descriptors.Load())[d.fd].Store(nil)
}

// poll is the task's handler: it gets the kernel's events, if a thread waits for some, and passes them on. One poller
// at a time calls it.
func (r *Reactor) poll(*pioman.Task) pioman.Status {
	if r.waiters.Load() == 0 && !r.mayBeReadable.Load() {
		return pioman.Again
	}
	if r.mayBeReadable.Load() {
		r.mayBeReadable.Store(false)
	}
	n := epollNow(r.epoll, &r.events)
	if n == len(r.events) {
		r.mayBeReadable.Store(true) // there may be more events
	}
	status := pioman.Again
	list := *r.descriptors.Load()
	for i := range n {
		ev := &r.events[i]
		if d := list[ev.Fd].Load(); d != nil && d.happened(ev.Events) {
			status = pioman.Moved
		}
	}
	return status
}

// reactorSource is the reactor as a pioman.Source: the epoll descriptor is readable once the kernel has an event for a
// descriptor in the set.
type reactorSource Reactor

// Descriptor implements pioman.Source.
func (src *reactorSource) Descriptor() int { return src.epoll }

// Arm implements pioman.Source.
func (src *reactorSource) Arm() bool { return true }

// Disarm implements pioman.Source. It makes the poll that follows take the events even if no thread waits: otherwise
// they would end each sleep.
func (src *reactorSource) Disarm() { src.mayBeReadable.Store(true) }
