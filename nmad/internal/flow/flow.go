package flow

import (
	"math"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// Bounds are what two processes have told each other before they linked.
type Bounds struct {
	Window      int64 // eager bytes that the peer may have outstanding here
	Records     int   // rendezvous that the peer may have outstanding here
	PeerWindow  int64 // the same at the peer
	PeerRecords int
	NoteLimit   int // bytes of a note that the peer may send; 0: it may send none
}

// Flow has all protocols between two processes, on one side. The zero value is ready after Init. It is not safe for
// concurrent use: callers hold a lock around all calls, except those that say otherwise.
type Flow struct {
	Own, Rank int               // the ranks of this process and of the peer
	Strategy  strategy.Strategy // decides what leaves next, in which packet, over which rail
	Stats     Stats
	Rails     []Rail
	Closing   bool           // this side closes: nothing more is received
	Dead      error          // what new requests fail with; nil: none
	Watched   *atomic.Uint32 // not 0: a monitor watches, and Finished gives all requests that end

	tx       sender
	rx       receiver
	loans    lending
	notes    notes
	bye      leave
	finished Queue  // requests that are done, and that Finished has not given yet
	found    Queue  // receives for which a search has found the message; they do not have it yet
	pending  int    // how many requests count as pending (Pending)
	sendDue  bool   // see SendDue
	unsent   unsent // kinds of things that have to leave, and belong to no pending request
	ended    bool   // End was called
	blind    bool   // what the peer exposes cannot be read
	search   bool   // see SearchDue

	moving          [2]int      // chunks that go out, and that come in, or wait for those before them, over all rails
	spareChunks     *chunk      // a list of chunks that are not in use
	spareRendezvous *rendezvous // likewise
	loads           []strategy.Load
	shares          []int
}

// Rail is what a Flow knows of one link.
type Rail struct {
	Cost    strategy.Cost // what it costs to move bytes over it
	Streams [2]Stream     // by Direction
}

// Stats counts what has happened.
type Stats struct {
	Sends, Recvs                    uint64 // started
	Rendezvous, Starved             uint64 // messages announced first; of those, short ones for want of credit
	Loaned, Borrowed                uint64 // messages that were announced as a loan; that a receive was given where they lie
	Unexpected                      uint64 // messages that came before their receive
	Credits                         uint64 // packets that only gave back credit
	Aggregates, Aggregated          uint64 // packets sent that held several messages; messages in them
	BytesSent, BytesReceived        uint64
	UnexpectedBytes, UnexpectedPeak uint64 // now, and at most, in bodies of unexpected eager messages
}

// Init makes a flow over so many rails ready, without links.
func (f *Flow) Init(own, rank, rails int, b Bounds) {
	f.Own, f.Rank, f.Strategy = own, rank, strategy.Default
	f.Rails, f.loads, f.shares = make([]Rail, rails), make([]strategy.Load, rails), make([]int, rails)
	for i := range f.Rails {
		r := &f.Rails[i]
		r.Cost = strategy.DefaultCost
		r.Streams[Pull].dir = Pull
	}
	f.Watched = new(atomic.Uint32)
	f.tx.credit, f.tx.window = b.PeerWindow, b.PeerWindow
	f.tx.records = min(b.PeerRecords, MaxCookies)
	f.rx.window = min(b.Window, math.MaxUint32)
	f.rx.records = b.Records
	f.rx.pool.limit = int(f.rx.window / 4)
	f.rx.Seen, f.rx.Found, f.rx.Within = f.seen, f.find, &f.rx.limit
	f.rx.All = &f.rx.posted
	f.rx.alone = match.NewAny[Request](nil, rank, nil)
	f.notes.limit = b.NoteLimit
}

// Join has the flow share its receives from any source in a context with those of other gates.
func (f *Flow) Join(context uint16, any *match.Any[Request]) {
	if context == Plain {
		f.rx.Init(f.Rank, any)
	} else {
		f.rx.join(context, any)
	}
}

// Idle says that nothing waits in a context: no receive, no probe, and no message.
func (f *Flow) Idle(context uint16) bool { return f.rx.idle(context) }

// Unjoin undoes Join of a context that is Idle. What comes for it later waits, as before Join.
func (f *Flow) Unjoin(context uint16) { f.rx.forget(context) }

// Bind says what the link of the first rail can do, and up to which size messages go eagerly, as far as it takes them; 0:
// as that.
func (f *Flow) Bind(c driver.Caps, eager int) {
	f.tx.caps = c
	f.tx.room = min(c.MaxBody, math.MaxInt32)
	f.SetEager(eager)
}

// SetEager changes up to which size messages go eagerly; 0: as the link takes them.
func (f *Flow) SetEager(bytes int) {
	f.tx.eager = f.tx.room
	if bytes > 0 {
		f.tx.eager = min(f.tx.eager, bytes)
	}
}

// Eager is up to which size messages go eagerly, in bytes.
func (f *Flow) Eager() int { return f.tx.eager }

// Room is the longest body of a packet, in bytes.
func (f *Flow) Room() int { return f.tx.room }

// Finished takes out what the gate must see to, in the order in which it happened; nil: there is nothing. The stage says
// what it is:
//
//	Done       a request that has ended, and whose State finish has not set
//	Choosing   a receive whose owner is to be asked for the buffer; then Deliver goes on
//	Noticed    no request: an unexpected message has come (Entry.Tag, Size)
func (f *Flow) Finished() *Request { return f.finished.Pop() }

// Calm says that the flow has nothing to tell its owner: Finished would return nil, and SearchDue false.
func (f *Flow) Calm() bool { return f.finished.head == nil && !f.search }

// Settled says that the flow is Calm, and that its owner knows whether requests are Pending, and whether something is held
// that belongs to none.
func (f *Flow) Settled(pending, holding bool) bool {
	return f.Calm() && (f.pending != 0) == pending && f.holding() == holding
}

// Pending returns how many requests count: those under way whose owner does not look at their Stage (ByStage). holding:
// something else still has to leave that belongs to none of them.
func (f *Flow) Pending() (requests int, holding bool) { return f.pending, f.holding() }

// Count adds a request to those Pending, unless it is heard of ByStage.
func (f *Flow) Count(r *Request) {
	if r.Heard == ByStage || r.Counted {
		return
	}
	r.Counted = true
	if !r.anywhere() {
		f.pending++
	}
}

// SendDue says, once, that Drain has something new to send, such as an answer.
func (f *Flow) SendDue() bool {
	was := f.sendDue
	f.sendDue = false
	return was
}

// Finish ends a request that the flow does not hold.
func (f *Flow) Finish(r *Request, err error) { f.finish(r, err) }

// finish ends r, which is in no queue.
func (f *Flow) finish(r *Request, err error) {
	r.Stage = Done
	if err != nil {
		r.EndsWith(err)
	}
	if r.UsesRare {
		f.finishSpecial(r)
	}
	watched := f.Watched.Load() != 0
	if r.Heard == ByStage && !watched {
		return
	}
	if r.Counted {
		r.Counted = false
		if !r.anywhere() {
			f.pending--
		}
	}
	if r.Heard != ByState || r.UsesRare || watched {
		f.finished.Push(r)
		return
	}
	asm.StoreRelease32(&r.State, Over) // the owner may use r again from here on
}

// finishSpecial is what finish does for requests that are out of the ordinary.
func (f *Flow) finishSpecial(r *Request) {
	switch x := r.Rare; {
	case x.flat != nil:
		r.foldUp()
	case x.Loans && r.err == nil && x.Lease == nil:
		f.leaseOf(r)
	}
}

// notice tells the owner of an unexpected message, if a monitor watches for these.
func (f *Flow) notice(m *Message) {
	if f.Watched.Load() != 0 && m.context != Library {
		r := &Request{Stage: Noticed, Context: m.context, Size: m.size}
		r.Entry.Tag = m.Tag
		f.finished.Push(r)
	}
}

// Ledger is the state of credit, records and loans, for people and tests.
type Ledger struct {
	Credit, Window        int64 // eager bytes that the peer still takes, of so many
	Taken, Owed           int64 // eager bytes of the peer that were not given back; of these, such as are free to be
	Outstanding           int   // messages announced to the peer
	Told, PeerRecords     int   // records of the peer that it was told are all used; that it has
	Announced, Records    int   // messages announced here; records there are
	Posted, Unexpected    int
	Moved                 [2]uint64 // bytes of rendezvous, by Direction
	Waiting, Loaned, Kept int       // sends in the queue; loans of the peer's memory that are out; leases to be used again
}

// Ledger returns the state now.
func (f *Flow) Ledger() Ledger {
	l := Ledger{
		Credit: f.tx.credit, Window: f.tx.window, Taken: f.rx.taken, Owed: f.rx.owed,
		Outstanding: f.tx.sends.used, Told: f.tx.told, PeerRecords: f.tx.records,
		Announced: f.rx.announced, Records: f.rx.records,
		Posted: f.Posted(), Loaned: f.loans.out, Moved: [2]uint64{f.total(0), f.total(1)},
	}
	for x := range f.rx.all {
		l.Unexpected += x.Unexpected()
	}
	for r := f.tx.queue.head; r != nil; r = r.Link {
		l.Waiting++
	}
	for x := f.loans.pool; x != nil; x = x.Next {
		l.Kept++
	}
	return l
}

// plain is the header of a packet that belongs to no message.
func plain(kind uint8, size uint64) driver.Header { return driver.Header{Kind: kind, Size: size} }
