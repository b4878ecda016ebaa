package nmad

import (
	"errors"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/region"
)

// Lending, as far as memory and descriptors go; internal/flow/lending.go has the protocol. The memory of the gate's buffers goes to the peer with the
// first message that is lent, that of the peer is mapped with the first one that comes. What a receiver has been lent stays
// mapped until the last of it was released; then, or with the gate, the mapping goes.

// lend hands the memory of the gate's buffers to the peer, once, and says whether the peer has it. Under mu.
func (g *Gate) lend() bool {
	p := g.buffers.Load()
	if !p.shared && !p.barred {
		fd := p.memory.Descriptor()
		p.barred = fd < 0 || g.link.Lend(fd) != nil // if the link is broken its next call says so
		p.shared = !p.barred
		p.memory.Forget()
	}
	return p.shared
}

// mapPeer maps the memory of the peer, once. Under mu.
func (g *Gate) mapPeer() error {
	fd, err := g.link.Lent()
	if err == nil {
		g.view, err = region.Map(fd)
	}
	if err == nil {
		g.flow.See(g.view.Bytes())
		return nil
	}
	g.flow.See(nil) // for want of descriptors or address space: messages come the usual way
	if errors.Is(err, driver.ErrProtocol) {
		return err
	}
	return nil
}

// giveBackLoan takes in a loan that was released: whoever has the lock does, or gets it. It never waits.
func (g *Gate) giveBackLoan(l *flow.Lease) {
	for {
		l.Next = g.released.Load()
		if g.released.CompareAndSwap(l.Next, l) {
			break
		}
	}
	// What is not nil has been seen by nobody who has taken the lock since, or by one who is about to take all of it.
	g.landed.Add(1)
	if g.mu.tryLock() {
		g.attend()
		g.release()
	}
}

// takeReleased takes in what giveBackLoan has left. Under mu, and not while a packet is being dealt with.
func (g *Gate) takeReleased() {
	if g.released.Load() == nil {
		return
	}
	for l := g.released.Swap(nil); l != nil; {
		next := l.Next
		g.landed.Add(-1)
		g.flow.Release(l)
		l = next
	}
	g.closeView()
	g.press()
}

// closeView lets go of the peer's memory once the gate has ended and nothing of it is lent. Under mu.
func (g *Gate) closeView() {
	if g.flow.Unseen() {
		g.view.Unmap()
		g.view = nil
	}
}
