package nmad

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/simnet"
)

// drained is a link of which a look costs a system call, and counts those at the large track.
type drained struct {
	*simnet.Link
	looks int
}

func (d *drained) Pull(buf []byte) (int, error) {
	d.looks++
	return d.Link.Pull(buf)
}

// TestPacing: a waiter leaves a socket alone once it has given what it had of a message, and gets all of
// the message all the same; a hook, which comes by more rarely, looks again.
func TestPacing(t *testing.T) {
	for _, waits := range []bool{true, false} {
		p := newPair(simnet.Options{Large: 100, Syscalls: true}, wide)
		from, g := p.gates[0], p.gates[1]
		link := &drained{Link: p.links[1]}
		g.link = link
		g.rails[0].bind(link)
		msg, buf := make([]byte, 1000), make([]byte, 1000)
		for i := range msg {
			msg[i] = byte(i * 7)
		}
		out, in := from.Isend(1, msg), g.Irecv(1, buf)
		polls := 0
		for ; !in.ended(); polls++ {
			if polls > 1000 {
				t.Fatal("the message does not come")
			}
			from.poll()
			g.mu.lock()
			g.pollTracks(true, waits)
		}
		if err := in.Wait(); err != nil || string(buf) != string(msg) {
			t.Errorf("waits %v: %v, or other bytes", waits, err)
		}
		if err := out.Wait(); err != nil {
			t.Error(err)
		}
		if once := link.looks <= polls; once != waits {
			t.Errorf("waits %v: %d looks in %d polls", waits, link.looks, polls)
		}
	}
}
