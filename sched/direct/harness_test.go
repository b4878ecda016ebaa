//go:build linux

package direct

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The smallest scheduler that uses all of this package: fibers, which are goroutines, take
// turns on carriers, which are OS threads; a fiber that blocks in Go, or computes for too
// long, loses its carrier to the watcher.
type world struct {
	t        *testing.T
	mu       atomic.Bool // a spin lock, since a fiber must not block while it is inside
	ready    []*fiber
	carriers []*carrier
	left     atomic.Int32 // fibers that have not ended
	done     chan struct{}

	taken, claimed, inside, asked atomic.Int64
}

type carrier struct {
	w       *world
	n       uint32
	base, m uintptr
	tid     int
	cur     atomic.Pointer[fiber]
	leaver  *fiber // has just left, and is parked now
	over    bool   // and has ended: it goes on as a goroutine
	claimed atomic.Pointer[fiber]
	order   atomic.Uint32 // for the race detector: a switch is a release and an acquire
}

type fiber struct {
	inside, id uint32
	how        atomic.Uint32
	on         atomic.Pointer[carrier]
	seat       Seat
	run        func(*fiber)
	since      time.Time // the watcher's: it has been seen running since then
	turns      atomic.Uint32
	seen       uint32
}

// How a fiber is to be resumed.
const (
	ordinary = iota
	parking  // by Park, and perhaps not parked yet
	stopped
)

const lost = 1 << 20

func (w *world) lock() {
	for n := 1; !w.mu.CompareAndSwap(false, true); n++ {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		if n%16 == 0 {
			// The holder may have been preempted by the Go scheduler, which needs this OS thread's P for it; its
			// signals find this loop in the system call nearly always, where it cannot be preempted.
			runtime.Gosched()
		}
	}
}

func (w *world) push(f *fiber) {
	w.lock()
	w.ready = append(w.ready, f)
	w.mu.Store(false)
}

// pop takes the fiber that has waited longest; ordinary: only one that any thread may resume.
func (w *world) pop(only bool) *fiber {
	w.lock()
	defer w.mu.Store(false)
	if len(w.ready) == 0 || only && w.ready[0].how.Load() != ordinary {
		return nil
	}
	f := w.ready[0]
	w.ready = w.ready[1:]
	return f
}

// runWorld has the functions run as fibers on so many carriers, and returns when all have ended.
func runWorld(t *testing.T, carriers int, fs ...func(*fiber)) *world {
	if !Supported() {
		t.Skip("no direct switch here")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(carriers+1, runtime.GOMAXPROCS(0))))
	w := &world{t: t, done: make(chan struct{})}
	w.left.Store(int32(len(fs)))
	for _, run := range fs {
		f := &fiber{run: run, id: lost}
		f.how.Store(parking)
		go f.live(w)
		w.push(f)
	}
	var bases sync.WaitGroup
	for n := range carriers {
		c := &carrier{w: w, n: uint32(n + 1)}
		started := make(chan struct{})
		bases.Go(func() { c.serve(started) })
		<-started
		w.carriers = append(w.carriers, c)
	}
	watched := make(chan struct{})
	go w.watch(watched)
	select {
	case <-w.done:
	case <-time.After(2 * time.Minute):
		buf := make([]byte, 1<<20)
		t.Fatalf("%d fibers have not ended:\n%s", w.left.Load(), buf[:runtime.Stack(buf, true)])
	}
	bases.Wait()
	<-watched
	return w
}

func (w *world) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// serve is the life of a carrier's base.
func (c *carrier) serve(started chan struct{}) {
	Hold()
	defer Unhold()
	c.base, c.m, c.tid = Current(), Machine(), unix.Gettid()
	close(started)
	for {
		f := c.w.pop(false)
		if f == nil {
			if c.w.over() {
				return
			}
			runtime.Gosched()
			continue
		}
		for f.how.Load() == parking && !f.seat.Parked() {
			runtime.Gosched()
		}
		f.how.Store(ordinary)
		c.carry(f)
		c.leap(f.seat.G)
		c.finish()
		if f := c.claimed.Swap(nil); f != nil {
			c.w.push(f)
		}
	}
}

func (c *carrier) carry(f *fiber) {
	f.on.Store(c)
	atomic.StoreUint32(&f.id, c.n)
	f.turns.Add(1)
	c.cur.Store(f)
}

func (c *carrier) leap(g uintptr) {
	c.order.Add(1)
	leap(g)
}

// finish does for the one that has just left c what it cannot do itself.
func (c *carrier) finish() {
	c.order.Add(1)
	defer c.order.Add(1)
	f := c.leaver
	c.leaver = nil
	switch {
	case f == nil:
	case c.over:
		c.over = false
		Ready(f.seat.G)
	default:
		c.w.push(f)
	}
}

// live is the life of a fiber.
func (f *fiber) live(w *world) {
	f.inside = 1
	Park(&f.seat)
	f.on.Load().finish()
	atomic.StoreUint32(&f.inside, 0)
	f.run(f)
	atomic.StoreUint32(&f.inside, 1)
	if atomic.LoadUint32(&f.id) != lost { // else it ends as what it is by now: a goroutine
		c := f.on.Load()
		c.leaver, c.over = f, true
		c.cur.Store(nil)
		c.leap(c.base)
	}
	if w.left.Add(-1) == 0 {
		close(w.done)
	}
}

// yield lets others run; direct: the next fiber, without the base in between.
func (f *fiber) yield(direct bool) {
	atomic.StoreUint32(&f.inside, 1)
	if atomic.LoadUint32(&f.id) == lost {
		f.seat.Leave()
		f.how.Store(parking)
		f.on.Load().w.push(f)
		Park(&f.seat)
	} else {
		c := f.on.Load()
		to := c.base
		var next *fiber
		if direct {
			next = c.w.pop(true)
		}
		c.leaver = f
		c.cur.Store(nil)
		if next != nil {
			to = next.seat.G
			c.carry(next)
		}
		c.leap(to)
	}
	f.on.Load().finish()
	atomic.StoreUint32(&f.inside, 0)
}

// watch takes carriers back, as a clock would.
func (w *world) watch(gone chan struct{}) {
	defer close(gone)
	for !w.over() {
		for _, c := range w.carriers {
			if f := c.cur.Load(); f != nil {
				w.look(c, f)
			}
		}
		time.Sleep(50 * time.Microsecond)
	}
}

func (w *world) look(c *carrier, f *fiber) {
	g := f.seat.G
	switch Status(g) {
	case Waiting:
		if Repossess(g, c.m, c.base, &f.inside, &f.id, lost) {
			w.taken.Add(1)
			Ready(c.base)
		}
	case Preempted:
		switch ClaimStopped(g, c.m, c.base, &f.inside, &f.id, lost) {
		case Stopped:
			w.claimed.Add(1)
			f.how.Store(stopped)
			c.claimed.Store(f)
			Ready(c.base)
		case StoppedInside:
			w.inside.Add(1)
			Ready(g)
		}
	case Running:
		if turns := f.turns.Load(); turns != f.seen {
			f.seen, f.since = turns, time.Now()
		} else if time.Since(f.since) > 2*time.Millisecond && atomic.LoadUint32(&f.inside) == 0 && AskStop(g) {
			f.since = time.Now()
			w.asked.Add(1)
			_ = unix.Tgkill(unix.Getpid(), c.tid, unix.SIGURG)
		}
	}
}
