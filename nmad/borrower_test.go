package nmad

import (
	"errors"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

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
			h.letGo()
			g.copy(taken)
			g.lock().letGo()
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
	g.rails[0].pull.back = func(bool) (int, bool) { asked++; return 0, !loaned }
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
		g.rails[0].push.back = func(bool) (int, bool) {
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
