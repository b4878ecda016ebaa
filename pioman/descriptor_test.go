package pioman

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// reader is a repeat task that waits for a pipe of its own, as the kernel announces it.
type reader struct {
	task  Task
	watch Descriptor
	*pipe
	polls, got atomic.Int64
}

func newReader(t testing.TB, e *Engine) *reader {
	t.Helper()
	r := &reader{pipe: newPipe(t)}
	if err := r.watch.Open(e, r.pipe.r); err != nil {
		t.Fatal(err)
	}
	r.task.Init("read", func(*Task) Status {
		r.polls.Add(1)
		n := r.take()
		if n == 0 {
			return Again
		}
		r.got.Add(int64(n))
		return Moved
	}, Repeat)
	if err := r.task.On(&r.watch, Readable); err != nil {
		t.Fatal(err)
	}
	submit(t, e, &r.task)
	t.Cleanup(func() { // before the descriptor is closed
		if err := r.task.Cancel(); err != nil {
			t.Error(err)
		}
		r.watch.Close()
	})
	return r
}

// The life of a task that waits for a descriptor: polled, parked, woken, cancelled.
func TestTaskBlocks(t *testing.T) {
	e := with(t, func(p *Params) { p.BlockingDelay = 0 })
	r := newReader(t, e)
	e.Poll()
	if s := r.task.State(); s != StateBlocked || r.polls.Load() != 2 {
		// The first poll parks it; the edge of a writable, empty pipe is none of the readable side.
		if s != StateBlocked {
			t.Fatalf("%v after a poll in vain", s)
		}
	}
	polls := r.polls.Load()
	for range 100 {
		e.Poll()
	}
	if n := r.polls.Load(); n != polls || e.descriptors.active.Load() != 0 || e.descriptors.parked.Load() != 1 {
		t.Fatalf("polled %d times while blocked; %d active, %d parked", n-polls, e.descriptors.active.Load(), e.descriptors.parked.Load())
	}
	for i := range int64(100) {
		r.put()
		for r.got.Load() != i+1 {
			e.Poll()
		}
		for r.task.State() != StateBlocked {
			e.Poll()
		}
	}
	if err := r.task.Cancel(); err != nil || r.task.State() != StateCancelled {
		t.Fatal(err, r.task.State())
	}
	if a, p := e.descriptors.active.Load(), e.descriptors.parked.Load(); a != 0 || p != 0 {
		t.Errorf("%d active, %d parked after the cancel", a, p)
	}
	// What was left there is found by the next task, though its edge is long gone.
	r.put()
	e.Poll()
	submit(t, e, &r.task)
	for r.got.Load() != 101 {
		e.Poll()
	}
	for r.task.State() != StateBlocked {
		e.Poll()
	}
	r.watch.Close()
	for range 3 {
		e.Poll()
	}
	if s := r.task.State(); s != StateRunning {
		t.Errorf("%v with its Descriptor closed: it is to be polled", s)
	}
}

func TestWatchRefuses(t *testing.T) {
	e := engine(t, Config{})
	var w Descriptor
	var task Task
	task.Init("t", func(*Task) Status { return Again }, Repeat)
	if err := task.On(&w, Readable); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
	if err := w.Open(e, 1<<20); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
	p := newPipe(t)
	if err := w.Open(e, p.r); err != nil {
		t.Fatal(err)
	}
	if err := w.Open(e, p.r); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
	var other Descriptor
	if err := other.Open(e, p.r); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
	other.Close()
	if err := task.On(&w, 2); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
	var once Task
	once.Init("once", func(*Task) Status { return Done }, OneShot)
	if err := once.On(&w, Readable); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
	w.Close()
	w.Close()
	if err := w.Open(e, p.r); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := w.Open(e, p.r); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// A socket is read by one task and written by another.
func TestBothDirectionsOfOneDescriptor(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	const total = 8 << 20
	e := with(t, func(p *Params) { p.BlockingDelay = 0 })
	var w [2]Descriptor
	var all [4]struct {
		task Task
		n    int
		done Completion
	}
	buf := make([]byte, 64<<10)
	e.Need()
	for i := range all {
		x, fd := &all[i], fds[i%2]
		if i < 2 {
			if err := w[i].Open(e, fd); err != nil {
				t.Fatal(err)
			}
		}
		reads := i >= 2
		x.task.Init(fmt.Sprint("task ", i), func(*Task) Status {
			var n int
			var err error
			if reads {
				n, err = unix.Read(fd, buf)
			} else {
				n, err = unix.Write(fd, buf[:min(len(buf), total-x.n)])
			}
			if err == unix.EAGAIN {
				return Again
			}
			if x.n += max(n, 0); x.n == total || err != nil {
				return Done
			}
			return Moved
		}, Repeat)
		d := Writable
		if reads {
			d = Readable
		}
		if err := x.task.On(&w[i%2], d); err != nil {
			t.Fatal(err)
		}
		x.task.Notify(&x.done, 1)
		submit(t, e, &x.task)
		for i < 2 && x.task.State() != StateBlocked { // the writers fill the buffers first
			e.Poll()
		}
	}
	finishes(t, "transfer", func() {
		for i := range all {
			if err := all[i].done.Wait(e, 1); err != nil {
				t.Error(err)
			}
			if all[i].n != total {
				t.Errorf("task %d: %d bytes of %d", i, all[i].n, total)
			}
		}
	})
	e.Done()
	for i := range w {
		w[i].Close()
	}
	if a, p := e.descriptors.active.Load(), e.descriptors.parked.Load(); a != 0 || p != 0 {
		t.Errorf("%d active, %d parked", a, p)
	}
}

// A thousand and more descriptors: a sleep does not cost more for them, and each arrival is
// found, whatever the processors do.
func TestManyDescriptors(t *testing.T) {
	n := 1500
	if testing.Short() {
		n = 300
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < uint64(2*n+100) {
		t.Skipf("%d descriptors are allowed, %d needed (%v)", limit.Cur, 2*n+100, err)
	}
	for _, computing := range []bool{false, true} {
		e := with(t, func(p *Params) { p.BlockingDelay = 0 })
		s := scheduler(t, sched.Config{VPs: 1})
		attach(t, e, s)
		all := make([]*reader, n)
		for i := range all {
			all[i] = newReader(t, e)
		}
		e.Need()
		var stop atomic.Bool
		var wg sync.WaitGroup
		if computing {
			wg.Go(func() {
				marcel.RunOn(s, func() {
					for !stop.Load() {
					}
				})
			})
		}
		asleep := func() bool {
			return e.load.view().asleep() && e.descriptors.parked.Load() == int32(n) && e.descriptors.active.Load() == 0
		}
		eventually(t, "all wait for the kernel", asleep)
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 30 {
			r := all[rnd.IntN(n)]
			was := r.got.Load()
			r.put()
			eventually(t, "arrival", func() bool { return r.got.Load() == was+1 })
		}
		eventually(t, "all wait for the kernel again", asleep)
		stop.Store(true)
		finishes(t, "thread", wg.Wait)
		e.Done()
	}
}

// Watches are opened and closed, tasks submitted and cancelled, bytes written, at every
// moment, while others poll and sleep: no byte is lost, and nothing is left.
func TestWatchesComeAndGo(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 600
	}
	for _, hooked := range []bool{false, true} {
		e := with(t, func(p *Params) { p.BlockingDelay = 0; p.hot = 0 })
		s := newByHand(2)
		if hooked {
			attach(t, e, s)
		}
		var over atomic.Bool
		var pollers sync.WaitGroup
		for i := range 3 {
			pollers.Go(func() {
				for !over.Load() {
					switch {
					case i == 0:
						e.sleeper.sleep(time.Millisecond)
					case hooked:
						s.set.Fire(hooks.Point(i%2), i-1)
					default:
						e.Poll()
					}
					runtime.Gosched()
				}
			})
		}
		var clients sync.WaitGroup
		for c := range 3 {
			clients.Go(func() {
				rnd := rand.New(rand.NewPCG(uint64(c), 3))
				p := newPipe(t)
				for range rounds {
					e.Need()
					var r reader
					r.pipe = p
					if err := r.watch.Open(e, p.r); err != nil {
						t.Error(err)
						return
					}
					r.task.Init("read", func(*Task) Status {
						if n := p.take(); n > 0 {
							r.got.Add(int64(n))
							return Moved
						}
						return Again
					}, Repeat)
					if err := r.task.On(&r.watch, Readable); err != nil {
						t.Error(err)
					}
					if err := e.Submit(&r.task); err != nil {
						t.Error(err)
					}
					sent := int64(rnd.IntN(4))
					for i := range sent {
						for range rnd.IntN(10) {
							runtime.Gosched()
						}
						p.put()
						if rnd.IntN(2) == 0 {
							for r.got.Load() <= i {
								runtime.Gosched()
							}
						}
					}
					if rnd.IntN(3) == 0 {
						r.watch.Close()
					}
					for r.got.Load() != sent {
						runtime.Gosched()
					}
					if err := r.task.Cancel(); err != nil {
						t.Error(err)
					}
					r.watch.Close()
					e.Done()
				}
			})
		}
		finishes(t, "clients", clients.Wait)
		over.Store(true)
		e.sleeper.wake()
		finishes(t, "pollers", pollers.Wait)
		if a, p := e.descriptors.active.Load(), e.descriptors.parked.Load(); a != 0 || p != 0 || e.Pending() != 0 {
			t.Errorf("hooked %v: %d active, %d parked, %d pending", hooked, a, p, e.Pending())
		}
	}
}

// Close at every moment, with tasks blocked, woken and polled.
func TestCloseWithBlockedTasks(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	before := openDescriptors(t)
	for i := range rounds {
		func() {
			p := DefaultParams()
			p.BlockingDelay = 0
			e := New(Config{Params: &p})
			var all [4]struct {
				task  Task
				watch Descriptor
				p     [2]int
			}
			for i := range all {
				x := &all[i]
				if err := unix.Pipe2(x.p[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
					t.Fatal(err)
				}
				if err := x.watch.Open(e, x.p[0]); err != nil {
					t.Fatal(err)
				}
				x.task.Init("read", func(*Task) Status {
					var b [1]byte
					if n, _ := unix.Read(x.p[0], b[:]); n > 0 {
						return Moved
					}
					return Again
				}, Repeat)
				if err := x.task.On(&x.watch, Readable); err != nil {
					t.Fatal(err)
				}
				submit(t, e, &x.task)
			}
			e.Need()
			var wg sync.WaitGroup
			wg.Go(func() {
				for !e.closed.Load() {
					e.Poll()
					runtime.Gosched()
				}
			})
			wg.Go(func() {
				for n := 0; !e.closed.Load(); n++ {
					_, _ = unix.Write(all[n%len(all)].p[1], []byte{1})
					runtime.Gosched()
				}
			})
			for range i % 50 {
				runtime.Gosched()
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			wg.Wait()
			for i := range all {
				x := &all[i]
				if s := x.task.State(); s != StateCancelled {
					t.Fatalf("%v after Close", s)
				}
				x.watch.Close()
				unix.Close(x.p[0])
				unix.Close(x.p[1])
			}
		}()
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}
