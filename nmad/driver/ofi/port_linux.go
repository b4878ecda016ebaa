//go:build ofi && cgo

package ofi

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
)

// port is an endpoint of libfabric, which all links of a driver.Endpoint share. The thread that has the lock
// polls for all links: it puts what has come for a link into the link's inbox, or notes it in the link.
type port struct {
	f       *fabric
	kernel  bool          // its calls are system calls
	kin     bool          // it has links within this process, over shm
	lock    atomic.Uint32 // 1: a thread has it
	polls   atomic.Uint64 // how many there were; written under lock
	asleep  atomic.Int32  // links that are armed
	rooms   atomic.Int32  // links among them that wait for a slot, or for the provider
	lingers atomic.Int32  // links that this side has closed and whose goodbye is not out
	_       [128]byte

	// Under lock.
	links      []*link           // by number; nil: free
	numbers    []uint32          // that are free
	free       []uint32          // slots
	owners     []*link           // by slot: whose packet is on its way; nil: none, or the link was freed
	peers      map[string]uint64 // by the address of the endpoint; nowhere: the provider has refused it
	unposted   []uint32          // receive buffers that the provider did not take
	holders    int               // the endpoint, and links
	transfers  []*transfer       // by number
	idle       []*transfer       // those among them that are not in use
	waiting    []*transfer       // those that have bytes which the provider was not given yet
	moving     int               // those that the provider works on
	registered registrations
	failed     error // of all links
}

// maxLinks is how many links an endpoint can have.
const maxLinks = 1 << 20

// firstTransfer is the number of the first transfer's operation; those of the others follow. Lower numbers are those of
// slots, then of buffers.
const firstTransfer = slots + buffers

// ports are those that are open: what they have pinned must not become garbage.
var ports sync.Map

func newPort(f *fabric) *port {
	p := &port{f: f, peers: map[string]uint64{}, holders: 1}
	p.registered.kept = map[span]*registration{}
	p.owners = make([]*link, slots)
	p.links = append(p.links, nil) // 0 is no link
	for slot := range uint32(slots) {
		p.free = append(p.free, slot)
	}
	ports.Store(p, nil)
	p.unposted = make([]uint32, 0, buffers)
	return p
}

// tries is how often a caller that must not wait tries to get the lock: for about as long as a poll takes.
const tries = 64

// try takes the lock, if it is free soon.
func (p *port) try() bool {
	for range tries {
		if p.lock.Load() == 0 && p.lock.CompareAndSwap(0, 1) {
			return true
		}
		asm.Pause()
	}
	return false
}

// take takes the lock; it waits.
func (p *port) take() {
	for n := 0; !p.try(); n++ {
		if runtime.Gosched(); n > 16 {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

func (p *port) release() { asm.StoreRelease32(&p.lock, 0) }

// look polls, unless another caller has polled since this caller's last look, or polls now. last is where the
// caller keeps the number of polls.
func (p *port) look(last *uint64) {
	if now := p.polls.Load(); now != *last {
		*last = now
		return
	}
	if p.lock.Load() == 0 && p.lock.CompareAndSwap(0, 1) {
		p.poll()
		p.release()
		*last = p.polls.Load()
	}
}

// poll handles what has happened, and reports whether anything has. Under lock.
func (p *port) poll() bool {
	asm.StoreRelease64(&p.polls, p.polls.Load()+1)
	if p.failed != nil {
		return false
	}
	events, failure, err := p.f.poll()
	if err != nil {
		p.fail(err)
		return true
	}
	for i := range events {
		p.handle(&events[i], failure)
	}
	if len(p.unposted) > 0 {
		p.repost()
	}
	if len(p.waiting) > 0 {
		p.resume()
	}
	return len(events) > 0
}

// fail ends all links.
func (p *port) fail(err error) {
	p.failed = fmt.Errorf("%w: %w", driver.ErrPeerLost, err)
	for l := range p.all {
		_ = l.lose(p.failed)
	}
	for _, t := range p.transfers {
		if t.link != nil { // their buffers stay pinned: the provider may still have them
			done := t.done
			t.done = func(error) {}
			done(p.failed)
		}
	}
}

func (p *port) handle(v *event, err error) {
	id, ok := operationOf(v)
	switch {
	case !ok:
	case id < slots:
		p.freeSlot(uint32(id), err)
	case id < firstTransfer && err == nil:
		packet, spent := packetOf(v)
		if packet != nil {
			p.arrived(packet)
		}
		if spent {
			p.unposted = append(p.unposted, uint32(id-slots))
		}
	case id >= firstTransfer:
		p.landed(p.transfers[id-firstTransfer], err)
	}
}

// freeSlot frees a slot whose packet is on its way, or could not be sent.
func (p *port) freeSlot(slot uint32, err error) {
	l := p.owners[slot]
	p.owners[slot] = nil
	p.free = append(p.free, slot)
	if l != nil {
		l.pending--
		if err != nil {
			l.lose(fmt.Errorf("%w: %w", driver.ErrPeerLost, err))
		}
	}
	if p.rooms.Load() > 0 {
		for l := range p.all {
			l.ring()
		}
	}
}

// all calls f for each link, until it says false.
func (p *port) all(f func(*link) bool) {
	for _, l := range p.links {
		if l != nil && !f(l) {
			return
		}
	}
}

func (p *port) repost() {
	for len(p.unposted) > 0 {
		last := len(p.unposted) - 1
		ok, err := p.f.post(p.unposted[last])
		if !ok {
			return
		}
		p.unposted = p.unposted[:last]
		if err != nil {
			p.fail(err)
			return
		}
	}
}

// arrived hands a packet to its link. One of no link is dropped: a link that was closed, or a stranger.
func (p *port) arrived(packet []byte) {
	var x prefix
	if !x.get(packet) || int64(x.link) >= int64(len(p.links)) {
		return
	}
	if l := p.links[x.link]; l != nil && !l.freed && l.token == x.token {
		l.heard(&x, packet[prefixSize:])
		l.ring()
	}
}

// add gives a link its number and token; it then counts as a holder.
func (p *port) add(l *link) error {
	p.take()
	defer p.release()
	if p.failed != nil {
		return p.failed
	}
	switch n := len(p.numbers); {
	case n > 0:
		l.number, p.numbers = p.numbers[n-1], p.numbers[:n-1]
	case len(p.links) == maxLinks:
		return fmt.Errorf("%w: this endpoint has %d links already", driver.ErrLack, maxLinks-1)
	default:
		l.number = uint32(len(p.links))
		p.links = append(p.links, nil)
	}
	l.token = random()
	l.in.land = l.land
	p.links[l.number] = l
	p.holders++
	return nil
}

func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// nowhere stands for a peer whose address the provider does not know, or has refused.
const nowhere = ^uint64(0)

// reach makes a peer's address known to the provider.
func (p *port) reach(l *link, name []byte) (err error) {
	p.take()
	defer p.release()
	to, ok := p.peers[string(name)]
	if !ok {
		if to, err = p.f.insert(name); err != nil {
			to = nowhere
		}
		p.peers[string(name)] = to
	}
	if to == nowhere && err == nil { // shm of 1.17 takes an address the second time, and crashes
		err = fmt.Errorf("%w: the provider has refused this address before", driver.ErrLack)
	}
	l.to = to
	return err
}

// forget takes a peer's address back, so that the provider gives up what is under way from the peer and to it.
// All links of that peer are lost. Under lock.
func (p *port) forget(l *link) {
	for o := range p.all {
		if o.to == l.to {
			o.severed = true
			_ = o.lose(errors.New("it was given up"))
		}
	}
	l.sever()
	p.settle(l.to)
	if p.kernel && p.reaches(l.to, true) {
		return // the provider would crash
	}
	for name, a := range p.peers {
		if a == l.to {
			delete(p.peers, name)
			p.f.remove(a)
		}
	}
	p.settle(l.to)
}

// settle polls until the provider has ended what is under way with a peer, or for a while. Under lock.
func (p *port) settle(peer uint64) {
	for n := 0; n < maxPolls && p.reaches(peer, false); n++ {
		p.poll()
	}
}

// maxPolls is how often the port is polled, without a pause, until the provider is through with what was given up.
const maxPolls = 1000

// drop takes a link that was freed, and has no transfer under way, out of the port. Under lock.
func (p *port) drop(l *link) {
	p.links[l.number] = nil
	p.numbers = append(p.numbers, l.number)
	p.leave()
}

// leave gives up the share of a holder: a link, or the endpoint. The last one closes the endpoint of libfabric.
// Under lock.
func (p *port) leave() {
	if p.holders--; p.holders > 0 {
		return
	}
	for p.registered.dropOldest() {
	}
	for _, t := range p.transfers {
		freeOperation(t.op)
	}
	p.close()
	ports.Delete(p)
	p.failed = driver.ErrClosed
}
