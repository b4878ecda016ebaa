package bench

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
)

// silence is how long nothing comes before the byte that is timed.
const silence = time.Second

// silenceRows compare how late the engine handles the first byte after a silence with what the kernel offers to a
// thread that only waits for it; and what the hooks cost a thread switch.
func silenceRows() []Experiment {
	return []Experiment{
		{
			Name: "yield with hooks, nothing pending", VPs: 1, PeerName: "no engine",
			Ours: yieldOurs, Peer: yieldAlone, Least: 2,
		},
		{
			Name: "yield with hooks, a TCP receive pending", VPs: 1, PeerName: "no engine",
			Ours: yieldPending, Peer: yieldAlone, Least: 2,
		},
		{
			Name: "first byte after 1 s of silence, TCP", VPs: 1, P: 2, PeerName: "thread in a blocking read",
			Crosses: true, Heavy: true, Least: 3, Most: 3, Ours: silentTCPOurs, Peer: silentTCPPeer,
		},
		{
			Name: "first byte after 1 s of silence, memory", VPs: 1, P: 2, PeerName: "thread in a futex",
			Crosses: true, Heavy: true, Least: 3, Most: 3, Ours: memoryOurs, Peer: memoryPeer,
		},
	}
}

// yieldAlone is yieldOurs on a scheduler without an engine.
func yieldAlone(w *watch, n int) (err error) {
	s, err := sched.New(sched.Config{VPs: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopped(s)) }()
	marcel.RunOn(s, func() { err = yieldOurs(&stage{sched: s, watch: w}, n) })
	return err
}

// yieldPending is yieldOurs with a receive pending at a TCP connection, for which the sleeper blocks in
// the kernel by then.
func yieldPending(s *stage, n int) error {
	return whilePending(s.engine, func() error { return yieldOurs(s, n) })
}

// whilePending calls then with a receive pending, once the sleeper of e has gone to wait in the kernel for it.
func whilePending(e *pioman.Engine, then func() error) error {
	r, err := newReceive(e)
	if err != nil {
		return err
	}
	defer r.close()
	for deadline := time.Now().Add(lost); e.Explain().Asleep == "nothing"; {
		if time.Now().After(deadline) {
			return fmt.Errorf("no thread has gone to wait in the kernel within %v", lost)
		}
		for until := time.Now().Add(time.Millisecond); time.Now().Before(until); {
			marcel.Yield()
		}
	}
	return then()
}

// receive is one that is pending at a TCP connection: a task that takes bytes and notes when, and the source that
// announces them.
type receive struct {
	e        *pioman.Engine
	task     pioman.Task
	in, out  int
	heard    atomic.Int64 // asm.Cycles of the last byte
	received atomic.Int64
}

// Descriptor implements pioman.Source.
func (rcv *receive) Descriptor() int { return rcv.in }

// Arm implements pioman.Source.
func (rcv *receive) Arm() bool { return true }

// Disarm implements pioman.Source.
func (rcv *receive) Disarm() {}

func newReceive(e *pioman.Engine) (*receive, error) {
	r := &receive{e: e}
	var err error
	if r.in, r.out, err = connection(); err != nil {
		return nil, err
	}
	r.e.AddPending()
	r.task.Init("receive", func(*pioman.Task) pioman.Status {
		var b [8]byte
		n, err := unix.Read(r.in, b[:])
		switch {
		case n > 0:
			r.heard.Store(asm.Cycles())
			r.received.Add(int64(n))
			return pioman.Moved
		case err == unix.EAGAIN || err == unix.EINTR:
			return pioman.Again
		}
		return pioman.Done
	}, pioman.Repeat)
	if err = e.AddSource(r); err == nil {
		err = e.Submit(&r.task)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (rcv *receive) close() {
	_ = rcv.task.Cancel() // not from a handler
	rcv.e.RemoveSource(rcv)
	rcv.e.RemovePending()
	unix.Close(rcv.in)
	unix.Close(rcv.out)
}

// connection is a TCP connection over the loopback interface: a non-blocking end, and one to write to.
func connection() (in, out int, err error) {
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("make a socket: %w", err)
	}
	defer unix.Close(l)
	if err = unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(l, 1)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("listen: %w", err)
	}
	at, err := unix.Getsockname(l)
	if err != nil {
		return 0, 0, fmt.Errorf("listen: %w", err)
	}
	if out, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return 0, 0, fmt.Errorf("make a socket: %w", err)
	}
	err = unix.Connect(out, at)
	if err == nil {
		in, _, err = unix.Accept4(l, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	}
	if err != nil {
		unix.Close(out)
		return 0, 0, fmt.Errorf("connect: %w", err)
	}
	return in, out, nil
}

// The reader is on the first CPU of a pair, as our VP is, and the writer on the other: which CPU a wake-up
// has to reach decides how long it takes.
const (
	hearer = iota
	writer
)

// place locks the calling goroutine, which must end locked, to its OS thread, and that to the CPU of
// its role, if there are two CPUs and threads may be bound at all.
func place(role int) {
	runtime.LockOSThread()
	if a, b, two := binding.Pair(binding.Allowed()); two {
		_ = binding.Thread([...]int{hearer: a, writer: b}[role]) // forbidden: then neither is bound
	}
}

// afterSilence writes n times after a silence, from an OS thread that does nothing else, and sets the
// watch to the median of how late it was heard.
func afterSilence(w *watch, n int, write func() error, heard *atomic.Int64) error {
	done := make(chan error, 1)
	var times []float64
	go func() {
		place(writer)
		for range n {
			nap := unix.NsecToTimespec(int64(silence))
			_ = unix.Nanosleep(&nap, nil)
			heard.Store(0)
			began := asm.Cycles()
			if err := write(); err != nil {
				done <- err
				return
			}
			for deadline := time.Now().Add(lost); heard.Load() == 0; {
				nap := unix.NsecToTimespec(int64(time.Millisecond))
				_ = unix.Nanosleep(&nap, nil) // it must not keep the thread that hears it from a CPU
				if time.Now().After(deadline) {
					done <- fmt.Errorf("the byte was not heard within %v", lost)
					return
				}
			}
			times = append(times, float64(asm.Nanos(heard.Load()-began)))
		}
		done <- nil
	}()
	w.begin()
	var err error
	marcel.Blocking(func() { err = <-done })
	w.end()
	w.set(time.Duration(stat.Quantile(times, 0.5) * float64(n)))
	return err
}

func one(fd int) func() error {
	return func() error { _, err := unix.Write(fd, []byte{1}); return err }
}

func silentTCPOurs(s *stage, n int) error {
	r, err := newReceive(s.engine)
	if err != nil {
		return err
	}
	defer r.close()
	return afterSilence(s.watch, n, one(r.out), &r.heard)
}

func silentTCPPeer(w *watch, n int) error {
	in, out, err := connection()
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(in, false); err != nil {
		return err
	}
	var heard atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		place(hearer)
		var b [8]byte
		for {
			n, err := unix.Read(in, b[:])
			if err == unix.EINTR {
				continue
			}
			if n <= 0 {
				return
			}
			heard.Store(asm.Cycles())
		}
	}()
	err = afterSilence(w, n, one(out), &heard)
	unix.Close(out) // ends the reader
	<-ended
	unix.Close(in)
	return err
}

// bell is what shared memory is to the engine: a word says that something is there, an eventfd
// wakes the sleeper.
type bell struct {
	word  atomic.Uint32
	armed atomic.Bool
	fd    int
}

// Descriptor implements pioman.Source.
func (b *bell) Descriptor() int { return b.fd }

// Arm implements pioman.Source.
func (b *bell) Arm() bool { b.armed.Store(true); return b.word.Load() == 0 }

// Disarm implements pioman.Source.
func (b *bell) Disarm() {
	b.armed.Store(false)
	var buf [8]byte
	_, _ = unix.Read(b.fd, buf[:])
}

func (b *bell) ring() error {
	b.word.Store(1)
	if !b.armed.Load() {
		return nil
	}
	_, err := unix.Write(b.fd, []byte{1, 0, 0, 0, 0, 0, 0, 1})
	return err
}

func memoryOurs(s *stage, n int) error {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	b := &bell{fd: fd}
	var heard atomic.Int64
	var task pioman.Task
	task.Init("memory", func(*pioman.Task) pioman.Status {
		if b.word.Load() == 0 || b.word.Swap(0) == 0 {
			return pioman.Again
		}
		heard.Store(asm.Cycles())
		return pioman.Moved
	}, pioman.Repeat)
	if err := s.engine.AddSource(b); err != nil {
		return err
	}
	defer s.engine.RemoveSource(b)
	s.engine.AddPending()
	defer s.engine.RemovePending()
	if err := s.engine.Submit(&task); err != nil {
		return err
	}
	err = afterSilence(s.watch, n, b.ring, &heard)
	return firstError(err, task.Cancel())
}

func memoryPeer(w *watch, n int) error {
	var word atomic.Uint32
	var heard atomic.Int64
	var over atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		place(hearer)
		for !over.Load() {
			for word.Load() == 0 {
				futexSleep(&word)
			}
			word.Store(0)
			heard.Store(asm.Cycles())
		}
	}()
	ring := func() error { word.Store(1); wakeFutex(&word); return nil }
	err := afterSilence(w, n, ring, &heard)
	over.Store(true)
	_ = ring()
	<-ended
	return err
}
