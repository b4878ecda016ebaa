package nmad

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/simnet"
)

// TestPutOffBounded: who announces and never polls still gets his messages announced, some at a time; see
// also testdata/announcing.txt.
func TestPutOffBounded(t *testing.T) {
	p := newPair(simnet.Options{Packets: 4 * lateMost, Syscalls: true}, wide)
	g := p.gates[0]
	const messages = 3*lateMost + 1
	for i := range messages {
		g.Isend(1, make([]byte, 100))
		if waiting := i + 1 - g.tx.sends.used; waiting < 0 || waiting >= lateMost {
			t.Fatalf("of %d announcements %d wait", i+1, waiting)
		}
	}
	if packets, calls := p.links[0].Carried(); packets != messages || calls != 4 {
		t.Errorf("%d packets in %d calls, want %d in 4", packets, calls, messages)
	}
	g.mu.lock()
	g.fail(&PeerError{Err: ErrPeerLost}) // puts an end to them
	g.release()
}
