//go:build ofi && cgo

package ofi

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
)

// outgoing is the large track as its sender has it: a window onto the buffer of Push. The peer reads from the
// window, and says how much it has read. While the window is open the buffer is pinned.
type outgoing struct {
	polls     uint64        // of the port, at the last look of the caller of Push
	idleCalls uint32        // of Push that told of nothing
	refused   atomic.Uint32 // 1: the last Push moved nothing
	total     atomic.Uint64 // bytes that Push has told of, ever
	taken     atomic.Uint64 // bytes that the peer has read, ever

	// Under the lock of the port.
	pin     runtime.Pinner
	reg     *registration // of the buffer
	single  registration  // where it is not kept
	w       window
	offered atomic.Uint64 // where the window ends, in bytes ever; total: there is none
	owes    atomic.Uint32 // 1: the peer was not told of the window
	broken  bool          // a window was closed before the peer had read all of it: what it says of that does not count
}

// open reports whether there is a window.
func (out *outgoing) open() bool { return out.offered.Load() != out.total.Load() }

// ready reports whether Push finds something to do.
func (out *outgoing) ready() bool { return !out.open() || out.taken.Load() != out.total.Load() }

// offer opens a window onto buf. Under lock.
func (l *link) offer(buf []byte) (err error) {
	out, p := &l.out, l.port
	buf = buf[:min(len(buf), maxWindowBytes)]
	out.pin.Pin(&buf[0])
	if out.reg, err = p.register(&out.single, buf, forReads); err != nil {
		out.pin.Unpin()
		return err
	}
	out.w = window{p.f.there(buf), out.reg.key, uint64(len(buf))}
	out.offered.Add(uint64(len(buf)))
	out.owes.Store(1)
	return nil
}

// advance gives how much the peer has read that Push has not told of, and closes the window behind the last
// byte. Under lock.
func (out *outgoing) advance() int {
	n := out.taken.Load() - out.total.Load()
	if n > 0 && out.taken.Load() == out.offered.Load() {
		out.close()
	} else {
		out.total.Add(n)
	}
	return int(n)
}

// close ends the window, however much of it the peer has read. Under lock.
func (out *outgoing) close() {
	out.reg.unregister()
	out.pin.Unpin()
	out.broken = out.taken.Load() != out.offered.Load()
	out.offered.Store(out.taken.Load())
	out.total.Store(out.taken.Load())
	out.owes.Store(0)
}

// took notes how much the peer has read, ever. Under lock.
func (out *outgoing) took(n uint64) error {
	if out.broken {
		return nil
	}
	if was := out.taken.Load(); n-was > out.offered.Load()-was {
		return fmt.Errorf("%w: it has read %d bytes beyond %d, of a window of %d", driver.ErrProtocol, n-was, was, out.offered.Load()-was)
	}
	out.taken.Store(n)
	return nil
}

// Push implements driver.Link: it opens a window for the peer, and says when that has read from it.
func (l *link) Push(buf []byte) (int, error) {
	out := &l.out
	unreported := out.taken.Load() != out.total.Load() // Push tells of these bytes even if the peer has gone since
	if err := l.barred(); err != nil && !unreported {
		return 0, err
	}
	if len(buf) == 0 {
		return 0, nil
	}
	if !out.ready() {
		l.port.look(&out.polls)
	}
	if out.ready() {
		if n, err := l.push(buf); n != 0 || err != nil {
			return n, err
		}
	}
	out.refused.Store(1)
	if l.countIdle(&out.idleCalls); (l.State.Load() != 0) && out.taken.Load() == out.total.Load() {
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
	out := &l.out
	if err := l.closed(); err != nil {
		return 0, err
	}
	if out.open() {
		if n = out.advance(); n > 0 {
			out.refused.Store(0)
			l.stir()
		}
	} else if err = l.barred(); err == nil {
		var sent bool
		if sent, err = l.tellPorts(); sent {
			err = l.offer(buf)
		}
	}
	if err != nil {
		return 0, l.lose(err)
	}
	l.pay()
	return n, nil
}

// ReturnPush implements driver.Link. The provider takes a window away with the peer's address: at once if the
// peer is lost, else when it has not read within patience. A peer that reads by calls of the system is told
// (withdraw).
func (l *link) ReturnPush() (int, bool) {
	p, out := l.port, &l.out
	p.take()
	defer p.release()
	if !l.lookBack() {
		return 0, true
	}
	out.refused.Store(0)
	n := int(out.taken.Load() - out.total.Load())
	if l.withdraw(); out.open() && out.offered.Load() != out.taken.Load() {
		if l.returnSince.IsZero() {
			l.returnSince = time.Now()
		}
		if !l.over() && time.Since(l.returnSince) < patience {
			return 0, false
		}
		p.forget(l)
	}
	if out.open() {
		out.close()
	}
	return n, true
}

// withdraw closes the window of a peer that reads by calls of the system, and tells the peer that what it reads
// from here on is of no use. Under lock.
func (l *link) withdraw() {
	if out := &l.out; out.offered.Load() != out.taken.Load() && l.in.direct.PID != 0 {
		l.signal[0] = 1
		_, _ = raw.Send(l.sock, l.signal[:]) // it fails if the peer has ended
		out.close()
	}
}

// lookBack looks what has happened, for a call that takes a buffer back: no other call looks any more. false:
// the link has been freed. Under lock.
func (l *link) lookBack() bool {
	if l.freed {
		return false
	}
	if l.port.poll(); l.peerGoneAt.Load() == 0 && l.bell.HungUp(l.sock) { // no other call looks any more
		l.depart()
	}
	return true
}

// over reports whether the peer has ended, or has closed the link, for so long that nothing of it is under way.
func (l *link) over() bool {
	at := l.peerGoneAt.Load()
	return at != 0 && time.Since(start)-time.Duration(at) > grace
}
