package nmad

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/simnet"
)

// FuzzPlaceOf: whatever describes a loan, what is found lies in the memory that it is said to lie in.
func FuzzPlaceOf(f *testing.F) {
	word := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	f.Add(word(0), uint64(4096), 8192)
	f.Add(word(4096), uint64(4096), 8192)
	f.Add(word(4097), uint64(4096), 8192)
	f.Add(word(1<<64-1), uint64(2), 8192)
	f.Add(word(1<<63), uint64(1)<<63, 8192)
	f.Add([]byte{1, 2, 3}, uint64(0), 0)
	f.Fuzz(func(t *testing.T, body []byte, size uint64, memory int) {
		memory = max(0, memory)
		at, ok := flow.PlaceOf(body, size, memory)
		if !ok {
			if len(body) == flow.LoanBody && binary.LittleEndian.Uint64(body) <= 1<<40 && size <= 1<<40 && binary.LittleEndian.Uint64(body)+size <= uint64(memory) {
				t.Errorf("% x, %d bytes, in %d: refused", body, size, memory)
			}
			return
		}
		if at < 0 || size > uint64(memory) || uint64(at) > uint64(memory)-size {
			t.Errorf("% x, %d bytes, in %d: at %d", body, size, memory, at)
		}
	})
}

// giver is a simulated link that can hand memory over.
type giver struct {
	*simnet.Link
	given *int // descriptor on its way; -1: none
	fails error
}

func (l giver) Caps() driver.Caps {
	c := l.Link.Caps()
	c.Lends = true
	return c
}

func (l giver) Lend(int) error { return l.fails }

func (l giver) Lent() (int, error) {
	if l.fails != nil {
		return -1, l.fails
	}
	fd := *l.given
	*l.given = -1
	if fd < 0 {
		return -1, driver.ErrProtocol
	}
	return fd, nil
}

// hostile is a gate whose peer is the test, and has lent that descriptor.
func hostile(fd int, fails error) (*pair, *Gate) {
	p := newPair(simnet.Options{}, wide)
	p.gates[1].locked.bind(giver{p.links[1], &fd, fails}, 0)
	return p, p.gates[1]
}

// TestLoanBlind: one that cannot map what it is lent gets the message as ever.
func TestLoanBlind(t *testing.T) {
	p, g := hostile(-1, errors.New("no more descriptors"))
	r := g.Start(&Op{Kind: OpRecv, Match: Tag(1), Buf: make([]byte, 100), Loan: true})
	p.links[0].Inject(driver.Header{Kind: flow.KindLoan, Context: flow.Plain, Body: flow.LoanBody, Tag: 1, Size: 100, Cookie: 7}, make([]byte, flow.LoanBody))
	g.poll()
	if _, want := g.locked.flow.Rails[0].Streams[flow.Pull].Waits(); g.locked.end != nil || r.core.Stage != flow.Pulling || want != 100 {
		t.Errorf("%v, the request is %v and wants %d bytes", g.locked.end, r.core.Stage, want)
	}
}

// TestReturnOfNothing: a peer that returns what it was not lent is thrown out.
func TestReturnOfNothing(t *testing.T) {
	for what, begin := range map[string]func(g *Gate) *Request{
		"nothing sent":    func(*Gate) *Request { return nil },
		"it was not lent": func(g *Gate) *Request { return g.Isend(1, make([]byte, 1000)) },
	} {
		p := newPair(simnet.Options{}, wide)
		g := p.gates[0]
		s := begin(g)
		p.links[1].Inject(driver.Header{Kind: flow.KindReturn, Cookie: 1 << flow.CookieBits}, nil)
		g.poll()
		if g.locked.end == nil || !errors.Is(g.locked.end, ErrProtocol) {
			t.Errorf("%s: %v", what, g.locked.end)
		}
		if s != nil {
			mustDone(t, s, ErrProtocol)
		}
	}
}

// TestBlockOfGivenUpSend: a block that comes back with a send that was given up is not given out again: the peer may
// still read it.
func TestBlockOfGivenUpSend(t *testing.T) {
	b := wide
	b.loans = 4096
	p := newPair(simnet.Options{}, b)
	g := p.gates[0]
	x, err := g.Alloc(4096)
	if err != nil {
		t.Skip(err) // no memory to share on this system
	}
	s := g.Start(&Op{Match: Tag(1), Buffer: x})
	if err := x.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Alloc(4096); !errors.Is(err, ErrNoRoom) {
		t.Errorf("while it is sent: %v", err)
	}
	g.beginClose(ErrClosed)
	if _, err := g.Alloc(4096); !errors.Is(err, ErrNoRoom) {
		t.Errorf("while it is sent, and the gate closes: %v", err)
	}
	g.sayBye()
	mustDone(t, s, ErrClosed)
	if _, err := g.Alloc(4096); !errors.Is(err, ErrClosed) {
		t.Errorf("after its send was given up: %v", err)
	}
}

// TestLeftUncounted: a thread that is stopped between leaving something for the holder of the lock and counting it
// keeps no poller from going on.
func TestLeftUncounted(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	g := p.gates[0]
	l := &flow.Lease{}
	g.inbox.released.Store(l) // the first half of giveBack
	polled := make(chan bool)
	go func() {
		g.poll()
		close(polled)
	}()
	select {
	case <-polled:
	case <-time.After(10 * time.Second):
		t.Error("the poller waits for it")
	}
	g.inbox.due.Add(1) // the second half
	<-polled
	g.poll()
	if n := g.inbox.due.Load(); n != 0 || g.inbox.left() || g.locked.flow.Ledger().Kept != 1 {
		t.Errorf("%d are counted", n)
	}
}
