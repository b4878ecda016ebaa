package nmad

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// foreign is code outside of Go, as the library of C: it begins receives from rank 0 by slips.
type foreign struct {
	lane     *lane.Lane
	way      *lane.Way
	slips    []lane.Slip
	requests []Request
}

func newForeign(t *testing.T, c *Context) *foreign {
	t.Helper()
	f := &foreign{way: &lane.Way{}, slips: make([]lane.Slip, 8), requests: make([]Request, 8)}
	if known := c.way(0, f.way); !known || f.way.Lane.Load() == nil {
		t.Fatalf("a gate with a link over shm: known %v, and no lane", known)
	}
	f.lane = f.way.Lane.Load()
	c.setSlips(f.lane, f.slips, func(i int) *Request { return &f.requests[i] })
	return f
}

// begin does what front/slips.h does, and returns the number of the slip.
func (f *foreign) begin(tag uint64, buf []byte) int {
	for !f.lane.Lock.CompareAndSwap(0, 1) {
		time.Sleep(time.Microsecond)
	}
	tail := f.lane.Tail.Load()
	i := int(tail & f.lane.SlipMask)
	s := &f.slips[i]
	s.Buf, s.Capacity, s.Key, s.Age = uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uint64(len(buf)), tag, f.way.Clock.Load()
	s.Way = uintptr(unsafe.Pointer(f.way))
	s.State.Store(lane.SlipWaiting)
	f.lane.SlipBytes -= int64(len(buf))
	f.lane.Tail.Store(tail + 1)
	f.lane.Lock.Store(0)
	return i
}

// heap is memory that does not move, as that of programs in C.
func heap(n int) []byte {
	p := new([64]byte)
	heaped.Store(p)
	return p[:n]
}

var heaped atomic.Pointer[[64]byte]

// TestSlips: receives that code outside of Go has begun come before those that Go begins later, whichever these name,
// and before what a probe sees; and at last by themselves.
func TestSlips(t *testing.T) {
	d, err := driver.Lookup("shm")
	if err != nil {
		t.Fatal(err)
	}
	j := newJob(t, 2, d, nil)
	defer j.close()
	from, to := openIn(t, j, 0, 5, 0, 1), openIn(t, j, 1, 5, 0, 1)
	var w lane.Way
	if known := to.way(1, &w); !known || w.Lane.Load() != nil {
		t.Errorf("the own rank: known %v, lane %v", known, w.Lane.Load())
	}
	if err := from.Send(1, 1, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Recv(0, 1, nil); err != nil {
		t.Fatal(err)
	}
	f := newForeign(t, to)
	send := func(text string) {
		t.Helper()
		if err := from.Send(1, 7, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	later := func(rank int, m Match) func(*Request, []byte) error {
		m.Context = to
		return func(r *Request, buf []byte) error {
			return to.domain.Post(rank, r, &Operation{Kind: KindRecv, Match: m, Buf: buf})
		}
	}
	for name, begin := range map[string]func(*Request, []byte) error{
		"named":      func(r *Request, buf []byte) error { return to.IrecvInto(r, 0, 7, buf) },
		"any tag":    later(0, Match{}),
		"any source": later(AnySource, Tag(7)),
		"any":        later(AnySource, Match{}),
	} {
		for round := range 20 {
			var r Request
			slip, other := heap(1), heap(1)
			i := f.begin(7, slip)
			if err := begin(&r, other); err != nil {
				t.Fatal(err)
			}
			send("a")
			send("b")
			if err := r.Wait(); err != nil {
				t.Fatal(err)
			}
			if err := f.requests[i].Wait(); err != nil {
				t.Fatal(err)
			}
			if string(slip) != "a" || string(other) != "b" || f.slips[i].State.Load() != lane.SlipGiven {
				t.Fatalf("%s, round %d: the slip got %q, the receive behind it %q, state %d", name, round, slip, other, f.slips[i].State.Load())
			}
		}
	}
	if f.lane.SlipBytes != maxSlipBytes || f.lane.Waiting() {
		t.Errorf("%d bytes may be waited for, of %d; waiting: %v", f.lane.SlipBytes, maxSlipBytes, f.lane.Waiting())
	}

	slip := heap(1)
	i := f.begin(7, slip)
	send("c")
	m := Tag(7)
	m.Context = to
	if _, there := to.domain.Gate(0).Iprobe(m); there {
		t.Error("a probe sees the message of a slip")
	}
	if over, err := f.requests[i].Test(); !over || err != nil || string(slip) != "c" {
		t.Errorf("the slip has %q, over %v, %v", slip, over, err)
	}

	i = f.begin(7, slip)
	f.lane.StartSlipTimer()
	for began := time.Now(); f.slips[i].State.Load() != lane.SlipGiven; time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("no thread calls, and the slip waits for ever")
		}
	}
	send("d")
	if err := f.requests[i].Wait(); err != nil || string(slip) != "d" {
		t.Errorf("the slip has %q, %v", slip, err)
	}
}

// TestSlipRevoked: a receive that code outside of Go has begun ends when its context is revoked, though no thread of Go
// knew of it.
func TestSlipRevoked(t *testing.T) {
	d, err := driver.Lookup("shm")
	if err != nil {
		t.Fatal(err)
	}
	j := newJob(t, 2, d, nil)
	defer j.close()
	from, to := openIn(t, j, 0, 5, 0, 1), openIn(t, j, 1, 5, 0, 1)
	if err := from.Send(1, 1, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Recv(0, 1, nil); err != nil {
		t.Fatal(err)
	}
	f := newForeign(t, to)
	i := f.begin(7, heap(1))
	to.revoked.Store(true)
	to.end() // what Revoke does last; code outside of Go may have had the lock whenever it had it before
	for began := time.Now(); f.slips[i].State.Load() != lane.SlipGiven; time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the slip still waits")
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	if err := f.requests[i].WaitContext(ctx); !errors.Is(err, ErrRevoked) {
		t.Errorf("the slip's receive: %v", err)
	}
}
