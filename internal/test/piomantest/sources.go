package piomantest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/pioman"
)

// pipe is a source like a socket: the kernel knows when something is there.
type pipe struct{ r, w int }

func newPipe(t *testing.T) *pipe {
	t.Helper()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Close(p[0])
		unix.Close(p[1])
	})
	return &pipe{r: p[0], w: p[1]}
}

func (p *pipe) Descriptor() int { return p.r }
func (p *pipe) Arm() bool       { return true }
func (p *pipe) Disarm()         {}

func (p *pipe) put() { _, _ = unix.Write(p.w, []byte{1}) }

// take empties the pipe and returns how many bytes there were.
func (p *pipe) take() int {
	var b [64]byte
	n, err := unix.Read(p.r, b[:])
	if err != nil {
		return 0
	}
	return n
}

// sources: what arrives from outside, after any silence, reaches its waiter.
func sources(t *testing.T, w World) {
	s := w.stage(t)
	n := s.rounds(600)
	type receiver struct {
		p    *pipe
		task pioman.Task
		c    atomic.Pointer[pioman.Completion]
		got  atomic.Int64
	}
	all := make([]*receiver, s.size(1))
	for k := range all {
		r := &receiver{p: newPipe(t)}
		r.task.Init("receiver", func(*pioman.Task) pioman.Status {
			n := r.p.take()
			if n == 0 {
				return pioman.Again
			}
			r.got.Add(int64(n))
			if c := r.c.Load(); c != nil {
				c.Signal(1)
			}
			return pioman.Moved
		}, pioman.Repeat)
		if err := s.e.AddSource(r.p); err != nil {
			t.Fatal(err)
		}
		s.submit(&r.task)
		all[k] = r
	}
	var writers sync.WaitGroup
	turn := make([]chan int, len(all)) // the writer writes message i when it is told so
	for k := range turn {
		turn[k] = make(chan int, n) // never full: a thread must not block in it
		writers.Go(func() {
			for i := range turn[k] {
				switch { // from no silence to so much that all threads sleep
				case i%50 == 49:
					time.Sleep(5 * time.Millisecond)
				case i%3 == 0:
					time.Sleep(time.Duration(i%11) * 10 * time.Microsecond)
				}
				all[k].p.put()
			}
		})
	}
	s.crowd(1, func(k int) {
		r := all[k]
		defer close(turn[k])
		for i := range n {
			c := &pioman.Completion{}
			r.c.Store(c)
			s.e.AddPending()
			turn[k] <- i
			err := c.Wait(s.e, 1)
			s.e.RemovePending()
			if err != nil || r.got.Load() != int64(i+1) {
				s.Errorf("message %d: %d came; %v", i, r.got.Load(), err)
				return
			}
		}
	})
	s.finishes("writers", writers.Wait)
	for _, r := range all {
		if err := r.task.Cancel(); err != nil {
			t.Error(err)
		}
		s.e.RemoveSource(r.p)
	}
}
