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

// Reactor hangs descriptors on one progress engine: a single task polls for all of
// them, a single source announces them to the engine's sleeper. Most programs use the
// default one, through the package's functions. All methods are safe for
// concurrent use, by threads and plain goroutines.
type Reactor struct {
	engine *pioman.Engine
	epoll  int // the descriptors that threads have waited for
	task   pioman.Task

	mu    marcel.Mutex // guards ended, and each change of places
	ended error        // why it takes no descriptors: closed, or never made
	// The descriptors by their numbers; longer ones replace it, under mu. An event that the poller looks at late, when its
	// number belongs to another descriptor, makes that one's user try once more.
	places atomic.Pointer[[]atomic.Pointer[descriptor]]

	_       [line]byte
	waiters atomic.Int32 // threads that wait for a descriptor: only then the kernel is asked
	stale   atomic.Bool  // the epoll descriptor may be readable though no thread waits

	_      [line]byte
	events [64]unix.EpollEvent // the task's
}

// NewReactor makes a reactor on an engine, nil: the default one. It holds an epoll
// descriptor, and a task of the engine's; Close it when done.
func NewReactor(e *pioman.Engine) (*Reactor, error) {
	if e == nil {
		e = pioman.Default()
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("new reactor: %w", os.NewSyscallError("epoll_create1", err))
	}
	r := &Reactor{engine: e, epoll: epoll}
	r.places.Store(new([]atomic.Pointer[descriptor]))
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

// defaultReactor is made by the first caller that needs it. An error is not kept: the next one
// tries again.
var defaultReactor struct {
	mu marcel.Mutex
	r  *Reactor
}

// Default returns the reactor on pioman's default engine, which the package's functions
// use. It is never closed.
func Default() (r *Reactor, err error) {
	defaultReactor.mu.Lock()
	defer defaultReactor.mu.Unlock()
	if defaultReactor.r == nil {
		defaultReactor.r, err = NewReactor(nil)
	}
	return defaultReactor.r, err
}

// usual is the default reactor. One that cannot be made takes no descriptor, and says why.
func usual() *Reactor {
	r, err := Default()
	if err != nil {
		r = &Reactor{ended: err}
	}
	return r
}

// Close closes all descriptors of the reactor, whose waiters end with net.ErrClosed, and
// takes the reactor off its engine. Close again returns net.ErrClosed.
func (r *Reactor) Close() error {
	r.mu.Lock()
	was, all := r.ended, *r.places.Load()
	r.ended = net.ErrClosed
	r.mu.Unlock()
	if was != nil {
		return fmt.Errorf("close reactor: %w", was)
	}
	for i := range all {
		if d := all[i].Load(); d != nil {
			_ = d.Close() // unless another caller closes it just now
			d.gone.Wait()
		}
	}
	err := r.task.Cancel()
	r.engine.RemoveSource((*reactorSource)(r))
	unix.Close(r.epoll)
	return err
}

// adopt notes a descriptor, before the kernel hears of it, or says why the reactor takes none.
func (r *Reactor) adopt(d *descriptor) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil {
		return r.ended
	}
	list := *r.places.Load()
	if d.fd >= len(list) {
		longer := make([]atomic.Pointer[descriptor], max(64, 2*d.fd))
		for i := range list {
			longer[i].Store(list[i].Load())
		}
		list = longer
		r.places.Store(&list)
	}
	list[d.fd].Store(d)
	return nil
}

// forget is the counterpart of adopt.
func (r *Reactor) forget(d *descriptor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	(*r.places.Load())[d.fd].Store(nil)
}

// poll is the task's handler: it takes what the kernel has to announce, if a thread
// waits for it. One poller at a time, as with any task.
func (r *Reactor) poll(*pioman.Task) pioman.Status {
	if r.waiters.Load() == 0 && !r.stale.Load() {
		return pioman.Again
	}
	if r.stale.Load() {
		r.stale.Store(false)
	}
	n := epollNow(r.epoll, &r.events)
	if n == len(r.events) {
		r.stale.Store(true) // there may be more
	}
	status := pioman.Again
	list := *r.places.Load()
	for i := range n {
		ev := &r.events[i]
		if d := list[ev.Fd].Load(); d != nil && d.happened(ev.Events) {
			status = pioman.Moved
		}
	}
	return status
}

// reactorSource is the reactor as the engine's sleeper sees it: the epoll descriptor is
// readable once one of those in it has something to announce.
type reactorSource Reactor

// Descriptor implements pioman.Source.
func (src *reactorSource) Descriptor() int { return src.epoll }

// Arm implements pioman.Source.
func (src *reactorSource) Arm() bool { return true }

// Disarm implements pioman.Source. The poll that follows empties the epoll descriptor
// even if no thread waits: it would end each sleep otherwise.
func (src *reactorSource) Disarm() { src.stale.Store(true) }
