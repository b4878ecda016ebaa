package flow

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Exposing: if processes share their CPUs, a process that waits for a packet has to wait until the sender gets the CPU.
// On a link over which the receiver can read the sender's memory (Caps.Exposes), the sender announces a message by
// EXPOSE in place of RDV, with the address at which the message lies in its memory. That saves two such waits, for RTR
// and for the bytes. The receive decides what happens:
//
//	sender                                         receiver
//	  │ EXPOSE(tag, seq, size, cookie; address) ▶  │ the buffer is in one piece: reads what it wants
//	  │ ◀─────────────────────────── RETURN(cookie)│ done
//	 done
//	                                               │ else: sends RTR, and all goes on as after RDV (rendezvous.go)
//
// A receiver that may not read the sender's memory also answers by RTR; the sender need not know why. A read of the
// sender's memory is a chunk in the queue of the first rail, but its bytes do not count as bytes of the stream. The
// receiver need not trust the address: the kernel looks it up in the memory of the sender alone.
//
// A sender that gives its sends up first withdraws the exposed memory (Link.Withdraw). A receiver that has begun to
// read it, or reads it later, then fails instead of taking what it reads for the message.
//
// This is the read protocol of rendezvous over networks with remote reads (Sur, Jin, Chai, Panda, PPoPP 2006), over
// shared memory.

// MinExposed is the shortest message that is exposed, in bytes: to read a shorter one takes longer than to copy it
// twice.
const MinExposed = 8 << 10

// ExposeBody is the length of the body of an EXPOSE, in bytes: the address (8).
const ExposeBody = 8

// maxAddress is above all addresses of a process.
const maxAddress = 1 << 57

// maxFetch is the largest number of bytes that one call reads, which takes up to some hundred microseconds.
const maxFetch = 256 << 10

// Exposing reports whether long messages are announced by EXPOSE.
func (f *Flow) Exposing() bool {
	return f.tx.caps.Exposes && len(f.Rails) == 1 && f.tx.maxBody >= ExposeBody
}

// exposes reports whether a send is announced by EXPOSE.
func (f *Flow) exposes(r *Request) bool {
	return r.Data.Size >= MinExposed && f.Exposing() && r.pieces() == nil
}

// describeExposed makes an announcement the EXPOSE of its send.
func (f *Flow) describeExposed(p *Packet) {
	p.Head.Kind, p.Head.Body, p.Body = KindExpose, ExposeBody, f.loans.exposeBody[:]
	binary.LittleEndian.PutUint64(p.Body, p.rendezvous.req.Data.address())
}

// handleExpose handles EXPOSE.
func (f *Flow) handleExpose(h *driver.Header, body []byte) error {
	if len(body) != ExposeBody || h.Size == 0 {
		return violation("%d bytes are exposed, their address takes %d", h.Size, len(body))
	}
	address := binary.LittleEndian.Uint64(body)
	if address == 0 || h.Size > maxAddress || address > maxAddress-h.Size {
		return violation("%d bytes are exposed at address %#x, where no memory can be", h.Size, address)
	}
	return f.announcement(h, nil, address)
}

// startFetch makes a receive read its message at that address of the sender's memory. It returns false, and does
// nothing, if the receive cannot: then an RTR is sent.
func (f *Flow) startFetch(v *rendezvous, address uint64) bool {
	if address == 0 || !f.tx.caps.Fetches || f.cannotFetch || v.want == 0 || v.req.pieces() != nil {
		return false
	}
	v.address, v.req.Stage = address, Pulling
	f.queueChunk(&f.Rails[0].Streams[Pull], v, v.want)
	return true
}

// Fetching reports whether the head of the stream is to be read in the peer's memory: then no bytes of it arrive by
// themselves.
func (x *Stream) Fetching() bool { return !x.queue.Empty() && x.queue.First().rendezvous.address != 0 }

// fetch is Copy for a chunk that is read in the peer's memory. call is the link's Fetch.
func (x *Stream) fetch(c *chunk, call func([]byte, uint64) (int, error)) (int, error) {
	b := c.rendezvous.req.Data.Buf()[c.moved:c.size]
	return call(b[:min(len(b), maxFetch)], c.rendezvous.address+uint64(c.moved))
}

// FetchFailed ends what Reserve began on the first rail, which alone reads exposed messages, in place of Complete, if
// the kernel does not let this process read the peer's memory. From here on RTRs ask for exposed messages, also for
// those that wait in the stream.
func (f *Flow) FetchFailed() {
	x := &f.Rails[0].Streams[Pull]
	f.cannotFetch, x.reserved = true, nil
	for x.Fetching() {
		v := f.releaseChunk(x, x.queue.pop())
		v.address, v.asked, v.moved, v.req.Stage = 0, 0, 0, Answering
		f.rx.answers.Push(&v.node, v)
	}
	f.sendDue = true
}

// returnExposed sends RETURN for an exposed message that was read.
func (f *Flow) returnExposed(cookie uint32) {
	if f.ended || f.bye.sent && !f.bye.owesBye {
		return
	}
	l := f.loans.spares.Get()
	l.InPeer, l.cookie = true, cookie
	f.loans.out++
	f.returnLoan(l)
}
