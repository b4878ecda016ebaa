//go:build ofi && cgo

package ofi

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// incoming is the large track as its receiver has it. One read of the peer's window is under way at a time:
//
//	idle --- Pull reads from the peer's window ---> moving --- the provider says so ---> landed
//	 ^                                                                                     |
//	 '---------------------- the caller of Pull takes the bytes ---------------------------'
//
// While the state is moving the buffer is pinned, and the provider's. Over shm Pull goes from idle to landed itself.
type incoming struct {
	polls     uint64         // of the port, at the last look of the caller of Pull
	idleCalls uint32         // of Pull that brought nothing
	direct    process.Memory // of the peer, if this process reads it by calls of the system; PID 0: the provider does

	open     atomic.Uint32 // 1: there is a window
	w        window        // what is left of it: the one that polls writes it until open; then the caller of Pull does
	total    atomic.Uint64 // bytes received, ever; the caller of Pull writes it
	reported atomic.Uint64 // of them, those that the peer was told of; written under lock

	state atomic.Uint32
	size  int         // bytes that move, or have
	given int         // landed: of them, that the caller was told of
	err   error       // landed: what went wrong
	land  func(error) // link.land, as a value that is made once
}

const (
	idle uint32 = iota
	moving
	landed
)

var stateNames = []string{"idle", "moving", "landed"}

// land notes that the provider is through with a read. Under lock.
func (l *link) land(err error) {
	l.in.err = err
	l.in.state.Store(landed)
	l.ring()
}

// maxDirectBytes is how much is read at once by a call of the system, in bytes, before others have their turn.
const maxDirectBytes = 1 << 20

// fetch reads from the window by a call of the system. The bytes count once check has found that the peer had
// not taken the window back.
func (in *incoming) fetch(buf []byte) {
	n := min(len(buf), int(in.w.size), maxDirectBytes)
	in.size, in.given, in.err = n, 0, nil
	if _, errno := in.direct.Read(buf[:n], in.w.at); errno != 0 {
		in.err = fmt.Errorf("%w: its memory cannot be read: %w", driver.ErrPeerLost, errno)
	}
	in.state.Store(landed)
}

// begin has the provider read from the window. Under lock.
func (l *link) begin(buf []byte) (err error) {
	p, in := l.port, &l.in
	in.size, in.given, in.err = min(len(buf), int(in.w.size), int(min(p.f.most, maxWindowBytes))), 0, nil
	t, err := p.newTransfer(l, false, buf[:in.size], in.w.at, in.w.key, in.land)
	if err != nil {
		return err
	}
	if r, err := p.begin(t); r != begun || err != nil {
		p.giveBack(t)
		return err
	}
	in.state.Store(moving)
	return nil
}

// take hands out bytes that have landed, at most most.
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

// check has a read that has landed fail if the peer had taken the window back by then. A provider cannot read
// what was taken back, but a call of the system can. Under lock.
func (l *link) check() {
	in := &l.in
	if in.err != nil || in.given > 0 || in.direct.PID == 0 {
		return
	}
	if _, errno := raw.Recv(l.sock, l.signal[:]); errno != unix.EAGAIN {
		in.err = fmt.Errorf("%w: it has given this process up, or has ended", driver.ErrPeerLost)
	}
}

// Pull implements driver.Link: it reads from the peer's window.
func (l *link) Pull(buf []byte) (int, error) {
	if err := l.closed(); err != nil {
		return 0, err
	}
	in := &l.in
	if len(buf) == 0 {
		return 0, nil
	}
	if in.open.Load() == 0 || in.state.Load() == moving {
		l.port.look(&in.polls)
	}
	if in.open.Load() != 0 && in.state.Load() != moving {
		if n, err := l.pull(buf); n != 0 || err != nil {
			return n, err
		}
	}
	if l.countIdle(&in.idleCalls); l.State.Load() != 0 {
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
	if err := l.closed(); err != nil {
		return 0, err
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
			if err = l.begin(buf); err == nil {
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

// ReturnPull implements driver.Link. A read by a call of the system is over already. A read by the provider
// from a peer that is lost, or given up, ends when the provider forgets the peer's address.
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
	if in.state.Load() == landed {
		if l.check(); in.err == nil {
			n, _ = in.take(in.size)
		}
	}
	return n, true
}
