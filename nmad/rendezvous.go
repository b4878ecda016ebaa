package nmad

import "github.com/pm2-go/pm2/nmad/driver"

// answer puts a receive whose message was announced into the queue of those that
// will ask for its data.
func (g *Gate) answer(r *Request) {
	r.want = int(min(r.size, uint64(r.data.size)))
	r.stage = answering
	g.rx.answers.push(r)
}

// transmitAnswer sends the RTR of a receive. It asks for no more bytes than the
// buffer holds, so that nothing has to be thrown away.
func (g *Gate) transmitAnswer(r *Request) (bool, error) {
	h := &g.tx.head
	*h = driver.Header{Kind: kindRtr, Tag: r.tag, Size: uint64(r.want), Cookie: r.cookie}
	ok, err := g.link.Send(h, nil)
	if !ok {
		g.tx.refused = true
	}
	return ok, err
}

// answered goes on with a receive whose RTR has left.
func (g *Gate) answered(r *Request) {
	if r.want == 0 {
		g.transferred(r)
		return
	}
	r.stage = pulling
	g.pull.queue.push(r)
}

// handleRtr starts to send the data of an announced message.
func (g *Gate) handleRtr(h *driver.Header) *PeerError {
	r := g.tx.sends.take(h.Cookie)
	if r == nil && g.byeSent {
		return nil // its send was given up a moment ago
	}
	if r == nil {
		return violation(g.rank, "data is asked for under cookie %#x, which names nothing", h.Cookie)
	}
	// From here on r is in no queue: it must be put into one or be completed.
	if h.Size > uint64(r.data.size) || h.Tag != r.tag {
		wrong := violation(g.rank, "%d bytes with tag %#x are asked for, of a message of %d bytes with tag %#x",
			h.Size, h.Tag, r.data.size, r.tag)
		g.fail(wrong)
		g.complete(r, g.dead)
		return wrong
	}
	r.want = int(h.Size)
	r.stage = pushing
	if r.want == 0 {
		g.transferred(r)
		return nil
	}
	g.push.queue.push(r)
	return nil
}

// transferred ends a rendezvous whose bytes have all moved.
func (g *Gate) transferred(r *Request) {
	if r.stage == pushing {
		r.n = r.data.size // what the receiver did not want counts as sent
		g.stats.BytesSent += uint64(r.want)
		g.complete(r, nil)
		return
	}
	r.n = r.want
	g.stats.BytesReceived += uint64(r.want)
	var err error
	if r.size > uint64(r.want) {
		err = g.truncated(r, r.size)
	}
	g.complete(r, err)
}
