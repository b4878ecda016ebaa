package flow

import (
	"math"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// Bounds are the limits on memory for messages without a receive, which two processes tell each other before they link.
type Bounds struct {
	Window      int64 // bytes of eager messages that this process keeps for the peer; see credit.go
	Records     int   // announced messages that this process keeps for the peer; see records.go
	PeerWindow  int64 // the peer's Window for this process
	PeerRecords int   // the peer's Records for this process
	NoteLimit   int   // longest note that the peer may send, in bytes; 0: the peer may send none
}

// Flow has all protocols between two processes, on one side. The zero Flow is ready after Init. It is not safe for
// concurrent use: the gate holds its lock around all calls, except those that say otherwise.
type Flow struct {
	OwnRank, PeerRank int               // the ranks of this process and of the peer
	Strategy          strategy.Strategy // decides what leaves next, in which packet, over which rail
	Stats             Stats
	Rails             []Rail
	Closing           bool           // this side closes: it receives nothing more
	Dead              error          // what new requests fail with; nil while the flow works
	Monitored         *atomic.Uint32 // not 0 if a monitor watches: then Finished gives all requests that end. The gate writes it

	tx          sender
	rx          receiver
	loans       lending
	notes       notes
	bye         closing
	finished    Queue  // requests that have finished, or that need the gate, and that Finished has not given yet
	toDeliver   Queue  // receives for which a search has found the message, which they do not have yet
	pending     int    // number of requests that count as pending; see Pending
	sendDue     bool   // see SendDue
	unsent      unsent // kinds of data that still have to leave, and that belong to no pending request
	ended       bool   // End was called
	cannotFetch bool   // this process may not read the peer's memory; see exposing.go
	searchDue   bool   // see SearchDue

	moving          [2]int                   // number of chunks in the streams of all rails, by Direction
	spareChunks     shelf.Spares[chunk]      // to be used again
	spareRendezvous shelf.Spares[rendezvous] // likewise
	loads           []strategy.Load          // memory of share, by rail
	shares          []int                    // bytes to ask for next over each rail, for the head of rx.answers; see receiver.sharesValid
}

// Rail is what a Flow knows about one link.
type Rail struct {
	Cost    strategy.Cost // measured or assumed cost of moving bytes over the link
	Streams [2]Stream     // by Direction
}

// Stats are counters since Init. nmad.Stats explains them.
type Stats struct {
	Sends, Recvs                    uint64 // started
	Rendezvous, Starved             uint64 // messages that were announced; among them short ones that lacked credit
	Loaned, Borrowed                uint64 // messages announced as a loan; loans that were given to a receive
	Unexpected                      uint64 // messages that came before their receive
	Credits                         uint64 // packets that only gave credit back
	Aggregates, Aggregated          uint64 // packets sent that held several messages; messages in them
	BytesSent, BytesReceived        uint64
	UnexpectedBytes, UnexpectedPeak uint64 // bytes in bodies of unexpected eager messages: now, and at most
}

// Init makes a flow over so many rails ready, before it has links. own and rank are the ranks of this process and of
// the peer.
func (f *Flow) Init(own, rank, rails int, b Bounds) {
	f.OwnRank, f.PeerRank, f.Strategy = own, rank, strategy.Default
	f.Rails, f.loads, f.shares = make([]Rail, rails), make([]strategy.Load, rails), make([]int, rails)
	for i := range f.Rails {
		r := &f.Rails[i]
		r.Cost = strategy.DefaultCost
		r.Streams[Pull].dir = Pull
	}
	f.Monitored = new(atomic.Uint32)
	f.tx.credit, f.tx.window = b.PeerWindow, b.PeerWindow
	f.tx.records = min(b.PeerRecords, MaxCookies)
	f.rx.window = min(b.Window, math.MaxUint32)
	f.rx.records = b.Records
	f.rx.pool.limit = int(f.rx.window / 4)
	f.rx.ProbeFound, f.rx.ReceiveFound, f.rx.AgeLimit = f.endProbe, f.noteFound, &f.rx.limit
	f.rx.Total = &f.rx.posted
	f.rx.unopened = match.NewAnyList[Request](nil, rank, nil)
	f.notes.limit = b.NoteLimit
}

// Join makes the flow share the receives from any source in a context with other gates: those in anyList.
func (f *Flow) Join(context uint16, anyList *match.AnyList[Request]) {
	if context == DefaultContext {
		f.rx.Init(f.PeerRank, anyList)
	} else {
		f.rx.join(context, anyList)
	}
}

// ContextIdle reports whether nothing waits in a context: no receive, no probe, and no message.
func (f *Flow) ContextIdle(context uint16) bool { return f.rx.idle(context) }

// Unjoin undoes Join of a context for which ContextIdle holds. Messages that come in the context later wait, as before
// Join.
func (f *Flow) Unjoin(context uint16) { f.rx.forget(context) }

// Bind tells the flow what the link of the first rail can do, and up to which size messages go eagerly, in bytes; 0,
// and at most, the largest body that the link takes.
func (f *Flow) Bind(c driver.Caps, eager int) {
	f.tx.caps = c
	f.tx.maxBody = min(c.MaxBody, math.MaxInt32)
	f.SetEagerLimit(eager)
}

// SetEagerLimit sets the size up to which messages go eagerly, in bytes; 0, and at most, the largest body that the link
// takes.
func (f *Flow) SetEagerLimit(bytes int) {
	f.tx.eagerLimit = f.tx.maxBody
	if bytes > 0 {
		f.tx.eagerLimit = min(f.tx.eagerLimit, bytes)
	}
}

// EagerLimit returns the size up to which messages go eagerly, in bytes.
func (f *Flow) EagerLimit() int { return f.tx.eagerLimit }

// MaxBody returns the length of the longest body of a packet, in bytes.
func (f *Flow) MaxBody() int { return f.tx.maxBody }

// Finished takes out the oldest request that the gate must handle; nil if there is none. Its Stage says why:
//
//	Finished   the protocol needs nothing more of the request, and Finish has not set its State
//	Choosing   a receive whose message has come: the gate chooses the buffer, and then calls Deliver
//	Noticed    no request: an unexpected message has come, which Entry.Tag and Size describe
func (f *Flow) Finished() *Request { return f.finished.Pop() }

// NoNews reports whether the flow has nothing to tell its gate: Finished would return nil, and SearchDue false.
func (f *Flow) NoNews() bool { return f.finished.head == nil && !f.searchDue }

// Settled reports whether the flow has no news, and the values that Pending would give are those that the gate knows:
// pending reports whether requests is above 0.
func (f *Flow) Settled(pending, holding bool) bool {
	return f.NoNews() && (f.pending != 0) == pending && f.holding() == holding
}

// Pending returns the number of requests that are under way, apart from those with NotifyNone, whose Stage the gate
// looks at itself. holding reports whether something else has to leave that belongs to none of these requests.
func (f *Flow) Pending() (requests int, holding bool) { return f.pending, f.holding() }

// Count adds a request to those that Pending counts, once, unless it has NotifyNone. Finish takes it off again.
func (f *Flow) Count(r *Request) {
	if r.Notify == NotifyNone || r.Counted {
		return
	}
	r.Counted = true
	if !r.anywhere() {
		f.pending++
	}
}

// SendDue reports whether something new waits for Drain, such as an answer, and forgets it.
func (f *Flow) SendDue() bool {
	due := f.sendDue
	f.sendDue = false
	return due
}

// Finish ends r, which is in no queue of the flow. It sets State if that is all that the gate waits for; else it adds r
// to those that Finished gives.
func (f *Flow) Finish(r *Request, err error) {
	r.Stage = Finished
	if err != nil {
		r.SetErr(err)
	}
	if r.UsesExtras {
		f.finishWithExtras(r)
	}
	monitored := f.Monitored.Load() != 0
	if r.Notify == NotifyNone && !monitored {
		return
	}
	if r.Counted {
		r.Counted = false
		if !r.anywhere() {
			f.pending--
		}
	}
	if r.Notify != NotifyState || r.UsesExtras || monitored {
		f.finished.Push(r)
		return
	}
	asm.StoreRelease32(&r.State, StateDone) // the last access: the gate may start r again from here on
}

// finishWithExtras is the part of Finish for requests that use their Extras.
func (f *Flow) finishWithExtras(r *Request) {
	switch x := r.Extras; {
	case x.bounce != nil:
		r.freeBounce()
	case x.Loans && r.err == nil && x.Lease == nil:
		f.leaseCopy(r)
	}
}

// notice makes Finished give the news of an unexpected message, if a monitor watches.
func (f *Flow) notice(m *Message) {
	if f.Monitored.Load() != 0 && m.context != Library {
		r := &Request{Stage: Noticed, Context: m.context, Size: m.size}
		r.Entry.Tag = m.Tag
		f.finished.Push(r)
	}
}

// Ledger shows the state of credit, records, queues and loans, for people and tests.
type Ledger struct {
	Credit, Window        int64     // of sends: eager bytes that the peer still takes; the most that it takes
	Taken, Owed           int64     // of receives: eager bytes that were not given back as credit; those of them that may be
	Outstanding           int       // messages announced to the peer, and not asked for completely
	Told, PeerRecords     int       // number of records in the last FULL that was sent; records that the peer has
	Announced, Records    int       // messages that the peer has announced and that have no receive; records for them
	Posted, Unexpected    int       // exact receives that wait; messages that wait
	Moved                 [2]uint64 // bytes of rendezvous, by Direction
	Waiting, Loaned, Kept int       // sends in the queue; loans of the peer's memory that were not released; leases to be used again
}

// Ledger returns the state as it is now.
func (f *Flow) Ledger() Ledger {
	l := Ledger{
		Credit: f.tx.credit, Window: f.tx.window, Taken: f.rx.taken, Owed: f.rx.owed,
		Outstanding: f.tx.announced.used, Told: f.tx.fullSent, PeerRecords: f.tx.records,
		Announced: f.rx.announced, Records: f.rx.records,
		Posted: f.Posted(), Loaned: f.loans.out, Kept: f.loans.spares.Len(), Moved: [2]uint64{f.total(0), f.total(1)},
	}
	for x := range f.rx.all {
		l.Unexpected += x.Unexpected()
	}
	for r := f.tx.queue.head; r != nil; r = r.Next {
		l.Waiting++
	}
	return l
}
