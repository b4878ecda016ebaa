package nmad

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// slowCarrier is a network on which the thread that calls Push loses its processor
// there, once its bytes are on the way, until it is let go.
type slowCarrier struct {
	*simnet.Net
	at     int // that many bytes
	inside chan struct{}
	let    chan struct{}
}

func (sc *slowCarrier) Open(c driver.Config) (driver.Endpoint, error) {
	e, err := sc.Net.Open(c)
	return slowEnd{e, sc}, err
}

type slowEnd struct {
	driver.Endpoint
	d *slowCarrier
}

// Dial is what rank 1 does.
func (end slowEnd) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	l, err := end.Endpoint.Dial(ctx, rank, addr)
	return &slowLink{Link: l, d: end.d}, err
}

type slowLink struct {
	driver.Link
	d    *slowCarrier
	sent atomic.Int64
}

func (lnk *slowLink) Push(buf []byte) (int, error) {
	n, err := lnk.Link.Push(buf)
	if lnk.sent.Add(int64(n)) == int64(lnk.d.at) && n > 0 {
		close(lnk.d.inside)
		<-lnk.d.let
	}
	return n, err
}

// TestSlowCarrier: a thread loses its processor right after it has put the last bytes of
// a message on the way. The peer receives the message, has what it wants, and leaves; all
// this the threads beside the slow one see. The send has not failed.
func TestSlowCarrier(t *testing.T) {
	const size = 700
	d := &slowCarrier{
		Net: &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: 1000}},
		at:  size, inside: make(chan struct{}), let: make(chan struct{}),
	}
	j := newJob(t, 2, d, nil)
	zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	sent := make(chan error, 1)
	go func() { sent <- one.Send(1, make([]byte, size)) }()
	if _, err := zero.Recv(1, make([]byte, size)); err != nil {
		t.Error(err)
	}
	<-d.inside
	ended := make(chan struct{})
	stop := j.sessions[1].Monitor(GateEnded, func(Event) { close(ended) })
	defer stop()
	left := make(chan error, 1)
	go func() { left <- j.sessions[0].Close() }()
	for over := false; !over; {
		one.poll()
		select {
		case <-ended:
			over = true
		default:
		}
	}
	close(d.let)
	if err := <-sent; err != nil {
		t.Errorf("the message arrived, and its send says: %v", err)
	}
	if err := <-left; err != nil {
		t.Error(err)
	}
	if err := j.sessions[1].Close(); err != nil {
		t.Error(err)
	}
	for _, e := range j.engines {
		e.Close()
	}
}

// begun starts two long messages from rank 0 to rank 1, of which a part of the first has moved.
func begun(t *testing.T) (p *pair, sends, recvs [2]*Request) {
	t.Helper()
	p = newPair(simnet.Options{Large: 256}, wide)
	for i := range sends {
		sends[i] = p.gates[0].Isend(9, pattern(5000, uint64(i)))
		recvs[i] = p.gates[1].Irecv(9, make([]byte, 5000))
	}
	for polls := 0; p.gates[1].locked.flow.Ledger().Moved[flow.Pull] == 0 || p.gates[0].locked.flow.Ledger().Moved[flow.Push] == 0; polls++ {
		if polls > 1000 {
			t.Fatal("nothing moves")
		}
		g := p.gates[polls%2]
		if h := g.tryLock(); h != nil {
			h.handleInbox()
			h.progress(nil)
			taken := h.reserve()
			h.unlock()
			g.copy(taken)
			g.lock().unlock()
		}
	}
	return p, sends, recvs
}

func unfinished(r *Request) bool {
	over, _ := r.Test()
	return !over
}

// TestBorrowedReceive: a receive that fails keeps its buffer until the link does not write
// into it any more; those that have not begun fail at once.
func TestBorrowedReceive(t *testing.T) {
	p, _, recvs := begun(t)
	g := p.gates[1]
	loaned, asked := true, 0
	g.rails[0].pull.takeBack = func(bool) (int, bool) { asked++; return 0, !loaned }
	g.beginClose(ErrClosed)
	if asked == 0 {
		t.Error("the link was not asked for its buffer")
	}
	mustDone(t, recvs[1], ErrClosed)
	for range 3 {
		g.poll()
	}
	if !unfinished(recvs[0]) {
		t.Fatal("the receive is over, and the link still has its buffer")
	}
	if g.shut(&PeerError{Err: ErrPeerLost}) {
		t.Error("the link could be closed")
	}
	loaned = false
	if !g.shut(&PeerError{Err: ErrPeerLost}) {
		t.Error("the link cannot be closed")
	}
	mustDone(t, recvs[0], ErrClosed)
}

// TestBorrowedSend: what had moved when a send was given up counts, and is perhaps all.
func TestBorrowedSend(t *testing.T) {
	for _, rest := range []int{0, 100, -1} {
		p, sends, _ := begun(t)
		g := p.gates[0]
		before, want := g.locked.flow.Ledger().Moved[flow.Push], ErrClosed
		if rest < 0 {
			rest, want = 5000-int(before), nil
		}
		first := true
		g.rails[0].push.takeBack = func(bool) (int, bool) {
			defer func() { first = false }()
			if first {
				return rest, true
			}
			return 0, true
		}
		g.beginClose(ErrClosed)
		g.sayBye()
		if got := g.locked.flow.Ledger().Moved[flow.Push] - before; got != uint64(rest) {
			t.Errorf("%d bytes more count as pushed, %d were", got, rest)
		}
		over, err := sends[0].Test()
		if !over || !errors.Is(err, want) {
			t.Errorf("%d bytes had moved: %v, %v; should be %v", rest, over, err, want)
		}
		mustDone(t, sends[1], ErrClosed)
	}
}

// TestPutOffBounded: one that announces and never polls still gets its messages announced, some at a time; see
// also testdata/announcing.txt.
func TestPutOffBounded(t *testing.T) {
	p := newPair(simnet.Options{Packets: 4 * strategy.MaxDeferred, Syscalls: true}, wide)
	g := p.gates[0]
	const messages = 3*strategy.MaxDeferred + 1
	for i := range messages {
		g.Isend(1, make([]byte, 100))
		if waiting := i + 1 - g.locked.flow.Ledger().Outstanding; waiting < 0 || waiting >= strategy.MaxDeferred {
			t.Fatalf("of %d announcements %d wait", i+1, waiting)
		}
	}
	if packets, calls := p.links[0].Carried(); packets != messages || calls != 4 {
		t.Errorf("%d packets in %d calls, want %d in 4", packets, calls, messages)
	}
	h := g.lock()
	h.fail(&PeerError{Err: ErrPeerLost}) // puts an end to them
	h.unlock()
}
