package nmad

import "github.com/pm2-go/pm2/nmad/driver"

// transmit hands the packet of a message to the link: the message itself, or, if it is
// long or the peer has no memory left for it, its announcement. False: it must wait
// its turn.
func (g *Gate) transmit(r *Request) (bool, error) {
	if !g.tx.gathered.empty() {
		if ok, err := g.transmitGathered(); !ok || err != nil {
			return false, err
		}
	}
	size := r.data.size
	if g.mayShare(r, g.tx.credit) {
		return g.transmitEager(r.entry.Tag, r.data.buf, r.data.parts, size)
	}
	if g.tx.sends.used >= g.tx.records {
		return false, g.tellFull()
	}
	h := &g.tx.head
	var body []byte
	*h = driver.Header{Kind: kindRdv, Tag: r.entry.Tag, Size: uint64(size), Seq: g.tx.seq}
	lent := r.special && g.lendable(r)
	if lent {
		*h, body = g.describeLoan(r)
	}
	cookie := g.tx.sends.put(r)
	h.Cookie = cookie
	began := stamp()
	if ok, err := g.emit(body, nil); !ok || err != nil {
		g.tx.sends.take(cookie)
		return false, err
	}
	g.tx.seq++
	if began != 0 {
		g.traceOut(size, began)
	}
	r.stage = announced
	r.want, r.moved, r.asked, r.next = unknown, 0, 0, cursor{}
	if lent {
		r.lent = true
		g.stats.Lent++
		return true, nil
	}
	g.stats.Rendezvous++
	if size <= g.tx.eager && !r.sync {
		g.stats.Starved++
	}
	return true, nil
}

func (g *Gate) transmitEager(tag uint64, buf []byte, parts [][]byte, size int) (bool, error) {
	h := &g.tx.head
	h.Kind, h.Flags = kindEager, 0
	h.Body, h.Size = uint32(size), uint64(size)
	h.Tag, h.Seq = tag, g.tx.seq
	h.Cookie = uint32(g.rx.owed) // at most the window, which fits
	began := stamp()
	if parts != nil {
		buf = nil
	}
	if ok, err := g.emit(buf, parts); !ok || err != nil {
		return false, err
	}
	g.tx.seq++
	if began != 0 {
		g.traceOut(size, began)
	}
	g.tx.credit -= cost(size)
	g.rx.paid()
	g.stats.BytesSent += uint64(size)
	return true, nil
}

// sent ends an eager send.
func (g *Gate) sent(r *Request) {
	r.n = r.data.size
	g.complete(r, r.shortage())
}

// transmitPlain sends a packet that belongs to no message.
func (g *Gate) transmitPlain(kind uint8, size uint64) (bool, error) {
	g.tx.head = driver.Header{Kind: kind, Size: size}
	return g.emit(nil, nil)
}

// emit hands the packet with the header tx.head to the link. False: it has no room.
func (g *Gate) emit(body []byte, parts [][]byte) (bool, error) {
	ok, err := g.link.Send(&g.tx.head, body, parts, g.tx.batched)
	if !ok || err != nil {
		g.tx.refused = true
		return false, err
	}
	return true, nil
}

// flush moves the driver's buffered bytes on, and says whether none are left. As long as there are any,
// the engine must poll, although they may belong to no request, as those of credit.
func (g *Gate) flush() bool {
	return !g.tx.caps.Buffered && !g.holding && g.tx.gathered.empty() && g.lent.returns.head == nil && !g.tx.owesNotes || g.flushAll()
}

func (g *Gate) flushAll() bool {
	all, err := g.link.Flush()
	if err != nil {
		g.lose(err)
		return false
	}
	g.tx.batched, g.tx.unflushed = false, !all
	if all {
		g.gone()
	}
	if some := !all || !g.tx.gathered.empty() || g.lent.returns.head != nil || g.tx.owesNotes; g.holding != some && g.end == nil {
		g.hold(some)
	}
	return all
}

func (g *Gate) hold(on bool) {
	if g.holding == on {
		return
	}
	g.holding = on
	if on {
		g.engine.Need()
	} else {
		g.engine.Done()
	}
}
