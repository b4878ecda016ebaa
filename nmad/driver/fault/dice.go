package fault

import (
	"math"
	"math/rand/v2"
	"time"
)

// dice decide what goes wrong in one direction of a link. They belong to the caller of that direction.
type dice struct {
	rng   rand.PCG
	until time.Time // silence: nothing arrives before this time
}

// Directions of a link, each with one caller at a time.
const (
	sends = iota
	recvs
	pushes
	pulls
	directions
)

// seed gives each direction of each link a sequence of its own, which depends on these numbers only.
func (d *dice) seed(seed uint64, own, peer int, link uint64, direction int) {
	d.rng.Seed(seed, uint64(own)<<40^uint64(peer)<<16^link<<2^uint64(direction))
}

// happens reports whether something with that share happens now. It draws a number only if the share leaves a choice.
func (d *dice) happens(share float64) bool {
	switch {
	case share <= 0:
		return false
	case share >= 1:
		return true
	}
	return d.rng.Uint64() < uint64(share*math.MaxUint64)
}

// intn returns a number from 0 to n-1; n is at least 1.
func (d *dice) intn(n int) int { return int(d.rng.Uint64() % uint64(n)) }

// silent reports whether nothing arrives at the moment, as c asks for.
func (d *dice) silent(c Chance) bool {
	if c.Share <= 0 {
		return false
	}
	now := time.Now()
	if now.Before(d.until) {
		return true // and no draw: else a poller that looks often would make one silence of many
	}
	if !d.happens(c.Share) {
		return false
	}
	d.until = now.Add(c.For)
	return true
}

// stall blocks the caller, as often and for as long as c asks for.
func (d *dice) stall(c Chance) {
	if c.For > 0 && d.happens(c.Share) {
		time.Sleep(c.For)
	}
}
