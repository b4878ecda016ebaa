package flow

import (
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// The receiver of an announced message decides how its bytes travel: it knows how many it
// wants, and what is on the way to it over which rail. It asks for them in order, from
// the first to the last, chunk by chunk; each RTR says which bytes, and over which
// rail they are to come. With one rail, or a message for which one is enough, that is
// one RTR. Else the strategy shares out what was not asked for yet, and may keep some
// of it back until a rail has become idle:
//
//	answering --- all asked for ---------------------> pulling --- all here ---> done
//	    ^  `----- the rails have enough to do ---> deferred
//	    `---------- a rail is about to be idle ------'
//
// The sender obeys. To it an announced message keeps its cookie until the RTR without
// the flag that more will follow.

// unknown is the number of bytes that will be asked for, until the last RTR has come.
const unknown = -1

// LeastChunk is the least number of bytes that an RTR asks for which is not the last one
// of its message: it bounds what a peer can have us keep about chunks.
const LeastChunk = 4 << 10

// Flags of an RTR: the rail, and
const (
	FlagMore  = 0x80 // it is not the last RTR of this message
	RailFlags = 0x7f
)

// answer puts a receive whose message was announced into the queue of those that
// will ask for its data, or has it read at that address in the sender's memory, if it says one.
func (f *Flow) answer(r *Request, size uint64, cookie uint32, address uint64) {
	r.Size, r.Stage = size, Answering
	v := f.startRendezvous(r, int(min(size, uint64(r.Data.Size))))
	v.cookie = cookie
	if !f.fetches(v, address) {
		f.rx.answers.push(v)
	}
}

// ask makes the next RTR for the receive at the head of the answers. It
// asks for no more bytes than the buffer holds, so that nothing has to be thrown
// away. nil: the rails have enough to do, and the receive is Deferred.
func (f *Flow) ask(v *rendezvous) *Packet {
	if len(f.Rails) == 1 || v.want == 0 {
		return f.packRtr(0, v, v.want)
	}
	if r := v.req; r.UsesRare && r.Rare.Pin != 0 {
		return f.packRtr(int(r.Rare.Pin)-1, v, v.want)
	}
	if !f.rx.sharing {
		f.share(v.want - v.asked)
		f.rx.sharing = true
	}
	for i, n := range f.shares {
		if n != 0 {
			return f.packRtr(i, v, n)
		}
	}
	f.rx.answers.pop()
	f.rx.sharing = false
	v.req.Stage = Deferred
	f.rx.deferred.push(v)
	return nil
}

// asked goes on with a receive for which an RTR has left.
func (f *Flow) asked(p *Packet) {
	v, n := p.of, int(p.Head.Size)
	if n > 0 {
		f.queueChunk(&f.Rails[p.rail].Streams[Pull], v, n)
		f.shares[p.rail] = 0
	}
	if v.asked != v.want {
		return
	}
	f.rx.answers.pop()
	f.rx.sharing = false
	v.req.Stage = Pulling
	if v.want == 0 {
		r, _ := f.endRendezvous(v)
		f.handOver(r) // the sender waits for it, and nothing else will come of us
	}
}

// packRtr asks for the next n bytes of a message over a rail.
func (f *Flow) packRtr(rail int, v *rendezvous, n int) *Packet {
	p := f.pack(asking, driver.Header{Kind: KindRtr, Flags: uint8(rail), Tag: uint64(v.asked), Size: uint64(n), Cookie: v.cookie})
	p.of, p.rail = v, rail
	if v.asked+n < v.want {
		p.Head.Flags |= FlagMore
	}
	return p
}

// share has the strategy share rest bytes out, and sees to it that the shares can be
// asked for: none is too short, unless it is the last, and there are some unless a rail
// is at work, and has the strategy asked again when it is idle.
func (f *Flow) share(rest int) {
	loads, shares := f.loads, f.shares
	for i := range f.Rails {
		loads[i] = f.Rails[i].load()
	}
	strategy.Split(f.Strategy, rest, loads, shares)
	left := rest
	for i, n := range shares {
		n = max(min(n, left), 0)
		if n < LeastChunk && n < left {
			n = 0
		}
		shares[i] = n
		left -= n
	}
	if left == rest && f.idle() {
		shares[0] = rest
	}
}

// load is the rail as a strategy sees it.
func (rl *Rail) load() strategy.Load {
	return strategy.Load{Cost: rl.Cost, Bytes: rl.Streams[Pull].queue.left}
}

// idle says that the rail has few bytes to bring, or none.
func (rl *Rail) idle() bool {
	load := rl.load()
	return load.Idle()
}

// idle says that all rails are.
func (f *Flow) idle() bool {
	for i := range f.Rails {
		if !f.Rails[i].idle() {
			return false
		}
	}
	return true
}

// handleRtr starts to send data of an announced message.
func (f *Flow) handleRtr(h *driver.Header) error {
	v := f.tx.sends.find(h.Cookie)
	if v == nil && f.bye.sent {
		return nil // its send was given up a moment ago
	}
	if v == nil {
		return violation("data is asked for under cookie %#x, which names nothing", h.Cookie)
	}
	if wrong := f.checkRtr(h, v); wrong != nil {
		return wrong // it is in the table still, and fails with the others
	}
	if h.Size > 0 {
		f.queueChunk(&f.Rails[h.Flags&RailFlags].Streams[Push], v, int(h.Size))
	}
	if h.Flags&FlagMore != 0 {
		return nil
	}
	f.tx.sends.take(h.Cookie)
	v.req.Stage, v.want = Pushing, v.asked
	if v.moved == v.want {
		f.transferred(f.endRendezvous(v))
	}
	return nil
}

// checkRtr says what is wrong with an RTR for a message.
func (f *Flow) checkRtr(h *driver.Header, v *rendezvous) error {
	left := uint64(v.req.Data.Size - v.asked)
	switch more := h.Flags&FlagMore != 0; {
	case int(h.Flags&RailFlags) >= len(f.Rails):
		return violation("data is asked for over rail %d, there are %d", h.Flags&RailFlags, len(f.Rails))
	case h.Tag != uint64(v.asked):
		return violation("data is asked for from byte %d on, of a message of which %d were asked for", h.Tag, v.asked)
	case h.Size > left:
		return violation("%d bytes are asked for, of a message that has %d more", h.Size, left)
	case more && (h.Size < LeastChunk || h.Size == left):
		return violation("%d of %d bytes are asked for, and more later", h.Size, left)
	case h.Size == 0 && v.asked > 0:
		return violation("no bytes are asked for, after %d", v.asked)
	}
	return nil
}

// transferred ends a request whose bytes have all moved, so many of a rendezvous.
func (f *Flow) transferred(r *Request, bytes int) {
	err := f.shortage(r)
	if r.Stage == Pushing {
		r.N, r.Size = r.Data.Size, uint64(r.Data.Size) // what the receiver did not want counts as sent
		f.Stats.BytesSent += uint64(bytes)
	} else {
		r.N = bytes
		f.Stats.BytesReceived += uint64(bytes)
		if err == nil && r.Size > uint64(bytes) {
			err = f.truncated(r, r.Size)
		}
	}
	f.finish(r, err)
}
