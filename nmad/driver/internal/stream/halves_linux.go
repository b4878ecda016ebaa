package stream

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

type linkID = [meet.LinkSize]byte

// half is a link of which the first connection is there. The second connection comes with the same link id, from
// the same rank, after an exchange of its own:
//
//	expect: waiting ── claim → claimed ── the claimer sends the socket, or -1 if it failed
//	           └────── forget → gone
type half struct {
	id     linkID
	rank   uint32
	second chan int // a descriptor; room for one
}

// halves are the links of an endpoint that wait for their second connection.
type halves struct {
	mu      sync.Mutex
	waiting map[linkID]*half
}

// expect notes a link whose first connection is there.
func (hs *halves) expect(peer *meet.Peer) (*half, error) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.waiting[peer.Link] != nil {
		return nil, meet.Refused("it begins the same link twice")
	}
	h := &half{id: peer.Link, rank: peer.Rank, second: make(chan int, 1)}
	hs.waiting[peer.Link] = h
	return h, nil
}

// claim returns the half to which a second connection belongs, and takes it out: only one connection gets it.
func (hs *halves) claim(peer *meet.Peer) (*half, error) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.waiting[peer.Link]
	if h == nil || h.rank != peer.Rank {
		return nil, meet.Refused("it continues a link that it did not begin, or began too long ago")
	}
	delete(hs.waiting, peer.Link)
	return h, nil
}

// forget gives up on the second connection. It returns false if that was claimed already: it comes through the channel.
func (hs *halves) forget(h *half) bool {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.waiting[h.id] != h {
		return false
	}
	delete(hs.waiting, h.id)
	return true
}

// await waits for the second connection, at most for the time of an exchange.
func (hs *halves) await(h *half, done <-chan struct{}) (fd int, err error) {
	late := make(chan struct{})
	patience := limit.After(meet.Patience, func() { close(late) })
	defer patience.Stop()
	select {
	case fd = <-h.second:
	case <-late:
		err = fmt.Errorf("%w: its second connection did not come", driver.ErrPeerLost)
	case <-done:
		err = driver.ErrClosed
	}
	if err != nil {
		if hs.forget(h) {
			return -1, err
		}
		fd = <-h.second
	}
	if fd < 0 {
		return -1, fmt.Errorf("%w: its second connection failed", driver.ErrPeerLost)
	}
	return fd, nil
}
