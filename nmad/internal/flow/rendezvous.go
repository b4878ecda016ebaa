package flow

import (
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// Rendezvous: the receiver of an announced message decides how its bytes travel, because it knows how many bytes it
// wants, and what is on the way to it over which rail. It asks for the bytes in order, from the first to the last,
// chunk by chunk: each RTR says which bytes are to come, and over which rail. With one rail, or a message for which one
// rail is enough, that is one RTR. With several rails the strategy shares out the bytes that were not asked for yet; it
// may leave some out until a rail is idle:
//
//	answering --- all bytes are asked for -----------------> pulling --- all bytes have come ---> finished
//	    ^  `----- the strategy leaves bytes out ------> deferred
//	    `---------- a rail is idle, or about to be ---------'
//
// The sender sends what an RTR asks for. An announced message keeps its cookie until the sender has received the RTR
// without FlagMore.

// unknown is rendezvous.want at the sender, until the last RTR has come.
const unknown = -1

// MinChunk is the least number of bytes that an RTR with FlagMore asks for. So a peer cannot make this process keep
// many tiny chunks.
const MinChunk = 4 << 10

// Flags of an RTR: the number of the rail (RailFlags), and FlagMore.
const (
	FlagMore  = 0x80 // more RTRs of this message follow
	RailFlags = 0x7f
)

// answer begins the rendezvous of a receive whose message of size bytes was announced: the receive waits for its RTR to
// be sent, or reads the message at that address in the sender's memory, if it is not 0 and the receive can.
func (f *Flow) answer(r *Request, size uint64, cookie uint32, address uint64) {
	r.Size, r.Stage = size, Answering
	v := f.startRendezvous(r, int(min(size, uint64(r.Data.Size))))
	v.cookie = cookie
	if !f.startFetch(v, address) {
		f.rx.answers.Push(&v.node, v)
	}
}

// packNextRtr makes the next RTR of v, the head of the answers. All RTRs together ask for no more bytes than the buffer
// holds, so nothing that comes has to be thrown away. It returns nil if the strategy leaves all bytes out: then the
// receive is Deferred.
func (f *Flow) packNextRtr(v *rendezvous) *Packet {
	if len(f.Rails) == 1 || v.want == 0 {
		return f.packRtr(0, v, v.want)
	}
	if r := v.req; r.UsesExtras && r.Extras.Pin != 0 {
		return f.packRtr(int(r.Extras.Pin)-1, v, v.want)
	}
	if !f.rx.sharesValid {
		f.share(v.want - v.asked)
		f.rx.sharesValid = true
	}
	for i, n := range f.shares {
		if n != 0 {
			return f.packRtr(i, v, n)
		}
	}
	f.rx.answers.Pop()
	f.rx.sharesValid = false
	v.req.Stage = Deferred
	f.rx.deferred.Push(&v.node, v)
	return nil
}

// rtrTaken is the part of packetTaken for an RTR.
func (f *Flow) rtrTaken(p *Packet) {
	v, n := p.rendezvous, int(p.Head.Size)
	if n > 0 {
		f.queueChunk(&f.Rails[p.rail].Streams[Pull], v, n)
		f.shares[p.rail] = 0
	}
	if v.asked != v.want {
		return
	}
	f.rx.answers.Pop()
	f.rx.sharesValid = false
	v.req.Stage = Pulling
	if v.want == 0 {
		r, _ := f.endRendezvous(v)
		f.handOver(r) // the receive ends when its RTR has left the driver's buffer: the sender waits for the RTR
	}
}

// packRtr makes the RTR that asks for the next n bytes of a message over a rail.
func (f *Flow) packRtr(rail int, v *rendezvous, n int) *Packet {
	p := f.pack(rtrPacket, driver.Header{
		Kind: KindRtr, Flags: uint8(rail), Tag: uint64(v.asked), Size: uint64(n), Cookie: v.cookie,
	})
	p.rendezvous, p.rail = v, rail
	if v.asked+n < v.want {
		p.Head.Flags |= FlagMore
	}
	return p
}

// share lets the strategy share rest bytes out, and corrects the shares: none is shorter than MinChunk, unless it is
// the last one; and if the strategy leaves all bytes out although all rails are idle, the first rail gets all, since no
// rail would become idle later and make the flow ask again.
func (f *Flow) share(rest int) {
	loads, shares := f.loads, f.shares
	for i := range f.Rails {
		loads[i] = f.Rails[i].load()
	}
	strategy.Split(f.Strategy, rest, loads, shares)
	left := rest
	for i, n := range shares {
		n = max(min(n, left), 0)
		if n < MinChunk && n < left {
			n = 0
		}
		shares[i] = n
		left -= n
	}
	if left == rest && f.idle() {
		shares[0] = rest
	}
}

// load describes the rail to a strategy.
func (rl *Rail) load() strategy.Load {
	return strategy.Load{Cost: rl.Cost, Bytes: rl.Streams[Pull].queue.left}
}

// idle reports whether the rail has few bytes to bring, or none.
func (rl *Rail) idle() bool {
	load := rl.load()
	return load.Idle()
}

// idle reports whether all rails are idle.
func (f *Flow) idle() bool {
	for i := range f.Rails {
		if !f.Rails[i].idle() {
			return false
		}
	}
	return true
}

// handleRtr handles an RTR: it queues the chunk of the announced message that the peer asks for.
func (f *Flow) handleRtr(h *driver.Header) error {
	v := f.tx.announced.find(h.Cookie)
	if v == nil && f.bye.sent {
		return nil // this side leaves, and has given the send up before the RTR came
	}
	if v == nil {
		return violation("data is asked for under cookie %#x, which names nothing", h.Cookie)
	}
	if wrong := f.checkRtr(h, v); wrong != nil {
		return wrong // the send is still in the table, and fails with the others
	}
	if h.Size > 0 {
		f.queueChunk(&f.Rails[h.Flags&RailFlags].Streams[Push], v, int(h.Size))
	}
	if h.Flags&FlagMore != 0 {
		return nil
	}
	f.tx.announced.take(h.Cookie)
	v.req.Stage, v.want = Pushing, v.asked
	if v.moved == v.want {
		f.transferred(f.endRendezvous(v))
	}
	return nil
}

// checkRtr checks an RTR for rendezvous v.
func (f *Flow) checkRtr(h *driver.Header, v *rendezvous) error {
	left := uint64(v.req.Data.Size - v.asked)
	switch more := h.Flags&FlagMore != 0; {
	case int(h.Flags&RailFlags) >= len(f.Rails):
		return violation("data is asked for over rail %d, there are %d", h.Flags&RailFlags, len(f.Rails))
	case h.Tag != uint64(v.asked):
		return violation("data is asked for from byte %d on, of a message of which %d were asked for", h.Tag, v.asked)
	case h.Size > left:
		return violation("%d bytes are asked for, of a message that has %d more", h.Size, left)
	case more && (h.Size < MinChunk || h.Size == left):
		return violation("%d of %d bytes are asked for, and more later", h.Size, left)
	case h.Size == 0 && v.asked > 0:
		return violation("no bytes are asked for, after %d", v.asked)
	}
	return nil
}

// transferred ends a request of a rendezvous all of whose bytes have moved, so many of them.
func (f *Flow) transferred(r *Request, bytes int) {
	err := f.dataError(r)
	if r.Stage == Pushing {
		r.N, r.Size = r.Data.Size, uint64(r.Data.Size) // bytes that the receiver did not want count as sent
		f.Stats.BytesSent += uint64(bytes)
	} else {
		r.N = bytes
		f.Stats.BytesReceived += uint64(bytes)
		if err == nil && r.Size > uint64(bytes) {
			err = f.truncatedError(r, r.Size)
		}
	}
	f.Finish(r, err)
}
