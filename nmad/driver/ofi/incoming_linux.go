//go:build ofi && cgo

package ofi

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// read is a read of the peer's memory. One at a time is under way on a link:
//
//	idle --- Pull reads from the peer's window ---> moving --- the provider says so ---> landed
//	 ^                                                                                     |
//	 '---------------------- the caller of Pull takes the bytes ---------------------------'
//
// While it is moving the buffer is pinned, and the provider's.
type read struct {
	link *link // nil: it was given up
	port *port
	id   uint64
	to   uint64 // from which peer, as libfabric knows it
	op   *operation
	pin  runtime.Pinner
	reg  *registration // of the buffer
	own  registration

	state atomic.Uint32
	size  int   // bytes that move, or have
	given int   // landed: of them, that the caller was told of
	err   error // landed: what went wrong
}

const (
	idle uint32 = iota
	moving
	landed
)

var stateNames = []string{"idle", "moving", "landed"}

func (p *port) newRead(l *link) *read {
	p.begun++
	r := &read{link: l, port: p, id: p.begun, op: newOperation(p.begun)}
	p.reads[r.id] = r
	return r
}

// land notes that the provider is through. Under the lock of the port.
func (r *read) land(err error) {
	if r.reg.unregister(); err != nil {
		r.err = fmt.Errorf("%w: %w", driver.ErrPeerLost, err)
	}
	r.pin.Unpin()
	r.state.Store(landed)
	r.link.ring()
}

// drop forgets a read that the provider is done with.
func (p *port) drop(r *read) {
	delete(p.reads, r.id)
	if r.state.Load() == moving {
		r.reg.unregister()
		r.pin.Unpin()
	}
	freeOperation(r.op)
}

// giveUp leaves what is moving, and its buffer, to the provider, until that is done with it. Under the lock of the port.
func (p *port) giveUp(r *read) {
	if r.link = nil; r.state.Load() != moving {
		p.drop(r)
	}
}

// incoming is the large track as its receiver has it.
type incoming struct {
	*read
	last   uint64 // look
	vain   uint32
	open   atomic.Uint32  // 1: there is a window
	w      window         // what is left of it: by the one that polls, until open; then by the caller of Pull
	total  atomic.Uint64  // bytes received, ever
	told   atomic.Uint64  // of them the peer knows; written under lock
	direct process.Memory // of the peer, if this process may read it by itself
}

// mostDirect is how much is read at once by a call of the system, in bytes, before others have their turn.
const mostDirect = 1 << 20

// fetch reads from the window by a call of the system. What has come counts once it has been looked whether the peer has taken the window back.
func (in *incoming) fetch(buf []byte) {
	n := min(len(buf), int(in.w.size), mostDirect)
	in.size, in.given, in.err = n, 0, nil
	if _, errno := in.direct.Read(buf[:n], in.w.at); errno != 0 {
		in.err = fmt.Errorf("%w: its memory cannot be read: %w", driver.ErrPeerLost, errno)
	}
	in.state.Store(landed)
}

// begin has the provider read from the window. Under lock.
func (in *incoming) begin(buf []byte) (err error) {
	f := in.port.f
	in.to, in.size, in.given, in.err = in.link.to, min(len(buf), int(in.w.size), int(min(f.most, mostWindow))), 0, nil
	buf = buf[:in.size]
	in.pin.Pin(&buf[0])
	in.reg, err = in.port.register(&in.own, buf, false)
	r := busy
	if err == nil {
		r, err = f.read(in.op, buf, in.reg, in.to, &in.w)
	}
	if r != begun || err != nil {
		in.reg.unregister()
		in.pin.Unpin()
		return err
	}
	in.state.Store(moving)
	return nil
}

// take gives bytes that have landed, at most most.
func (in *incoming) take(most int) (n int, err error) {
	if in.err != nil {
		return 0, in.err
	}
	n = min(in.size-in.given, most)
	in.given += n
	in.w.at, in.w.size = in.w.at+uint64(n), in.w.size-uint64(n)
	in.total.Add(uint64(n))
	if in.given == in.size {
		in.state.Store(idle)
	}
	if in.w.size == 0 {
		in.open.Store(0)
	}
	return n, nil
}

// check has a read that has landed fail if the peer had taken the window back by then: what it takes back a provider cannot read, but a call of the
// system can. Under lock.
func (l *link) check() {
	in := &l.in
	if in.err != nil || in.given > 0 || in.direct.PID == 0 {
		return
	}
	if _, errno := raw.Recv(l.sock, l.word[:]); errno != unix.EAGAIN {
		in.err = fmt.Errorf("%w: it has given this process up, or has ended", driver.ErrPeerLost)
	}
}

// Pull implements driver.Link: it reads from the peer's window.
func (l *link) Pull(buf []byte) (int, error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
		return 0, l.Why(s)
	}
	in := &l.in
	if len(buf) == 0 {
		return 0, nil
	}
	if in.open.Load() == 0 || in.state.Load() == moving {
		l.port.look(&in.last)
	}
	if in.open.Load() != 0 && in.state.Load() != moving {
		if n, err := l.pull(buf); n != 0 || err != nil {
			return n, err
		}
	}
	if l.idle(&in.vain); l.State.Load() != 0 || l.gone.Load() != 0 {
		return 0, l.ended()
	}
	return 0, nil
}

// pull takes the next step of Pull, if it gets the lock.
func (l *link) pull(buf []byte) (n int, err error) {
	in := &l.in
	if in.direct.PID != 0 && in.state.Load() == idle {
		in.fetch(buf)
	}
	if !l.port.try() {
		return 0, nil
	}
	defer l.port.release()
	if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
		return 0, l.Why(s)
	}
	if in.state.Load() == idle {
		if err = l.ended(); err == nil && l.severed {
			err = l.lost()
		}
		ok := false
		if err == nil {
			ok, err = l.tellPorts()
		}
		if ok {
			if err = in.begin(buf); err == nil {
				l.port.poll()
			}
		}
	}
	if err == nil && in.state.Load() == landed {
		l.check()
		n, err = in.take(len(buf))
		l.stir()
	}
	if err != nil {
		return 0, l.lose(err)
	}
	l.pay()
	return n, nil
}

// ReturnPull implements driver.Link. A read by a call of the system is over already; of a peer that is lost, or given up, the provider brings nothing
// once it has forgotten the peer's address.
func (l *link) ReturnPull(evict bool) (n int, ok bool) {
	p, in := l.port, &l.in
	p.take()
	defer p.release()
	if !l.lookBack() {
		return 0, true
	}
	if in.state.Load() == moving {
		if !l.over() && !evict {
			return 0, false
		}
		p.forget(l)
	}
	switch in.state.Load() {
	case landed:
		if l.check(); in.err == nil {
			n, _ = in.take(in.size)
		}
	case moving:
		r := in.read
		in.read = p.newRead(l)
		p.giveUp(r)
	}
	return n, true
}
