//go:build ofi && cgo

package ofi

import (
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
)

// padding separates what different cores write, in bytes.
const padding = 128

// link is one side of a link. See doc.go. What it has is freed under the lock of the port, once state has closed: a caller that
// needs more than memory takes the lock, and looks at state.
type link struct {
	driver.Plain
	life.Life
	gone    atomic.Int64 // when the peer was seen to have ended, or to have closed the link: ns since start; 0: not
	port    *port
	maxBody int // bytes
	number  uint32
	token   uint64         // packets of the peer have it
	to      uint64         // the peer, as libfabric knows it
	other   prefix         // what packets to the peer have: link, token
	peer    netip.AddrPort // its endpoint, of a provider of sockets; not valid: it has no such address
	_       [padding]byte

	// The caller of Send.
	vainSend uint32
	lastSend uint64        // look, of Flush
	refused  atomic.Uint32 // 1: the last Send found no room
	_        [padding]byte

	// The caller of Recv.
	rx      inbox
	last    uint64 // look
	vain    uint32
	waits   time.Time // since when it has waited for Push
	waitsAt uint64    // to tell of so many bytes
	_       [padding]byte
	in      incoming
	_       [padding]byte
	out     outgoing
	_       [padding]byte
	nap     nap
	_       [padding]byte
	credit  atomic.Uint32 // of the inbox, that the peer was told of last; written under lock

	// Under the lock of the port.
	tail      uint64 // where the next packet lies in the peer's inbox
	heads     uint32 // credit of the peer
	seq       uint32 // of the next packet to the peer
	expects   uint32 // of the next one from it
	pending   int    // slots on their way
	met       bool
	freed     bool
	severed   bool // its address was taken back
	portsTold bool
	peerPorts []byte // from which the peer is connected to this endpoint
	parting   bool   // the bye is on its way, or gone
	bell      raw.Bell
	word      [1]byte   // to and from the control connection
	asked     time.Time // when ReturnPush was asked first

	bye  atomic.Uint32 // 1: the peer has said goodbye
	sock int           // control connection
}

var start = time.Now()

// Caps implements driver.Link.
func (l *link) Caps() driver.Caps {
	f := l.port.f
	return driver.Caps{
		MaxBody: l.maxBody, Short: min(f.inject-headSize, l.maxBody), How: "copied by the provider, " + f.provider,
		Syscalls: l.port.kernel, Borrows: true,
		Place: driver.Place{Node: -1, Why: "libfabric was not asked where its device lies"},
	}
}

// String says how the link is, for people.
func (l *link) String() string {
	p := l.port
	if !p.try() {
		return "ofi: the lock of the endpoint is held"
	}
	defer p.release()
	r := &p.registered
	return fmt.Sprintf("ofi over %s: state %d, gone %v, goodbye %v; inbox empty %v, asleep %d; a read %s, a window of the peer's %v, of ours %v; %d slots free, %d on their way from here, %d buffers not posted; registrations: %d kept of %d bytes, %d transfers found theirs, %d did not",
		p.f.provider, l.State.Load(), l.gone.Load() != 0, l.bye.Load() != 0, l.rx.empty(), l.nap.armed.Load(), stateNames[l.in.state.Load()], l.in.open.Load() != 0, l.out.open(),
		len(p.free), l.pending, len(p.unposted), len(r.kept), r.bytes, r.found, r.made)
}

// Send implements driver.Link: one call of libfabric, and another one where there was no room.
func (l *link) Send(h *driver.Header, body []byte, parts [][]byte, _ bool) (bool, error) {
	size := len(body)
	if parts != nil {
		size += driver.Length(parts)
	}
	if int(h.Body) != size || size > l.maxBody {
		return false, fmt.Errorf("ofi: send to rank %d: %w: %d bytes, header says %d, at most %d", l.Rank, driver.ErrBody, size, h.Body, l.maxBody)
	}
	if err := l.barred(); err != nil {
		return false, err
	}
	p := l.port
	if p.try() {
		ok, err := false, l.barred()
		if err != nil {
			p.release()
			return false, err
		}
		if ok, err = l.send(h, body, parts, size); !ok && err == nil {
			p.poll()
		}
		p.release()
		if ok || err != nil {
			if l.refused.Load() != 0 {
				l.refused.Store(0)
			}
			if err != nil {
				err = l.lose(err)
			}
			return ok, err
		}
	}
	l.refused.Store(1)
	if l.idle(&l.vainSend); l.gone.Load() != 0 {
		return false, l.lost()
	}
	return false, nil
}

// send sends a packet if there is credit for it. Under lock.
func (l *link) send(h *driver.Header, body []byte, parts [][]byte, size int) (bool, error) {
	head := l.tail - uint64(uint32(l.tail)-l.heads)
	_, next, ok := place(l.tail, head, driver.HeaderSize+size)
	p := l.port
	if n := len(p.free); !ok || n == 0 {
		return false, nil
	}
	if l.in.total.Load() != l.in.told.Load() { // a goodbye must not overtake it
		if l.pay(); l.in.total.Load() != l.in.told.Load() || len(p.free) == 0 {
			return false, nil
		}
	}
	b := p.f.slots[p.free[len(p.free)-1]]
	h.Put(b[prefixSize:headSize])
	n := headSize + copy(b[headSize:], body)
	if len(parts) > 0 {
		driver.Gather(b[n:], parts)
	}
	if ok, err := l.launch(kindPacket, headSize+size, false); !ok {
		return false, err
	}
	l.tail = next
	return true, nil
}

// launch sends what lies in the free slot that is next, but for the prefix. Under lock.
func (l *link) launch(kind uint8, size int, told bool) (bool, error) {
	if l.severed {
		return false, l.lost()
	}
	p := l.port
	slot := p.free[len(p.free)-1]
	x := l.other
	x.kind, x.seq, x.credit = kind, l.seq, uint32(l.rx.head.Load())
	x.put(p.f.slots[slot])
	r, err := p.f.send(slot, size, l.to, told)
	if r == busy {
		return false, err
	}
	if r == begun {
		p.free = p.free[:len(p.free)-1]
		p.owners[slot] = l
		l.pending++
	}
	l.seq++
	if l.credit.Load() != x.credit {
		l.credit.Store(x.credit)
	}
	return true, nil
}

// emit sends a packet of the driver's own. told: it counts as pending until it is gone. Under lock.
func (l *link) emit(kind uint8, payload []byte, told bool) (bool, error) {
	p := l.port
	if len(p.free) == 0 {
		return false, nil
	}
	copy(p.f.slots[p.free[len(p.free)-1]][prefixSize:], payload)
	return l.launch(kind, prefixSize+len(payload), told)
}

// pay tells the peer what it has to know: the window, what was read, the credit. Under lock.
func (l *link) pay() {
	if l.State.Load()&life.Closed != 0 {
		return
	}
	var err error
	ok := false
	if out := &l.out; out.owes.Load() != 0 {
		var b [windowSize]byte
		out.w.put(b[:])
		if ok, err = l.emit(kindWindow, b[:], false); ok {
			out.owes.Store(0)
		}
	}
	if total := l.in.total.Load(); err == nil && total != l.in.told.Load() {
		var b [8]byte
		putWord(b[:], total)
		if ok, err = l.emit(kindTaken, b[:], false); ok {
			l.in.told.Store(total)
		}
	}
	if err == nil && l.owesCredit() {
		_, err = l.emit(kindCredit, nil, false)
	}
	if err != nil {
		_ = l.lose(err)
	}
}

func (l *link) owesCredit() bool { return uint32(l.rx.head.Load())-l.credit.Load() >= owed }

// owes says whether there is something to pay.
func (l *link) owes() bool {
	return l.out.owes.Load() != 0 || l.in.total.Load() != l.in.told.Load() || l.owesCredit()
}

// Flush implements driver.Link: Send leaves nothing behind, but the provider may.
func (l *link) Flush() (bool, error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
		return false, l.Why(s)
	}
	l.port.look(&l.lastSend)
	if l.idle(&l.vainSend); l.over() {
		return false, l.lost()
	}
	return true, nil
}

// Recv implements driver.Link: no call of libfabric if something has come already, else one. body lies in memory of the link.
func (l *link) Recv(h *driver.Header) (body []byte, ok bool, err error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
		return nil, false, l.Why(s)
	}
	if !l.rx.empty() && l.waitsForPush() {
		return nil, false, nil
	}
	packet, ok := l.rx.next()
	if !ok {
		gone := l.gone.Load() != 0 // before the last look
		l.port.look(&l.last)
		if packet, ok = l.rx.next(); !ok {
			l.idle(&l.vain)
			if gone {
				err = l.ended()
			}
			if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
				err = l.Why(s)
			}
		}
	}
	if l.owesCredit() && l.port.try() {
		l.pay()
		l.port.release()
	}
	if !ok {
		return nil, false, err
	}
	l.stir()
	if err := h.Get(packet); err != nil {
		l.port.take()
		defer l.port.release()
		return nil, false, l.violated(err)
	}
	return packet[driver.HeaderSize:], true, nil
}

// waitsForPush has packets wait for Push to tell what the peer had taken before it sent them: a goodbye above all, behind which sends that are not through
// have failed. Not for longer than grace, since the caller of Push may have gone.
func (l *link) waitsForPush() bool {
	taken := l.out.taken.Load()
	if taken == l.out.total.Load() {
		return false
	}
	if taken != l.waitsAt {
		l.waitsAt, l.waits = taken, time.Now()
		return true
	}
	return l.State.Load() == 0 && time.Since(l.waits) < grace
}

// heard takes a packet of the peer in. Under lock.
func (l *link) heard(x *prefix, rest []byte) {
	var err error
	switch {
	case x.seq != l.expects:
		err = fmt.Errorf("%w: packet %d where %d should come", driver.ErrProtocol, x.seq, l.expects)
	case uint32(l.tail)-x.credit > uint32(l.tail)-l.heads:
		err = fmt.Errorf("%w: credit for bytes that were not sent", driver.ErrProtocol)
	default:
		l.expects, l.heads = l.expects+1, x.credit
		err = l.act(x.kind, rest)
	}
	if err != nil {
		_ = l.violated(err)
	}
}

func (l *link) act(kind uint8, rest []byte) error {
	switch kind {
	case kindPacket:
		body := len(rest) - driver.HeaderSize
		if body < 0 || body > l.maxBody || word(rest)>>32 != uint64(body) {
			return fmt.Errorf("%w: a packet of %d bytes, with a body of at most %d", driver.ErrProtocol, len(rest), l.maxBody)
		}
		if !l.rx.put(rest) {
			return fmt.Errorf("%w: more packets than it has credit for", driver.ErrProtocol)
		}
	case kindWindow:
		if l.in.open.Load() != 0 {
			return fmt.Errorf("%w: a second window", driver.ErrProtocol)
		}
		if err := l.in.w.get(rest); err != nil {
			return err
		}
		l.in.open.Store(1)
	case kindTaken:
		if len(rest) != 8 {
			return fmt.Errorf("%w: a number of %d bytes, should have 8", driver.ErrProtocol, len(rest))
		}
		return l.out.took(word(rest))
	case kindHello:
		l.met = true
	case kindPorts:
		l.peerPorts = slices.Clone(rest)
	case kindBye:
		l.bye.Store(1)
		l.depart()
	}
	return nil
}

// Close implements driver.Link: the peer is told, behind all that was sent.
func (l *link) Close() error {
	if l.End() {
		l.finish()
	}
	return nil
}

// barred says why nothing can be sent; nil: it can.
func (l *link) barred() error {
	if s := l.State.Load(); s != 0 {
		return l.Why(s)
	}
	if l.gone.Load() != 0 {
		return l.lost()
	}
	return nil
}

// shut closes the descriptors of the link.
func (l *link) shut() {
	for _, fd := range []int{l.sock, l.nap.set, l.nap.timer} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
