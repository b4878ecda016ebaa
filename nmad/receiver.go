package nmad

import (
	"fmt"
	"math"
	"slices"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// receiver is what a gate knows about its incoming small track, and about
// matching. Under the lock of the gate.
type receiver struct {
	match.Matcher[Request, message]

	head      driver.Header // of the packet that is being received
	seq       uint32        // of the next message
	pool      messagePool
	answers   requestQueue // receives whose RTR is still to be sent
	deferred  requestQueue // receives whose next RTR is to be sent when a rail is idle
	records   int          // rendezvous that may be unexpected at once
	announced int          // rendezvous that are unexpected
	heard     uint64       // of how many records the peer has said that all are used
	full      bool         // that is all that there are
	owesRoom  bool         // more were granted, and the peer is to be told

	// Credit; see credit.go.
	window int64
	taken  int64
	owed   int64
}

func (x *receiver) init(b bounds) {
	x.window = min(b.window, math.MaxUint32)
	x.records = b.records
	x.pool.limit = int(x.window / 4)
}

// burst is how many packets one poll takes in at most, so that the lock is held
// for a bounded time.
const burst = 32

// startRecv begins a receive. The request may be done on return.
func (g *Gate) startRecv(r *Request) {
	if r.special || g.aloof || g.rx.Unexpected() != 0 {
		if g.post(r) {
			g.deliver(r, r.held)
		}
		return
	}
	r.stage = posted // as most often
	g.stats.Recvs++
	g.pend(r)
	g.rx.Post(&r.entry)
}

// post puts a receive or a probe into the place where messages find it, or ends it.
// True: its message is there already, in r.held, and is to be delivered.
func (g *Gate) post(r *Request) bool {
	r.stage = posted
	m, peeks := match.Pattern{Tag: r.entry.Tag, Mask: exact}, false
	if r.special {
		m, peeks = r.wild.Pattern(), r.wild.Probe
	}
	if !peeks {
		g.stats.Recvs++
	}
	if g.rx.Unexpected() != 0 && !g.closing {
		if peeks {
			if x := g.rx.Peek(m); x != nil {
				g.seen(r, x)
				return false
			}
		} else if x := g.rx.Take(m); x != nil {
			r.entry.Tag, r.from = x.Tag, g.rank
			r.stage, r.held = matched, x
			return true
		}
	}
	if g.aloof && !g.admits(r) {
		return false
	}
	g.pend(r)
	if m.Mask == exact && !peeks {
		g.rx.Post(&r.entry)
	} else {
		g.rx.PostWild(&r.wild)
	}
	return false
}

// deliver gives a message that was kept to its receive.
func (g *Gate) deliver(r *Request, m *message) {
	if m.lent && r.special && r.loans && g.dead == nil {
		bytes, cookie := m.body, m.cookie
		r.held = nil
		g.rx.announced--
		g.rx.pool.put(m)
		g.hand(r, bytes, cookie)
		return
	}
	if r.special && r.chooser != nil && r.stage != choosing {
		g.ask(r, m)
		return
	}
	r.held = nil
	switch {
	case m.eager:
		g.fill(r, m.body)
		g.stats.BytesReceived += uint64(r.n)
		g.rx.owed += cost(len(m.body))
		g.stats.UnexpectedBytes -= uint64(len(m.body))
		g.rx.pool.put(m)
		g.complete(r, r.err)
		switch {
		case g.link == nil:
			g.rx.paid()
		case g.end == nil && g.rx.due():
			g.drain()
		}
	case g.dead != nil: // it was kept by somebody for longer than the gate
		if g.end != nil {
			g.dropRendezvous([]uint64{m.Tag})
		}
		g.rx.pool.put(m)
		g.complete(r, g.dead)
	case m.own:
		s := g.tx.sends.take(m.cookie)
		g.rx.pool.put(m)
		g.copyToSelf(s, r)
	default:
		r.size, r.cookie = m.size, m.cookie
		g.rx.announced--
		g.rx.pool.put(m)
		g.pend(r)
		g.answer(r)
		g.drain()
	}
}

// plainly is up to what length a body is copied without asking how best, in bytes.
const plainly = 256

// takes copies a short eager body into a buffer in one piece that has room for it, and says
// whether it could: what most messages need of fill, without a call.
func (r *Request) takes(body []byte) bool {
	if r.special || len(body) > min(r.data.size, plainly) {
		return false
	}
	r.size, r.n = uint64(len(body)), copy(r.data.buf, body)
	return true
}

// fill copies an eager body into the buffer of its receive and sets the outcome.
func (g *Gate) fill(r *Request, body []byte) {
	r.size = uint64(len(body))
	if !r.special || r.data.whole() {
		r.n = asm.Copy(r.data.buf, body)
	} else if r.n, r.short = r.data.fill(body); r.short {
		r.err = r.shortage()
	}
	if len(body) > r.data.size && r.err == nil {
		r.err = g.truncated(r, uint64(len(body)))
	}
}

func (g *Gate) truncated(r *Request, size uint64) error {
	return fmt.Errorf("nmad: receive from rank %d, tag %#x: %w: it has %d bytes, the buffer %d",
		g.rank, r.entry.Tag, ErrTruncated, size, r.data.size)
}

// receive takes in the packets that are there, up to a burst. Once waiter (nil: nobody) is
// done and nothing else is waited for it looks for no more: the look would take the line of
// the next cell away from a peer who is about to write it. It says whether there were any.
func (g *Gate) receive(waiter *Request) bool {
	h := &g.rx.head
	for n := range burst {
		body, ok, err := g.link.Recv(h)
		if err != nil {
			g.fail(g.rails[0].failure(err))
			return true
		}
		if !ok {
			return n > 0
		}
		if wrong := g.handle(h, body); wrong != nil {
			g.fail(wrong)
			return true
		}
		if g.end != nil {
			return true
		}
		if waiter != nil && waiter.stage == done && g.rx.Posted() == 0 {
			return true
		}
	}
	return true
}

// handle deals with one packet. Nothing in it is trusted: the body may change
// while it is looked at, and the header may say anything.
func (g *Gate) handle(h *driver.Header, body []byte) *PeerError {
	if uint64(h.Body) != uint64(len(body)) || h.Flags != 0 && h.Kind != kindRtr {
		return violation(g.rank, "a packet of kind %d with %d of %d bytes, flags %#x", h.Kind, len(body), h.Body, h.Flags)
	}
	if h.Kind == kindEager {
		if h.Size != uint64(len(body)) {
			return violation(g.rank, "an eager message of %d bytes in a body of %d", h.Size, len(body))
		}
		if !g.rx.inOrder(h.Seq) {
			return g.outOfOrder(h)
		}
		if marcel.Tracing() {
			g.traceArrived(h)
		}
		if h.Cookie != 0 {
			if wrong := g.handleCredit(uint64(h.Cookie)); wrong != nil {
				return wrong
			}
		}
		if !g.rx.charge(len(body)) {
			return g.overdrawn()
		}
		g.arrive(h.Tag, body)
		return nil
	}
	return g.handleOther(h, body)
}

// handleOther deals with all packets but those of one eager message.
func (g *Gate) handleOther(h *driver.Header, body []byte) *PeerError {
	switch h.Kind {
	case kindAggregate:
		return g.handleAggregate(h, body)
	case kindLoan:
		return g.handleLoan(h, body)
	case kindNote:
		return g.handleNote(h, body)
	}
	if len(body) != 0 {
		return violation(g.rank, "a packet of kind %d with a body of %d bytes", h.Kind, len(body))
	}
	switch h.Kind {
	case kindRdv:
		return g.handleRdv(h)
	case kindRtr:
		return g.handleRtr(h)
	case kindCredit:
		return g.handleCredit(h.Size)
	case kindFull:
		return g.handleFull(h.Size)
	case kindRoom:
		return g.handleRoom(h.Size)
	case kindBye:
		return g.handleBye(h.Size)
	case kindByeAck:
		return g.handleByeAck()
	case kindReturn:
		return g.handleReturn(h)
	}
	return violation(g.rank, "a packet of unknown kind %d", h.Kind)
}

// inOrder checks and counts the number of a message.
func (x *receiver) inOrder(seq uint32) bool {
	if seq != x.seq {
		return false
	}
	x.seq++
	return true
}

func (g *Gate) outOfOrder(h *driver.Header) *PeerError {
	return violation(g.rank, "message number %d in the place of %d", h.Seq, g.rx.seq)
}

// arrive matches an eager message.
func (g *Gate) arrive(tag uint64, body []byte) {
	r := g.match(tag)
	if r != nil && (!r.special || r.chooser == nil) {
		if !r.takes(body) {
			g.fill(r, body)
		}
		g.stats.BytesReceived += uint64(r.n)
		g.rx.owed += cost(len(body))
		g.complete(r, r.err)
		return
	}
	m := g.rx.pool.get(len(body))
	asm.Copy(m.body, body)
	m.Tag, m.size, m.eager = tag, uint64(len(body)), true
	g.stats.UnexpectedBytes += uint64(len(body))
	g.stats.UnexpectedPeak = max(g.stats.UnexpectedPeak, g.stats.UnexpectedBytes)
	if r != nil {
		g.ask(r, m)
		return
	}
	g.keep(m)
}

// ask has the owner of a receive choose its buffer, once the lock is let go.
func (g *Gate) ask(r *Request, m *message) {
	r.stage, r.held = choosing, m
	r.from = g.rank
	g.calls.push(upcall{r: r})
	g.called = true
}

func (g *Gate) handleRdv(h *driver.Header) *PeerError { return g.announcement(h, nil) }

// announcement takes in the announcement of a message; lent is where it lies, if it can be read there.
func (g *Gate) announcement(h *driver.Header, lent []byte) *PeerError {
	if !g.rx.inOrder(h.Seq) {
		return g.outOfOrder(h)
	}
	if marcel.Tracing() {
		g.traceArrived(h)
	}
	if h.Size > math.MaxInt {
		return violation(g.rank, "a message of %d bytes is announced, more than this machine can address", h.Size)
	}
	r := g.match(h.Tag)
	if r != nil && lent != nil && r.special && r.loans {
		g.hand(r, lent, h.Cookie)
		return nil
	}
	if r != nil && r.chooser == nil {
		r.size, r.cookie = h.Size, h.Cookie
		g.answer(r)
		return nil
	}
	if g.rx.announced >= g.rx.records {
		return violation(g.rank, "more than %d messages are announced at once", g.rx.records)
	}
	g.rx.announced++
	m := g.rx.pool.get(0)
	m.Tag, m.size, m.cookie, m.eager = h.Tag, h.Size, h.Cookie, false
	m.body, m.lent = lent, lent != nil
	if r != nil {
		g.ask(r, m)
	} else {
		g.keep(m)
		g.relieveWaiting()
	}
	return nil
}

// dropRendezvous forgets announcements, whose data no process will send any more, and the messages behind them, or behind
// those that are under way, whose tags are given, with the same tag: a receive that got one of these in the place of the
// message that is lost would not know.
func (g *Gate) dropRendezvous(underway []uint64) {
	x := &g.rx
	gap, lost := uint64(0), false // of the tag gap a message is lost
	x.Sift(func(m *message) bool {
		lost = !m.eager || lost && m.Tag == gap || slices.Contains(underway, m.Tag)
		if !lost {
			return true
		}
		if gap = m.Tag; m.eager {
			g.stats.UnexpectedBytes -= uint64(len(m.body))
		}
		x.pool.put(m)
		return false
	})
	x.announced = 0
}

// tagsUnderway lists the tags of the messages that receives were given and that have not come completely. Under mu.
func (g *Gate) tagsUnderway() (tags []uint64) {
	for _, q := range []*requestQueue{&g.rx.answers, &g.rx.deferred} {
		for r := q.head; r != nil; r = r.link {
			tags = append(tags, r.entry.Tag)
		}
	}
	for i := range g.rails {
		for c := g.rails[i].pull.queue.head; c != nil; c = c.next {
			tags = append(tags, c.req.entry.Tag)
		}
	}
	return tags
}

// failRecvs ends all receives but those into whose buffers a mover is copying right now:
// they are ended when the mover comes home.
func (g *Gate) failRecvs(err error) {
	from := 0
	for r := g.rx.TakePosted(&from); r != nil; r = g.rx.TakePosted(&from) {
		g.complete(r, err)
	}
	g.rx.answers.prepend(&g.rx.deferred)
	for r := g.rx.answers.pop(); r != nil; r = g.rx.answers.pop() {
		if r.chunks == 0 { // else it ends with the last of them
			g.complete(r, err)
		}
	}
	for i := range g.rails {
		g.failMover(&g.rails[i].pull, err)
	}
}
