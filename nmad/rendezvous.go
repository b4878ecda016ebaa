package nmad

import (
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// The receiver of an announced message decides how its bytes travel: it knows how many it
// wants, and what is on the way to it over which rail. It asks for them in order, from
// the first to the last, chunk by chunk; each RTR says which bytes, and over which
// rail they are to come. With one rail, or a message for which one is enough, that is
// one RTR. Else the strategy shares out what was not asked for yet, and may keep some
// of it back until a rail has become idle:
//
//	answering --- all asked for ---------------------> pulling --- all here ---> done
//	    ^  `----- the rails have enough to do ---> deferred
//	    `---------- a rail is about to be idle ------'
//
// The sender obeys. To it an announced message keeps its cookie until the RTR without
// the flag that more will follow.

// unknown is the number of bytes that will be asked for, until the last RTR has come.
const unknown = -1

// leastChunk is the least number of bytes that an RTR asks for which is not the last one
// of its message: it bounds what a peer can have us keep about chunks.
const leastChunk = 4 << 10

// Flags of an RTR: the rail, and
const (
	flagMore  = 0x80 // it is not the last RTR of this message
	railFlags = 0x7f
)

// answer puts a receive whose message was announced into the queue of those that
// will ask for its data.
func (g *Gate) answer(r *Request) {
	r.want = int(min(r.size, uint64(r.data.size)))
	r.moved, r.asked, r.next = 0, 0, cursor{}
	r.stage = answering
	g.rx.answers.push(r)
}

// askFor sends RTRs for the receive at the head of the answers, and takes it out of them. It
// asks for no more bytes than the buffer holds, so that nothing has to be thrown
// away. False: the link has no room.
func (g *Gate) askFor(r *Request) (bool, error) {
	if len(g.rails) > 1 && r.want > 0 && r.pin == 0 {
		return g.askShares(r)
	}
	l := &g.rails[0]
	if r.pin > 0 {
		l = &g.rails[r.pin-1]
	}
	ok, err := g.transmitRtr(l, r, r.want)
	if !ok || err != nil {
		return false, err
	}
	g.asked(r)
	return true, nil
}

// asked goes on with a receive all of whose RTRs have left.
func (g *Gate) asked(r *Request) {
	g.rx.answers.pop()
	r.stage = pulling
	if r.want == 0 {
		g.follow()
		g.handOver(r) // the sender waits for it, and nothing else will come of us
	}
}

// askShares asks for as much as the strategy wants now, and defers the rest.
func (g *Gate) askShares(r *Request) (bool, error) {
	r.stage = answering
	for i, n := range g.share(r.want - r.asked) {
		if n == 0 {
			continue
		}
		if ok, err := g.transmitRtr(&g.rails[i], r, n); !ok || err != nil {
			return false, err
		}
	}
	if r.asked == r.want {
		g.asked(r)
		return true, nil
	}
	g.rx.answers.pop()
	r.stage = deferred
	g.rx.deferred.push(r)
	return true, nil
}

// share has the strategy share rest bytes out, and sees to it that the shares can be
// asked for: none is too short, unless it is the last, and there are some unless a rail
// is at work, and has the strategy asked again when it is idle.
func (g *Gate) share(rest int) []int {
	loads, shares := g.loads, g.shares
	for i := range g.rails {
		loads[i] = g.rails[i].load()
	}
	strategy.Split(g.strategy, rest, loads, shares)
	left := rest
	for i, n := range shares {
		n = max(min(n, left), 0)
		if n < leastChunk && n < left {
			n = 0
		}
		shares[i] = n
		left -= n
	}
	if left == rest && g.idle() {
		shares[0] = rest
	}
	return shares
}

// idle says that all rails are. Under mu.
func (g *Gate) idle() bool {
	for i := range g.rails {
		if !g.rails[i].idle() {
			return false
		}
	}
	return true
}

// transmitRtr asks for the next n bytes of a message over l.
func (g *Gate) transmitRtr(l *rail, r *Request, n int) (bool, error) {
	h := &g.tx.head
	*h = driver.Header{Kind: kindRtr, Flags: l.index, Tag: uint64(r.asked), Size: uint64(n), Cookie: r.cookie}
	if r.asked+n < r.want {
		h.Flags |= flagMore
	}
	if ok, err := g.emit(nil, nil); !ok || err != nil {
		return false, err
	}
	if n > 0 {
		g.beginChunk(&l.pull, r, n)
	}
	return true, nil
}

// handleRtr starts to send data of an announced message.
func (g *Gate) handleRtr(h *driver.Header) *PeerError {
	r := g.tx.sends.find(h.Cookie)
	if r == nil && g.byeSent {
		return nil // its send was given up a moment ago
	}
	if r == nil {
		return violation(g.rank, "data is asked for under cookie %#x, which names nothing", h.Cookie)
	}
	if wrong := g.checkRtr(h, r); wrong != nil {
		return wrong // r is in the table still, and fails with the others
	}
	if h.Size > 0 {
		g.beginChunk(&g.rails[h.Flags&railFlags].push, r, int(h.Size))
	}
	if h.Flags&flagMore != 0 {
		return nil
	}
	g.tx.sends.take(h.Cookie)
	r.stage, r.want = pushing, r.asked
	if r.moved == r.want {
		g.transferred(r)
	}
	return nil
}

// checkRtr says what is wrong with an RTR for r.
func (g *Gate) checkRtr(h *driver.Header, r *Request) *PeerError {
	left := uint64(r.data.size - r.asked)
	switch more := h.Flags&flagMore != 0; {
	case int(h.Flags&railFlags) >= len(g.rails):
		return violation(g.rank, "data is asked for over rail %d, there are %d", h.Flags&railFlags, len(g.rails))
	case h.Tag != uint64(r.asked):
		return violation(g.rank, "data is asked for from byte %d on, of a message of which %d were asked for", h.Tag, r.asked)
	case h.Size > left:
		return violation(g.rank, "%d bytes are asked for, of a message that has %d more", h.Size, left)
	case more && (h.Size < leastChunk || h.Size == left):
		return violation(g.rank, "%d of %d bytes are asked for, and more later", h.Size, left)
	case h.Size == 0 && r.asked > 0:
		return violation(g.rank, "no bytes are asked for, after %d", r.asked)
	}
	return nil
}

// transferred ends a rendezvous whose bytes have all moved.
func (g *Gate) transferred(r *Request) {
	if r.stage == pushing {
		r.n = r.data.size // what the receiver did not want counts as sent
		g.stats.BytesSent += uint64(r.want)
		g.complete(r, r.shortage())
		return
	}
	r.n = r.want
	g.stats.BytesReceived += uint64(r.want)
	err := r.shortage()
	if err == nil && r.size > uint64(r.want) {
		err = g.truncated(r, r.size)
	}
	g.complete(r, err)
}
