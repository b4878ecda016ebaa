package nmad

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
)

// Gate is the connection to one process of the job, or to ourselves. Messages
// that one process sends to another with the same tag are received in the order
// in which they were sent; other tags do not wait for them. Safe for
// concurrent use by any number of threads and goroutines.
//
// Buffers belong to the gate from the start of a request until it is done: they must
// not be written (send) or touched (receive) in between. The data goes straight
// from and to them.
type Gate struct {
	own      int         // our rank
	rank     int         // the peer's
	link     driver.Link // of the first rail; nil: to ourselves; changes once, under mu, when a gate gets its links
	strategy strategy.Strategy
	why      string // where the eager limit comes from; "": the driver
	engine   *pioman.Engine
	task     pioman.Task   // polls
	spin     time.Duration // how long a wait polls before it leaves the work to the engine; 0: not at all
	shared   bool          // other processes use our CPUs
	fixed    bool          // the configuration says the eager limit, so a Sample does not change it
	onEnd    func(*Gate)   // called once, under mu, when the gate has ended; must only take note

	_ [pad]byte

	mu     spinlock
	landed atomic.Int32 // movers that have landed and were not taken home, see mover; and 1 if rescan

	incoming atomic.Pointer[Request] // started while somebody had the lock, youngest first; see collect.go
	rescan   atomic.Bool             // the unexpected messages are to be looked through
	released atomic.Pointer[lease]   // loans that were released, youngest first; each counts in landed; see lending.go

	buffers atomic.Pointer[bufferPool] // what Alloc gives; nil: nobody has asked yet; set once, under mu
	loans   int                        // bytes of it

	// Everything below is under mu.

	end   *PeerError // why the gate has ended; nil: it has not
	ended time.Time  // when
	dead  error      // what new requests fail with; set by end or close; nil: none

	failure   atomic.Pointer[error] // dead, for readers without the lock
	consensus *consensus            // of the session; nil: there is none; set once
	notes     notes                 // of agreements

	aloof   bool     // a receive asks admits first; judge alone writes it
	linking *linking // how far they are; nil: the gate was made with them, or needs none

	closing  bool // this side closes
	byeSent  bool // BYE is queued or out
	byeAcked bool // and the peer has taken in everything before it
	byeSeen  bool // the peer's BYE has come; byeTotal is what it says

	byeTotal uint64 // bytes that the peer has pushed altogether

	armed   int8  // rails on whose descriptors somebody sleeps
	waited  int64 // cycles: until then a waiter polls for bytes of long messages, 0: none does; see attended
	woken   bool  // rails are to be looked at; see look
	ticks   uint  // of a gate with several rails
	holding bool  // the engine counts bytes in the driver's buffer, or messages that were gathered, as pending

	any   *match.Any[Request] // of the session
	watch *monitors           // of the session
	calls upcalls

	over      requestQueue // done, and to be told when the lock is let go
	pending   int          // requests that the engine is to see to
	turn      int          // blocking calls since one had to wait
	awake     int          // threads whose Recv is done after they had to wait, and that have not run since; with hooks
	collected requestQueue // taken in from incoming, and not begun yet
	called    bool         // something was added to calls since the lock was taken
	tx        sender
	rx        receiver
	lent      lent
	rails     []rail          // at least one, unless it leads to ourselves
	pulling   int             // chunks that come in, or wait for those before them, over all rails
	pushing   int             // likewise, that go out
	kept      int             // movers whose buffer a link has not given back, see mover
	chunks    *chunk          // to be used again
	loads     []strategy.Load // by rail, for strategies to look at
	shares    []int           // by rail, for strategies to fill in
	free      *Request        // requests for the blocking calls
	unsampled *sampleRound    // what a Sample has begun; belongs to who calls that
	stats     Stats

	_ [pad]byte
}

// pad keeps words that different cores write apart, in bytes.
const pad = 128

// bounds are what two processes have told each other before they linked.
type bounds struct {
	eager       int   // longest body that goes eagerly; 0: as the link says
	window      int64 // eager bytes that the peer may have outstanding here
	records     int   // rendezvous that the peer may have outstanding here
	peerWindow  int64 // the same at the peer
	peerRecords int
	loans       int // bytes of the buffers that Alloc gives; 0: DefaultLoans
}

// newGate makes a gate over link, nil for the one to ourselves, and the links of further
// rails. Its task is not yet submitted.
func newGate(own, rank int, link driver.Link, engine *pioman.Engine, b bounds, more ...driver.Link) *Gate {
	g := &Gate{own: own, rank: rank, link: link, engine: engine, strategy: strategy.Default, loans: cmp.Or(b.loans, DefaultLoans)}
	g.watch = &monitors{} // until a session gives it its own
	if link != nil {
		n := 1 + len(more)
		g.rails, g.loads, g.shares = make([]rail, n), make([]strategy.Load, n), make([]int, n)
		g.rails[0].init(g, 0, link)
		for i, l := range more {
			g.rails[1+i].init(g, 1+i, l)
		}
	}
	g.tx.init(link, b)
	g.rx.init(b)
	g.rx.Seen, g.rx.Found = g.seen, g.found
	g.join(newAny(2))
	return g
}

// Rank returns the rank of the process that this gate leads to.
func (g *Gate) Rank() int {
	if g == nil {
		return -1
	}
	return g.rank
}

// Isend starts to send buf as one message. A message of up to the driver's
// MaxBody goes at once if there is room (and the request is done then, or as soon as the network
// has all of it); a longer one when the receiver is ready. Errors show in Test and Wait.
func (g *Gate) Isend(tag uint64, buf []byte) *Request {
	if !g.made() {
		return failed(errNoGate)
	}
	r := fresh()
	g.send(r, tag, buf)
	return r
}

// IsendInto is Isend with a request of the caller, which may have been used
// before: it allocates nothing. It fails with ErrActive, and starts nothing, while
// r is under way.
func (g *Gate) IsendInto(r *Request, tag uint64, buf []byte) error {
	if !g.made() || r == nil {
		return lacking(g.made(), errNoGate, r, true)
	}
	if err := r.claim(); err != nil {
		return err
	}
	g.send(r, tag, buf)
	return nil
}

// Irecv starts to receive the next message with that tag. If buf is too short
// for it, buf is filled, the rest is dropped and the request ends with ErrTruncated.
func (g *Gate) Irecv(tag uint64, buf []byte) *Request {
	if !g.made() {
		return failed(errNoGate)
	}
	r := fresh()
	g.recv(r, tag, buf)
	return r
}

// IrecvInto is Irecv with a request of the caller; see IsendInto.
func (g *Gate) IrecvInto(r *Request, tag uint64, buf []byte) error {
	if !g.made() || r == nil {
		return lacking(g.made(), errNoGate, r, true)
	}
	if err := r.claim(); err != nil {
		return err
	}
	g.recv(r, tag, buf)
	return nil
}

func (g *Gate) send(r *Request, tag uint64, buf []byte) {
	if g.sendNow(r, tag, buf) {
		return
	}
	r.prepare(g, tag, buf, false)
	r.op = opSend
	g.begin(r)
}

func (g *Gate) recv(r *Request, tag uint64, buf []byte) {
	r.prepare(g, tag, buf, false)
	r.op, r.entry.Age = opRecv, g.any.Now()
	if !g.mu.tryLock() {
		g.leave(r)
		return
	}
	if g.left() {
		g.attend()
	}
	g.startRecv(r)
	g.release()
}

// Send sends buf as one message and returns once buf may be used again, which
// for a short message is before, and for a long one after, the receiver has
// posted its receive.
func (g *Gate) Send(tag uint64, buf []byte) error {
	if !g.made() {
		return errNoGate
	}
	g.enter()
	sent, all := g.sendAtOnce(tag, buf)
	if all {
		g.releaseInTurn()
		return nil
	}
	r := g.takeRequest()
	r.prepare(g, tag, buf, true)
	if sent {
		g.stay(r)
	} else {
		g.startSend(r)
	}
	_, err := g.await(r)
	return err
}

// Recv receives the next message with that tag into buf, waits for it, and returns how
// many bytes buf holds; with ErrTruncated that is all of buf.
func (g *Gate) Recv(tag uint64, buf []byte) (int, error) {
	if !g.made() {
		return 0, errNoGate
	}
	g.enter()
	r := g.takeRequest()
	r.prepare(g, tag, buf, true)
	r.entry.Age = g.any.Now()
	g.startRecv(r)
	return g.await(r)
}

// await waits for a private request, and takes it back into the pool. It is
// called with the lock, and returns without it.
func (g *Gate) await(r *Request) (int, error) {
	if r.stage != done && !g.pollFor(r) {
		g.turn = 0
		r.private, r.told, r.rouses = false, true, marcel.OnThread() && g.engine.Hooked()
		r.completion.Reset()
		g.release()
		err := r.completion.Park(g.engine, finished) // counts as pending meanwhile
		g.mu.lock()
		if r.rouses && r.stage == done {
			g.awake--
		}
		r.rouses = false
		if err != nil && !r.completion.Test(finished) {
			err = fmt.Errorf("nmad: wait for rank %d, tag %#x: %w", g.rank, r.entry.Tag, err)
			g.withdraw(r) // r is not used again: if it is under way nobody knows until when
			g.release()
			return 0, err
		}
	}
	n, err := r.n, r.err
	r.data.buf, r.err = nil, nil
	r.link, g.free = g.free, r
	g.releaseInTurn()
	return n, err
}

// turnLength is how many messages a thread may send or receive over a gate without ever
// having to wait while other threads of its VP are ready. A socket holds thousands of short
// messages: without this, who finds it full, or with room, would keep the VP until the
// scheduler takes it away, and the gates of the others stood still meanwhile.
const turnLength = 64

// releaseInTurn is release at the end of a blocking call that had not to wait; at the end of a turn
// other threads go first.
func (g *Gate) releaseInTurn() {
	g.turn++
	over := g.turn >= turnLength
	if over {
		g.turn = 0
	}
	g.release()
	if over && marcel.Ready() {
		marcel.Yield()
	}
}

func (g *Gate) takeRequest() *Request {
	r := g.free
	if r == nil {
		return &Request{}
	}
	g.free = r.link
	r.link = nil
	return r
}

// pend counts r as pending; the engine, whose hooks poll from then on, counts the gate as
// long as anything of it is. A receive from any source is under no gate's lock, and counts
// for itself.
func (g *Gate) pend(r *Request) {
	if r.private || r.needed {
		return
	}
	r.needed = true
	if !r.special || r.any == nil {
		if g.pending++; g.pending != 1 {
			return
		}
	}
	g.engine.Need()
}

// settle ends what pend began.
func (g *Gate) settle(r *Request) {
	if !r.special || r.any == nil {
		if g.pending--; g.pending != 0 {
			return
		}
	}
	g.engine.Done()
}

// withdraw takes back a request whose data has not begun to move, and says whether it
// could.
func (g *Gate) withdraw(r *Request) bool {
	switch r.stage {
	case posted:
		return g.rx.Withdraw(&r.entry, &r.wild)
	case queued:
		g.tx.queue.remove(r)
		return true
	}
	return false
}

// complete ends r, which must not be touched afterwards: if nobody is to be told its owner
// may start it again at once. Else he hears of it when the lock is let go: to wake a thread
// may be a scheduling point, and nobody must be descheduled with the lock.
func (g *Gate) complete(r *Request, err error) {
	if r.began != 0 {
		g.traceEnd(r)
	}
	if g.watch.kinds.Load() != 0 {
		g.noteEnd(r, err)
	}
	r.stage = done
	r.err = err
	if r.special {
		g.completeSpecial(r)
	}
	if r.private {
		return
	}
	if r.needed {
		r.needed = false
		g.settle(r)
	}
	switch {
	case r.special && r.notify != nil:
		g.calls.push(upcall{r: r})
		g.called = true
	case r.told || r.special && r.queue != nil:
		if r.rouses {
			g.awake++
		}
		g.over.push(r)
	default:
		asm.StoreRelease32(&r.over, 1)
	}
}

// completeSpecial is what complete does for requests that are out of the ordinary.
func (g *Gate) completeSpecial(r *Request) {
	switch {
	case r.flat != nil:
		r.foldUp()
	case r.lends:
		r.lends = false
		g.buffers.Load().done(int(r.page))
	case r.loans && r.err == nil && r.lease == nil:
		g.loanOf(r)
	}
}

// fail ends the gate and all its requests. What was received completely stays
// there for the receives to come, unless a message before it with the same tag did not come.
func (g *Gate) fail(why *PeerError) {
	if g.end != nil {
		return
	}
	g.end, g.ended = why, time.Now()
	if g.dead == nil {
		g.die(why)
	}
	g.notes, g.tx.owesNotes = notes{}, false
	underway := g.tagsUnderway()
	g.failSends(g.dead)
	g.failRecvs(g.dead)
	g.dropRendezvous(underway)
	g.endLoans()
	g.hold(false)
	g.note(GateEnded, Envelope{Source: g.rank}, nil, why)
	if g.onEnd != nil {
		g.onEnd(g)
	}
}
