package nmad

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/internal/region"
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
	own    int         // our rank
	rank   int         // the peer's
	link   driver.Link // of the first rail; nil: to ourselves; changes once, under mu, when a gate gets its links
	engine *pioman.Engine
	task   pioman.Task   // polls
	spin   time.Duration // how long a wait polls before it leaves the work to the engine; 0: not at all
	shared bool          // other processes use our CPUs

	_ [pad]byte

	mu     spinlock
	landed atomic.Int32 // movers that have landed and were not taken home, see mover; and 1 if rescan

	incoming atomic.Pointer[flow.Request] // started while somebody had the lock, youngest first; see collect.go
	rescan   atomic.Bool                  // the unexpected messages are to be looked through
	released atomic.Pointer[flow.Lease]   // loans that were released, youngest first; each counts in landed; see lending.go

	buffers atomic.Pointer[bufferPool] // what Alloc gives; nil: nobody has asked yet; set once, under mu
	loans   int                        // bytes of it

	// Everything below is under mu.

	life life      // whether it lives, and how it ends
	flow flow.Flow // all protocols; its Dead is what new requests fail with

	consensus *consensus // of the session; nil: there is none; set once

	linking linking // how far its links are
	routes  routes  // which way messages take
	sampler sampler // under no lock

	armed   int8  // rails on whose descriptors somebody sleeps
	waited  int64 // cycles: until then a waiter polls for bytes of long messages, 0: none does; see attended
	woken   bool  // rails are to be looked at; see look
	ticks   uint  // of a gate with several rails
	holding bool  // the engine counts bytes in the driver's buffer, or messages that were gathered, as pending
	needing bool  // the engine counts the requests that the flow counts

	any   *match.Any[flow.Request] // of the session
	watch *monitors                // of the session
	calls upcalls

	over      requestQueue  // done, and to be told when the lock is let go
	turn      int           // blocking calls since one had to wait
	awake     int           // threads whose Recv is done after they had to wait, and that have not run since; with hooks
	collected requestQueue  // taken in from incoming, and not begun yet
	called    bool          // something was added to calls since the lock was taken
	head      driver.Header // of the packet that is being received
	view      *region.View  // the memory of the peer; nil: it is not mapped
	rails     []rail        // at least one, unless it leads to ourselves
	kept      int           // movers whose buffer a link has not given back, see mover
	free      *flow.Request // requests for the blocking calls

	_ [pad]byte
}

// pad keeps words that different cores write apart, in bytes.
const pad = 128

// bounds are what two processes have told each other before they linked, and what the configuration says.
type bounds struct {
	eager       int   // longest body that goes eagerly; 0: as the link says
	window      int64 // eager bytes that the peer may have outstanding here
	records     int   // rendezvous that the peer may have outstanding here
	peerWindow  int64 // the same at the peer
	peerRecords int
	loans       int // bytes of the buffers that Alloc gives; 0: DefaultLoans
	notes       int // bytes of a note of an agreement; 0: there are none
}

// newGate makes a gate over link, nil for the one to ourselves, and the links of further
// rails. Its task is not yet submitted.
func newGate(own, rank int, link driver.Link, engine *pioman.Engine, b bounds, more ...driver.Link) *Gate {
	g := &Gate{own: own, rank: rank, link: link, engine: engine, loans: cmp.Or(b.loans, DefaultLoans)}
	g.linking = linking{g: g, stage: linked}
	g.routes.g, g.sampler.g, g.life.g = g, g, g
	rails := 0
	if link != nil {
		rails = 1 + len(more)
	}
	g.flow.Init(own, rank, rails, flow.Bounds{
		Window: b.window, Records: b.records, PeerWindow: b.peerWindow, PeerRecords: b.peerRecords, NoteLimit: b.notes,
	})
	if link != nil {
		g.rails = make([]rail, rails)
		g.rails[0].init(g, 0, link)
		for i, l := range more {
			g.rails[1+i].init(g, 1+i, l)
		}
		g.bind(link, b.eager)
	}
	g.observe(&monitors{}) // until a session gives it its own
	g.join(newAny(2))
	return g
}

// bind has the small track use that link. Under mu.
func (g *Gate) bind(link driver.Link, eager int) {
	g.link = link
	g.flow.Bind(link.Caps(), eager)
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
	r.core.Op = flow.OpSend
	g.begin(r)
}

func (g *Gate) recv(r *Request, tag uint64, buf []byte) {
	r.prepare(g, tag, buf, false)
	r.core.Op, r.core.Entry.Age = flow.OpRecv, g.any.Now()
	g.begin(r)
}

// Send sends buf as one message and returns once buf may be used again, which
// for a short message is before, and for a long one after, the receiver has
// posted its receive.
func (g *Gate) Send(tag uint64, buf []byte) error {
	if !g.made() {
		return errNoGate
	}
	g.enter()
	sent, all := g.short(tag, buf)
	if all {
		g.releaseInTurn()
		return nil
	}
	r := g.takeRequest()
	r.prepare(g, tag, buf, true)
	r.core.Op = flow.OpSend
	if sent {
		g.stay(r)
	} else {
		g.start(r)
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
	r.core.Op, r.core.Entry.Age = flow.OpRecv, g.any.Now()
	g.startRecv(r)
	g.press()
	return g.await(r)
}

// await waits for a private request, and takes it back into the pool. It is
// called with the lock, and returns without it.
func (g *Gate) await(r *Request) (int, error) {
	c := &r.core
	if c.Stage != flow.Done && !g.pollFor(r) {
		g.turn = 0
		c.Private, r.told, r.rouses = false, true, marcel.OnThread() && g.engine.Hooked()
		r.completion.Reset()
		g.release()
		err := g.park(r) // counts as pending meanwhile
		g.mu.lock()
		if r.rouses && c.Stage == flow.Done {
			g.awake--
		}
		r.rouses = false
		if err != nil && !r.completion.Test(finished) {
			err = fmt.Errorf("nmad: wait for rank %d, tag %#x: %w", g.rank, c.Entry.Tag, err)
			g.flow.Withdraw(c) // r is not used again: if it is under way its end is not known
			g.release()
			return 0, err
		}
	}
	if !g.flow.Calm() {
		g.heedFinished() // r may be among them
	}
	if r.began != 0 {
		g.traceEnd(r)
	}
	n, err := c.N, c.Err
	c.Data.Buf, c.Err = nil, nil
	c.Link, g.free = g.free, c
	g.releaseInTurn()
	return n, err
}

// releaseInTurn is release at the end of a blocking call that had not to wait; at the end of a turn
// other threads go first.
func (g *Gate) releaseInTurn() {
	g.turn++
	over := g.turn >= strategy.TurnLength
	if over {
		g.turn = 0
	}
	g.release()
	if over && marcel.Ready() {
		marcel.Yield()
	}
}

func (g *Gate) takeRequest() *Request {
	c := g.free
	if c == nil {
		return &Request{}
	}
	g.free, c.Link = c.Link, nil
	return requestOf(c)
}

// heedFinished sees to what the flow has finished: requests that are done, choices that are to be asked for, news for monitors, searches that are due. The owner of
// a request that is done may start it again at once, if no waiter is to be told. Else it hears of it when the lock is let go: to wake a thread
// may be a scheduling point, and no holder must be descheduled with the lock. Under mu.
func (g *Gate) heedFinished() {
	for c := g.flow.Finished(); c != nil; c = g.flow.Finished() {
		switch c.Stage {
		case flow.Noticed:
			g.note(MessageArrived, Envelope{c.From, c.Entry.Tag, c.Size}, nil, nil)
		case flow.Choosing:
			g.calls.push(upcall{r: requestOf(c)})
			g.called = true
		default:
			g.tellEnd(requestOf(c))
		}
	}
	if g.flow.SearchDue() {
		g.lookAgain()
	}
}

// tellEnd tells the owner of a request that it is done. r must not be touched afterwards. Under mu.
func (g *Gate) tellEnd(r *Request) {
	c := &r.core
	if r.began != 0 {
		g.traceEnd(r)
	}
	if g.watch.kinds.Load() != 0 {
		g.noteEnd(r)
	}
	if c.Special && c.Lends {
		c.Lends = false
		g.buffers.Load().done(c.Place / region.PageSize)
	}
	if c.Anywhere {
		g.engine.Done() // it counted for itself
	}
	switch {
	case c.Private:
	case c.Special && r.notify != nil:
		g.calls.push(upcall{r: r})
		g.called = true
	case r.told || c.Special && r.queue != nil:
		if r.rouses {
			g.awake++
		}
		g.over.push(r)
	default:
		asm.StoreRelease32(&r.over, 1)
	}
}

// press has leave what should leave now that could not before. Under mu.
func (g *Gate) press() {
	if g.flow.Pressing() {
		g.drain()
	}
}
