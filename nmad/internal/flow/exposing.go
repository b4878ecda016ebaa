package flow

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Exposing: where processes share their CPUs, each packet that one of them waits for costs a turn of another one. A link
// over which the receiver can read the sender's memory (Caps.Exposes) saves two of them: the message is announced by
// EXPOSE in place of RDV. EXPOSE says in addition at which address in the sender's memory the message lies. The receive
// that it is for decides:
//
//	sender                                         receiver
//	  │ EXPOSE(tag, seq, size, cookie; address) ▶  │ its buffer is in one piece: reads what it wants
//	  │ ◀─────────────────────────── RETURN(cookie)│ done
//	 done
//	                                               │ any other: RTR, and all goes on as after RDV (rendezvous.go)
//
// A receiver that may not read that memory answers by RTR, and its peer need not know. A read of the peer's memory is a
// chunk in the queue of the first rail, like one that it asks for, but its bytes are not part of the stream. The receiver
// need not trust the address: the kernel looks it up in the peer's own memory.
//
// A sender that gives its sends up first takes the exposed memory back (Link.Withdraw). Then a receiver that reads it
// later, or has begun to, does not take what it reads for the message.
//
// This is the read protocol of rendezvous over networks with remote reads (Sur, Jin, Chai, Panda, PPoPP 2006), over shared
// memory.

// LeastExposed is the shortest message that is announced by its address, in bytes: to read a shorter one takes longer than
// to copy it twice.
const LeastExposed = 8 << 10

// ExposeBody is the body of an EXPOSE, in bytes: the address (8).
const ExposeBody = 8

// mostAddress is beyond every address space.
const mostAddress = 1 << 57

// mostFetch is how much one call reads, in bytes: some hundred microseconds.
const mostFetch = 256 << 10

// Exposing says whether messages are announced with their address.
func (f *Flow) Exposing() bool {
	return f.tx.caps.Exposes && len(f.Rails) == 1 && f.tx.room >= ExposeBody
}

// exposes says whether that send is to be.
func (f *Flow) exposes(r *Request) bool {
	return r.Data.Size >= LeastExposed && f.Exposing() && r.pieces() == nil
}

// describeExposed makes the EXPOSE of a send.
func (f *Flow) describeExposed(p *Packet) {
	p.Head.Kind, p.Head.Body, p.Body = KindExpose, ExposeBody, f.loans.body[:]
	binary.LittleEndian.PutUint64(p.Body, p.of.req.Data.address())
}

// handleExpose takes in the announcement of a message that can be read in the peer's memory.
func (f *Flow) handleExpose(h *driver.Header, body []byte) error {
	if len(body) != ExposeBody || h.Size == 0 {
		return violation("%d bytes are exposed, their address takes %d", h.Size, len(body))
	}
	address := binary.LittleEndian.Uint64(body)
	if address == 0 || h.Size > mostAddress || address > mostAddress-h.Size {
		return violation("%d bytes are exposed at address %#x, where no memory can be", h.Size, address)
	}
	return f.announcement(h, nil, address)
}

// fetches has a receive read its message at that address, if it can.
func (f *Flow) fetches(v *rendezvous, address uint64) bool {
	if address == 0 || !f.tx.caps.Fetches || f.blind || v.want == 0 || v.req.pieces() != nil {
		return false
	}
	v.from, v.req.Stage = address, Pulling
	f.queueChunk(&f.Rails[0].Streams[Pull], v, v.want)
	return true
}

// Fetching says that what comes next over the rail is to be read in the peer's memory: nothing will arrive.
func (x *Stream) Fetching() bool { return x.queue.head != nil && x.queue.head.of.from != 0 }

// fetch is Copy for what is to be read in the peer's memory.
func (x *Stream) fetch(c *chunk, call func([]byte, uint64) (int, error)) (int, error) {
	b := c.of.req.Data.Buf()[c.moved:c.size]
	return call(b[:min(len(b), mostFetch)], c.of.from+uint64(c.moved))
}

// Blind says, in place of Complete, that the peer's memory cannot be read: what was to be read there is asked for, now and
// from now on.
func (f *Flow) Blind(rail int) {
	x := &f.Rails[rail].Streams[Pull]
	f.blind, x.reserved = true, nil
	for x.Fetching() {
		v := f.forget(x, x.queue.pop())
		v.from, v.asked, v.moved, v.req.Stage = 0, 0, 0, Answering
		f.rx.answers.push(v)
	}
	f.sendDue = true
}

// fetched has the peer told that its message was read.
func (f *Flow) fetched(cookie uint32) {
	if f.ended || f.bye.sent && !f.bye.owes {
		return
	}
	l := f.takeLease()
	l.There, l.cookie = true, cookie
	f.loans.out++
	f.returnLoan(l)
}
