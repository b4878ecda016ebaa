//go:build ofi && cgo

package ofi

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
)

// remoteFrom is the shortest put or get that goes by the provider where its calls are system calls, in bytes. There
// a shorter one takes a packet each way by messages, too.
const remoteFrom = 8 << 10

// exposure is memory of this process that the peer of one link can write and read. Each link has a key of its own for
// the same memory, so that a peer that was lost can be shut out by itself.
type exposure struct {
	link *link
	reg  registration // mr is nil: it was closed
	at   uint64
}

// remote reports whether the link has the calls of driver.RemoteMemory. Over shm processes map the memory instead.
func (l *link) remote() bool { return l.port.f.writes && !l.port.f.shm() }

// Expose implements driver.RemoteMemory.
func (l *link) Expose(b []byte) (driver.Exposure, error) {
	p := l.port
	p.take()
	defer p.release()
	if err := l.barred(); err != nil {
		return nil, err
	}
	if !l.remote() || len(b) == 0 {
		return nil, fmt.Errorf("ofi: expose %d B: %w", len(b), errors.ErrUnsupported)
	}
	x := &exposure{link: l, at: p.f.there(b)}
	if err := p.registerNew(&x.reg, b, forPeers); err != nil {
		return nil, err
	}
	if l.exposed == nil {
		l.exposed = map[*exposure]struct{}{}
	}
	l.exposed[x] = struct{}{}
	return x, nil
}

// Key implements driver.Exposure.
func (x *exposure) Key() driver.RemoteKey { return driver.RemoteKey{Address: x.at, Key: x.reg.key} }

// Close implements driver.Exposure. The provider goes on with a write that has begun before the registration was
// closed, so of a peer that was lost it closes the connection, too.
func (x *exposure) Close(lost bool) {
	l := x.link
	l.port.take()
	defer l.port.release()
	if l.freed {
		return
	}
	x.close()
	if lost && !l.severed {
		l.port.forget(l)
	}
}

// close takes the memory back from the peer. Under lock.
func (x *exposure) close() {
	delete(x.link.exposed, x)
	if x.reg.mr != nil {
		x.reg.close()
	}
}

// StartRemote implements driver.RemoteMemory.
func (l *link) StartRemote(o *driver.RemoteOp) bool {
	p := l.port
	p.take()
	defer p.release()
	if l.barred() != nil || l.severed || !l.remote() {
		return false
	}
	if ok, err := l.tellPorts(); !ok || err != nil {
		return false
	}
	t, err := p.newTransfer(l, o.Put, o.Buf, o.Key.Address+o.Offset, o.Key.Key, o.Done)
	if err != nil {
		return false
	}
	r, err := p.begin(t)
	switch {
	case err != nil:
		p.giveBack(t)
		return false
	case r == busy:
		p.waiting = append(p.waiting, t)
	}
	return true
}
