package nmad

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/self"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/lock"
	"github.com/pm2-go/pm2/nmad/internal/match"
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
	ownRank    int                   // our rank
	rank       int                   // the peer's
	waitEngine *pioman.Engine        // what waiters poll
	pollEngine *pioman.Engine        // what polls the gate; engine, unless there is a worker
	private    *domainAccess         // of the domain, if that is Private; else nil
	worker     *worker               // of the domain; nil: there is none
	offload    *offload              // has other cores submit; nil: none does; set once
	lateError  atomic.Pointer[error] // how a send has ended that had returned before: the worker's
	task       pioman.Task           // polls

	agreements   *agreements              // of the session; nil: there is none; set once
	any          *match.Any[flow.Request] // of the domain; set once
	domain       *Domain                  // to which it belongs; nil: a test has made it alone; set once
	peerDomain   int                      // the number of the peer's domain; set once
	registration gateRegistration         // under Domain.mu

	spin       time.Duration              // how long a wait polls before it leaves the work to the engine; 0: not at all; set once
	shared     bool                       // other processes use our CPUs; set once
	monitors   *monitors                  // of the session; set once
	loanBytes  int                        // bytes of the buffers that Alloc gives; set once
	buffers    atomic.Pointer[bufferPool] // these; nil: it was not asked yet; set once, under mu
	openSample *sampleRound               // that a Sample which was given up has begun; nil: none; the caller of Sample has it
	failure    atomic.Pointer[error]      // what new requests fail with (flow.Dead), for readers without the lock
	upcalls    upcalls                    // that are owed
	rails      []rail                     // the links, at least one; rail says what of it is under mu

	_ [pad]byte

	mu     lock.Gate
	inbox  gateInbox  // what others have left for the holder of mu
	locked lockedGate // what is under mu: lock, tryLock, enter and fresh give it

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

// newGate makes a gate over link, and the links of further rails. Its task is not yet submitted.
func newGate(own, rank int, link driver.Link, engine *pioman.Engine, b bounds, more ...driver.Link) *Gate {
	g := &Gate{ownRank: own, rank: rank, waitEngine: engine, pollEngine: engine, loanBytes: cmp.Or(b.loans, DefaultLoans)}
	h := g.fresh()
	h.g, h.stage = g, linked
	h.flow.Init(own, rank, 1+len(more), flow.Bounds{
		Window: b.window, Records: b.records, PeerWindow: b.peerWindow, PeerRecords: b.peerRecords, NoteLimit: b.notes,
	})
	g.rails = make([]rail, 1+len(more))
	h.initRail(0, link)
	for i, l := range more {
		h.initRail(1+i, l)
	}
	h.bind(link, b.eager)
	h.observe(&monitors{})   // until a session gives it its own
	h.join(newAny(nil, own)) // until it joins others
	return g
}

// newOwnGate makes the gate to the own rank.
func newOwnGate(rank int, engine *pioman.Engine, b bounds) *Gate {
	g := newGate(rank, rank, self.Loop(), engine, b)
	g.rails[0].name = self.Name
	return g
}

// valid says that a session has made this gate.
func (g *Gate) valid() bool { return g != nil && g.waitEngine != nil }

// unrestricted says that a session has made this gate, and all threads may use it.
func (g *Gate) unrestricted() bool { return g != nil && g.waitEngine != nil && g.private == nil }

// accessError says why the caller may not use this gate; nil: it may.
func (g *Gate) accessError() error {
	if g.unrestricted() {
		return nil
	}
	return g.slowAccessError()
}

//go:noinline
func (g *Gate) slowAccessError() error {
	if !g.valid() {
		return errNoGate
	}
	if g.private.ownerID == asm.GoID() {
		return nil
	}
	return g.private.accessError()
}

// Rank returns the rank of the process that this gate leads to.
func (g *Gate) Rank() int {
	if g == nil {
		return -1
	}
	return g.rank
}

// Isend starts to send buf as one message. A message of up to Config.Eager bytes (what was measured, or what the driver
// takes in one packet) goes at once if there is room (and the request is done then, or as soon as the network has all of
// it); a longer one when the receiver is ready. Errors show in Test and Wait.
func (g *Gate) Isend(tag uint64, buf []byte) *Request {
	if err := g.accessError(); err != nil {
		return failed(err)
	}
	r := &Request{}
	g.send(r, nil, tag, buf)
	return r
}

// IsendInto is Isend with a request of the caller, which may have been used
// before: it allocates nothing. It fails with ErrActive, and starts nothing, while
// r is under way.
func (g *Gate) IsendInto(r *Request, tag uint64, buf []byte) error {
	err := g.claim(r)
	if err == nil {
		g.send(r, nil, tag, buf)
	}
	return err
}

// Irecv starts to receive the next message with that tag. If buf is too short
// for it, buf is filled, the rest is dropped and the request ends with ErrTruncated.
func (g *Gate) Irecv(tag uint64, buf []byte) *Request {
	if err := g.accessError(); err != nil {
		return failed(err)
	}
	r := &Request{}
	g.recv(r, nil, tag, buf)
	return r
}

// IrecvInto is Irecv with a request of the caller; see IsendInto.
func (g *Gate) IrecvInto(r *Request, tag uint64, buf []byte) error {
	err := g.claim(r)
	if err == nil {
		g.recv(r, nil, tag, buf)
	}
	return err
}

// claim makes a request of the caller's ours to start at the gate.
func (g *Gate) claim(r *Request) error {
	if !g.unrestricted() || r == nil {
		if err := checkStart(g.accessError(), r, true); err != nil {
			return err
		}
	}
	return r.claim()
}

func (g *Gate) send(r *Request, in *Context, tag uint64, buf []byte) {
	if g.sendNow(r, in, tag, buf) {
		return
	}
	r.prepare(g, flow.OpSend, in, tag, buf, flow.NotifyState)
	g.submit(r)
}

func (g *Gate) recv(r *Request, in *Context, tag uint64, buf []byte) {
	r.prepare(g, flow.OpRecv, in, tag, buf, flow.NotifyState)
	r.core.Entry.Age = g.any.Now()
	h := g.tryLock()
	if h == nil {
		if !g.mu.HasLists() || !g.recvApart(r) {
			g.leaveRequest(r)
		}
		return
	}
	if g.inbox.left() {
		h.handleInbox()
	}
	h.startRecv(r)
	h.sendIfDue()
	h.unlock()
}

// Send sends buf as one message and returns once buf may be used again, which
// for a short message is before, and for a long one after, the receiver has
// posted its receive.
func (g *Gate) Send(tag uint64, buf []byte) error {
	if err := g.accessError(); err != nil {
		return err
	}
	return g.sendIn(nil, tag, buf)
}

func (g *Gate) sendIn(in *Context, tag uint64, buf []byte) error {
	if g.worker != nil {
		return g.worker.send(g, in, tag, buf)
	}
	h := g.enter()
	sent, all := h.short(in, tag, buf, nil)
	if all {
		h.unlockAndYield()
		return nil
	}
	r := h.newRequest()
	r.prepare(g, flow.OpSend, in, tag, buf, flow.NotifyNone)
	if sent {
		h.awaitFlush(r)
	} else {
		h.start(r)
	}
	_, _, err := h.await(r)
	return err
}

// Recv receives the next message with that tag into buf, waits for it, and returns how
// many bytes buf holds; with ErrTruncated that is all of buf.
func (g *Gate) Recv(tag uint64, buf []byte) (int, error) {
	if err := g.accessError(); err != nil {
		return 0, err
	}
	n, _, err := g.recvIn(nil, tag, buf)
	return n, err
}

// recvIn also says how long the message is.
func (g *Gate) recvIn(in *Context, tag uint64, buf []byte) (n int, size uint64, err error) {
	if g.mu.HasLists() {
		r := requests.Get().(*Request)
		g.recv(r, in, tag, buf)
		return finish(r)
	}
	age := g.any.Now()
	h := g.enter()
	r := h.newRequest()
	r.prepare(g, flow.OpRecv, in, tag, buf, flow.NotifyNone)
	r.core.Entry.Age = age
	h.startRecv(r)
	h.sendIfDue()
	return h.await(r)
}

// await waits for a private request, and takes it back into the pool. It is
// called with the lock, and returns without it.
func (h *lockedGate) await(r *Request) (n int, size uint64, err error) {
	c := &r.core
	if c.Stage != flow.Done && !h.pollFor(r) {
		h.callsSinceWait = 0
		r.notifyOwner()
		c.Wakes = marcel.OnThread() && h.g.waitEngine.Hooked()
		r.completion.Reset()
		h.unlock()
		err := h.g.park(r) // counts as pending meanwhile
		h.g.mu.Lock()
		if c.Wakes && c.Stage == flow.Done {
			h.wokenThreads--
		}
		c.Wakes = false
		if err != nil && !r.completion.Test(bitDone) {
			err = fmt.Errorf("nmad: wait for rank %d, tag %#x: %w", h.g.rank, c.Entry.Tag, err)
			h.flow.Withdraw(c) // r is not used again: if it is under way its end is not known
			h.unlock()
			return 0, 0, err
		}
	}
	if !h.flow.NoNews() {
		h.takeFinished() // r may be among them
	}
	h.traceEnd(r)
	n, size, err = c.N, c.Size, c.Err()
	c.Data.Set(nil)
	c.SetErr(nil)
	c.Link, h.freeRequests = h.freeRequests, c
	h.unlockAndYield()
	return n, size, err
}

// sendIfDue sends what can leave since a moment ago, such as an answer that was put off, or a note (flow.SendDue).
func (h *lockedGate) sendIfDue() {
	if h.flow.SendDue() {
		h.drain()
	}
}

// GateInfo describes a gate.
type GateInfo struct {
	Strategy string     // its name
	Rails    []RailInfo // its links

	// Protocols says which protocol messages of which size take, and why: in order of size, without gaps. Exceptions lists
	// the cases in which something else than the size decides. A gate without links only knows that it will make them: see
	// Gate.Link.
	//
	//	short       eager, in the way that the driver has for the shortest bodies
	//	eager       header and body in one packet, over the first rail; aside, if the receive is not there yet
	//	rendezvous  announced over the first rail; the receiver asks for the bytes, over one rail or several
	//	exposed     announced with its address: the receiver reads the bytes in the sender's memory
	Protocols  []Protocol
	Exceptions []Exception
}

// Info describes the gate as it is now. It does not block.
func (g *Gate) Info() GateInfo {
	if !g.valid() {
		return GateInfo{}
	}
	h := g.lock()
	defer h.unlock()
	return GateInfo{h.flow.Strategy.Name(), h.railInfo(), h.protocols(), h.exceptions()}
}
