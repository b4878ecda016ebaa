package nmad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

func TestQueue(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		q := j.sessions[1].NewQueue()
		const n = 20
		var rs [n]Request
		bufs := map[*Request][]byte{}
		for i := range rs {
			buf := make([]byte, 4000)
			bufs[&rs[i]] = buf
			if err := one.Post(&rs[i], &Operation{Kind: KindRecv, Match: Tag(uint64(i)), Buf: buf, Queue: q}); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			for i := range 2 * n {
				zero.Send(uint64(i%n), pattern(200*(i%n), uint64(i)))
			}
		}()
		count := map[uint64]int{}
		for range 2 * n {
			r, err := q.WaitContext(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := int(r.Tag())
			if want := pattern(200*i, uint64(i+n*count[r.Tag()])); !bytes.Equal(bufs[r][:r.Len()], want) {
				t.Errorf("request %d is damaged", i)
			}
			if count[r.Tag()]++; count[r.Tag()] == 1 {
				if err := one.Post(r, &Operation{Kind: KindRecv, Match: Tag(r.Tag()), Buf: bufs[r], Queue: q}); err != nil {
					t.Error(err)
				}
			}
		}
		if q.Len() != 0 || q.Pop() != nil {
			t.Error("the queue is not empty in the end")
		}
		// A request that is done stays its queue's until it was taken out.
		zero.Send(1, nil)
		var r Request
		one.Post(&r, &Operation{Kind: KindRecv, Match: Tag(1), Queue: q})
		if err := r.Wait(); err != nil {
			t.Error(err)
		}
		if err := one.IrecvInto(&r, 1, nil); !errors.Is(err, ErrActive) {
			t.Errorf("started again while in its queue: %v", err)
		}
		if got, err := q.WaitContext(t.Context()); got != &r || err != nil {
			t.Errorf("%p, %v", got, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := q.WaitContext(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait given up: %v", err)
		}
		j.close()
	})
}

// TestCallbacks passes a message to and fro in callbacks alone, many times, so that a
// stack that grew with each would be seen.
func TestCallbacks(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		const rounds = 2000
		j := newJob(t, 2, d, nil)
		over := make(chan int, 2)
		for rank := range 2 {
			g := j.sessions[rank].Gate(1 - rank)
			var in Request
			buf := make([]byte, 8)
			n := 0
			var received func(*Request)
			received = func(r *Request) {
				if n++; n == rounds || r.core.Err() != nil {
					over <- n
				}
				if n < rounds {
					g.Post(&in, &Operation{Kind: KindRecv, Match: Tag(1), Buf: buf, Done: received})
				}
				if n < rounds || rank == 1 {
					g.Isend(1, nil)
				}
			}
			g.Post(&in, &Operation{Kind: KindRecv, Match: Tag(1), Buf: buf, Done: received})
			if rank == 0 {
				g.Isend(1, nil)
			}
		}
		for got := 0; got < 2; {
			select {
			case n := <-over:
				got++
				if n != rounds {
					t.Errorf("%d rounds, want %d", n, rounds)
				}
			default:
				j.sessions[0].job.poll()
				j.sessions[1].job.poll()
			}
		}
		j.close()
	})
}

// Ten thousand messages are there; each callback starts the next receive.
func TestCallbackDepth(t *testing.T) {
	p := newPair(simnet.Options{Packets: 1 << 15}, bounds{Bounds: flow.Bounds{Window: 1 << 30, Records: 10, PeerWindow: 1 << 30, PeerRecords: 10}})
	const n = 10000
	for range n {
		p.gates[0].Isend(1, nil)
	}
	for p.gates[1].poll() {
	}
	var r Request
	count, depth := 0, 0
	var again func(*Request)
	again = func(*Request) {
		if depth++; depth > 1 {
			t.Fatal("a callback inside a callback")
		}
		if count++; count < n {
			p.gates[1].Post(&r, &Operation{Kind: KindRecv, Match: Tag(1), Done: again})
		}
		depth--
	}
	p.gates[1].Post(&r, &Operation{Kind: KindRecv, Match: Tag(1), Done: again})
	if count != n {
		t.Errorf("%d callbacks, want %d", count, n)
	}
}

func TestChoose(t *testing.T) {
	for _, size := range []int{0, 10, 1000} {
		for _, recvFirst := range []bool{true, false} {
			p := newPair(simnet.Options{}, wide)
			own := newOwnGate(0, p.engines[0], wide)
			for _, side := range [][2]*Gate{{p.gates[0], p.gates[1]}, {own, own}} {
				msg := pattern(size, 1)
				var buf []byte
				op := Operation{Kind: KindRecv, Match: Tag(3), Choose: func(e Envelope) []byte {
					if e.Tag != 3 || e.Source != 0 {
						t.Errorf("asked for a buffer for %+v", e)
					}
					buf = make([]byte, e.Size)
					return buf
				}}
				var r Request
				if recvFirst {
					side[1].Post(&r, &op)
				}
				s := side[0].Isend(3, msg)
				p.settle()
				if !recvFirst {
					side[1].Post(&r, &op)
				}
				p.settle()
				mustDone(t, s, nil)
				mustDone(t, &r, nil)
				if !bytes.Equal(buf, msg) || r.Len() != size {
					t.Errorf("%d bytes into a buffer chosen late: %d", size, r.Len())
				}
			}
			if p.gates[1].locked.flow.Ledger().Announced != 0 || p.gates[1].locked.flow.Stats.UnexpectedBytes != 0 {
				t.Error("memory is still accounted for")
			}
		}
	}
}

func TestMonitor(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	s := &Session{}
	p.gates[1].locked.observe(&s.monitors)
	var seen []string
	stop := s.Monitor(MessageArrived|RecvDone|GateEnded, func(e Event) {
		seen = append(seen, fmt.Sprintf("%d tag %d size %d: %v", e.Kind, e.Tag, e.Size, e.Err != nil))
	})
	p.gates[0].Isend(1, make([]byte, 5))
	p.gates[0].Isend(2, make([]byte, 500))
	p.settle()
	p.gates[1].Irecv(1, make([]byte, 3))
	p.gates[1].Irecv(2, make([]byte, 500))
	p.settle()
	p.links[0].Break(driver.ErrPeerLost)
	p.settle()
	want := []string{
		"1 tag 1 size 5: false", "1 tag 2 size 500: false", "4 tag 1 size 5: true", "4 tag 2 size 500: false", "8 tag 0 size 0: true",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("events %q, want %q", seen, want)
	}
	stop()
	p.gates[1].Irecv(3, nil)
	if len(seen) != len(want) {
		t.Errorf("an event after stop: %q", seen[len(want):])
	}
}

// TestCallbacksOfPrivate: a function of a private domain's owner may start requests there, also if a goroutine of the
// session runs it: one that has made the links, or brings the news that the peer has left.
func TestCallbacksOfPrivate(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		stop := j.moving()
		ended := make(chan []error, 1)
		opened := make(chan struct{})
		go func() {
			mine, err := j.sessions[0].Domain(DomainConfig{Number: 1, Access: Private})
			if err != nil {
				t.Error(err)
			}
			g := mine.Gate(1)
			var errs []error // of the functions, which run one after the other
			var r Request
			var again func(*Request)
			again = func(*Request) {
				errs = append(errs, g.Post(&r, &Operation{Kind: KindRecv, Match: Tag(7), Done: func(r *Request) { again(r) }}))
				if errors.Is(errs[len(errs)-1], ErrOwner) || len(errs) == 4 { // two messages, and two ends
					ended <- errs
					again = func(*Request) {}
				}
			}
			if err := g.Post(&r, &Operation{Kind: KindRecv, Match: Tag(7), Done: again}); err != nil {
				t.Error(err)
			}
			close(opened)
			_, _ = g.Recv(8, nil) // until the peer has left
		}()
		<-opened
		other, err := j.sessions[1].Domain(DomainConfig{Number: 1})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := other.Gate(0).Send(7, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Close(); err != nil { // the rest end, however often they are started again
			t.Fatal(err)
		}
		for i, err := range <-ended {
			if err != nil && (i < 2 || !errors.Is(err, ErrPeerLost)) {
				t.Errorf("request %d started by a function: %v", i, err)
			}
		}
		stop()
		j.close()
	})
}
