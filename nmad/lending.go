package nmad

import (
	"errors"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/region"
)

// memory is what a gate lends its peer, and what that lends it, as far as memory and descriptors go; internal/flow/lending.go has the
// protocol. The memory of the gate's buffers goes to the peer with the first message that is lent, that of the peer is mapped with the
// first one that comes. What a receiver has been lent stays mapped until the last of it was released; then, or with the gate, the
// mapping goes.
type memory struct {
	g       *Gate
	buffers atomic.Pointer[bufferPool] // what Alloc gives; nil: it was not asked yet; set once, under the lock of the gate
	limit   int                        // bytes of it
	view    *region.View               // the memory of the peer; nil: it is not mapped; under the lock of the gate
}

// lend hands the memory of the gate's buffers to the peer, once, and says whether the peer has it. Under mu.
func (x *memory) lend() bool {
	g := x.g
	p := x.buffers.Load()
	if !p.shared && !p.barred {
		fd := p.memory.Descriptor()
		p.barred = fd < 0 || g.track.link.Lend(fd) != nil // if the link is broken its next call says so
		p.shared = !p.barred
		p.memory.Forget()
	}
	return p.shared
}

// mapPeer maps the memory of the peer, once. Under mu.
func (x *memory) mapPeer() error {
	g := x.g
	fd, err := g.track.link.Lent()
	if err == nil {
		x.view, err = region.Map(fd)
	}
	if err == nil {
		g.flow.See(x.view.Bytes())
		return nil
	}
	g.flow.See(nil) // for want of descriptors or address space: messages come the usual way
	if errors.Is(err, driver.ErrProtocol) {
		return err
	}
	return nil
}

// closeView lets go of the peer's memory once the gate has ended and nothing of it is lent. Under mu.
func (x *memory) closeView() {
	g := x.g
	if g.flow.Unseen() {
		x.view.Unmap()
		x.view = nil
	}
}
