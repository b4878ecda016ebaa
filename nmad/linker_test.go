package nmad

import (
	"errors"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// TestNewsOfTheEnd: that a peer has ended is all that is said of links to it that could not be made, also where the
// news of it come later.
func TestNewsOfTheEnd(t *testing.T) {
	for _, before := range []bool{true, false} {
		g := unlinkedGate(t, 1, 2)
		g.locked.stage, g.locked.onEnd = stageDialing, nil
		news := func() { g.lost(roster.Event{Rank: 2, Kind: roster.Died, Reason: "rank 2 (pid 7) died"}) }
		if before {
			go news()
			for h := g.lock(); h.peerNews == ""; h = g.lock() {
				h.unlock()
			}
			g.locked.unlock()
		}
		given := make(chan bool)
		go func() { g.domain.giveUp(g, stageDialing, errors.New("connection refused")); close(given) }()
		if !before {
			news()
		}
		<-given
		var lost *PeerError
		if err := g.Err(); !errors.As(err, &lost) || !errors.Is(err, ErrPeerLost) || !strings.HasSuffix(err.Error(), ": rank 2 (pid 7) died") {
			t.Errorf("news before: %v: %v", before, err)
		}
	}
}
