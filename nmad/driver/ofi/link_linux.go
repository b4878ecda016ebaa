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

// link is one side of a link (doc.go). Send with Flush, Recv, Push, Pull, and Arm with Disarm have one caller each at a
// time, in parallel with the others. What a link has is freed under the lock of the port after State has Closed: a
// caller that needs more than memory takes that lock, and looks at State again.
type link struct {
	driver.BasicLink
	life.Life
	// When this side found that the peer has ended, or has closed the link, in ns after start; 0: the peer has not. It
	// is set after State has Lost.
	peerGoneAt atomic.Int64
	port       *port
	maxBody    int            // bytes
	number     uint32         // by which the peer's packets name the link
	token      uint64         // which the peer's packets carry
	to         uint64         // the peer, as libfabric knows it
	other      prefix         // of packets to the peer: its number of the link, its token
	peer       netip.AddrPort // the peer's endpoint, of a provider of sockets; not valid: it has no such address
	sock       int            // control connection
	_          [padding]byte

	// The caller of Send, and of Flush.
	idleSends uint32        // calls that moved nothing
	sendPolls uint64        // polls of the port at the last look
	refused   atomic.Uint32 // 1: the last Send found no room
	_         [padding]byte

	// The caller of Recv.
	rx        inbox
	recvPolls uint64    // polls of the port at the last look
	idleRecvs uint32    // calls that brought nothing
	heldSince time.Time // since when packets are held back for Push,
	heldAt    uint64    // which is to tell of so many bytes
	_         [padding]byte
	in        incoming
	_         [padding]byte
	out       outgoing
	_         [padding]byte
	nap       nap
	_         [padding]byte

	// Under the lock of the port.
	credit      atomic.Uint32 // head of the inbox that the peer was told of last; read without the lock
	bye         atomic.Uint32 // 1: the peer has said goodbye; read without the lock
	peerTail    uint64        // where the next packet lies in the peer's inbox
	peerHead    uint32        // the peer's credit: head of its inbox, as it has told last
	seq         uint32        // of the next packet to the peer
	nextSeq     uint32        // of the next packet from the peer
	pending     int           // slots on their way
	greeted     bool          // the peer's HELLO has come
	parting     bool          // the goodbye is on its way, or gone
	freed       bool
	severed     bool   // the peer's address was taken back
	portsSent   bool   // PORTS was sent
	peerPorts   []byte // ports from which the peer is connected to this endpoint, two bytes each
	bell        raw.Bell
	signal      [1]byte   // to and from the control connection
	returnSince time.Time // when ReturnPush was called first
	transfers   int       // of the link that have not ended
	exposed     map[*exposure]struct{}
}

var start = time.Now()

// Caps implements driver.Link.
func (l *link) Caps() driver.Caps {
	f, remote := l.port.f, 0
	switch {
	case l.remote() && l.port.kernel:
		remote = remoteFrom
	case l.remote():
		remote = 1
	}
	return driver.Caps{
		MaxBody: l.maxBody, Short: min(f.inject-headSize, l.maxBody), ShortHow: "copied by the provider, " + f.provider,
		Syscalls: l.port.kernel, Borrows: true, Remote: remote,
		Locality: driver.Locality{Node: -1, Why: "libfabric was not asked where its device lies"},
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
		p.f.provider, l.State.Load(), l.peerGoneAt.Load() != 0, l.bye.Load() != 0, l.rx.empty(), l.nap.armed.Load(), stateNames[l.in.state.Load()], l.in.open.Load() != 0, l.out.open(),
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
	ok, err := l.send(h, body, parts, size)
	if !ok && err == nil {
		l.refused.Store(1)
		l.countIdle(&l.idleSends)
		return false, l.barred()
	}
	if l.refused.Load() != 0 {
		l.refused.Store(0)
	}
	return ok, err
}

// send sends a packet, if the lock is free, and there is a slot and credit for the packet; else it polls.
func (l *link) send(h *driver.Header, body []byte, parts [][]byte, size int) (ok bool, err error) {
	p := l.port
	if !p.try() {
		return false, nil
	}
	defer p.release()
	if err = l.barred(); err != nil {
		return false, err
	}
	if ok, err = l.fill(h, body, parts, size); err != nil {
		return false, l.lose(err)
	}
	if !ok {
		p.poll()
	}
	return ok, nil
}

// fill fills a slot with a packet and sends it, if there is a slot, and credit. Under lock.
func (l *link) fill(h *driver.Header, body []byte, parts [][]byte, size int) (bool, error) {
	head := l.peerTail - uint64(uint32(l.peerTail)-l.peerHead)
	_, next, ok := place(l.peerTail, head, driver.HeaderSize+size)
	p := l.port
	if n := len(p.free); !ok || n == 0 {
		return false, nil
	}
	if l.in.total.Load() != l.in.reported.Load() { // a goodbye must not overtake it
		if l.pay(); l.in.total.Load() != l.in.reported.Load() || len(p.free) == 0 {
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
	l.peerTail = next
	return true, nil
}

// launch writes the prefix into the next free slot, whose other bytes the caller has written, and sends the
// slot. tracked: the packet counts as pending until the provider has sent it. Under lock.
func (l *link) launch(kind uint8, size int, tracked bool) (bool, error) {
	if l.severed {
		return false, l.lost()
	}
	p := l.port
	slot := p.free[len(p.free)-1]
	x := l.other
	x.kind, x.seq, x.credit = kind, l.seq, uint32(l.rx.head.Load())
	x.put(p.f.slots[slot])
	r, err := p.f.send(slot, size, l.to, tracked)
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

// emit sends a packet of the driver's own. tracked is that of launch. Under lock.
func (l *link) emit(kind uint8, payload []byte, tracked bool) (bool, error) {
	p := l.port
	if len(p.free) == 0 {
		return false, nil
	}
	copy(p.f.slots[p.free[len(p.free)-1]][prefixSize:], payload)
	return l.launch(kind, prefixSize+len(payload), tracked)
}

// pay tells the peer what this side owes it: the window, how much was read, the credit. Under lock.
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
	if total := l.in.total.Load(); err == nil && total != l.in.reported.Load() {
		var b [8]byte
		putWord(b[:], total)
		if ok, err = l.emit(kindTaken, b[:], false); ok {
			l.in.reported.Store(total)
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

// owes reports whether pay finds something to tell.
func (l *link) owes() bool {
	return l.out.owes.Load() != 0 || l.in.total.Load() != l.in.reported.Load() || l.owesCredit()
}

// Flush implements driver.Link: Send leaves nothing behind, but the provider may.
func (l *link) Flush() (bool, error) {
	if err := l.closed(); err != nil {
		return false, err
	}
	l.port.look(&l.sendPolls)
	if l.countIdle(&l.idleSends); l.over() {
		return false, l.lost()
	}
	return true, nil
}

// Recv implements driver.Link: no call of libfabric if a packet lies in the inbox, else one. body lies in the
// inbox.
func (l *link) Recv(h *driver.Header) (body []byte, ok bool, err error) {
	if err := l.closed(); err != nil {
		return nil, false, err
	}
	if !l.rx.empty() && l.heldForPush() {
		return nil, false, nil
	}
	packet, ok := l.rx.next()
	if !ok {
		peerGone := l.peerGoneAt.Load() != 0 // before the last look
		l.port.look(&l.recvPolls)
		if packet, ok = l.rx.next(); !ok {
			l.countIdle(&l.idleRecvs)
			if peerGone {
				err = l.ended()
			}
			if why := l.closed(); why != nil {
				err = why
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

// heldForPush holds packets back until Push has told what the peer had read before it sent them: above all a
// goodbye, behind which the sends that are not through have failed. It does so for grace at most, since the
// caller of Push may have gone.
func (l *link) heldForPush() bool {
	taken := l.out.taken.Load()
	if taken == l.out.total.Load() {
		return false
	}
	if taken != l.heldAt {
		l.heldAt, l.heldSince = taken, time.Now()
		return true
	}
	return l.State.Load() == 0 && time.Since(l.heldSince) < grace
}

// heard takes a packet of the peer in. Under lock.
func (l *link) heard(x *prefix, rest []byte) {
	var err error
	switch {
	case x.seq != l.nextSeq:
		err = fmt.Errorf("%w: packet %d where %d should come", driver.ErrProtocol, x.seq, l.nextSeq)
	case uint32(l.peerTail)-x.credit > uint32(l.peerTail)-l.peerHead:
		err = fmt.Errorf("%w: credit for bytes that were not sent", driver.ErrProtocol)
	default:
		l.nextSeq, l.peerHead = l.nextSeq+1, x.credit
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
		l.greeted = true
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
