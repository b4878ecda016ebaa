package nmad

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
)

// pair is two gates that lead to each other, rank 0 and rank 1, over a
// simulated link, each with an engine of its own that only the test polls.
type pair struct {
	engines [2]*pioman.Engine
	gates   [2]*Gate
	links   [2]*simnet.Link   // of the first rail
	rails   [][2]*simnet.Link // all of them
}

// wide are bounds that no test reaches by accident.
var wide = bounds{Bounds: flow.Bounds{Window: 1 << 20, Records: 1 << 10, PeerWindow: 1 << 20, PeerRecords: 1 << 10}}

// newPair makes a pair of gates; more is one for each further rail.
func newPair(o simnet.Options, b bounds, more ...simnet.Options) *pair {
	p := &pair{}
	var links [2][]driver.Link
	for _, o := range append([]simnet.Options{o}, more...) {
		x, y := simnet.Pair(o)
		p.rails = append(p.rails, [2]*simnet.Link{x, y})
		links[0], links[1] = append(links[0], x), append(links[1], y)
	}
	p.links = p.rails[0]
	for i := range p.gates {
		p.engines[i] = pioman.New(pioman.Config{})
		p.gates[i] = newGate(i, 1-i, p.links[i], p.engines[i], b, links[i][1:]...)
		p.gates[i].locked.join(newAnyList(match.All(2), i))
		p.gates[i].spin = time.Millisecond // what a test waits for has arrived
		for k := range p.gates[i].rails {
			p.gates[i].rails[k].name = fmt.Sprint("sim", k)
		}
		if len(more) > 0 {
			p.gates[i].locked.flow.Strategy = strategy.SplitBalance
		}
	}
	return p
}

// session is one of that rank around its gate and one to itself.
func (pa *pair) session(rank int) *Session {
	g := pa.gates[rank]
	s := &Session{linker: newLinker(time.Minute)}
	s.cfg.Rank, s.cfg.Size, s.cfg.Engine = rank, 2, pa.engines[rank]
	s.openJob()
	s.job.anyList = g.anyList
	own := newOwnGate(rank, pa.engines[rank], wide)
	own.locked.join(g.anyList)
	own.locked.observe(&s.monitors)
	g.locked.observe(&s.monitors)
	s.job.gates[rank].Store(own)
	s.job.gates[1-rank].Store(g)
	return s
}

// settle polls both gates until nothing moves any more.
func (pa *pair) settle() {
	for quiet := 0; quiet < 2; quiet++ {
		for _, g := range pa.gates {
			if g.poll() {
				quiet = 0
			}
		}
	}
}

// pending is what the engines count.
func (pa *pair) pending() [2]int {
	return [2]int{pa.engines[0].Pending(), pa.engines[1].Pending()}
}

// pattern fills a message of that size so that each message differs from every
// other one in every place. No other one has it yet, so the race detector need not look.
//
//go:norace
func pattern(size int, seed uint64) []byte {
	b := make([]byte, size)
	x := seed*0x9E3779B97F4A7C15 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

func mustDone(t *testing.T, r *Request, want error) {
	t.Helper()
	over, err := r.Test()
	if !over {
		t.Fatalf("request with tag %#x is not done but %v", r.core.Entry.Tag, r.core.Stage)
	}
	if !errors.Is(err, want) {
		t.Fatalf("request with tag %#x ended with %v, want %v", r.core.Entry.Tag, err, want)
	}
}

func TestSizesBothOrders(t *testing.T) {
	for _, size := range []int{0, 1, 63, 64, 65, 255, 256, 257, 1000, 5000} {
		for _, recvFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("size=%d,recvFirst=%v", size, recvFirst), func(t *testing.T) {
				p := newPair(simnet.Options{}, wide)
				msg, buf := pattern(size, 1), make([]byte, size)
				var s, r *Request
				if recvFirst {
					r = p.gates[1].Irecv(9, buf)
					s = p.gates[0].Isend(9, msg)
				} else {
					s = p.gates[0].Isend(9, msg)
					p.settle()
					r = p.gates[1].Irecv(9, buf)
				}
				p.settle()
				mustDone(t, s, nil)
				mustDone(t, r, nil)
				if s.Len() != size || r.Len() != size || r.Tag() != 9 {
					t.Errorf("lengths %d and %d, tag %d; want %d, 9", s.Len(), r.Len(), r.Tag(), size)
				}
				if !bytes.Equal(buf, msg) {
					t.Error("the bytes differ")
				}
				if n := p.pending(); n != [2]int{} {
					t.Errorf("the engines still count %v pending requests", n)
				}
			})
		}
	}
}

func TestTruncation(t *testing.T) {
	for _, size := range []int{10, 64, 65, 1000} {
		for _, room := range []int{0, 1, 9} {
			for _, recvFirst := range []bool{true, false} {
				t.Run(fmt.Sprintf("size=%d,room=%d,recvFirst=%v", size, room, recvFirst), func(t *testing.T) {
					p := newPair(simnet.Options{}, wide)
					msg, next := pattern(size, 1), pattern(size, 2)
					buf := bytes.Repeat([]byte{0xee}, room+1)
					buf2 := make([]byte, size)
					if !recvFirst {
						p.gates[0].Isend(9, msg)
						p.gates[0].Isend(9, next)
						p.settle()
					}
					r := p.gates[1].Irecv(9, buf[:room])
					r2 := p.gates[1].Irecv(9, buf2)
					if recvFirst {
						mustDone(t, p.sent(msg), nil)
						p.gates[0].Isend(9, next)
					}
					p.settle()
					mustDone(t, r, ErrTruncated)
					mustDone(t, r2, nil)
					if r.Len() != room || !bytes.Equal(buf[:room], msg[:room]) || buf[room] != 0xee {
						t.Errorf("received %d bytes %x, want %x and nothing behind them", r.Len(), buf, msg[:room])
					}
					if !bytes.Equal(buf2, next) {
						t.Error("the next message is damaged")
					}
				})
			}
		}
	}
}

// sent sends msg from rank 0 with tag 9 and lets it go its way.
func (pa *pair) sent(msg []byte) *Request {
	r := pa.gates[0].Isend(9, msg)
	pa.settle()
	return r
}

func TestReuse(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	var s, r Request
	if _, err := r.Test(); !errors.Is(err, ErrNotStarted) {
		t.Errorf("Test of a fresh request: %v, want ErrNotStarted", err)
	}
	if err := r.Wait(); !errors.Is(err, ErrNotStarted) {
		t.Errorf("Wait for a fresh request: %v, want ErrNotStarted", err)
	}
	buf := make([]byte, 8)
	if err := p.gates[1].IrecvInto(&r, 1, buf); err != nil {
		t.Fatal(err)
	}
	if err := p.gates[1].IrecvInto(&r, 1, buf); !errors.Is(err, ErrActive) {
		t.Errorf("start a posted receive again: %v, want ErrActive", err)
	}
	if err := p.gates[1].IsendInto(&r, 1, buf); !errors.Is(err, ErrActive) {
		t.Errorf("send with a posted receive: %v, want ErrActive", err)
	}
	for i := range uint64(5) {
		msg := pattern(8, i)
		if err := p.gates[0].IsendInto(&s, 1, msg); err != nil {
			t.Fatal(err)
		}
		p.settle()
		mustDone(t, &r, nil)
		if !bytes.Equal(buf, msg) {
			t.Fatalf("message %d is damaged", i)
		}
		if err := p.gates[1].IrecvInto(&r, 1, buf); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPeerLost(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	short, long := pattern(10, 1), pattern(1000, 2)
	buf := make([]byte, 2000)
	arrived := p.gates[0].Isend(1, short) // is received later, after the loss
	p.settle()
	pushing := p.gates[0].Isend(2, long) // its receiver is slow
	pulling := p.gates[1].Irecv(2, buf[:1000])
	p.gates[0].poll()
	p.gates[1].poll()
	p.gates[0].poll()
	posted := p.gates[1].Irecv(3, buf[1000:])
	announced := p.gates[0].Isend(4, long)
	p.links[0].Hold(true)
	queued := p.gates[0].Isend(5, short)
	p.links[0].Break(driver.ErrPeerLost)
	p.settle()

	mustDone(t, arrived, nil)
	for name, r := range map[string]*Request{"pushing": pushing, "announced": announced, "queued": queued} {
		t.Run(name, func(t *testing.T) { lostTo(t, r, 1) })
	}
	for name, r := range map[string]*Request{"pulling": pulling, "posted": posted} {
		t.Run(name, func(t *testing.T) { lostTo(t, r, 0) })
	}
	late := p.gates[1].Irecv(1, buf[:10])
	mustDone(t, late, nil)
	if !bytes.Equal(buf[:10], short) {
		t.Error("what had arrived before the loss is damaged")
	}
	lostTo(t, p.gates[1].Irecv(4, buf), 0)
	lostTo(t, p.gates[0].Isend(4, buf), 1)
	if n := p.pending(); n != [2]int{} {
		t.Errorf("the engines still count %v pending requests", n)
	}
}

func lostTo(t *testing.T, r *Request, rank int) {
	t.Helper()
	mustDone(t, r, ErrPeerLost)
	var lost *PeerError
	if _, err := r.Test(); !errors.As(err, &lost) || lost.Rank != rank {
		t.Errorf("the error %v does not name rank %d", err, rank)
	}
}

func TestNoAllocation(t *testing.T) {
	effort.SkipIfNotInlined(t)
	p := newPair(simnet.Options{}, wide)
	msg, buf := pattern(48, 1), make([]byte, 48)
	var s, r Request
	check := func(name string, f func()) {
		t.Helper()
		for range 100 {
			f() // fills the pools
		}
		if n := testing.AllocsPerRun(500, f); n != 0 {
			t.Errorf("%s: %v allocations per message, want 0", name, n)
		}
	}
	check("posted", func() {
		p.gates[1].IrecvInto(&r, 3, buf)
		p.gates[0].IsendInto(&s, 3, msg)
		s.Wait()
		r.Wait()
	})
	check("unexpected", func() {
		p.gates[0].IsendInto(&s, 3, msg)
		p.gates[1].poll()
		p.gates[1].IrecvInto(&r, 3, buf)
		s.Wait()
		r.Wait()
	})
	check("blocking", func() {
		p.gates[0].Send(3, msg)
		p.gates[1].Recv(3, buf)
	})
	long, room := pattern(500, 1), make([]byte, 500)
	check("rendezvous", func() {
		p.gates[1].IrecvInto(&r, 3, room)
		p.gates[0].IsendInto(&s, 3, long)
		p.settle()
		s.Wait()
		r.Wait()
	})
	parts, places := inParts(msg, 20, 0, 9), inParts(buf, 7, 30)
	check("parts, mask", func() {
		p.gates[1].Post(&r, &Operation{Kind: KindRecv, Match: Match{Tag: 3, Mask: 3}, Parts: places})
		p.gates[0].Post(&s, &Operation{Match: Tag(7), Parts: parts})
		s.Wait()
		r.Wait()
	})
	called := func(*Request) {}
	check("callbacks", func() {
		p.gates[1].Post(&r, &Operation{Kind: KindRecv, Match: Tag(3), Buf: buf, Done: called})
		p.gates[0].Post(&s, &Operation{Match: Tag(3), Buf: msg, Done: called})
		s.Wait()
		r.Wait()
	})
	var more [4]Request
	for _, g := range p.gates {
		g.locked.flow.Strategy = strategy.Aggregation
	}
	check("aggregates", func() {
		p.links[0].Hold(true)
		for i := range more {
			p.gates[0].IsendInto(&more[i], 3, msg[:4])
		}
		p.links[0].Hold(false)
		p.gates[0].poll()
		for i := range more {
			more[i].Wait()
			p.gates[1].Recv(3, buf)
		}
	})
	if p.gates[0].locked.flow.Stats.Aggregates == 0 {
		t.Error("nothing was aggregated")
	}
	own := newOwnGate(0, p.engines[0], wide)
	check("own rank", func() {
		own.IsendInto(&s, 3, msg)
		own.IrecvInto(&r, 3, buf)
		s.Wait()
		r.Wait()
	})
}

func BenchmarkEagerOverSimulatedLink(b *testing.B) {
	p := newPair(simnet.Options{}, wide)
	for i := range p.gates {
		p.gates[i].spin = time.Hour
	}
	msg, buf := make([]byte, 1), make([]byte, 1)
	b.ReportAllocs()
	for b.Loop() {
		p.gates[0].Send(1, msg)
		p.gates[1].Recv(1, buf)
	}
}

func BenchmarkBareSimulatedLink(b *testing.B) {
	x, y := simnet.Pair(simnet.Options{})
	h := driver.Header{Body: 1}
	msg, buf := make([]byte, 1), make([]byte, 1)
	b.ReportAllocs()
	for b.Loop() {
		x.Send(&h, msg, nil, false)
		body, _, _ := y.Recv(&h)
		copy(buf, body)
	}
}

// A request that is started while the lock is held by one that arms the link must not
// be slept on.
func TestLeftWhileArming(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	g := p.gates[0]
	h := g.lock()
	s := g.Isend(1, []byte("x"))
	h.unlockOnly() // as Arm does
	if (railSource{&g.rails[0]}).Arm() {
		t.Error("asleep, although a request was left")
	}
	railSource{&g.rails[0]}.Disarm()
	g.poll()
	mustDone(t, s, nil)
}

// tick lets time pass once on all rails, and has both gates take in what has come.
func (pa *pair) tick() {
	for _, l := range pa.rails {
		l[0].Tick()
	}
	pa.settle()
}

// TestSendsAgain: a request that sends at once is done on return, also if it was of another
// kind before, and one that finds the gate taken is sent by its holder.
func TestSendsAgain(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	var r Request
	called := 0
	if err := p.gates[0].Post(&r, &Operation{Match: Tag(1), Buf: []byte("long before"), Sync: true, Done: func(*Request) { called++ }}); err != nil {
		t.Fatal(err)
	}
	in := make([]byte, 16)
	first := p.gates[1].Irecv(1, in)
	p.settle()
	mustDone(t, &r, nil)
	mustDone(t, first, nil)
	for i := range 3 {
		msg := pattern(9+i, uint64(i))
		if err := p.gates[0].IsendInto(&r, 2, msg); err != nil {
			t.Fatal(err)
		}
		mustDone(t, &r, nil)
		if r.Len() != len(msg) || r.Tag() != 2 || called != 1 {
			t.Errorf("send %d: %d bytes with tag %d, %d calls", i, r.Len(), r.Tag(), called)
		}
		if n, err := p.gates[1].Recv(2, in); err != nil || !bytes.Equal(in[:n], msg) {
			t.Errorf("send %d: received %q, %v", i, in[:n], err)
		}
	}
	h := p.gates[0].lock()
	if err := p.gates[0].IsendInto(&r, 2, []byte("left")); err != nil {
		t.Fatal(err)
	}
	if err := p.gates[0].IsendInto(&r, 2, nil); !errors.Is(err, ErrActive) {
		t.Errorf("started again under way: %v", err)
	}
	h.unlock()
	mustDone(t, &r, nil)
	if n, err := p.gates[1].Recv(2, in); err != nil || string(in[:n]) != "left" {
		t.Errorf("received %q, %v", in[:n], err)
	}
	if n := p.pending(); n != [2]int{} {
		t.Errorf("pending: %v", n)
	}
}

// TestOwnerStops: one that receives one message takes no other one out of the network with it; one that
// waits for several takes in what is there.
func TestOwnerStops(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	buf := make([]byte, 8)
	for range 3 {
		if err := p.gates[0].Send(1, []byte("m")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.gates[1].Recv(1, buf); err != nil {
		t.Fatal(err)
	}
	if n := p.gates[1].locked.flow.Ledger().Unexpected; n != 0 {
		t.Errorf("%d messages were taken in that no thread waits for", n)
	}
	a, b := p.gates[1].Irecv(1, buf), p.gates[1].Irecv(1, make([]byte, 8))
	if err := a.Wait(); err != nil {
		t.Fatal(err)
	}
	if b.core.Stage != flow.Finished {
		t.Error("the second message was there, and its receive is not done")
	}
	mustDone(t, b, nil)
}

// TestGatesAtFirstUse: a process has a gate to itself, to those to which it sends, and to those that send to it.
func TestGatesAtFirstUse(t *testing.T) {
	const size = 6
	j := newJob(t, size, &simnet.Net{}, nil)
	ranks := func(s *Session) (ranks []int) {
		for rank := range s.job.gates.all {
			ranks = append(ranks, rank)
		}
		return ranks
	}
	for rank, s := range j.sessions {
		if got := ranks(s); !slices.Equal(got, []int{rank}) {
			t.Fatalf("rank %d has gates to %v at the start", rank, got)
		}
	}
	sent := j.sessions[1].Gate(4).Isend(1, []byte("m"))
	e, err := j.sessions[4].Recv(Tag(1), make([]byte, 1))
	if err = errors.Join(err, sent.Wait()); err != nil || e.Source != 1 {
		t.Fatalf("from rank %d: %v", e.Source, err)
	}
	for rank, want := range [size][]int{{0}, {1, 4}, {2}, {3}, {1, 4}, {5}} {
		if got := ranks(j.sessions[rank]); !slices.Equal(got, want) {
			t.Errorf("rank %d has gates to %v, want %v", rank, got, want)
		}
	}
	j.close()
	if err := j.sessions[0].Gate(3).Send(1, nil); !errors.Is(err, ErrClosed) && !errors.Is(err, ErrPeerLost) {
		t.Errorf("a gate that is asked for after Close: %v", err)
	}
}
