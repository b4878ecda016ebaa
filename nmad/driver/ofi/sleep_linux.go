//go:build ofi && cgo

package ofi

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
)

// nap is what a link needs for sleepers. Its descriptor is an epoll set of
//
//   - the control connection, for its end;
//   - a timer, by which the one that polls the port wakes the sleepers of other links, and which
//     goes off by itself where the provider does not tell when something comes;
//   - from Arm to Disarm, the descriptor of the completion queue, if there is one.
//
// No arrival is missed: what comes to the provider after Arm has asked it makes the queue's descriptor readable,
// unless another thread polls first. That one puts it where the link's callers find it, and then looks at armed;
// Arm sets armed, and then looks there.
type nap struct {
	set, timer int
	armed      atomic.Uint32 // noArm, armed, or rung
	stirred    atomic.Uint32 // 1: something has come since the last nap
	look       atomic.Uint32 // 1: a sleeper was woken: the next call in vain looks whether the peer is there

	// The caller of Arm and Disarm.
	inSet   bool            // the queue's descriptor is in the set
	ticking bool            // the timer goes off by itself
	room    bool            // the sleeper waits for room, too: rooms of the port counts it
	period  time.Duration   // how long the last nap was to be, at most
	napTime unix.ItimerSpec // what the timer is set to

	ringTime unix.ItimerSpec // what the timer is set to by the one that rings; under the lock of the port
}

const (
	noArm uint32 = iota
	armed
	rung
)

// How long a nap is where the provider has no descriptor: it grows from the shortest to the longest, times the
// number of links that are armed, so that all of them together wake as often as one would.
const (
	shortest = 50 * time.Microsecond
	longest  = 2 * time.Millisecond
	maxNaps  = 16
)

// open makes the descriptors.
func (n *nap) open(sock int) (err error) {
	n.set, n.timer = -1, -1
	if n.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return err
	}
	if n.set, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if err = raw.Interest(n.set, unix.EPOLL_CTL_ADD, sock, unix.EPOLLRDHUP); err != nil {
		return err
	}
	return raw.Interest(n.set, unix.EPOLL_CTL_ADD, n.timer, unix.EPOLLIN)
}

// Descriptor implements driver.Link.
func (l *link) Descriptor() int { return l.nap.set }

// ring wakes the sleeper of a link. Under lock.
func (l *link) ring() {
	if n := &l.nap; n.armed.Load() == armed && n.armed.CompareAndSwap(armed, rung) {
		n.ringTime.Value.Nsec = 1
		_ = unix.TimerfdSettime(n.timer, 0, &n.ringTime, nil)
	}
}

// stir has the next nap be short.
func (l *link) stir() {
	if l.nap.stirred.Load() == 0 {
		l.nap.stirred.Store(1)
	}
}

// Arm implements driver.Link: two system calls, and a call of libfabric.
func (l *link) Arm(wantRoom bool) bool {
	l.Disarm()
	p, n := l.port, &l.nap
	if l.barred() != nil || !p.try() {
		return false
	}
	defer p.release()
	l.pay()
	if l.ready(wantRoom) || l.owes() {
		return false
	}
	p.poll()
	if l.ready(wantRoom) || l.owes() {
		return false
	}
	timed := p.f.fd < 0 || wantRoom && l.refused.Load() != 0 || len(p.unposted)+len(p.waiting) > 0
	if p.f.fd >= 0 {
		if !p.f.quiet() || raw.Interest(n.set, unix.EPOLL_CTL_ADD, p.f.fd, unix.EPOLLIN) != nil {
			return false
		}
		n.inSet = true
	}
	p.asleep.Add(1)
	if n.room = wantRoom; wantRoom {
		p.rooms.Add(1)
	}
	if timed {
		if n.stirred.Swap(0) != 0 {
			n.period = 0
		}
		n.period = min(max(2*n.period, shortest), longest)
		n.napTime.Value = unix.NsecToTimespec(int64(n.period) * int64(min(p.asleep.Load(), maxNaps)))
		n.ticking = true
		_ = unix.TimerfdSettime(n.timer, 0, &n.napTime, nil)
	}
	n.armed.Store(armed) // under lock: no thread polls between the look and this
	return true
}

// ready reports whether a caller finds something. Under lock.
func (l *link) ready(wantRoom bool) bool {
	out, in := &l.out, &l.in
	switch {
	case l.State.Load() != 0 || l.peerGoneAt.Load() != 0 || !l.rx.empty() || in.open.Load() != 0 && in.state.Load() != moving:
		return true
	case !wantRoom:
		return false
	case out.taken.Load() != out.total.Load() || !out.open() && out.refused.Load() != 0:
		return true
	}
	return out.refused.Load() == 0 && l.refused.Load() == 0
}

// Disarm implements driver.Link.
func (l *link) Disarm() {
	n := &l.nap
	if n.armed.Load() == noArm {
		return
	}
	n.look.Store(1)
	l.port.take()
	defer l.port.release()
	was := n.armed.Swap(noArm)
	if was == noArm { // the link was closed meanwhile
		return
	}
	l.slept()
	if n.inSet {
		_ = raw.Interest(n.set, unix.EPOLL_CTL_DEL, l.port.f.fd, 0)
		n.inSet = false
	}
	if n.ticking || was == rung {
		n.ticking = false
		n.napTime.Value = unix.Timespec{}
		_ = unix.TimerfdSettime(n.timer, 0, &n.napTime, nil)
	}
}

// slept takes a sleeper out of the counts.
func (l *link) slept() {
	l.port.asleep.Add(-1)
	if l.nap.room {
		l.nap.room = false
		l.port.rooms.Add(-1)
	}
}
