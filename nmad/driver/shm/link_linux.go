package shm

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// lookAtOnce, in State: look at the socket at the next poll that finds nothing. It is taken back.
const lookAtOnce = life.Own

// peerCheckEvery is how often polls that find nothing look whether the peer is still there, and peerCheckMask how often
// they look at the clock for it: a look at the socket costs a system call, at the clock 10 ns.
const (
	peerCheckEvery = 5 * time.Millisecond
	peerCheckMask  = 64 - 1
)

// link is one side of a link. README.md has the protocol.
type link struct {
	// Read by all directions, written rarely.
	life.Life
	ownFlags  *flags         // this side sets them
	peerFlags *flags         // the peer sets them
	sock      int            // connection to the peer; hung up: the peer is gone
	bell      int            // eventfd that the peer rings
	peerBell  int            // eventfd that wakes the peer
	epoll     int            // epoll set of sock and bell: the Descriptor
	interval  int64          // at which a link looks for its peer; cycles
	mem       *mapped.Memory // the segment; nil: it is not mapped, in tests that show it to the race detector
	peerPID   int            // process number; 0: not known
	nonce     *nonce         // of this process; the peer may still want to read it
	evidence  evidence       // of the peer's nonce
	sharing   sync.Mutex     // held by the fetcher of an offer, and by callers that end the offer
	_         [padding]byte

	lastPeerCheck atomic.Int64 // when the link has looked for its peer; cycles
	_             [padding - 8]byte

	// One part for each direction; its caller owns it.
	smallTx  smallSend
	sendDir  direction
	_        [padding]byte
	smallRx  smallRecv
	recvDir  direction
	_        [padding]byte
	largeTx  largeSend
	pushDir  direction
	writer   process.Memory // the peer, if its memory can be written
	_        [padding]byte
	largeRx  largeRecv
	pullDir  direction
	reader   process.Memory // the peer, if its memory can be read
	_        [padding]byte
	armDir   direction // of Arm and Disarm
	_        [padding]byte
	locality driver.Locality

	fetches, exposes bool // see driver.Caps
}

// direction is what the rare system calls of a direction need.
type direction struct {
	bell       raw.Bell
	emptyPolls uint32 // polls that found nothing
	rings      uint32 // how often it rang for the other side
}

// Caps implements driver.Link.
func (l *link) Caps() driver.Caps {
	return driver.Caps{
		MaxBody: int(l.smallTx.maxBody), MaxBodyWhy: boundOf(l.smallTx.maxBody), Short: inline, ShortHow: "in the cell of its header, one cache line",
		Process: l.peerPID, Borrows: true, Fetches: l.fetches, Exposes: l.exposes, Locality: l.locality,
	}
}

// Send implements driver.Link. It never buffers: true means that the peer can see it.
func (l *link) Send(h *driver.Header, body []byte, parts [][]byte, _ bool) (bool, error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken|life.Lost) != 0 {
		return false, l.Why(s)
	}
	ok, err := l.smallTx.send(h, body, parts)
	if !ok || l.peerFlags.sleeping.Load() != 0 {
		ok, err = l.afterSend(ok, err)
	}
	runtime.KeepAlive(l) // and with it the mapping
	return ok, err
}

// afterSend does what remains after a packet was refused, or when its receiver sleeps.
func (l *link) afterSend(ok bool, err error) (bool, error) {
	if ok {
		l.wake(life.Send, &l.sendDir, &l.peerFlags.sleeping)
	} else if err != nil {
		return false, l.breakLink(err)
	} else if l.idleCheck(life.Send, &l.sendDir) {
		return false, l.Why(life.Lost)
	}
	return ok, nil
}

// Flush implements driver.Link: there is never anything left.
func (l *link) Flush() (bool, error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken|life.Lost) != 0 {
		return true, l.Why(s)
	}
	return true, nil
}

// Recv implements driver.Link. body lies in the segment.
func (l *link) Recv(h *driver.Header) (body []byte, ok bool, err error) {
	s := l.State.Load()
	if s&(life.Closed|life.Broken) != 0 {
		return nil, false, l.Why(s)
	}
	if l.smallRx.owing {
		l.smallRx.release()
		if l.peerFlags.wantRoom.Load() != 0 {
			l.wake(life.Recv, &l.recvDir, &l.peerFlags.wantRoom)
		}
	}
	if body, ok, err = l.smallRx.recv(h); err != nil {
		return nil, false, l.breakLink(err)
	}
	if !ok {
		// The state was read before the ring was: a peer that was lost by then had written its last.
		if s&life.Lost != 0 {
			return nil, false, l.Why(life.Lost)
		}
		if l.idleCheck(life.Recv, &l.recvDir) {
			return l.Recv(h) // once more, as state now says lost
		}
	}
	runtime.KeepAlive(l)
	return body, ok, nil
}

// Push implements driver.Link. One call fills at most one ring, or helps with some pieces of an offer.
func (l *link) Push(buf []byte) (sent int, err error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken|life.Lost) != 0 {
		return 0, l.Why(s)
	}
	t := &l.largeTx
	if t.current.buf != nil || t.offers(len(buf)) {
		sent, err = l.pushOffer(buf)
	} else {
		sent, err = l.pushSlots(buf)
	}
	if err != nil {
		return sent, l.breakLink(err)
	}
	if sent == 0 && len(buf) != 0 && l.idleCheck(life.Push, &l.pushDir) {
		return 0, l.Why(life.Lost)
	}
	if sent > 0 {
		t.slotsLeft = len(buf) - sent
	}
	runtime.KeepAlive(l)
	return sent, nil
}

func (l *link) pushSlots(buf []byte) (sent int, err error) {
	for range len(l.largeTx.words) {
		if sent == len(buf) {
			break
		}
		n, err := l.largeTx.push(buf[sent:])
		if n == 0 {
			return sent, err
		}
		sent += n
		if l.peerFlags.sleeping.Load() != 0 {
			l.wake(life.Push, &l.pushDir, &l.peerFlags.sleeping)
		}
	}
	return sent, nil
}

// Pull implements driver.Link. One call empties at most one ring, or fetches some pieces of an offer.
func (l *link) Pull(buf []byte) (got int, err error) {
	s := l.State.Load()
	if s&(life.Closed|life.Broken) != 0 {
		return 0, l.Why(s)
	}
	r := &l.largeRx
	r.copies.startMessage(len(buf))
	for range len(r.words) {
		if got == len(buf) {
			break
		}
		n, released, offer, err := r.pull(buf[got:])
		if offer {
			n, err = l.pullOffer(buf[got:])
		}
		if err != nil {
			return got, l.breakLink(err)
		}
		if n == 0 {
			break
		}
		got += n
		if released && l.peerFlags.wantRoom.Load() != 0 {
			l.wake(life.Pull, &l.pullDir, &l.peerFlags.wantRoom)
		}
		if offer {
			break
		}
	}
	if r.copies.arrived(got) {
		r.slotCredit.offers.Store(r.copies.offers)
	}
	if got == 0 && len(buf) != 0 {
		if s&life.Lost != 0 {
			return 0, l.Why(life.Lost)
		}
		if l.idleCheck(life.Pull, &l.pullDir) {
			return l.Pull(buf)
		}
	}
	runtime.KeepAlive(l)
	return got, nil
}

// Descriptor implements driver.Link.
func (l *link) Descriptor() int { return l.epoll }

// Arm implements driver.Link. One caller of Arm and Disarm at a time, beside whatever the directions do.
func (l *link) Arm(wantRoom bool) bool {
	if l.State.Load()&(life.Closed|life.Broken|life.Lost) != 0 {
		return false // the next poll says why
	}
	// First the flags, then a look: the peer does it the other way round.
	l.ownFlags.sleeping.Swap(1)
	if wantRoom {
		l.ownFlags.wantRoom.Swap(1)
	}
	something := l.smallRx.ready() || l.largeRx.ready()
	if wantRoom && !something {
		// If both tracks wait, the first one with room is enough. None waiting means that what waited has gone
		// meanwhile.
		small, large := relaxed.Load(&l.smallTx.refused) != 0, relaxed.Load(&l.largeTx.refused) != 0
		something = !small && !large || small && !l.smallTx.waiting() || large && !l.largeTx.waiting()
	}
	if something {
		l.disarm()
	}
	runtime.KeepAlive(l)
	return !something
}

// Disarm implements driver.Link.
func (l *link) Disarm() {
	l.disarm()
	// What ended the sleep may have been the socket.
	l.State.Or(lookAtOnce)
	runtime.KeepAlive(l)
}

// disarm takes back the flags and empties the doorbell. A sender that took a flag before may still ring later;
// that ends one sleep for nothing, after which the doorbell is emptied again.
func (l *link) disarm() {
	l.ownFlags.wantRoom.Swap(0)
	l.ownFlags.sleeping.Swap(0)
	if l.Enter(life.Arm) {
		l.armDir.bell.Quiet(l.bell)
		l.Leave(life.Arm)
	}
}

// wake rings for the peer, unless another direction has taken the flag before.
func (l *link) wake(as life.Caller, h *direction, flag *atomic.Uint32) {
	if flag.Swap(0) == 0 {
		return
	}
	if l.Enter(as) {
		_ = h.bell.Ring(l.peerBell) // fails only if it is no eventfd: the peer gave it to us
		h.rings++
		l.Leave(as)
	}
}

// idleCheck is called when there is nothing to do, and says, at little cost, whether the peer is gone for good.
func (l *link) idleCheck(as life.Caller, h *direction) bool {
	h.emptyPolls++
	s := l.State.Load()
	if s&(life.Lost|life.Closed) != 0 {
		return s&life.Lost != 0
	}
	if s&lookAtOnce == 0 {
		if h.emptyPolls&peerCheckMask != 0 {
			return false
		}
		if now := asm.Cycles(); now-l.lastPeerCheck.Load() < l.interval {
			return false
		}
	}
	return l.checkPeer(as, h)
}

// checkPeer looks at the socket, and reports whether the peer is gone.
func (l *link) checkPeer(as life.Caller, h *direction) bool {
	l.State.And(^lookAtOnce)
	l.lastPeerCheck.Store(asm.Cycles())
	if !l.Enter(as) {
		return false
	}
	gone := h.bell.HungUp(l.sock)
	l.Leave(as)
	if gone {
		_ = l.Lose(nil)
	}
	return gone
}

// breakLink breaks the link if err is a violation of the protocol, and returns the error of all later calls.
// Another error is a mistake of the caller, and breaks nothing.
func (l *link) breakLink(err error) error {
	if errors.Is(err, driver.ErrProtocol) {
		return l.Break(err)
	}
	return fmt.Errorf("shm: send to rank %d: %w", l.Rank, err)
}

// Close implements driver.Link. Calls under way in other threads end well: they go on in memory that has become private
// and empty.
func (l *link) Close() error {
	if !l.End() {
		return nil
	}
	l.endOffers()
	err := l.mem.Vacate()
	if l.Drain(); err != nil {
		return fmt.Errorf("shm: cannot give the segment back: %w", err)
	}
	return nil
}

// free closes the descriptors; package life calls it once no call is inside.
func (l *link) free() { raw.Close(l.epoll, l.sock, l.bell, l.peerBell) }
