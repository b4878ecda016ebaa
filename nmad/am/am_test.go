package am

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/fault"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
	"github.com/pm2-go/pm2/nmad/rma"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
)

// testJob is several sessions in one process, each with a world.
type testJob struct {
	t        testing.TB
	sessions []*nmad.Session
	engines  []*pioman.Engine
	worlds   []*World
	memories []*rma.World // where long requests go; nil: nowhere
	stop     chan struct{}
	polls    sync.WaitGroup
}

// networks are what the suite runs over; "self" is a job of one process.
func networks(t testing.TB) map[string]driver.Driver {
	all := map[string]driver.Driver{"self": nil, "fault:tcp": fault.Driver{Inner: tcp.Driver{}}}
	for _, name := range append([]string{"shm", "tcp", "unix"}, builtIn...) {
		d, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = d
	}
	return all
}

// newJob opens the sessions and worlds of a job; polled: a goroutine polls all default domains.
func newJob(t testing.TB, size int, d driver.Driver, cfg Config, polled bool) *testJob {
	t.Helper()
	return newJobWith(t, size, d, cfg, polled, false, 0)
}

// newJobWith is newJob with, if long, worlds of nmad/rma, and that longest eager message; 0: the default.
func newJobWith(t testing.TB, size int, d driver.Driver, cfg Config, polled, long bool, eager int) *testJob {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	j := &testJob{t: t, sessions: make([]*nmad.Session, size), engines: make([]*pioman.Engine, size), worlds: make([]*World, size), memories: make([]*rma.World, size), stop: make(chan struct{})}
	errs := make([]error, size)
	var wg sync.WaitGroup
	for rank := range size {
		wg.Go(func() {
			j.engines[rank] = pioman.New(pioman.Config{})
			c := nmad.Config{Rank: rank, Size: size, Rendezvous: l.Addr().String(), Secret: []byte("a secret of at least sixteen bytes"), Custom: d, Engine: j.engines[rank], Timeout: time.Minute, Eager: eager}
			if rank == 0 {
				c.Listener = l
			}
			j.sessions[rank], errs[rank] = nmad.Open(context.Background(), c)
			cfg := cfg
			if errs[rank] == nil && long {
				j.memories[rank], errs[rank] = rma.Open(j.sessions[rank])
				cfg.Memory = j.memories[rank]
			}
			if errs[rank] == nil {
				j.worlds[rank], errs[rank] = Open(j.sessions[rank], cfg)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if polled {
		j.polls.Go(func() {
			for tries := 0; ; tries++ {
				select {
				case <-j.stop:
					return
				default:
				}
				for _, w := range j.worlds {
					if w.Default().Poll() > 0 {
						tries = 0
					}
				}
				rest(tries)
			}
		})
	}
	return j
}

func (j *testJob) close() {
	j.t.Helper()
	close(j.stop)
	j.polls.Wait()
	var wg sync.WaitGroup
	for rank := range j.sessions {
		wg.Go(func() {
			err := j.worlds[rank].Close()
			if m := j.memories[rank]; m != nil {
				err = errors.Join(err, m.Close())
			}
			if err := errors.Join(err, j.sessions[rank].Close()); err != nil {
				j.t.Errorf("rank %d: %v", rank, err)
			}
			j.engines[rank].Close()
		})
	}
	wg.Wait()
}

// overAll runs a test over each network, between the ranks 0 and other.
func overAll(t *testing.T, cfg Config, f func(t *testing.T, j *testJob, other int)) {
	for name, d := range networks(t) {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			defer stopScheduler(t)
			size := 2
			if name == "self" {
				size = 1
			}
			j := newJob(t, size, d, cfg, true)
			defer j.close()
			f(t, j, size-1)
		})
	}
}

// stopScheduler ends the default scheduler of threads, if they have started it.
func stopScheduler(t testing.TB) {
	if s := sched.Running(); s != nil {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

func (j *testJob) handle(id ID, h Handler) {
	j.t.Helper()
	for _, w := range j.worlds {
		if err := w.Handle(id, h); err != nil {
			j.t.Fatal(err)
		}
	}
}

// echo replies what has come.
func echo(t *Token, args []uint64, body []byte) {
	if err := t.Reply(args, body); err != nil {
		panic(err)
	}
}

func pattern(n int, seed uint64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(uint64(i)*7 + seed)
	}
	return b
}

func TestReplies(t *testing.T) {
	overAll(t, Config{}, func(t *testing.T, j *testJob, other int) {
		j.handle(1, echo)
		d := j.worlds[0].Default()
		var r Reply
		for i, n := range []int{0, 1, 8, 100, 1000, 1024, 1025, 4096, 64 << 10, 3} {
			for _, a := range []int{0, 1, MaxArgs} {
				args, body := make([]uint64, a), pattern(n, uint64(i))
				for k := range args {
					args[k] = uint64(k) << 60
				}
				if err := d.RequestFor(&r, other, 1, args, body); err != nil {
					t.Fatal(n, a, err)
				}
				gotArgs, gotBody, err := r.WaitContext(t.Context())
				if err != nil || string(gotBody) != string(body) || fmt.Sprint(gotArgs) != fmt.Sprint(args) {
					t.Fatalf("%d bytes, %d arguments: %v, %v, or damaged", n, a, err, gotArgs)
				}
			}
		}
	})
}

// TestOrder: requests of mixed lengths are handled once each, and in order.
func TestOrder(t *testing.T) {
	overAll(t, Config{Window: 8}, func(t *testing.T, j *testJob, other int) {
		const n = 500
		var next, wrong atomic.Uint64
		j.handle(1, func(_ *Token, args []uint64, body []byte) {
			if args[0] != next.Load() || len(body) >= 8 && binary.LittleEndian.Uint64(body) != args[0] {
				wrong.Add(1)
			}
			next.Add(1)
		})
		d := j.worlds[0].Default()
		sizes := []int{0, 64 << 10, 8, 900, 40000, 5, 2000, 0, 0, 33000, 64}
		for i := range uint64(n) {
			body := make([]byte, sizes[i%uint64(len(sizes))])
			if len(body) >= 8 {
				binary.LittleEndian.PutUint64(body, i)
			}
			if err := d.Request(other, 1, []uint64{i}, body); err != nil {
				t.Fatal(err)
			}
		}
		until(t, func() bool { return next.Load() == n })
		if wrong.Load() != 0 {
			t.Errorf("%d of %d requests came out of order, or damaged", wrong.Load(), n)
		}
	})
}

// until waits for a condition that others bring about.
func until(t testing.TB, is func() bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for tries := 0; !is(); tries++ {
		if time.Now().After(end) {
			t.Fatal("it has not come about in a minute")
		}
		rest(tries)
	}
}
