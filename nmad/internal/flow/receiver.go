package flow

import (
	"fmt"
	"math"
	"slices"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// receiver is the part of a flow that handles packets that come over the small track, and matches messages with
// receives.
type receiver struct {
	contexts

	seq          uint32                 // number of the next message
	pool         messagePool            // memory of unexpected messages
	answers      shelf.List[rendezvous] // receives whose next RTR waits for room
	sharesValid  bool                   // Flow.shares holds what to ask for next of the first of answers
	deferred     shelf.List[rendezvous] // receives whose next RTR waits for an idle rail
	records      int                    // rendezvous that may be unexpected at once; see records.go
	announced    int                    // rendezvous that are unexpected
	fullReceived uint64                 // number of records in the last FULL that has come; 0 if none has
	full         bool                   // the last FULL was for the records that there are now: the peer waits for ROOM
	owesRoom     bool                   // ROOM is to be sent

	// Credit, in bytes; see credit.go.
	window int64 // the largest taken
	taken  int64 // cost of all messages that have come and whose credit was not given back
	owed   int64 // the part of taken that may be given back
}

// Receive begins a receive, or a probe: it looks among the unexpected messages. It returns true if the message was
// there; else the gate may Post the request.
func (f *Flow) Receive(r *Request) bool {
	r.Stage = Posted
	p, probe := match.Pattern{Tag: r.Entry.Tag, Mask: match.Exact}, false
	if r.UsesExtras {
		p, probe = r.Extras.Wild.Pattern(), r.Extras.Wild.Probe
	}
	if !probe {
		f.Stats.Recvs++
	}
	x := f.rx.matcher(r.Context)
	if x.Unexpected() == 0 || f.Closing {
		return false
	}
	var m *Message
	if probe {
		if m = x.Peek(p, r.Entry.Age); m != nil {
			f.endProbe(r, m)
		}
	} else if m = x.Take(p, r.Entry.Age); m != nil {
		r.setMatched(m)
		f.deliver(r, m)
	}
	f.deliverFound()
	return m != nil
}

// Post makes a receive, or a probe, wait for its message.
func (f *Flow) Post(r *Request) {
	f.relieve() // the message may be behind others that wait for a record; see records.go
	r.Stage = Posted
	f.Count(r)
	if x := f.rx.matcher(r.Context); r.UsesExtras && !r.Extras.Wild.Exact() {
		x.PostWild(&r.Extras.Wild)
	} else {
		x.Post(&r.Entry)
	}
}

// PostUsual is Receive followed by Post, in the usual case: a receive in the DefaultContext that uses no Extras, while
// no message is unexpected. In any other case it does nothing, and returns false.
func (f *Flow) PostUsual(r *Request) bool {
	if r.UsesExtras || r.Context != DefaultContext || f.rx.Unexpected() != 0 || f.rx.full {
		return false
	}
	r.Stage = Posted
	f.Stats.Recvs++
	f.Count(r)
	f.rx.Post(&r.Entry)
	return true
}

// ReceiveWhole is Receive of a receive that uses no Extras, if its message came eagerly and only exact receives wait in
// its context. Otherwise it does nothing, and done is false. due reports whether the gate should call Drain, because
// credit is to be given back.
func (f *Flow) ReceiveWhole(r *Request) (done, due bool) {
	x := f.rx.matcher(r.Context)
	if x.Unexpected() == 0 || f.Closing || !x.OnlyExact() {
		return false, false
	}
	m := x.Peek(match.Pattern{Tag: r.Entry.Tag, Mask: match.Exact}, r.Entry.Age)
	done = m != nil && m.eager && f.Receive(r)
	return done, done && !f.ended && f.rx.creditDue()
}

// Withdraw takes a request out that is Posted or Queued, and reports whether it was. The gate then ends the request by
// Finish.
func (f *Flow) Withdraw(r *Request) bool {
	switch r.Stage {
	case Posted:
		var w *match.Wild[Request]
		if r.UsesExtras {
			w = &r.Extras.Wild
		}
		return f.rx.matcher(r.Context).Withdraw(&r.Entry, w)
	case Queued:
		f.tx.queue.remove(r)
		return true
	}
	return false
}

// setMatched notes that a receive has its message. It writes the tag only if the receive uses its Extras: else the
// message has the tag that the gate has set, and that the program may read at any time.
func (r *Request) setMatched(m *Message) {
	if r.Stage = Matched; r.UsesExtras {
		r.Entry.Tag = m.Tag
	}
}

// Peek returns the oldest unexpected message that p matches, after all receives from any source of up to that age have
// taken theirs; nil if there is none. The message stays where it is.
func (f *Flow) Peek(context uint16, p match.Pattern, age uint64) *Message {
	m := f.rx.matcher(context).Peek(p, age)
	if m == nil {
		f.relieve() // the message may be behind others that wait for a record; see records.go
	}
	f.deliverFound()
	return m
}

// Claim takes out the message that Peek finds. The gate gives it to a receive by Deliver.
func (f *Flow) Claim(context uint16, p match.Pattern, age uint64) *Message {
	m := f.rx.matcher(context).Take(p, age)
	if m == nil {
		f.relieve()
	}
	f.deliverFound()
	return m
}

// AllUnexpected iterates over the unexpected messages and their contexts.
func (f *Flow) AllUnexpected(yield func(context uint16, m *Message) bool) {
	for x := range f.rx.all {
		for m := range x.Messages {
			if !yield(m.context, m) {
				return
			}
		}
	}
}

// Posted returns how many exact receives wait.
func (f *Flow) Posted() int { return f.rx.posted }

// HasPosted reports whether a receive or a probe of this gate waits.
func (f *Flow) HasPosted() bool {
	for x := range f.rx.all {
		if x.HasPosted() {
			return true
		}
	}
	return false
}

// isSimple reports whether a packet brings one eager message in the DefaultContext, in which only exact receives wait.
func (f *Flow) isSimple(h *driver.Header) bool {
	return h.Kind == KindEager && h.Context == DefaultContext && f.rx.OnlyExact()
}

// SearchDue reports whether the gate has to call Search, outside of any other call, and forgets it.
func (f *Flow) SearchDue() bool {
	due := f.searchDue
	f.searchDue = false
	return due
}

// Search compares the unexpected messages with the receives and probes from any source of up to that age, which were
// posted after the messages came. The gate calls it when SearchDue tells, or when a thread has posted such a receive.
func (f *Flow) Search(age uint64) {
	if f.Closing {
		return
	}
	for x := range f.rx.all {
		x.Search(age)
		if !x.AnyList().Empty() {
			f.relieve()
		}
	}
	f.deliverFound()
}

// noteFound gives a receive from any source the message that a search has found for it. deliverFound delivers it later,
// when the flow is not inside of the matcher.
func (f *Flow) noteFound(r *Request, m *Message) {
	r.Extras.From, r.Extras.message = f.PeerRank, m
	r.setMatched(m)
	f.toDeliver.Push(r)
}

// deliverFound delivers the messages that searches have found.
func (f *Flow) deliverFound() {
	for r := f.toDeliver.Pop(); r != nil; r = f.toDeliver.Pop() {
		f.deliver(r, r.Extras.message)
	}
}

// endProbe ends a probe with the envelope of the message that it has found.
func (f *Flow) endProbe(p *Request, m *Message) {
	p.Entry.Tag, p.Extras.From, p.Size = m.Tag, f.PeerRank, m.size
	f.Finish(p, nil)
}

// Deliver carries on with a receive whose buffer the gate has chosen (m is nil), or begins a receive of m, which was
// claimed.
func (f *Flow) Deliver(r *Request, m *Message) {
	if m == nil {
		m = r.Extras.message
	} else {
		r.Stage, r.Context = Matched, m.context
		f.Stats.Recvs++
	}
	f.deliver(r, m)
}

// deliver gives an unexpected message to its receive.
func (f *Flow) deliver(r *Request, m *Message) {
	if m.loaned && r.UsesExtras && r.Extras.Loans && f.Dead == nil {
		bytes, cookie := m.body, m.cookie
		f.rx.announced--
		f.rx.pool.put(m)
		f.giveLoan(r, bytes, cookie)
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
		f.Finish(r, err)
		f.sendDue = f.sendDue || !f.ended && f.rx.creditDue()
	case f.Dead != nil: // the gate has ended since the message was claimed, or while the gate chose the buffer
		if f.ended {
			f.dropRendezvous([]messageKey{{m.context, m.Tag}})
		}
		f.rx.pool.put(m)
		f.Finish(r, f.Dead)
	default:
		f.rx.announced--
		f.Count(r)
		f.answer(r, m.size, m.cookie, m.address)
		f.rx.pool.put(m)
		f.sendDue = true
	}
}

// shortCopy is the longest body, in bytes, for which fillShort does the work of fill.
const shortCopy = 256

// fillShort is fill for the usual case, small enough to be inlined: a short eager body, and a buffer in one piece that
// has room for it. In any other case it returns false, and does nothing.
func (r *Request) fillShort(body []byte) bool {
	if r.UsesExtras || len(body) > min(r.Data.Size, shortCopy) {
		return false
	}
	r.Size, r.N = uint64(len(body)), copy(r.Data.Buf(), body)
	return true
}

// fill copies an eager body into the buffer of its receive, sets N and Size, and returns how the receive ends.
func (f *Flow) fill(r *Request, body []byte) error {
	r.Size = uint64(len(body))
	if p := r.pieces(); p == nil {
		r.N = copy(r.Data.Buf(), body)
	} else {
		room := min(len(body), r.Data.Size) // a Data may have room for fewer bytes than its Size
		if r.N = p.scatter(&cursor{}, body[:room]); r.N < room {
			r.Extras.short = true
			return f.dataError(r)
		}
	}
	if len(body) > r.Data.Size {
		return f.truncatedError(r, uint64(len(body)))
	}
	return nil
}

// truncatedError is the error of a receive whose buffer is shorter than its message of size bytes.
func (f *Flow) truncatedError(r *Request, size uint64) error {
	return fmt.Errorf("nmad: receive from rank %d, tag %#x: %w: it has %d bytes, the buffer %d",
		f.PeerRank, r.Entry.Tag, ErrTruncated, size, r.Data.Size)
}

// Packet handles one packet that has come. It trusts nothing in it: the header may say anything, and the body may
// change while Packet reads it. The error says how the peer has broken the protocol, or is ErrLeft; the caller then
// ends the gate. Afterwards it looks at Finished, SearchDue and SendDue.
func (f *Flow) Packet(h *driver.Header, body []byte, n Network) error {
	if !f.isSimple(h) && !(f.rx.OnlyExact() && len(f.rx.others) == 0) {
		// A thread may have left a receive for this gate in the inbox, and then have posted one from any source. The
		// message must go to the first of the two. So the inbox is handled first, and the message ignores receives from
		// any source that are younger than what was there; the gate searches for their messages later (Search).
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
		if h.Context != DefaultContext {
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
		if f.toDeliver.head != nil {
			f.deliverFound()
		}
		return nil
	}
	err := f.handleOther(h, body, n)
	f.deliverFound()
	return err
}

// violation is the error that says how the peer has broken the protocol.
func violation(format string, args ...any) error { return fmt.Errorf(format, args...) }

// handleOther handles all packets but EAGER.
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
		return f.handleBye(h.SizeAndContext())
	case KindByeAck:
		return f.handleByeAck()
	case KindReturn:
		return f.handleReturn(h)
	}
	return violation("a packet of unknown kind %d", h.Kind)
}

// inOrder reports whether seq is the number of the next message, and counts the message if it is.
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

// Match takes out the receive that gets a message with that tag; nil if there is none.
func (f *Flow) Match(context uint16, tag uint64) *Request {
	x := f.rx.matcher(context)
	if x.OnlyExact() {
		return x.Arrive(tag)
	}
	r := x.ArriveAny(tag)
	if r != nil && r.UsesExtras { // else the receive has named the tag, and the program may be reading it
		r.Entry.Tag, r.Extras.From = tag, f.PeerRank
	}
	return r
}

// keep adds a message without a receive to the unexpected ones, and ends the probes that match it.
func (f *Flow) keep(m *Message) {
	f.Stats.Unexpected++
	f.notice(m)
	if f.rx.matcher(m.context).Keep(&m.Arrival) {
		f.searchDue = true
	}
}

// arrive gives an eager message to its receive, or keeps it.
func (f *Flow) arrive(context uint16, tag uint64, body []byte) {
	r := f.Match(context, tag)
	if r != nil && !r.chooses() {
		var err error
		if !r.fillShort(body) {
			err = f.fill(r, body)
		}
		f.Stats.BytesReceived += uint64(r.N)
		f.rx.owed += cost(len(body))
		f.Finish(r, err)
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

// choose makes Finished give a receive whose buffer the gate has to choose for message m.
func (f *Flow) choose(r *Request, m *Message) {
	r.Stage, r.Extras.message, r.Extras.From = Choosing, m, f.PeerRank
	f.finished.Push(r)
}

// announcement handles the announcement of a message. loan is the message itself, if it lies in memory of the peer that
// is mapped here; address is where it lies in the peer's memory, or 0.
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
	if r != nil && loan != nil && r.UsesExtras && r.Extras.Loans {
		f.giveLoan(r, loan, h.Cookie)
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

// messageKey is the key of a message: messages with the same key are received in order.
type messageKey struct {
	context uint16
	tag     uint64
}

// dropRendezvous drops the announcements at the end of a flow, because their bytes will never come. It also drops each
// message that has the same key as a lost message before it: a receive that got such a message would take it for the
// lost one. underway has the keys of messages that receives were given, and that are lost.
func (f *Flow) dropRendezvous(underway []messageKey) {
	gap, lost := messageKey{}, false // lost: a message with the key gap is lost
	keep := func(m *Message) bool {  // Filter gives the messages of one tag in a row, in their order
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

// unfinishedKeys returns the keys of the messages that receives were given and that have not come completely.
func (f *Flow) unfinishedKeys() (keys []messageKey) {
	add := func(v *rendezvous) { keys = append(keys, messageKey{v.req.Context, v.req.Entry.Tag}) }
	for _, v := range []*rendezvous{f.rx.answers.First(), f.rx.deferred.First()} {
		for ; v != nil; v = v.node.Next() {
			add(v)
		}
	}
	for i := range f.Rails {
		for c := f.Rails[i].Streams[Pull].queue.First(); c != nil; c = c.node.Next() {
			add(c.rendezvous)
		}
	}
	return keys
}

// failReceives ends all receives with err. A receive one of whose chunks a copier moves just now ends when the copy is
// over (Complete).
func (f *Flow) failReceives(err error) {
	for x := range f.rx.all {
		f.failPosted(x, err)
	}
	f.rx.resumeDeferred()
	for v := f.rx.answers.Pop(); v != nil; v = f.rx.answers.Pop() {
		f.fail(v, err)
	}
	f.rx.sharesValid = false
	for i := range f.Rails {
		f.failStream(&f.Rails[i].Streams[Pull], err)
	}
}

// resumeDeferred puts the receives that are deferred before the answers that wait.
func (rx *receiver) resumeDeferred() {
	for v := rx.answers.Pop(); v != nil; v = rx.answers.Pop() {
		rx.deferred.Push(&v.node, v)
	}
	rx.answers, rx.deferred = rx.deferred, rx.answers
}

// FailContext ends the receives and probes that wait in a context with err.
func (f *Flow) FailContext(context uint16, err error) { f.failPosted(f.rx.matcher(context), err) }

// failPosted ends the receives and probes that wait in a matcher with err.
func (f *Flow) failPosted(x *match.Matcher[Request, Message], err error) {
	for r := range x.DrainPosted {
		f.Finish(r, err)
	}
}
