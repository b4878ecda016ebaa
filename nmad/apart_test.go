package nmad

import (
	"bytes"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

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
		defer h.letGo()
		return h.flow.Ledger().Unexpected == n
	})
}

// TestReceiveApart: while a thread is inside the driver of a fine domain, or the worker sleeps, a receive takes a message
// that has come. What was left in the inbox before goes first, a message that is only announced waits for the driver, and
// the peer gets its credit back.
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
				to.mu.dropLists()
			}
			for tag := range uint64(n) {
				r := to.Irecv(tag, make([]byte, size))
				if over := r.core.State.Load() == flow.Over; !over || !bytes.Equal(r.core.Data.Buf(), pattern(size, tag)) {
					t.Errorf("%v, %v: message %d: done is %v, or damaged", kind.Access, kind.Progress, tag, over)
				}
			}
			first, second := make([]byte, 8), make([]byte, 8)
			r1, r2 := to.Irecv(n, first), to.Irecv(n, second)
			if w == nil {
				if to.inbox.incoming.Load() == nil {
					t.Error("a receive without a message does not wait for the holder of the driver")
				}
				to.mu.takeLists()
				h.letGo()
			}
			s1, s2 := from.Isend(n, []byte("first...")), from.Isend(n, []byte("second.."))
			if err := WaitAll(t.Context(), r1, r2, s1, s2); err != nil || string(first)+string(second) != "first...second.." {
				t.Errorf("%v, %v: %q, %q, %v", kind.Access, kind.Progress, first, second, err)
			}
			eventually(t, func() bool { // also of the messages that were taken while the driver was held
				from.poll()
				to.poll()
				h := from.lock()
				defer h.letGo()
				l := h.flow.Ledger()
				return l.Credit > l.Window/2
			})
		}
		j.close()
	})
}

// TestWorkerSleeps: the worker is not woken for a receive, neither for one whose message is there nor for one that waits.
func TestWorkerSleeps(t *testing.T) {
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "shm" })
	all := j.domain(DomainConfig{Progress: Worker}, 1)
	from, to := all[0].Gate(1), all[1].Gate(0)
	unexpected(t, from, to, 1, 8)
	w := to.worker
	to.domain.access.lock.lock() // so that the worker could not take the mark away
	there, waits := to.Irecv(0, make([]byte, 8)), to.Irecv(1, make([]byte, 8))
	if w.bell.Test(hasWork) || !there.done() || to.inbox.left() {
		t.Errorf("the worker is woken: %v; the message that is there is received: %v; something is left for the worker: %v", w.bell.Test(hasWork), there.done(), to.inbox.left())
	}
	to.domain.access.lock.unlock()
	if err := from.Send(1, make([]byte, 8)); err != nil {
		t.Error(err)
	}
	if err := waits.Wait(); err != nil {
		t.Error(err)
	}
	j.close()
}
