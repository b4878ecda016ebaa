package nmad

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/nmad/strategy"
	"pgregory.net/rapid"
)

// Messages of any size, in parts on either side, into buffers of any size, over any number
// of rails that are as fast as it happens: what arrives is what was sent.
func TestRailsDeliver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := make([]simnet.Options, rapid.IntRange(2, 4).Draw(t, "rails"))
		for i := range options {
			options[i] = simnet.Options{Large: rapid.IntRange(1<<12, 1<<16).Draw(t, "large"), Rate: rapid.IntRange(1<<12, 1<<16).Draw(t, "rate")}
		}
		p := newPair(options[0], wide, options[1:]...)
		for _, g := range p.gates {
			g.locked.flow.Strategy, _ = strategy.Lookup(rapid.SampledFrom(strategy.Names()).Draw(t, "strategy"))
		}
		type exchange struct {
			s, r      *Request
			data, buf []byte
		}
		var all []exchange
		for tag := range uint64(rapid.IntRange(1, 5).Draw(t, "messages")) {
			side := rapid.IntRange(0, 1).Draw(t, "side")
			size := rapid.IntRange(0, 1<<19).Draw(t, "size")
			x := exchange{&Request{}, &Request{}, pattern(size, tag), make([]byte, rapid.IntRange(0, 1<<19).Draw(t, "room"))}
			send, recv := Op{Match: Tag(tag), Buf: x.data}, Op{Kind: OpRecv, Match: Tag(tag), Buf: x.buf}
			if rapid.Bool().Draw(t, "send parts") {
				send.Buf, send.Parts = nil, inParts(x.data, rapid.IntRange(1, 70_000).Draw(t, "part"), 0, rapid.IntRange(0, 9).Draw(t, "part"))
			}
			if rapid.Bool().Draw(t, "receive parts") {
				recv.Buf, recv.Parts = nil, inParts(x.buf, rapid.IntRange(1, 70_000).Draw(t, "place"), 5)
			}
			x.s.prepareSend(p.gates[side], &send)
			p.gates[side].submit(x.s)
			if err := p.gates[1-side].Post(x.r, &recv); err != nil {
				t.Fatal(err)
			}
			all = append(all, x)
		}
		for range 5000 {
			p.tick()
			over := true
			for _, x := range all {
				over = over && x.s.core.Stage == flow.Done && x.r.core.Stage == flow.Done
			}
			if over {
				break
			}
		}
		for i, x := range all {
			n := min(len(x.data), len(x.buf))
			if x.s.core.Stage != flow.Done || x.r.core.Stage != flow.Done {
				t.Fatalf("message %d of %d bytes: the send is %v, the receive %v", i, len(x.data), x.s.core.Stage, x.r.core.Stage)
			}
			if x.r.Len() != n || !bytes.Equal(x.buf[:n], x.data[:n]) {
				t.Fatalf("message %d of %d bytes into %d: %d received, damaged %v", i, len(x.data), len(x.buf), x.r.Len(), !bytes.Equal(x.buf[:n], x.data[:n]))
			}
			if errors.Is(x.r.core.Err(), ErrTruncated) != (len(x.data) > len(x.buf)) {
				t.Fatalf("message %d of %d bytes into %d: %v", i, len(x.data), len(x.buf), x.r.core.Err())
			}
		}
		if n := p.pending(); n != [2]int{} || p.gates[0].locked.flow.Moving(flow.Pull)+p.gates[1].locked.flow.Moving(flow.Push)+p.gates[1].locked.flow.Moving(flow.Pull)+p.gates[0].locked.flow.Moving(flow.Push) != 0 {
			t.Fatalf("the engines still count %v pending requests, the gates chunks", n)
		}
	})
}

// Whenever a rail breaks, every request ends, and says which rail it was.
func TestRailLost(t *testing.T) {
	for lost := range 2 {
		for after := 0; after < 40; after += 3 {
			p := newPair(simnet.Options{Large: 1 << 16, Rate: 1 << 14}, wide, simnet.Options{Large: 1 << 16, Rate: 1 << 13})
			var all []*Request
			for tag := range uint64(3) {
				size := 200_000 * int(tag+1)
				all = append(all, p.gates[0].Isend(tag, pattern(size, tag)), p.gates[1].Irecv(tag, make([]byte, size)))
				all = append(all, p.gates[1].Isend(tag, pattern(size, tag)), p.gates[0].Irecv(tag, make([]byte, size)))
			}
			for range after {
				p.tick()
			}
			p.rails[lost][0].Break(driver.ErrPeerLost)
			last := p.gates[1].Irecv(9, nil)
			for range 100 { // what has arrived at the other rail comes in still
				p.tick()
			}
			mustDone(t, last, ErrPeerLost)
			for i, r := range all {
				if over, err := r.Test(); !over || err != nil && !errors.Is(err, ErrPeerLost) {
					t.Fatalf("rail %d lost after %d ticks: request %d: done %v, %v", lost, after, i, over, err)
				}
			}
			var why *PeerError
			if _, err := last.Test(); !errors.As(err, &why) || why.Reason != fmt.Sprintf("rail sim%d: peer lost", lost) {
				t.Errorf("the loss of rail %d ends requests with %v", lost, err)
			}
			if n := p.pending(); n != [2]int{} {
				t.Fatalf("rail %d lost after %d ticks: the engines still count %v pending requests", lost, after, n)
			}
		}
	}
}

// dozing is a link that says once at first, and after each packet, without a look, that nothing is there.
type dozing struct {
	driver.Link
	dozes bool
}

func (dz *dozing) Recv(h *driver.Header) (body []byte, ok bool, err error) {
	if dz.dozes {
		dz.dozes = false
		return nil, false, nil
	}
	body, ok, err = dz.Link.Recv(h)
	dz.dozes = ok
	return body, ok, err
}

// TestLastPackets: what a peer has sent before its link broke comes in, also where the link does not look at each call.
func TestLastPackets(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	g := p.gates[0]
	g.locked.link = &dozing{Link: g.locked.link, dozes: true}
	var all []*Request
	for tag := range uint64(3) {
		p.gates[1].Isend(tag, []byte{byte(tag)})
		all = append(all, g.Irecv(tag, make([]byte, 1)))
	}
	last := g.Irecv(9, nil)
	h := g.lock()
	h.lose(driver.ErrPeerLost)
	h.letGo()
	for _, r := range all {
		mustDone(t, r, nil)
	}
	mustDone(t, last, ErrPeerLost)
}

// TestNothingAfterTheEnd: an ended gate takes nothing in, also where a send looks for credit: its receives have failed,
// and the next one with the same tag would get the message of another.
func TestNothingAfterTheEnd(t *testing.T) {
	p := newPair(simnet.Options{}, scarce)
	g := p.gates[0]
	first := g.Irecv(1, make([]byte, 1))
	for !g.locked.flow.Lacks(64) {
		g.Isend(2, make([]byte, 64))
	}
	h := g.lock()
	h.fail(&PeerError{Rank: 1, Reason: "of the test", Err: ErrPeerLost})
	h.letGo()
	mustDone(t, first, ErrPeerLost)
	p.gates[1].Isend(1, []byte{1})
	mustDone(t, g.Isend(2, make([]byte, 64)), ErrPeerLost)
	mustDone(t, g.Irecv(1, make([]byte, 1)), ErrPeerLost)
}

// A split rendezvous allocates nothing in steady state, with any strategy.
func TestRailsNoAllocation(t *testing.T) {
	effort.SkipIfNotInlined(t)
	msg, buf := pattern(300_000, 1), make([]byte, 300_000)
	for _, name := range strategy.Names() {
		p := newPair(simnet.Options{Large: 1 << 20}, wide, simnet.Options{Large: 1 << 20})
		for _, g := range p.gates {
			g.locked.flow.Strategy, _ = strategy.Lookup(name)
		}
		var s, r Request
		exchange := func() {
			p.gates[1].IrecvInto(&r, 3, buf)
			p.gates[0].IsendInto(&s, 3, msg)
			p.settle()
			s.Wait()
			r.Wait()
		}
		for range 20 {
			exchange() // fills the pools
		}
		if n := testing.AllocsPerRun(50, exchange); n != 0 {
			t.Errorf("%s: %v allocations per message, want 0", name, n)
		}
	}
}

// A strategy of the program's own may say what it likes: all bytes move all the same.
func TestRailsUnderAWildStrategy(t *testing.T) {
	for _, shares := range [][]int{{0, 0}, {-1, -5}, {1, 1}, {1 << 40, 1 << 40}, {5000, 0}, {4095, 5000}, {0, 1}} {
		p := newPair(simnet.Options{Large: 1 << 16, Rate: 1 << 14}, wide, simnet.Options{Large: 1 << 16, Rate: 1 << 14})
		for _, g := range p.gates {
			g.locked.flow.Strategy = wildStrategy{strategy.Default, shares}
		}
		msg, buf := pattern(100_001, 1), make([]byte, 100_001)
		s, r := p.gates[0].Isend(1, msg), p.gates[1].Irecv(1, buf)
		for range 1000 {
			p.tick()
		}
		mustDone(t, s, nil)
		mustDone(t, r, nil)
		if !bytes.Equal(buf, msg) {
			t.Errorf("shares %v: the bytes differ", shares)
		}
	}
}

type wildStrategy struct {
	strategy.Strategy
	shares []int
}

func (wild wildStrategy) Split(_ int, _ []strategy.Load, shares []int) { copy(shares, wild.shares) }
