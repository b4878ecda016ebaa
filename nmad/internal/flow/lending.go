package flow

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/nmad/driver"
)

// Lending: a message that lies in a buffer of nmad.Gate.Alloc, and that is sent over a link whose ends can map memory
// of each other (Caps.Process), is announced by LOAN in place of RDV. LOAN has the place of the message in the sender's
// memory; the first LOAN also says which memory that is. The receive decides what happens:
//
//	sender                                     receiver
//	  │ LOAN(tag, seq, size, cookie; place)  ▶ │ it takes loans: done, with the bytes where they lie
//	  │                                        │ ... the program reads them, and releases the loan
//	  │ ◀───────────────────── RETURN(cookie)  │
//	 done
//	                                           │ else: sends RTR, and all goes on as after RDV (rendezvous.go)
//
// A LOAN counts as an announcement in all other respects: the order of messages, unexpected messages, probes, claims,
// canceling, truncation, and records. A receiver that cannot map the memory also answers by RTR; the sender need not
// know why. A loaned message that was not received yet takes memory of the sender. So a sender that is too fast is held
// back: it gets no further buffer.
//
//	send:  queued -> announced -> finished               the receive takes the loan, and the program has released it
//	                 announced -> pushing -> finished    the receive asks for the bytes
//
// The gate maps the memory, for reading only (Network.View). It checks that the size of the memory cannot
// change, and that the message lies within. The bytes may change at any time, even if the peer keeps the rules: after
// Close, or after a send has failed, the buffer belongs to the sender again, while the receiver may still read.
//
// At the end of a gate loaned sends end as others do (ErrPeerLost, ErrClosed). The memory stays mapped at the receiver
// until the program has released the last loan and the gate has ended.

// MinLoan is the shortest message that is loaned, in bytes. To copy a shorter one takes less time than its RETURN.
const MinLoan = 4 << 10

// The body of a LOAN. The first LOAN of a flow has LoanLocator bytes that say which memory it is. Then each has
// LoanBody bytes: the place of the message in that memory (8).
const (
	LoanBody    = 8
	LoanLocator = 24
)

// lending is the part of a flow that handles loans.
type lending struct {
	known      bool              // the peer's first LOAN has come
	out        int               // number of messages in the peer's memory for which no RETURN was sent, nor dropped
	returns    shelf.List[Lease] // messages in the peer's memory that are released, or read; RETURN waits to be sent
	spares     shelf.Spares[Lease]
	exposeBody [ExposeBody]byte // body of the EXPOSE that is to leave
}

// Lease is the flow's part of a loan. The flow uses the memory again, for another loan.
type Lease struct {
	// Generation is odd until the program releases the loan: then the gate adds 1, without a lock. The flow adds 1 for
	// a new loan.
	Generation atomic.Uint32
	Next       *Lease // the gate's: the next one in a list of released ones
	InPeer     bool   // the bytes lie in the sender's memory; else in the buffer of the receive
	Bytes      []byte // the message

	cookie uint32            // the sender's number for the message
	node   shelf.Node[Lease] // in lending.returns
}

// lendable reports whether a send is announced by LOAN.
func (f *Flow) lendable(r *Request) bool {
	return r.UsesExtras && r.Extras.LoanPlace != nil && r.Data.Size >= MinLoan && f.Lending()
}

// Lending reports whether messages in buffers of nmad.Gate.Alloc are announced by LOAN.
func (f *Flow) Lending() bool { return f.tx.caps.Process != 0 && f.tx.maxBody >= LoanLocator+LoanBody }

// describeLoan makes an announcement the LOAN of its send.
func (f *Flow) describeLoan(p *Packet) {
	p.Body = p.rendezvous.req.Extras.LoanPlace[:]
	if f.Stats.Loaned > 0 {
		p.Body = p.Body[LoanLocator:]
	}
	p.Head.Kind, p.Head.Body = KindLoan, uint32(len(p.Body))
}

// ViewUnused reports whether the gate may unmap the peer's memory: the flow has ended, and no loan in that memory is
// out.
func (f *Flow) ViewUnused() bool { return f.ended && f.loans.out == 0 }

// handleLoan handles LOAN.
func (f *Flow) handleLoan(h *driver.Header, body []byte, n Network) error {
	locator := LoanLocator
	if f.loans.known {
		locator = 0
	}
	if len(body) != locator+LoanBody || h.Size == 0 {
		return violation("a loan of %d bytes, described in %d", h.Size, len(body))
	}
	f.loans.known = true
	body, wrong := n.View(body[:locator], binary.LittleEndian.Uint64(body[locator:]), h.Size)
	if wrong != nil {
		return wrong
	}
	return f.announcement(h, body, 0)
}

// giveLoan gives a loan to a receive that takes loans, and ends the receive. bytes is the message in the sender's
// memory.
func (f *Flow) giveLoan(r *Request, bytes []byte, cookie uint32) {
	l := f.newLease(r, bytes)
	l.InPeer, l.cookie = true, cookie
	f.loans.out++
	r.Size, r.N = uint64(len(bytes)), len(bytes)
	f.Stats.Borrowed++
	f.Stats.BytesReceived += uint64(r.N)
	f.Finish(r, nil)
}

// newLease makes the loan of a receive, with these bytes, in the buffer of the receive.
func (f *Flow) newLease(r *Request, bytes []byte) *Lease {
	l := f.loans.spares.Get()
	l.InPeer, l.Bytes = false, bytes
	r.Extras.Lease, r.Extras.LeaseGeneration = l, l.Generation.Add(1)
	return l
}

// leaseCopy makes the loan of a receive that takes loans and whose message was not loaned: the bytes lie in its buffer.
func (f *Flow) leaseCopy(r *Request) {
	if r.pieces() == nil {
		f.newLease(r, r.Data.Buf()[:r.N])
	} else {
		f.newLease(r, nil)
	}
}

// Release handles a loan that the program has released, when the gate has added 1 to its Generation.
func (f *Flow) Release(l *Lease) {
	switch {
	case !l.InPeer:
		f.recycleLease(l)
	case f.ended || f.bye.sent:
		f.forgetLoan(l)
	default:
		f.returnLoan(l)
	}
}

// returnLoan sends RETURN.
func (f *Flow) returnLoan(l *Lease) {
	f.loans.returns.Push(&l.node, l)
	f.setUnsent(unsentReturns, true)
	f.sendDue = f.sendDue || !f.tx.noRoom
}

// forgetLoan frees the lease of a message in the peer's memory: RETURN was sent, or need not be sent any more.
func (f *Flow) forgetLoan(l *Lease) {
	f.loans.out--
	f.recycleLease(l)
}

// recycleLease frees a lease.
func (f *Flow) recycleLease(l *Lease) {
	l.Bytes = nil
	f.loans.spares.Put(l)
}

// handleReturn handles RETURN: it ends a send whose message was loaned, and released, or was exposed, and read.
func (f *Flow) handleReturn(h *driver.Header) error {
	v := f.tx.announced.find(h.Cookie)
	if v == nil && f.bye.sent {
		return nil // this side leaves, and has given the send up before the RETURN came
	}
	if v == nil || !v.inPlace || v.asked != 0 {
		return violation("what was loaned is returned under cookie %#x, which names none", h.Cookie)
	}
	r, _ := f.endRendezvous(f.tx.announced.take(h.Cookie))
	r.N, r.Size = r.Data.Size, uint64(r.Data.Size)
	f.Stats.BytesSent += uint64(r.N)
	f.Finish(r, nil)
	return nil
}
