package nmad

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/sched/topo"
)

// TestSendBuffer: Send returns while there is room for its message, whether or not a receive is posted, and the memory
// is the caller's again; without room it waits; Close loses nothing of what is in the buffer.
func TestSendBuffer(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		const size, room = 300_000, 3 // of each of the latter
		kind := DomainConfig{Number: 1, Progress: Worker, Worker: WorkerConfig{SendBuffer: room * size}}
		from, err := j.sessions[0].Domain(kind)
		if err != nil {
			t.Fatal(err)
		}
		to, err := j.sessions[1].Domain(DomainConfig{Number: 1, Progress: Worker})
		if err != nil {
			t.Fatal(err)
		}
		assistantLeaves := j.assisted(d)
		msg := make([]byte, size)
		send := func(i int) error {
			copy(msg, pattern(size, uint64(i)))
			return from.Gate(1).Send(7, msg)
		}
		for i := range room {
			if err := send(i); err != nil {
				t.Fatal(err)
			}
		}
		if n := from.access.worker.room.Load(); n < 0 {
			t.Errorf("%d bytes of room", n)
		}
		var over atomic.Bool
		var more sync.WaitGroup
		more.Go(func() {
			if err := send(room); err != nil {
				t.Error(err)
			}
			over.Store(true)
		})
		time.Sleep(5 * time.Millisecond)
		if over.Load() {
			t.Error("a send without room has returned before a receive was posted")
		}
		buf := make([]byte, size)
		receive := func(i int) {
			if n, err := to.Gate(0).Recv(7, buf); err != nil || string(buf[:n]) != string(pattern(size, uint64(i))) {
				t.Fatalf("message %d: %d bytes, %v, or damaged", i, n, err)
			}
		}
		for i := range room + 1 {
			receive(i)
		}
		more.Wait()
		for i := range room {
			if err := send(i); err != nil {
				t.Fatal(err)
			}
		}
		more.Go(func() {
			if err := from.Close(); err != nil {
				t.Error(err)
			}
		})
		for i := range room {
			receive(i)
		}
		more.Wait()
		assistantLeaves()
		j.close()
	})
}

// TestLateError: of a message that was given up after its Send had returned, the next Send tells, and monitors.
func TestLateError(t *testing.T) {
	t.Parallel() // Close waits
	j := newJob(t, 2, nil, func(c *Config) { c.Driver, c.Linger = "tcp", 50*time.Millisecond })
	all := j.domain(DomainConfig{Progress: Worker}, 1)
	told := make(chan error, 10)
	defer j.sessions[0].Monitor(SendDone, func(e Event) { told <- e.Err })()
	g := all[0].Gate(1)
	if err := g.Send(1, make([]byte, 100_000)); err != nil { // waits for its receive
		t.Fatal(err)
	}
	if err := all[1].Close(); err != nil {
		t.Error(err)
	}
	if err := <-told; !errors.Is(err, ErrPeerLost) {
		t.Error("a monitor is told ", err)
	}
	if err := g.Send(1, nil); !errors.Is(err, ErrPeerLost) {
		t.Error("the next send: ", err)
	}
	j.close()
}

// TestWorkerKinds: workers that are threads, that are bound, that never sleep; and the errors of those that cannot be.
func TestWorkerKinds(t *testing.T) {
	s, end := oneVP(t)
	defer end()
	cpus, err := topo.Affinity(0)
	if err != nil {
		t.Skip(err)
	}
	marcel.RunOn(s, func() {
		j := newJob(t, 2, nil, func(c *Config) { c.Driver = "auto" })
		for i, w := range []WorkerConfig{{}, {Thread: &marcel.Attr{Name: "worker"}}, {CPUs: topo.CPUs(cpus.First())}, {Spin: -1}, {Spin: time.Millisecond, SendBuffer: -1}} {
			all := j.domain(DomainConfig{Progress: Worker, Worker: w}, 1+i)
			for range effort.Of(10) {
				pass(t, fmt.Sprintf("worker %+v", w), all[0].Gate(1), all[1].Gate(0), 0, 8, 700, 70_000)
			}
			for _, d := range all {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		if d, err := j.sessions[0].Domain(DomainConfig{Progress: Worker, Worker: WorkerConfig{CPUs: topo.CPUs(1023)}}); err == nil {
			t.Error("a worker is bound to a processor that does not exist")
			d.Close()
		}
		if n := len(j.sessions[0].domains.open.All()); n != 1 {
			t.Errorf("%d domains are open", n)
		}
		j.close()
	})
}

// TestWorkerThreads: many goroutines and threads use the gates of domains with workers at once.
func TestWorkerThreads(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		s, end := oneVP(t)
		all := j.domain(DomainConfig{Progress: Worker}, 1)
		var players sync.WaitGroup
		for i := range 4 {
			for rank, from := range all {
				to := (rank + 1 + i%2) % 3
				play := func() {
					for round := range effort.Of(40) {
						size := []int{0, 8, 700, 40_000}[(round+i)%4]
						tag := uint64(i)
						msg, buf := pattern(size, uint64(i+round)), make([]byte, size)
						if err := from.Gate(to).Send(tag, msg); err != nil {
							t.Error(err)
							return
						}
						n, err := from.Gate((rank+3-1-i%2)%3).Recv(tag, buf)
						if err != nil || n != size || string(buf) != string(msg) {
							t.Errorf("rank %d, player %d, round %d: %d bytes, %v, or damaged", rank, i, round, n, err)
							return
						}
					}
				}
				players.Go(func() {
					if i%2 == 0 {
						play()
					} else {
						marcel.RunOn(s, play)
					}
				})
			}
		}
		players.Wait()
		end()
		j.close()
	})
}

// eventually waits until a condition holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come to that")
		}
	}
}

// unexpected sends messages and waits until all of them lie unexpected at the other side.
func unexpected(t *testing.T, from, to *Gate, n, size int) {
	t.Helper()
	for i := range n {
		from.Isend(uint64(i), pattern(size, uint64(i)))
	}
	eventually(t, func() bool {
		from.poll()
		to.poll()
		h := to.lock()
		defer h.unlock()
		return h.flow.Ledger().Unexpected == n
	})
}

// TestReceiveApart: while a thread is inside the driver of a fine domain, or the worker sleeps, a receive takes a
// message that has come. What was left in the inbox before goes first, a message that is only announced waits for the
// driver, and the peer gets its credit back.
func TestReceiveApart(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, func(c *Config) { c.Unexpected = 4 << 10 })
		for i, kind := range []DomainConfig{{Access: Fine}, {Access: Fine, Progress: Explicit}, {Progress: Worker}} {
			all := j.domain(kind, 1+i)
			from, to := all[0].Gate(1), all[1].Gate(0)
			const n, size = 20, 60 // more than half of the window, so that credit is due
			unexpected(t, from, to, n, size)
			w, h := to.worker, to.fresh()
			if w == nil {
				to.lock() // as a thread that is inside the driver
				to.mu.UnlockLists()
			}
			for tag := range uint64(n) {
				r := to.Irecv(tag, make([]byte, size))
				if over := r.core.State.Load() == flow.StateDone; !over || !bytes.Equal(r.core.Data.Buf(), pattern(size, tag)) {
					t.Errorf("%v, %v: message %d: done is %v, or damaged", kind.Access, kind.Progress, tag, over)
				}
			}
			first, second := make([]byte, 8), make([]byte, 8)
			r1, r2 := to.Irecv(n, first), to.Irecv(n, second)
			if w == nil {
				if to.inbox.incoming.Load() == nil {
					t.Error("a receive without a message does not wait for the holder of the driver")
				}
				to.mu.LockLists()
				h.unlock()
			}
			s1, s2 := from.Isend(n, []byte("first...")), from.Isend(n, []byte("second.."))
			if err := WaitAll(t.Context(), r1, r2, s1, s2); err != nil || string(first)+string(second) != "first...second.." {
				t.Errorf("%v, %v: %q, %q, %v", kind.Access, kind.Progress, first, second, err)
			}
			eventually(t, func() bool { // also of the messages that were taken while the driver was held
				from.poll()
				to.poll()
				h := from.lock()
				defer h.unlock()
				l := h.flow.Ledger()
				return l.Credit > l.Window/2
			})
		}
		j.close()
	})
}

// TestWorkerSleeps: the worker is not woken for a receive, neither for one whose message is there nor for one that
// waits.
func TestWorkerSleeps(t *testing.T) {
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "shm" })
	all := j.domain(DomainConfig{Progress: Worker}, 1)
	from, to := all[0].Gate(1), all[1].Gate(0)
	unexpected(t, from, to, 1, 8)
	w := to.worker
	to.domain.access.lock.Lock() // so that the worker could not take the mark away
	there, waits := to.Irecv(0, make([]byte, 8)), to.Irecv(1, make([]byte, 8))
	if w.bell.Test(hasWork) || !there.doneOrNotStarted() || to.inbox.left() {
		t.Errorf("the worker is woken: %v; the message that is there is received: %v; something is left for the worker: %v", w.bell.Test(hasWork), there.doneOrNotStarted(), to.inbox.left())
	}
	to.domain.access.lock.Unlock()
	if err := from.Send(1, make([]byte, 8)); err != nil {
		t.Error(err)
	}
	if err := waits.Wait(); err != nil {
		t.Error(err)
	}
	j.close()
}
