package nmad

import (
	"context"
	"runtime"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/simnet"
)

// TestProbeOldest: a message comes behind another one with its tag. When it was compared
// with all that waits, and before it lies with the unexpected ones, a probe for any source
// is posted. The probe tells of the older message, which is what a receive would get.
func TestProbeOldest(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	s, g := p.session(1), p.gates[1]
	p.gates[0].Isend(7, make([]byte, 10))
	p.settle()
	g.mu.lock()
	if r := g.match(7); r != nil {
		t.Fatal("there is a receive")
	}
	found := make(chan Envelope, 1)
	go func() {
		e, err := s.Probe(context.Background(), Tag(7))
		if err != nil {
			t.Error(err)
		}
		found <- e
	}()
	for !g.rescan.Load() { // the probe is posted, and has asked us to look through what is there
		runtime.Gosched()
	}
	younger := g.rx.pool.get(20)
	younger.Tag, younger.size, younger.eager = 7, 20, true
	g.keep(younger)
	g.release()
	if e := <-found; e.Size != 10 || e.Source != 0 {
		t.Errorf("%+v, want the message of 10 bytes, which came first", e)
	}
}
