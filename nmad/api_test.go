package nmad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// inParts cuts b into parts of these sizes, over and over.
func inParts(b []byte, sizes ...int) [][]byte {
	parts := [][]byte{}
	for i := 0; len(b) > 0; i++ {
		n := min(sizes[i%len(sizes)], len(b))
		parts = append(parts, b[:n:n])
		b = b[n:]
	}
	return parts
}

func TestParts(t *testing.T) {
	cuts := [][]int{{1 << 20}, {1}, {3, 0, 7}, {64, 1}, {0, 0, 250}}
	for _, size := range []int{0, 1, 60, 64, 65, 300, 1000} {
		for _, room := range []int{0, size / 2, size, size + 5} {
			for i, out := range cuts {
				for _, in := range cuts {
					for _, recvFirst := range []bool{true, false} {
						p := newPair(simnet.Options{}, wide)
						msg, buf := pattern(size, 1), make([]byte, room)
						var s, r *Request
						if recvFirst {
							r = p.gates[1].Start(&Operation{Kind: KindRecv, Match: Tag(9), Parts: inParts(buf, in...)})
						}
						if i == 0 {
							s = p.gates[0].Isend(9, msg)
						} else {
							s = p.gates[0].Start(&Operation{Match: Tag(9), Parts: inParts(msg, out...)})
						}
						p.settle()
						if !recvFirst {
							r = p.gates[1].Start(&Operation{Kind: KindRecv, Match: Tag(9), Parts: inParts(buf, in...)})
						}
						p.settle()
						var want error
						if size > room {
							want = ErrTruncated
						}
						mustDone(t, s, nil)
						mustDone(t, r, want)
						n := min(size, room)
						if r.Len() != n || s.Len() != size || r.Size() != uint64(size) || !bytes.Equal(buf[:n], msg[:n]) {
							t.Fatalf("%d bytes in %v into %d in %v: %d received, %d sent, size %d", size, out, room, in, r.Len(), s.Len(), r.Size())
						}
					}
				}
			}
		}
	}
}

func TestPartsToOurselves(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	g := newOwnGate(0, p.engines[0], wide)
	for _, size := range []int{0, 5, 100, 20000} {
		for _, room := range []int{size, size / 3} {
			for _, recvFirst := range []bool{true, false} {
				msg, buf := pattern(size, 1), make([]byte, room)
				var s, r *Request
				if recvFirst {
					r = g.Start(&Operation{Kind: KindRecv, Match: Tag(1), Parts: inParts(buf, 7, 0, 11)})
				}
				s = g.Start(&Operation{Match: Tag(1), Parts: inParts(msg, 3, 50)})
				if !recvFirst {
					r = g.Start(&Operation{Kind: KindRecv, Match: Tag(1), Parts: inParts(buf, 7, 0, 11)})
				}
				mustDone(t, s, nil)
				over, err := r.Test()
				if !over || errors.Is(err, ErrTruncated) != (room < size) || r.Len() != room || !bytes.Equal(buf, msg[:room]) {
					t.Errorf("%d bytes into %d: done %v, %v, %d", size, room, over, err, r.Len())
				}
			}
		}
	}
}

// A synchronous send is done only when its receive is there, whatever its size.
func TestSynchronous(t *testing.T) {
	for _, size := range []int{0, 10, 1000} {
		p := newPair(simnet.Options{}, wide)
		own := newOwnGate(0, p.engines[0], wide)
		for name, side := range map[string][2]*Gate{"peer": {p.gates[0], p.gates[1]}, "own rank": {own, own}} {
			msg, buf := pattern(size, 1), make([]byte, size)
			s := side[0].Start(&Operation{Match: Tag(4), Buf: msg, Sync: true})
			p.settle()
			if over, _ := s.Test(); over {
				t.Fatalf("%s: a synchronous send of %d bytes is done without a receive", name, size)
			}
			r := side[1].Irecv(4, buf)
			p.settle()
			mustDone(t, s, nil)
			mustDone(t, r, nil)
			if !bytes.Equal(buf, msg) {
				t.Errorf("%s: %d bytes are damaged", name, size)
			}
		}
	}
}

// Cancel has two outcomes: the receive is gone and its message goes to the next one, or
// it gets its message.
func TestCancel(t *testing.T) {
	for _, size := range []int{10, 1000} {
		for name, post := range map[string]func(*Gate, []byte) *Request{
			"exact": func(g *Gate, b []byte) *Request { return g.Irecv(5, b) },
			"masked": func(g *Gate, b []byte) *Request {
				return g.Start(&Operation{Kind: KindRecv, Match: Match{Tag: 5, Mask: 7}, Buf: b})
			},
		} {
			p := newPair(simnet.Options{}, wide)
			msg := pattern(size, 1)
			untouched, buf := make([]byte, size), make([]byte, size)
			first, second := post(p.gates[1], untouched), post(p.gates[1], buf)
			if !first.Cancel() {
				t.Fatalf("%s: a posted receive cannot be canceled", name)
			}
			mustDone(t, first, ErrCanceled)
			if first.Cancel() {
				t.Errorf("%s: canceled twice", name)
			}
			s := p.gates[0].Isend(5, msg)
			p.settle()
			mustDone(t, s, nil)
			mustDone(t, second, nil)
			if second.Cancel() || s.Cancel() {
				t.Errorf("%s: a request that is done was canceled", name)
			}
			if !bytes.Equal(buf, msg) || !bytes.Equal(untouched, make([]byte, size)) || first.Len() != 0 {
				t.Errorf("%s: the message of %d bytes went where it should not", name, size)
			}
			if n := p.pending(); n != [2]int{} {
				t.Errorf("%s: the engines still count %v pending requests", name, n)
			}
		}
	}
	p := newPair(simnet.Options{}, wide)
	pulling := p.gates[1].Irecv(1, make([]byte, 1000))
	p.gates[0].Isend(1, make([]byte, 1000))
	p.gates[1].poll()
	if pulling.Cancel() {
		t.Error("a receive whose message is on its way was canceled")
	}
	p.settle()
	mustDone(t, pulling, nil)
}

// TestCancelRace cancels while the message comes, from another thread: whichever
// outcome is told must be true to the last byte.
func TestCancelRace(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		rounds := 300
		if testing.Short() {
			rounds = 60
		}
		var canceled, received int
		for i := range rounds {
			size := []int{8, 5000}[i%2]
			msg, buf, rest := pattern(size, uint64(i)), make([]byte, size), make([]byte, size)
			var r *Request
			if i%3 == 0 {
				r = j.sessions[1].Irecv(Tag(1), buf)
			} else {
				r = j.sessions[1].Gate(0).Irecv(1, buf)
			}
			sent := make(chan error, 1)
			go func() { sent <- j.sessions[0].Gate(1).Send(1, msg) }()
			for range i % 7 * 20 {
				j.sessions[1].Gate(0).poll()
			}
			if r.Cancel() {
				canceled++
				mustDone(t, r, ErrCanceled)
				if _, err := j.sessions[1].Gate(0).Recv(1, rest); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(buf, make([]byte, size)) || !bytes.Equal(rest, msg) {
					t.Fatalf("round %d: a canceled receive was written to, or its message is lost", i)
				}
			} else {
				received++
				if err := r.Wait(); err != nil || !bytes.Equal(buf, msg) {
					t.Fatalf("round %d: not canceled, and %v", i, err)
				}
			}
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d canceled, %d received", canceled, received)
		j.close()
	})
}

func TestProbeAndClaim(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		ctx := t.Context()
		if e, ok := one.Iprobe(Match{}); ok {
			t.Errorf("%+v has come, nothing was sent", e)
		}
		if one.Claim(Match{}) != nil || j.sessions[1].Claim(Match{}) != nil {
			t.Error("a message was claimed, nothing was sent")
		}
		for i, size := range []int{20, 200000} {
			tag := uint64(0x70 + i)
			msg := pattern(size, uint64(i))
			want := Envelope{Source: 0, Tag: tag, Size: uint64(size)}
			sent := make(chan error, 1)
			go func() { sent <- zero.Send(tag, msg) }()
			if e, err := one.Probe(ctx, Match{Tag: 0x70, Mask: 0xf0}); err != nil || e != want {
				t.Errorf("Probe: %+v, %v", e, err)
			}
			if e, err := j.sessions[1].Probe(ctx, Tag(tag)); err != nil || e != want {
				t.Errorf("Probe from any: %+v, %v", e, err)
			}
			if e, ok := one.Iprobe(Tag(tag)); !ok || e != want {
				t.Errorf("Iprobe: %+v, %v", e, ok)
			}
			if e, ok := j.sessions[1].Iprobe(Match{}); !ok || e != want {
				t.Errorf("Iprobe from any: %+v, %v", e, ok)
			}
			if _, ok := one.Iprobe(Tag(1)); ok {
				t.Error("a message with another tag was found")
			}
			m := one.Claim(Tag(tag))
			if m == nil || m.Envelope != want {
				t.Fatalf("Claim: %+v", m)
			}
			if _, ok := one.Iprobe(Match{}); ok {
				t.Error("a claimed message is still to be found")
			}
			buf := make([]byte, m.Size) // chosen late
			if n, err := m.Recv(buf); err != nil || n != size || !bytes.Equal(buf, msg) {
				t.Errorf("claimed message: %d bytes, %v", n, err)
			}
			if _, err := m.Recv(buf); !errors.Is(err, ErrNotStarted) {
				t.Errorf("received twice: %v", err)
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
		}
		// A probe that waits is woken, or gives up.
		late, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := one.Probe(late, Match{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Probe given up: %v", err)
		}
		found := make(chan error, 2)
		for _, probe := range []func(context.Context, Match) (Envelope, error){one.Probe, j.sessions[1].Probe} {
			go func() {
				e, err := probe(ctx, Tag(9))
				if err == nil && e.Size != 3 {
					err = fmt.Errorf("found %+v", e)
				}
				found <- err
			}()
		}
		time.Sleep(time.Millisecond) // mostly they wait by now; if not, it is as above
		zero.Send(9, []byte("abc"))
		if err := errors.Join(<-found, <-found); err != nil {
			t.Error(err)
		}
		j.close()
	})
}

// The oldest of the receives that fit gets a message, whatever the kinds of the others.
func TestOldestReceiveWins(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	g := p.gates[1]
	s := p.session(1)
	kinds := []func(buf []byte) *Request{
		func(b []byte) *Request { return g.Irecv(6, b) },
		func(b []byte) *Request {
			return g.Start(&Operation{Kind: KindRecv, Match: Match{Tag: 2, Mask: 2}, Buf: b})
		},
		func(b []byte) *Request { return s.Irecv(Match{}, b) },
		func(b []byte) *Request { return s.Irecv(Tag(6), b) },
	}
	seed := uint64(0)
	permutations(4, func(order []int) {
		for _, early := range []bool{false, true} {
			var rs []*Request
			var msgs, bufs [][]byte
			for range 4 {
				seed++
				msgs = append(msgs, pattern(12, seed))
				bufs = append(bufs, make([]byte, 12))
				if early {
					p.gates[0].Isend(6, msgs[len(msgs)-1])
				}
			}
			p.settle()
			for i, k := range order {
				rs = append(rs, kinds[k](bufs[i]))
			}
			if !early {
				for _, m := range msgs {
					p.gates[0].Isend(6, m)
				}
				p.settle()
			}
			for i, r := range rs {
				mustDone(t, r, nil)
				if !bytes.Equal(bufs[i], msgs[i]) || r.Source() != 0 || r.Tag() != 6 {
					t.Fatalf("order %v, early %v: receive %d got another message (source %d, tag %d)", order, early, i, r.Source(), r.Tag())
				}
			}
		}
	})
	if n := p.pending(); n != [2]int{} {
		t.Errorf("the engines still count %v pending requests", n)
	}
}

func permutations(n int, f func([]int)) {
	order := make([]int, 0, n)
	var step func()
	step = func() {
		if len(order) == n {
			f(order)
		}
		for i := range n {
			if !slices.Contains(order, i) {
				order = append(order, i)
				step()
				order = order[:len(order)-1]
			}
		}
	}
	step()
}

// TestAnySource has all ranks send to rank 0, itself included, which receives from
// any thread, with several threads: nothing is lost, doubled or damaged, and each
// sender's messages come in order.
func TestAnySource(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		const size, receivers = 4, 3
		messages := 60
		if testing.Short() {
			messages = 24
		}
		j := newJob(t, size, d, nil)
		var wg sync.WaitGroup
		for rank := range size {
			wg.Go(func() {
				for i := range messages {
					n := []int{4, 40, 3000}[i%3]
					if err := j.sessions[rank].Gate(0).Send(uint64(i), pattern(n, uint64(rank<<20|i))); err != nil {
						t.Errorf("rank %d: %v", rank, err)
						return
					}
				}
			})
		}
		var mu sync.Mutex
		seen := map[[2]int]bool{}
		for thread := range receivers {
			wg.Go(func() {
				next := [size]int{} // what one thread gets of one sender is in order
				for range size * messages / receivers {
					buf := make([]byte, 3000)
					e, err := j.sessions[0].Recv(Match{}, buf)
					if err != nil {
						t.Errorf("receiver %d: %v", thread, err)
						return
					}
					i := int(e.Tag)
					if i < next[e.Source] || !bytes.Equal(buf[:e.Size], pattern(int(e.Size), uint64(e.Source<<20|i))) {
						t.Errorf("message %d of rank %d, %d bytes, is damaged or late", i, e.Source, e.Size)
					}
					next[e.Source] = i
					mu.Lock()
					if seen[[2]int{e.Source, i}] {
						t.Errorf("message %d of rank %d came twice", i, e.Source)
					}
					seen[[2]int{e.Source, i}] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(seen) != size*messages {
			t.Errorf("%d messages came, %d were sent", len(seen), size*messages)
		}
		open := j.sessions[0].Irecv(Match{}, nil)
		j.close()
		if err := open.Wait(); !errors.Is(err, ErrClosed) && !errors.Is(err, ErrPeerLost) {
			t.Errorf("a receive from any source at the end: %v", err)
		}
	})
}

// With the last other process a receive from any source ends.
func TestAnySourceAllLost(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		r := j.sessions[0].Irecv(Match{}, nil)
		if err := j.sessions[1].Close(); err != nil {
			t.Error(err)
		}
		if over, err := r.Test(); over {
			t.Errorf("one of two peers has left, the receive ended: %v", err)
		}
		if err := j.sessions[2].Close(); err != nil {
			t.Error(err)
		}
		if err := r.Wait(); !errors.Is(err, ErrPeerLost) {
			t.Errorf("all have left: %v, want ErrPeerLost", err)
		}
		if err := j.sessions[0].Irecv(Match{}, nil).Wait(); !errors.Is(err, ErrPeerLost) {
			t.Errorf("posted later: %v, want ErrPeerLost", err)
		}
		j.close()
	})
}

func TestWaitSets(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		ctx, cancel := context.WithCancel(t.Context())
		var rs []*Request
		for i := range 10 {
			rs = append(rs, one.Irecv(uint64(i), make([]byte, 10)))
		}
		rs[4].Cancel()
		rs[4] = nil
		zero.Send(7, make([]byte, 20))
		if i, err := WaitAny(ctx, rs...); i != 7 || !errors.Is(err, ErrTruncated) {
			t.Errorf("WaitAny: %d, %v; want 7, truncated", i, err)
		}
		cancel()
		if err := rs[3].WaitContext(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("WaitContext given up: %v", err)
		}
		if i, err := WaitAny(ctx, rs[:7]...); i != -1 || !errors.Is(err, context.Canceled) {
			t.Errorf("WaitAny given up: %d, %v", i, err)
		}
		if err := WaitAll(ctx, rs...); !errors.Is(err, context.Canceled) {
			t.Errorf("WaitAll given up: %v", err)
		}
		for i := range rs {
			if i != 4 && i != 7 {
				zero.Isend(uint64(i), make([]byte, 5))
			}
		}
		if err := WaitAll(context.Background(), rs...); !errors.Is(err, ErrTruncated) {
			t.Errorf("WaitAll: %v, want that one was truncated", err)
		}
		if i, err := WaitAny(t.Context(), nil, nil); i != -1 || !errors.Is(err, ErrNotStarted) {
			t.Errorf("WaitAny of nothing: %d, %v", i, err)
		}
		j.close()
	})
}

// TestStartFromManyThreads starts requests on one gate from many threads at once, with
// the lock of the gate taken most of the time, so that they are left for its holder.
func TestStartFromManyThreads(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		const threads = 8
		messages := 200
		if testing.Short() {
			messages = 50
		}
		var wg sync.WaitGroup
		var bad atomic.Int32
		for thread := range threads {
			wg.Go(func() {
				rs := make([]*Request, messages)
				for i := range rs {
					rs[i] = zero.Isend(uint64(thread), pattern(20, uint64(thread<<20|i)))
				}
				if err := WaitAll(context.Background(), rs...); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				rs := make([]*Request, messages)
				bufs := make([][]byte, messages)
				for i := range rs {
					bufs[i] = make([]byte, 20)
					rs[i] = one.Irecv(uint64(thread), bufs[i])
				}
				for i, r := range rs {
					if err := r.Wait(); err != nil || !bytes.Equal(bufs[i], pattern(20, uint64(thread<<20|i))) {
						bad.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if n := bad.Load(); n != 0 {
			t.Errorf("%d messages are damaged or out of order", n)
		}
		j.close()
	})
}

// TestDoneIsGone: what is done arrives although no thread at the sender polls any more, also when the network had no
// room for all of it. What is not done arrives when its owner waits.
func TestDoneIsGone(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, func(c *Config) { c.Unexpected = 1 << 30 })
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		for _, size := range []int{10, 20_000, 50_000} {
			size = min(size, zero.locked.flow.EagerLimit())
			var under []*Request
			for {
				r := zero.Isend(uint64(size), pattern(size, uint64(len(under))))
				under = append(under, r)
				if !r.done() {
					break
				}
			}
			buf := make([]byte, size)
			take := func(i int) {
				if n, err := one.Recv(uint64(size), buf); err != nil || !bytes.Equal(buf[:n], pattern(size, uint64(i))) {
					t.Errorf("message %d of %d bytes: %d bytes, %v", i, size, n, err)
				}
			}
			last := len(under) - 1
			for i := range last {
				take(i) // would wait for ever for one that is not here
			}
			var sender sync.WaitGroup
			sender.Go(func() {
				if err := under[last].Wait(); err != nil {
					t.Error(err)
				}
			})
			take(last)
			sender.Wait()
		}
		j.close()
	})
}

// What threads start while another one has the lock of the gate goes together, over any
// network, and arrives like everything else.
func TestAggregation(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, func(c *Config) { c.Strategy = "aggregation" })
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		const n = 50
		var sends []*Request
		h := zero.lock() // as if a thread was sending
		for i := range n {
			sends = append(sends, zero.Isend(uint64(i%3), pattern(8, uint64(i))))
		}
		h.unlock()
		for i := range n {
			buf := make([]byte, 8)
			if _, err := one.Recv(uint64(i%3), buf); err != nil || !bytes.Equal(buf, pattern(8, uint64(i))) {
				t.Errorf("message %d is damaged: %v", i, err)
			}
			zero.poll()
		}
		if err := WaitAll(t.Context(), sends...); err != nil {
			t.Error(err)
		}
		if s := j.sessions[0].Stats(); s.Aggregated < n/2 || s.Aggregates == 0 || s.Aggregates > s.Aggregated/2 {
			t.Errorf("%d of %d messages went together, in %d packets", s.Aggregated, n, s.Aggregates)
		}
		j.close()
	})
}
