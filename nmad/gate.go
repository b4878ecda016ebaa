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

// Gate is the connection of this process to one process of the job, which may be this process itself. Messages that one
// process sends to another with the same tag are received in the order in which they were sent; messages with other
// tags do not wait for them. Safe for concurrent use by any number of threads and goroutines, unless its domain is
// Private.
//
// A buffer belongs to the gate from the start of a request until the request is done: in between the program must not
// write the buffer of a send, nor touch that of a receive. The data goes straight from one buffer to the other.
type Gate struct {
	// Constant once the gate is in the table of its domain.
	ownRank    int                          // rank of this process
	rank       int                          // rank of the peer
	waitEngine *pioman.Engine               // the engine in which waiters wait; nil for a gate that no session has made
	pollEngine *pioman.Engine               // the engine that polls the gate; waitEngine, unless the domain has a worker
	private    *domainAccess                // access of the domain, if that is Private; else nil
	worker     *worker                      // worker of the domain; nil if it has none
	offload    *offload                     // lets other cores submit sends; nil if none does
	agreements *agreements                  // of the session; nil for gates of domains other than 0
	anyList    *match.AnyList[flow.Request] // receives from any source of the domain
	domain     *Domain                      // the gate's domain; nil for a gate that a test has made alone
	peerDomain int                          // number of the peer's domain
	spin       time.Duration                // how long a waiter polls before it leaves the work to the engine; 0: not at all
	shared     bool                         // other processes use this process's CPUs
	monitors   *monitors                    // of the session
	loanBytes  int                          // bytes of the memory that Alloc divides

	task         pioman.Task                // polls the gate; see tick
	registration gateRegistration           // guarded by Domain.mu
	buffers      atomic.Pointer[bufferPool] // memory of Alloc; nil before its first call; set once, under mu
	openSample   *sampleRound               // a round trip that a Sample has given up, or nil; for the caller of Sample
	lateError    atomic.Pointer[error]      // of a send whose Send had returned; the worker writes it, the next Send takes it
	failure      atomic.Pointer[error]      // flow.Flow.Dead, for readers without the lock; die writes it
	upcalls      upcalls                    // calls of the program's functions that are due
	rails        []rail                     // at least one; the type rail says which of its fields mu guards

	_ [pad]byte

	mu     lock.Gate
	inbox  gateInbox  // what other threads have left for the holder of mu
	locked lockedGate // what mu guards; only lock, tryLock, lockLists, enter and fresh lead to it

	_ [pad]byte
}

// pad is the distance, in bytes, that keeps words which different cores write in different cache lines.
const pad = 128

// bounds are the limits of a gate: what the two processes have told each other before they link, and what the
// configuration says.
type bounds struct {
	flow.Bounds
	eager int // longest body that goes eagerly, in bytes; 0: as the link says
	loans int // bytes of the memory that Alloc divides; 0: DefaultLoans
}

// newGate makes a gate from the rank own to another rank, over link and further rails (more). Its task is not
// submitted, and no other thread knows it yet.
func newGate(own, rank int, link driver.Link, engine *pioman.Engine, b bounds, more ...driver.Link) *Gate {
	g := &Gate{ownRank: own, rank: rank, waitEngine: engine, pollEngine: engine, loanBytes: cmp.Or(b.loans, DefaultLoans)}
	h := g.fresh()
	h.gate, h.stage = g, stageLinked
	h.flow.Init(own, rank, 1+len(more), b.Bounds)
	g.rails = make([]rail, 1+len(more))
	h.initRail(0, link)
	for i, l := range more {
		h.initRail(1+i, l)
	}
	h.bind(link, b.eager)
	h.observe(&monitors{})       // makeGate replaces these
	h.join(newAnyList(nil, own)) // gateOf replaces it
	return g
}

// newOwnGate makes the gate to the own rank.
func newOwnGate(rank int, engine *pioman.Engine, b bounds) *Gate {
	g := newGate(rank, rank, self.Loop(), engine, b)
	g.rails[0].name = self.Name
	return g
}

// valid reports whether a session has made this gate.
func (g *Gate) valid() bool { return g != nil && g.waitEngine != nil }

// unrestricted reports whether a session has made this gate, and all threads may use it.
func (g *Gate) unrestricted() bool { return g != nil && g.waitEngine != nil && g.private == nil }

// accessError returns an error if the caller may not use this gate.
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

// Rank returns the rank of the process to which this gate leads; -1 for a nil Gate.
func (g *Gate) Rank() int {
	if g == nil {
		return -1
	}
	return g.rank
}

// Isend starts to send buf as one message, and returns its request. A message of up to Config.Eager bytes leaves at
// once if the network has room and the receiver has memory for it (Config.Unexpected), and its request is done when the
// network has all of it. Any other message leaves when its receive is posted. Test and Wait of the request return
// errors. Isend does not block; callbacks may call it.
func (g *Gate) Isend(tag uint64, buf []byte) *Request {
	if err := g.accessError(); err != nil {
		return failed(err)
	}
	r := &Request{}
	g.send(r, nil, tag, buf)
	return r
}

// IsendInto is Isend with a request of the caller, which may have been used before. It allocates nothing. It fails with
// ErrActive, and starts nothing, while r is under way.
func (g *Gate) IsendInto(r *Request, tag uint64, buf []byte) error {
	err := g.claim(r)
	if err == nil {
		g.send(r, nil, tag, buf)
	}
	return err
}

// Irecv starts to receive the next message with that tag into buf, and returns its request. If the message is longer
// than buf, Irecv fills buf, drops the rest, and the request ends with ErrTruncated. Irecv does not block; callbacks
// may call it.
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

// claim claims a request of the caller's, to start it at this gate. It fails if the caller may not use the gate, or r
// is nil or under way.
func (g *Gate) claim(r *Request) error {
	if !g.unrestricted() || r == nil {
		if err := checkStart(g.accessError(), r, true); err != nil {
			return err
		}
	}
	return r.claim()
}

// send starts a send with a request that was claimed, in a context, or in none if that is nil.
func (g *Gate) send(r *Request, msgContext *Context, tag uint64, buf []byte) {
	if g.sendNow(r, msgContext, tag, buf) {
		return
	}
	r.prepare(g, flow.RequestSend, msgContext, tag, buf, flow.NotifyState)
	g.submit(r)
}

// recv starts an exact receive with a request that was claimed, in a context, or in none if that is nil.
func (g *Gate) recv(r *Request, msgContext *Context, tag uint64, buf []byte) {
	r.prepare(g, flow.RequestRecv, msgContext, tag, buf, flow.NotifyState)
	r.core.Entry.Age = g.anyList.Now()
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

// Send sends buf as one message, and returns when the program may use buf again. A short message for which the receiver
// has memory is sent before its receive is posted, any other one (see Isend) after. Send blocks the calling thread or
// goroutine only.
func (g *Gate) Send(tag uint64, buf []byte) error {
	if err := g.accessError(); err != nil {
		return err
	}
	return g.sendIn(nil, tag, buf)
}

// sendIn is Send in a context, or in none if that is nil. The caller may use the gate.
func (g *Gate) sendIn(msgContext *Context, tag uint64, buf []byte) error {
	if g.worker != nil {
		return g.worker.send(g, msgContext, tag, buf)
	}
	h := g.enter()
	sent, all := h.short(msgContext, tag, buf, nil)
	if all {
		h.unlockAndYield()
		return nil
	}
	r := h.newRequest()
	r.prepare(g, flow.RequestSend, msgContext, tag, buf, flow.NotifyNone)
	if sent {
		h.awaitFlush(r)
	} else {
		h.start(r)
	}
	_, _, err := h.await(r)
	return err
}

// Recv receives the next message with that tag into buf, and returns how many bytes buf holds; with ErrTruncated that
// is all of buf. Recv blocks the calling thread or goroutine only.
func (g *Gate) Recv(tag uint64, buf []byte) (int, error) {
	if err := g.accessError(); err != nil {
		return 0, err
	}
	n, _, err := g.recvIn(nil, tag, buf)
	return n, err
}

// recvIn is Recv in a context, or in none if that is nil. It also returns the size of the whole message, in bytes.
func (g *Gate) recvIn(msgContext *Context, tag uint64, buf []byte) (n int, size uint64, err error) {
	if g.mu.HasLists() {
		r := requests.Get().(*Request)
		g.recv(r, msgContext, tag, buf)
		return resultOf(r)
	}
	age := g.anyList.Now()
	h := g.enter()
	r := h.newRequest()
	r.prepare(g, flow.RequestRecv, msgContext, tag, buf, flow.NotifyNone)
	r.core.Entry.Age = age
	h.startRecv(r)
	h.sendIfDue()
	return h.await(r)
}

// await waits for a request of newRequest, and puts it back. It is called with the lock, and returns without it.
func (h *lockedGate) await(r *Request) (n int, size uint64, err error) {
	c := &r.core
	if c.Stage != flow.Finished && !h.pollFor(r) {
		h.callsSinceWait = 0
		r.endBySignal()
		c.WakesThread = marcel.OnThread() && h.gate.waitEngine.Hooked()
		r.completion.Reset()
		h.unlock()
		err := h.gate.park(r) // r counts as pending meanwhile
		h.gate.mu.Lock()
		if c.WakesThread && c.Stage == flow.Finished {
			h.wokenThreads--
		}
		c.WakesThread = false
		if err != nil && !r.completion.Test(bitDone) {
			err = fmt.Errorf("nmad: wait for rank %d, tag %#x: %w", h.gate.rank, c.Entry.Tag, err)
			h.flow.Withdraw(c) // r does not go back into the pool: it may still be under way
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
	c.Next, h.freeRequests = h.freeRequests, c
	h.unlockAndYield()
	return n, size, err
}

// sendIfDue drains the flow if something new waits there, such as an answer or a note (flow.Flow.SendDue).
func (h *lockedGate) sendIfDue() {
	if h.flow.SendDue() {
		h.drain()
	}
}

// GateInfo describes a gate to people.
type GateInfo struct {
	Strategy string     // name of the strategy
	Rails    []RailInfo // one for each rail

	// Protocols says which protocol messages of which size take, and why: in order of size, without gaps. Exceptions
	// lists the cases in which something other than the size decides. A gate that has no links yet only knows that it
	// will make them: see Gate.Link.
	//
	//	short       eager, in a way that the driver has for the shortest bodies
	//	eager       header and body in one packet, over the first rail; kept by the receiver until the receive is posted
	//	rendezvous  announced over the first rail; the receiver asks for the bytes, over one or several rails
	//	exposed     announced with its address: the receiver reads the bytes in the sender's memory
	Protocols  []Protocol
	Exceptions []Exception
}

// Info describes the gate as it is now. It takes the gate's lock for a moment.
func (g *Gate) Info() GateInfo {
	if !g.valid() {
		return GateInfo{}
	}
	h := g.lock()
	defer h.unlock()
	return GateInfo{h.flow.Strategy.Name(), h.railInfo(), h.protocols(), h.exceptions()}
}
