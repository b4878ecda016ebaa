//go:build ofi && cgo

package ofi

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/pm2-go/pm2/nmad/driver"
)

// transfer moves bytes between a buffer of this process and memory of the peer that the peer has registered, by remote
// reads or writes of the provider, one after the other. A port has a pool of them. Under the lock of the port.
//
//	pool --- begin ---> under way --- the provider says so: landed ---> pool
//	           ^            | more bytes are left, or the provider takes no operation now
//	           '-- resume --'
type transfer struct {
	op     *operation // the provider's part
	link   *link      // nil: it is in the pool
	put    bool
	buf    []byte // bytes that are left; pinned
	there  uint64 // where they go to, or come from
	key    uint64 // that opens the memory of the peer
	size   int    // bytes that the provider moves at present; 0: none
	pin    runtime.Pinner
	reg    *registration // of buf
	single registration  // where it is not kept
	done   func(error)   // is called at the end, under the lock of the port
}

// maxTransfers is how many transfers of a port the provider has at once: its queue of completions has room for these.
const maxTransfers = 512

// newTransfer takes a transfer of buf out of the pool, or makes one, and registers buf.
func (p *port) newTransfer(l *link, put bool, buf []byte, there, key uint64, done func(error)) (*transfer, error) {
	var t *transfer
	if n := len(p.idle); n > 0 {
		t, p.idle = p.idle[n-1], p.idle[:n-1]
	} else {
		t = &transfer{op: newOperation(firstTransfer + uint64(len(p.transfers)))}
		p.transfers = append(p.transfers, t)
	}
	access := uint64(forGets)
	if put {
		access = forPuts
	}
	t.link, t.put, t.buf, t.there, t.key, t.done = l, put, buf, there, key, done
	t.pin.Pin(&buf[0])
	l.transfers++
	var err error
	if t.reg, err = p.register(&t.single, buf, access); err != nil {
		p.giveBack(t)
		return nil, err
	}
	return t, nil
}

// giveBack puts a transfer that is not under way into the pool.
func (p *port) giveBack(t *transfer) {
	l := t.link
	t.reg.unregister()
	t.pin.Unpin()
	t.link, t.buf, t.reg, t.done = nil, nil, nil, nil
	p.idle = append(p.idle, t)
	if l.transfers--; l.freed && l.transfers == 0 {
		p.drop(l)
	}
}

// begin has the provider move the next bytes of a transfer; busy: not now.
func (p *port) begin(t *transfer) (result, error) {
	if p.moving == maxTransfers {
		return busy, nil
	}
	n := int(min(uint64(len(t.buf)), p.f.most, maxWindowBytes))
	r, err := p.f.move(t.op, t.put, t.buf[:n], t.reg, t.link.to, t.there, t.key)
	if r == begun {
		t.size = n
		p.moving++
	}
	return r, err
}

// landed takes in that the provider has moved the bytes, or has failed with err.
func (p *port) landed(t *transfer, err error) {
	p.moving--
	t.buf, t.there, t.size = t.buf[t.size:], t.there+uint64(t.size), 0
	if err == nil && len(t.buf) > 0 {
		p.waiting = append(p.waiting, t)
		return
	}
	p.end(t, err)
}

// end ends a transfer that the provider is through with. With an error the link is lost.
func (p *port) end(t *transfer, err error) {
	if err != nil {
		err = fmt.Errorf("%w: %w", driver.ErrPeerLost, err)
		_ = t.link.lose(err)
	}
	done := t.done
	p.giveBack(t)
	done(err)
}

// resume begins what waits for the provider, or has bytes left; it ends the transfers of links that are lost.
func (p *port) resume() {
	waiting := p.waiting
	p.waiting = waiting[:0]
	for _, t := range waiting {
		err := t.link.barred()
		if err == nil && t.link.severed {
			err = t.link.lost()
		}
		r := busy
		if err == nil {
			r, err = p.begin(t)
		}
		switch {
		case err != nil:
			p.end(t, err)
		case r == busy:
			p.waiting = append(p.waiting, t)
		}
	}
}

// reaches reports whether the provider has a transfer under way with a peer; with gets, one that reads from it.
func (p *port) reaches(peer uint64, gets bool) bool {
	return slices.ContainsFunc(p.transfers, func(t *transfer) bool {
		return t.size > 0 && t.link.to == peer && !(gets && t.put)
	})
}
