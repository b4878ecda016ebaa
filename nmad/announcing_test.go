package nmad

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// TestPutOffBounded: one that announces and never polls still gets its messages announced, some at a time; see
// also testdata/announcing.txt.
func TestPutOffBounded(t *testing.T) {
	p := newPair(simnet.Options{Packets: 4 * strategy.LateMost, Syscalls: true}, wide)
	g := p.gates[0]
	const messages = 3*strategy.LateMost + 1
	for i := range messages {
		g.Isend(1, make([]byte, 100))
		if waiting := i + 1 - g.locked.flow.Ledger().Outstanding; waiting < 0 || waiting >= strategy.LateMost {
			t.Fatalf("of %d announcements %d wait", i+1, waiting)
		}
	}
	if packets, calls := p.links[0].Carried(); packets != messages || calls != 4 {
		t.Errorf("%d packets in %d calls, want %d in 4", packets, calls, messages)
	}
	h := g.lock()
	h.fail(&PeerError{Err: ErrPeerLost}) // puts an end to them
	h.letGo()
}
