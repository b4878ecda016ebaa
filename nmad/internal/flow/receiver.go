package flow

import (
	"fmt"
	"math"
	"slices"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// receiver is what a flow knows about its incoming small track, and about
// matching.
type receiver struct {
	contexts

	seq       uint32 // of the next message
	pool      messagePool
	answers   fifo[rendezvous, *rendezvous] // receives whose RTR is still to be sent
	sharing   bool                          // Flow.shares is what is to be asked for of the first of these
	deferred  fifo[rendezvous, *rendezvous] // receives whose next RTR is to be sent when a rail is idle
	records   int                           // rendezvous that may be unexpected at once
	announced int                           // rendezvous that are unexpected
	heard     uint64                        // of how many records the peer has said that all are used
	full      bool                          // that is all that there are
	owesRoom  bool                          // more were granted, and the peer is to be told

	// Credit; see credit.go.
	window int64
	taken  int64
	owed   int64
}

// Receive begins a receive, or a probe, by a look at what has come. True: its message was there. Else it may
// wait for one (Post).
func (f *Flow) Receive(r *Request) bool {
	r.Stage = Posted
	p, probe := match.Pattern{Tag: r.Entry.Tag, Mask: match.Exact}, false
	if r.UsesRare {
		p, probe = r.Rare.Wild.Pattern(), r.Rare.Wild.Probe
	}
	if !probe {
		f.Stats.Recvs++
	}
	x := f.rx.of(r.Context)
	if x.Unexpected() == 0 || f.Closing {
		return false
	}
	var m *Message
	if probe {
		if m = x.Peek(p, r.Entry.Age); m != nil {
			f.seen(r, m)
		}
	} else if m = x.Take(p, r.Entry.Age); m != nil {
		r.matched(m)
		f.deliver(r, m)
	}
	f.deliverFound()
	return m != nil
}

// Post has a receive, or a probe, wait for its message.
func (f *Flow) Post(r *Request) {
	f.relieve() // it may be behind those that we keep
	r.Stage = Posted
	f.Count(r)
	if x := f.rx.of(r.Context); r.UsesRare && !r.Rare.Wild.Exact() {
		x.PostWild(&r.Rare.Wild)
	} else {
		x.Post(&r.Entry)
	}
}

// PostPlainly is Receive and Post of a receive that is Plain and uses no Rare, in the usual case. False: the case is not
// the usual one, and it has done nothing.
func (f *Flow) PostPlainly(r *Request) bool {
	if r.UsesRare || r.Context != Plain || f.rx.Unexpected() != 0 || f.rx.full {
		return false
	}
	r.Stage = Posted
	f.Stats.Recvs++
	f.Count(r)
	f.rx.Post(&r.Entry)
	return true
}

// ReceiveWhole is Receive of a receive that uses no Rare, if its message came eagerly, and only receives wait in its
// context that name tag and source. False: it has done nothing. due: credit is to be given back by a packet of its own.
func (f *Flow) ReceiveWhole(r *Request) (done, due bool) {
	x := f.rx.of(r.Context)
	if x.Unexpected() == 0 || f.Closing || !x.Exactly() {
		return false, false
	}
	m := x.Peek(match.Pattern{Tag: r.Entry.Tag, Mask: match.Exact}, r.Entry.Age)
	done = m != nil && m.eager && f.Receive(r)
	return done, done && !f.ended && f.rx.due()
}

// Withdraw takes back a request whose data has not begun to move, and says whether it
// could.
func (f *Flow) Withdraw(r *Request) bool {
	switch r.Stage {
	case Posted:
		var w *match.Wild[Request]
		if r.UsesRare {
			w = &r.Rare.Wild
		}
		return f.rx.of(r.Context).Withdraw(&r.Entry, w)
	case Queued:
		f.tx.queue.remove(r)
		return true
	}
	return false
}

// matched notes that a receive has its message. That of one that is not special has the tag that the owner has set, and
// may read meanwhile.
func (r *Request) matched(m *Message) {
	if r.Stage = Matched; r.UsesRare {
		r.Entry.Tag = m.Tag
	}
}

// Peek returns the oldest message that p is for and that has no receive, also none from any source of up to that age; nil:
// there is none.
func (f *Flow) Peek(context uint16, p match.Pattern, age uint64) *Message {
	m := f.rx.of(context).Peek(p, age)
	if m == nil {
		f.relieve() // it may be behind those that we keep
	}
	f.deliverFound()
	return m
}

// Claim takes out what Peek finds. It is for Deliver.
func (f *Flow) Claim(context uint16, p match.Pattern, age uint64) *Message {
	m := f.rx.of(context).Take(p, age)
	if m == nil {
		f.relieve()
	}
	f.deliverFound()
	return m
}

// Kept goes over the messages that no receive is for, with their contexts.
func (f *Flow) Kept(yield func(context uint16, m *Message) bool) {
	for x := range f.rx.all {
		for m := range x.Kept {
			if !yield(m.context, m) {
				return
			}
		}
	}
}

// Posted is how many exact receives wait.
func (f *Flow) Posted() int { return f.rx.posted }

// Waits says whether a receive or a probe waits here.
func (f *Flow) Waits() bool {
	for x := range f.rx.all {
		if x.Waits() {
			return true
		}
	}
	return false
}

// simple says that a packet brings a message in the context Plain, in which only receives wait that name tag and source.
func (f *Flow) simple(h *driver.Header) bool {
	return h.Kind == KindEager && h.Context == Plain && f.rx.Exactly()
}

// SearchDue says, once, that Search is to be called, not inside of another call.
func (f *Flow) SearchDue() bool {
	was := f.search
	f.search = false
	return was
}

// Search looks among the unexpected messages for those of receives and probes from any source of up to that age, which
// were posted after the messages came. The owner calls it when Packet or the poster of such a receive asks for it.
func (f *Flow) Search(age uint64) {
	if f.Closing {
		return
	}
	for x := range f.rx.all {
		x.Search(age)
		if !x.Any().Empty() {
			f.relieve()
		}
	}
	f.deliverFound()
}

// find notes a receive from any source, and the message that a search has found for it. The message is delivered when the
// flow handles nothing else.
func (f *Flow) find(r *Request, m *Message) {
	r.Rare.From, r.Rare.held = f.Rank, m
	r.matched(m)
	f.found.Push(r)
}

func (f *Flow) deliverFound() {
	for r := f.found.Pop(); r != nil; r = f.found.Pop() {
		f.deliver(r, r.Rare.held)
	}
}

// seen ends a probe that has found its message.
func (f *Flow) seen(p *Request, m *Message) {
	p.Entry.Tag, p.Rare.From, p.Size = m.Tag, f.Rank, m.size
	f.finish(p, nil)
}

// Deliver goes on with a receive that has chosen its buffer, or begins one that gets m, which was claimed.
func (f *Flow) Deliver(r *Request, m *Message) {
	if m == nil {
		m = r.Rare.held
	} else {
		r.Stage, r.Context = Matched, m.context
		f.Stats.Recvs++
	}
	f.deliver(r, m)
}

// deliver gives an unexpected message to its receive.
func (f *Flow) deliver(r *Request, m *Message) {
	if m.loaned && r.UsesRare && r.Rare.Loans && f.Dead == nil {
		bytes, cookie := m.body, m.cookie
		f.rx.announced--
		f.rx.pool.put(m)
		f.hand(r, bytes, cookie)
		return
	}
	if r.chooses() && r.Stage != Choosing {
		f.choose(r, m)
		return
	}
	switch {
	case m.eager:
		err := f.fill(r, m.body)
		f.Stats.BytesReceived += uint64(r.N)
		f.rx.owed += cost(len(m.body))
		f.Stats.UnexpectedBytes -= uint64(len(m.body))
		f.rx.pool.put(m)
		f.finish(r, err)
		f.sendDue = f.sendDue || !f.ended && f.rx.due()
	case f.Dead != nil: // its owner has kept it for longer than the gate
		if f.ended {
			f.dropRendezvous([]messageKey{{m.context, m.Tag}})
		}
		f.rx.pool.put(m)
		f.finish(r, f.Dead)
	default:
		f.rx.announced--
		f.Count(r)
		f.answer(r, m.size, m.cookie, m.address)
		f.rx.pool.put(m)
		f.sendDue = true
	}
}

// plainly is up to what length a body is copied without asking how best, in bytes.
const plainly = 256

// takes copies a short eager body into a buffer in one piece that has room for it, and says
// whether it could: what most messages need of fill, without a call.
func (r *Request) takes(body []byte) bool {
	if r.UsesRare || len(body) > min(r.Data.Size, plainly) {
		return false
	}
	r.Size, r.N = uint64(len(body)), copy(r.Data.Buf(), body)
	return true
}

// fill copies an eager body into the buffer of its receive and sets the outcome.
func (f *Flow) fill(r *Request, body []byte) error {
	r.Size = uint64(len(body))
	if p := r.pieces(); p == nil {
		r.N = copy(r.Data.Buf(), body)
	} else {
		room := min(len(body), r.Data.Size) // a Data may have fewer places than it says
		if r.N = p.scatter(&cursor{}, body[:room]); r.N < room {
			r.Rare.short = true
			return f.shortage(r)
		}
	}
	if len(body) > r.Data.Size {
		return f.truncated(r, uint64(len(body)))
	}
	return nil
}

func (f *Flow) truncated(r *Request, size uint64) error {
	return fmt.Errorf("nmad: receive from rank %d, tag %#x: %w: it has %d bytes, the buffer %d",
		f.Rank, r.Entry.Tag, ErrTruncated, size, r.Data.Size)
}

// Packet handles one packet. It trusts nothing in the packet: the body may change while Packet looks at it, and the header
// may say anything. The error says what is wrong with the packet; or it is ErrLeft. Afterwards SearchDue may hold.
func (f *Flow) Packet(h *driver.Header, body []byte, n Network) error {
	if !f.simple(h) && !(f.rx.Exactly() && len(f.rx.others) == 0) {
		// A thread may have posted a receive here and then one for any source: the order of these is kept. So the message
		// overlooks receives from any source that are younger; the owner searches for their messages later (Search).
		f.rx.limit = n.Begin()
	}
	if uint64(h.Body) != uint64(len(body)) || h.Flags != 0 && h.Kind != KindRtr {
		return violation("a packet of kind %d with %d of %d bytes, flags %#x", h.Kind, len(body), h.Body, h.Flags)
	}
	if h.Kind == KindEager {
		if h.Size != uint64(len(body)) {
			return violation("an eager message of %d bytes in a body of %d", h.Size, len(body))
		}
		if !f.rx.inOrder(h.Seq) {
			return f.outOfOrder(h)
		}
		if h.Context != Plain {
			if wrong := f.rx.check(h.Context); wrong != nil {
				return wrong
			}
		}
		if h.Cookie != 0 {
			if wrong := f.handleCredit(uint64(h.Cookie)); wrong != nil {
				return wrong
			}
		}
		if !f.rx.charge(len(body)) {
			return f.overdrawn()
		}
		f.arrive(h.Context, h.Tag, body)
		if f.found.head != nil {
			f.deliverFound()
		}
		return nil
	}
	err := f.handleOther(h, body, n)
	f.deliverFound()
	return err
}

// violation says how the peer has broken the protocol.
func violation(format string, args ...any) error { return fmt.Errorf(format, args...) }

// handleOther deals with all packets but those of one eager message.
func (f *Flow) handleOther(h *driver.Header, body []byte, n Network) error {
	if h.Context != 0 && h.Kind != KindRdv && h.Kind != KindLoan && h.Kind != KindExpose && h.Kind != KindBye {
		return violation("a packet of kind %d in context %d", h.Kind, h.Context)
	}
	switch h.Kind {
	case KindAggregate:
		return f.handleAggregate(h, body)
	case KindLoan:
		return f.handleLoan(h, body, n)
	case KindExpose:
		return f.handleExpose(h, body)
	case KindNote:
		return f.handleNote(h, body)
	}
	if len(body) != 0 {
		return violation("a packet of kind %d with a body of %d bytes", h.Kind, len(body))
	}
	switch h.Kind {
	case KindRdv:
		return f.announcement(h, nil, 0)
	case KindRtr:
		return f.handleRtr(h)
	case KindCredit:
		return f.handleCredit(h.Size)
	case KindFull:
		return f.handleFull(h.Size)
	case KindRoom:
		return f.handleRoom(h.Size)
	case KindBye:
		return f.handleBye(h.Extent())
	case KindByeAck:
		return f.handleByeAck()
	case KindReturn:
		return f.handleReturn(h)
	}
	return violation("a packet of unknown kind %d", h.Kind)
}

// inOrder checks and counts the number of a message.
func (rx *receiver) inOrder(seq uint32) bool {
	if seq != rx.seq {
		return false
	}
	rx.seq++
	return true
}

func (f *Flow) outOfOrder(h *driver.Header) error {
	return violation("message number %d in the place of %d", h.Seq, f.rx.seq)
}

// Match takes out the receive that a message with that tag is for. nil: there is none.
func (f *Flow) Match(context uint16, tag uint64) *Request {
	x := f.rx.of(context)
	if x.Exactly() {
		return x.Arrive(tag)
	}
	r := x.ArriveAny(tag)
	if r != nil && r.UsesRare { // else it has named the tag, which its waiter may be reading
		r.Entry.Tag, r.Rare.From = tag, f.Rank
	}
	return r
}

// keep puts a message that no receive is for among the unexpected ones, and tells the
// probes.
func (f *Flow) keep(m *Message) {
	f.Stats.Unexpected++
	f.notice(m)
	if f.rx.of(m.context).Keep(&m.Arrival) {
		f.search = true
	}
}

// arrive matches an eager message.
func (f *Flow) arrive(context uint16, tag uint64, body []byte) {
	r := f.Match(context, tag)
	if r != nil && !r.chooses() {
		var err error
		if !r.takes(body) {
			err = f.fill(r, body)
		}
		f.Stats.BytesReceived += uint64(r.N)
		f.rx.owed += cost(len(body))
		f.finish(r, err)
		return
	}
	m := f.rx.pool.get(len(body))
	copy(m.body, body)
	m.Tag, m.context, m.size, m.eager = tag, context, uint64(len(body)), true
	f.Stats.UnexpectedBytes += uint64(len(body))
	f.Stats.UnexpectedPeak = max(f.Stats.UnexpectedPeak, f.Stats.UnexpectedBytes)
	if r != nil {
		f.choose(r, m)
		return
	}
	f.keep(m)
}

// choose has the owner of a receive choose its buffer, once the lock is let go.
func (f *Flow) choose(r *Request, m *Message) {
	r.Stage, r.Rare.held, r.Rare.From = Choosing, m, f.Rank
	f.finished.Push(r)
}

// announcement takes in the announcement of a message; loan is where it lies, if it is mapped here, address where it lies
// in the peer's memory, if that was said.
func (f *Flow) announcement(h *driver.Header, loan []byte, address uint64) error {
	if !f.rx.inOrder(h.Seq) {
		return f.outOfOrder(h)
	}
	if wrong := f.rx.check(h.Context); wrong != nil {
		return wrong
	}
	if h.Size > math.MaxInt {
		return violation("a message of %d bytes is announced, more than this machine can address", h.Size)
	}
	r := f.Match(h.Context, h.Tag)
	if r != nil && loan != nil && r.UsesRare && r.Rare.Loans {
		f.hand(r, loan, h.Cookie)
		return nil
	}
	if r != nil && !r.chooses() {
		f.answer(r, h.Size, h.Cookie, address)
		return nil
	}
	if f.rx.announced >= f.rx.records {
		return violation("more than %d messages are announced at once", f.rx.records)
	}
	f.rx.announced++
	m := f.rx.pool.get(0)
	m.Tag, m.context, m.size, m.cookie, m.eager = h.Tag, h.Context, h.Size, h.Cookie, false
	m.body, m.loaned, m.address = loan, loan != nil, address
	if r != nil {
		f.choose(r, m)
	} else {
		f.keep(m)
		f.relieveWaiting()
	}
	return nil
}

// messageKey is what messages are told apart by.
type messageKey struct {
	context uint16
	tag     uint64
}

// dropRendezvous forgets announcements, whose data no process will send any more, and the messages behind them, or behind
// those that are under way, whose keys are given, with the same key: a receive that got one of these in the place of the
// message that is lost would not know.
func (f *Flow) dropRendezvous(underway []messageKey) {
	gap, lost := messageKey{}, false // of the key gap a message is lost
	keep := func(m *Message) bool {
		k := messageKey{m.context, m.Tag}
		lost = !m.eager || lost && k == gap || slices.Contains(underway, k)
		if !lost {
			return true
		}
		if gap = k; m.eager {
			f.Stats.UnexpectedBytes -= uint64(len(m.body))
		}
		f.rx.pool.put(m)
		return false
	}
	for x := range f.rx.all {
		x.Filter(keep)
	}
	f.rx.announced = 0
}

// underway lists the keys of the messages that receives were given and that have not come completely.
func (f *Flow) underway() (keys []messageKey) {
	of := func(v *rendezvous) { keys = append(keys, messageKey{v.req.Context, v.req.Entry.Tag}) }
	for _, v := range []*rendezvous{f.rx.answers.head, f.rx.deferred.head} {
		for ; v != nil; v = v.after {
			of(v)
		}
	}
	for i := range f.Rails {
		for c := f.Rails[i].Streams[Pull].queue.head; c != nil; c = c.next {
			of(c.of)
		}
	}
	return keys
}

// failReceives ends all receives but those into whose buffers bytes are being carried right now:
// they are ended when these land.
func (f *Flow) failReceives(err error) {
	for x := range f.rx.all {
		f.failPosted(x, err)
	}
	f.rx.answers.prepend(&f.rx.deferred)
	for v := f.rx.answers.pop(); v != nil; v = f.rx.answers.pop() {
		f.fail(v, err)
	}
	f.rx.sharing = false
	for i := range f.Rails {
		f.failStream(&f.Rails[i].Streams[Pull], err)
	}
}

// FailContext ends the receives and probes that wait in a context.
func (f *Flow) FailContext(context uint16, err error) { f.failPosted(f.rx.of(context), err) }

func (f *Flow) failPosted(x *match.Matcher[Request, Message], err error) {
	from := 0
	for r := x.TakePosted(&from); r != nil; r = x.TakePosted(&from) {
		f.finish(r, err)
	}
}
