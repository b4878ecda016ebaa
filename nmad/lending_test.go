package nmad

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// neighbour is a simulated link whose peer is this process.
type neighbour struct{ *simnet.Link }

func (nb neighbour) Caps() driver.Caps {
	c := nb.Link.Caps()
	c.Process = os.Getpid()
	return c
}

// hostile is a gate whose peer is the test.
func hostile() (*pair, *Gate) {
	p := newPair(simnet.Options{}, wide)
	p.gates[1].locked.bind(neighbour{p.links[1]}, 0)
	return p, p.gates[1]
}

// TestReturnOfNothing: a peer that returns what it was not loaned is thrown out.
func TestReturnOfNothing(t *testing.T) {
	for what, begin := range map[string]func(g *Gate) *Request{
		"nothing sent":   func(*Gate) *Request { return nil },
		"it was no loan": func(g *Gate) *Request { return g.Isend(1, make([]byte, 1000)) },
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
