package nmad

import (
	"math"

	"github.com/pm2-go/pm2/nmad/driver"
)

// sender is what a gate knows about its outgoing small track. Under the lock of
// the gate.
type sender struct {
	head    driver.Header // of the packet that is being sent
	eager   int           // longest body that goes eagerly, in bytes
	room    int           // longest body that the link takes, in bytes
	seq     uint32        // of the next message
	credit  int64         // eager bytes that the peer still takes
	window  int64         // what credit can be at most
	records int           // rendezvous that the peer keeps at once
	told    int           // records of which it was told that they are all used
	queue   requestQueue  // messages that wait for their turn, in the order of the strategy
	batch   batch         // the packet of several of them that is being made up
	leaving requestQueue  // requests whose packets may lie in the driver's buffer, see leaving.go
	sends   cookieTable   // announced
	caps    driver.Caps   // of the link
	late    int           // announcements in queue that are put off, see putsOff

	gathered gathering // messages that are done and wait for company; before queue

	owesNotes  bool // notes of agreements are to be sent
	owesBye    bool // BYE is to be sent
	owesByeAck bool // BYE was received and is to be acknowledged
	refused    bool // the link had no room for the last packet
	unflushed  bool // the driver has bytes in a buffer
	batched    bool // it keeps all packets there until the next flush
}

func (s *sender) init(link driver.Link, b bounds) {
	if link != nil {
		s.bind(link, b.eager)
	}
	s.credit, s.window = b.peerWindow, b.peerWindow
	s.records = min(b.peerRecords, maxCookies)
}

// bind takes the bounds of a link over. eager is as in bounds.
func (s *sender) bind(link driver.Link, eager int) {
	s.caps = link.Caps()
	s.room = min(s.caps.MaxBody, math.MaxInt32)
	s.eager = s.room
	if eager > 0 {
		s.eager = min(s.eager, eager)
	}
}

// failSends ends all sends but those whose bytes a mover is copying right now: they are
// ended when the mover comes home.
func (g *Gate) failSends(err error) {
	g.endBuffers(err) // first: the peer may still read the blocks that come back with these sends
	g.tx.gathered.messages = 0
	for r := g.tx.leaving.pop(); r != nil; r = g.tx.leaving.pop() {
		g.complete(r, err)
	}
	for r := g.tx.queue.pop(); r != nil; r = g.tx.queue.pop() {
		g.complete(r, err)
	}
	from := 0
	for r := g.tx.sends.takeAny(&from); r != nil; r = g.tx.sends.takeAny(&from) {
		if r.chunks == 0 { // else it ends with the last of them
			g.complete(r, err)
		}
	}
	for i := range g.rails {
		g.failMover(&g.rails[i].push, err)
	}
}
