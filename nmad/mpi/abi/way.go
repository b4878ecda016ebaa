//go:build cgo && linux

package main

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// C moves short messages itself where it has a way (front/moves.h). Go finds the way to a rank when a message names the
// rank, and tells C.

// commWays tells how messages of a communicator reach each rank.
type commWays struct {
	settled []atomic.Bool // by rank: Go has found out, for good, whether there is a way
	byRank  []lane.Way    // C reads the ways (front/moves.h)
}

// findWay finds out whether C can move messages to and from a rank without Go, and tells C. Each send and receive in Go
// that names the rank calls it, and looks again until the answer is settled: it is not before the gate to the rank has
// links. findWay does nothing while C must not move messages: the communicator is an intercommunicator, calls are
// traced, or the two sides know different layouts of lane.Lane.
func (c *cComm) findWay(rank int) {
	if w := c.ways.Load(); w == nil || !w.settled[rank].Load() {
		c.askWay(rank)
	}
}

// askWay is findWay for a rank that is not settled.
//
//go:noinline
func (c *cComm) askWay(rank int) {
	if c.inter != nil || tracer.Load() != nil || state.Load().lane != uint64(lane.Size) {
		return
	}
	cacheLock.Lock()
	defer cacheLock.Unlock()
	w := c.ways.Load()
	if w == nil {
		w = &commWays{make([]atomic.Bool, c.local.Size()), make([]lane.Way, c.local.Size())}
		c.ways.Store(w)
	}
	if w.settled[rank].Load() || !calls.Way(c.local, rank, &w.byRank[rank]) {
		return
	}
	w.settled[rank].Store(true)
	if w.byRank[rank].Lane.Load() != nil {
		c.cached().setWays(c.handle, w.byRank)
	}
}

// cached returns the entry of frontState in which C looks the communicator up.
func (c *cComm) cached() *cachedComm {
	s := state.Load()
	if c.handle == commWorldHandle {
		return &s.world
	}
	return s.cacheOf(c.handle)
}
