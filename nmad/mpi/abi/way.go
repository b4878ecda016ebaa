//go:build cgo && linux

package main

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// C moves messages itself where it knows how (front/moves.h). Go finds that out, and tells C, with the first message
// between this process and a rank.

// commWays are those of a communicator, by rank.
type commWays struct {
	known []atomic.Bool // it is settled whether there is one
	all   []lane.Way
}

// settle finds out how messages to and from a rank go, and tells C. It does nothing if that was done, or cannot be
// told yet.
func (c *cComm) settle(rank int) {
	if w := c.ways.Load(); w == nil || !w.known[rank].Load() {
		c.find(rank)
	}
}

//go:noinline
func (c *cComm) find(rank int) {
	if c.x != nil || traced.Load() != nil || state.Load().lane != uint64(lane.Size) {
		return
	}
	telling.Lock()
	defer telling.Unlock()
	w := c.ways.Load()
	if w == nil {
		w = &commWays{make([]atomic.Bool, c.c.Size()), make([]lane.Way, c.c.Size())}
		c.ways.Store(w)
	}
	if w.known[rank].Load() || !calls.Way(c.c, rank, &w.all[rank]) {
		return
	}
	w.known[rank].Store(true)
	if w.all[rank].Lane.Load() != nil {
		c.cached().lead(c.handle, w.all)
	}
}

// cached returns the place where C finds the communicator.
func (c *cComm) cached() *cached {
	s := state.Load()
	if c.handle == worldHandle {
		return &s.world
	}
	return s.of(c.handle)
}
