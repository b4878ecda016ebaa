//go:build ofi && cgo

package ofi

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
)

// flight is the large track of a link in one direction. One transfer at a time is under way:
//
//	idle --- Pull opens a window, Push fills one ---> moving --- the provider says so ---> landed
//	 ^                                                                                       |
//	 '-------------------- the caller of Push, or Pull, takes the bytes ---------------------'
//
// While it is moving the buffer is pinned, and the provider's.
type flight struct {
	link *link
	port *port
	id   uint64
	op   *operation
	pin  runtime.Pinner
	reg  *registration // of what is pinned; nil: there is none any more
	own  registration

	state  atomic.Uint32
	size   int   // landed: bytes moved; moving, outgoing: bytes on their way
	err    error // landed: what went wrong
	unread bool  // outgoing: its peer was given up before it had fetched the bytes
	given  int   // landed: of the bytes, that the caller was told of

	// Incoming, by remote write: both have to come. Under the lock of the port.
	said    int // bytes that the peer says that it writes; 0: it has not yet
	arrived bool
}

const (
	idle uint32 = iota
	moving
	landed
)

var stateNames = []string{"idle", "moving", "landed"}

func (p *port) newFlight() *flight {
	p.flown++
	f := &flight{port: p, id: p.flown, op: newOperation(p.flown)}
	p.flights[f.id] = f
	return f
}

// begin pins what is going to move, and has the provider know it.
func (f *flight) begin(buf []byte, in bool) (err error) {
	f.pin.Pin(&buf[0])
	f.size, f.err, f.given, f.said, f.arrived = 0, nil, 0, 0, false
	f.reg, err = f.port.register(&f.own, buf, in)
	return err
}

// unregister ends what begin has told the provider.
func (f *flight) unregister(revoke bool) {
	f.port.unregister(f.reg, revoke)
	f.reg = nil
}

// landed notes that the transfer is over. Under the lock of the port.
func (f *flight) landed(size int, err error) {
	l := f.link
	if err != nil {
		f.err, f.size = fmt.Errorf("%w: %w", driver.ErrPeerLost, err), 0
	} else if f == l.in.flight {
		if f.size = size; !f.port.f.writes && l.givenUp() {
			f.err, f.size = fmt.Errorf("%w: it has given this process up", driver.ErrPeerLost), 0
		}
	}
	f.state.Store(landed)
	l.ring()
}

// take gives bytes that have landed, at most most, and ends the transfer with the last one.
func (f *flight) take(most int) (n int, err error) {
	n, err = min(f.size-f.given, most), f.err
	if f.given += n; f.given == f.size {
		f.end()
	}
	return n, err
}

// end has the provider forget the buffer. Not while it is moving.
func (f *flight) end() {
	f.unregister(false)
	f.pin.Unpin()
	f.state.Store(idle)
}

// drop frees what the provider does not use any more.
func (f *flight) drop() {
	f.unregister(false)
	f.pin.Unpin()
	freeOperation(f.op)
}

// giveUp leaves what is moving, and its buffer, to the provider, until that is done with it.
// Under the lock of the port.
func (p *port) giveUp(f *flight) {
	f.link = nil
	if f.state.Load() != moving {
		delete(p.flights, f.id)
		f.drop()
		return
	}
	if p.f.writes && f.reg != nil && f.reg.in {
		f.unregister(true) // by a remote write the peer cannot reach the buffer from here on
	}
	p.f.cancel(f.op)
}

// incoming is the large track as its receiver has it.
type incoming struct {
	*flight
	link  *link
	last  uint64 // look
	vain  uint32
	total uint64        // bytes landed, ever
	owes  atomic.Uint32 // 1: the peer was not told of the window
	w     window
}

func (in *incoming) init(l *link, f *flight) { in.link, in.flight, f.link = l, f, l }

// written: the peer has written what it said, or will say, that it writes. Under lock.
func (in *incoming) written() {
	in.arrived = true
	in.complete()
}

// filling: the peer says how much it writes. Under lock.
func (in *incoming) filling(n uint64) error {
	if in.state.Load() != moving || !in.link.port.f.writes || in.said != 0 || n == 0 || n > in.w.size {
		return fmt.Errorf("%w: it writes %d bytes where it may not", driver.ErrProtocol, n)
	}
	in.said = int(n)
	in.complete()
	return nil
}

func (in *incoming) complete() {
	if in.arrived && in.said != 0 && in.state.Load() == moving {
		in.unregister(false)
		in.landed(in.said, nil)
	}
}

// open opens a window onto buf. Under lock.
func (in *incoming) open(buf []byte) error {
	f := in.link.port.f
	buf = buf[:min(len(buf), mostWindow, int(min(f.most, mostWindow)))]
	err := in.begin(buf, true)
	r, key := begun, in.reg.key
	if err == nil && !f.writes {
		key = random()
		r, err = f.expect(in.op, buf, in.reg, in.link.to, key)
	}
	if r != begun || err != nil {
		in.end()
		return err
	}
	in.w = window{f.there(buf), key, uint64(len(buf))}
	in.state.Store(moving)
	in.owes.Store(1)
	return nil
}

// Pull implements driver.Link: it opens a window onto buf, and says when the peer has filled it.
func (l *link) Pull(buf []byte) (int, error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
		return 0, l.Why(s)
	}
	in := &l.in
	if len(buf) == 0 {
		return 0, nil
	}
	if in.state.Load() == moving {
		l.port.look(&in.last)
	}
	if in.state.Load() != moving || in.owes.Load() != 0 {
		if n, err := l.pull(buf); n != 0 || err != nil {
			return n, err
		}
	}
	if l.idle(&in.vain); l.State.Load() != 0 || l.gone.Load() != 0 {
		return 0, l.ended(in.total)
	}
	return 0, nil
}

// pull takes the next step of Pull, if it gets the lock.
func (l *link) pull(buf []byte) (n int, err error) {
	if !l.port.try() {
		return 0, nil
	}
	defer l.port.release()
	in := &l.in
	if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
		return 0, l.Why(s)
	}
	switch in.state.Load() {
	case idle:
		if err = l.ended(in.total); err == nil && l.severed {
			err = l.lost()
		} else if err == nil {
			err = in.open(buf)
		}
	case landed:
		n, err = in.take(len(buf))
		in.total += uint64(n)
		l.stir()
	}
	if err != nil {
		return 0, l.lose(err)
	}
	l.pay()
	return n, nil
}

// outgoing is the large track as its sender has it.
type outgoing struct {
	*flight
	last    uint64 // look
	vain    uint32
	total   uint64        // bytes sent, ever
	refused atomic.Uint32 // 1: the last Push moved nothing
	open    atomic.Uint32 // 1: there is a window
	w       window        // by the one that polls, until open; then by the caller of Push
	said    int           // bytes that the peer was told of, and that have still to be written
}

func (out *outgoing) init(l *link, f *flight) { out.flight, f.link = f, l }

// fill moves the beginning of buf into the peer's window. Under lock.
func (l *link) fill(buf []byte) error {
	out, f := &l.out, l.port.f
	n := min(len(buf), int(out.w.size))
	if out.said != 0 {
		n = out.said
	}
	if f.writes && out.said == 0 {
		var b [8]byte
		putWord(b[:], uint64(n))
		if ok, err := l.emit(kindFilling, b[:], false); !ok || err != nil {
			return err
		}
		out.said = n
	}
	err, r := out.begin(buf[:n], false), busy
	if err == nil {
		out.size = n
		r, err = f.move(out.op, buf[:n], out.reg, l.to, &out.w, l.theirs)
	}
	if r != begun || err != nil {
		out.end()
		return err
	}
	out.said = 0
	out.open.Store(0)
	out.state.Store(moving)
	return nil
}

// Push implements driver.Link: it fills the window that the peer has opened, and says when that is done.
func (l *link) Push(buf []byte) (int, error) {
	if err := l.barred(); err != nil {
		return 0, err
	}
	out := &l.out
	if len(buf) == 0 {
		return 0, nil
	}
	if s := out.state.Load(); s == moving || s == idle && out.open.Load() == 0 {
		l.port.look(&out.last)
	}
	if s := out.state.Load(); s == landed || s == idle && out.open.Load() != 0 {
		if n, err := l.push(buf); n != 0 || err != nil {
			return n, err
		}
	}
	out.refused.Store(1)
	if l.idle(&out.vain); l.State.Load() != 0 || l.gone.Load() != 0 {
		return 0, l.lost()
	}
	return 0, nil
}

// push takes the next step of Push, if it gets the lock.
func (l *link) push(buf []byte) (n int, err error) {
	if !l.port.try() {
		return 0, nil
	}
	defer l.port.release()
	if err := l.barred(); err != nil {
		return 0, err
	}
	out := &l.out
	if out.state.Load() == idle {
		if err = l.fill(buf); err == nil {
			l.port.poll()
		}
	}
	if err == nil && out.state.Load() == landed {
		n, err = out.take(len(buf))
		out.total += uint64(n)
		out.refused.Store(0)
		l.stir()
	}
	if err != nil {
		return 0, l.lose(err)
	}
	return n, nil
}

// ReturnPush implements driver.Link. What a lost peer has not fetched, and the provider may still look at, stays pinned. A peer that neither fetches it nor ends
// within patience is given up. It is told so first: it takes no message for whole whose bytes it has read after that.
func (l *link) ReturnPush() (int, bool) {
	return l.giveBack(l.out.flight, func() bool {
		if l.over() {
			return true
		}
		if l.asked.IsZero() {
			l.asked = time.Now()
		}
		if time.Since(l.asked) < patience {
			return false
		}
		if l.port.f.writes {
			l.port.forget(l.to)
			return true
		}
		l.word[0] = 1
		_, errno := raw.Send(l.sock, l.word[:])
		return errno == 0
	})
}

// givenUp says whether the peer has given up the message that has just landed. Under lock.
func (l *link) givenUp() bool {
	n, _ := raw.Recv(l.sock, l.word[:])
	return n > 0
}

// ReturnPull implements driver.Link: of a peer that is lost, or given up, nothing comes any more.
func (l *link) ReturnPull(evict bool) (int, bool) {
	return l.giveBack(l.in.flight, func() bool {
		p := l.port
		if !l.over() && !evict {
			if !p.f.writes {
				p.f.cancel(l.in.op)
			}
			return false
		}
		p.forget(l.to)
		return true
	})
}

// giveBack ends a transfer. revoke takes the buffer away from the peer, under lock, and says whether it has it no more.
func (l *link) giveBack(f *flight, revoke func() bool) (int, bool) {
	p := l.port
	p.take()
	defer p.release()
	if l.freed {
		return 0, true
	}
	if p.poll(); l.gone.Load() == 0 && l.bell.HungUp(l.sock) { // no other call looks any more
		l.depart()
	}
	switch f.state.Load() {
	case landed:
		n := f.size - f.given
		f.end()
		return n, true
	case moving:
		if !revoke() {
			return 0, false
		}
		l.replace(f)
	}
	return 0, true
}

// replace gives the link another flight, and leaves this one to the provider. Under lock.
func (l *link) replace(f *flight) {
	p := l.port
	fresh := p.newFlight()
	if f == l.in.flight {
		l.in.init(l, fresh)
	} else {
		l.out.init(l, fresh)
		f.unread = true
	}
	p.giveUp(f)
}

// over says that the peer's process has ended, or has closed the link, long enough ago.
func (l *link) over() bool {
	at := l.gone.Load()
	return at != 0 && time.Since(start)-time.Duration(at) > grace
}
