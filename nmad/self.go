package nmad

// The gate to the own rank has no link: sending is matching. A send whose
// receive is posted copies straight into its buffer; one that comes early is
// copied aside if it is short and the window allows, and waits for its receive
// if not, which is what a rendezvous is when both are in one memory.

// selfEager is the longest message to ourselves that is copied aside, in bytes.
const selfEager = 16 << 10

func (g *Gate) sendToSelf(r *Request) {
	if e := g.rx.posted.take(r.tag); e != nil {
		g.copyToSelf(r, e.req)
		return
	}
	size := len(r.buf)
	g.stats.Unexpected++
	if size <= selfEager && g.rx.taken+cost(size) <= g.rx.window {
		m := g.rx.pool.get(size)
		copy(m.body, r.buf)
		m.tag, m.size, m.eager = r.tag, uint64(size), true
		g.rx.unexpected.add(&m.entry)
		g.rx.taken += cost(size)
		g.stats.BytesSent += uint64(size)
		g.stats.UnexpectedBytes += uint64(size)
		g.stats.UnexpectedPeak = max(g.stats.UnexpectedPeak, g.stats.UnexpectedBytes)
		g.sent(r)
		return
	}
	g.stats.Rendezvous++
	m := g.rx.pool.get(0)
	m.tag, m.size, m.eager, m.send = r.tag, uint64(size), false, r
	r.stage = announced
	g.rx.unexpected.add(&m.entry)
	g.pend(r)
}

// copyToSelf moves a message from its send to its receive and ends both.
func (g *Gate) copyToSelf(s, r *Request) {
	g.fill(r, s.buf)
	s.n = len(s.buf)
	g.stats.BytesSent += uint64(s.n)
	g.complete(s, nil)
	g.complete(r, r.err)
}

// failSelf ends the sends to ourselves that wait for a receive.
func (g *Gate) failSelf(err error) {
	from := 0
	for e := g.rx.unexpected.takeAny(&from); e != nil; e = g.rx.unexpected.takeAny(&from) {
		if s := e.msg.send; s != nil {
			g.complete(s, err)
		}
		g.rx.pool.put(e.msg)
	}
}
