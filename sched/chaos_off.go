//go:build !chaos

package sched

// What the build tag chaos changes, in its everyday form: see chaos.go.

// firstRing is the first size of a ring.
const firstRing = 64

// checked: each switch looks whether all that is known of the two that take part agrees.
const checked = false

func (c *co) check()        {}
func (c *co) checkNext(*co) {}
func (c *co) checkVP()      {}

// The order of locks is not looked at.
type rankedSpin struct{}

func (mu *Spin) ranked(lockRank) { _ = mu.rankedSpin }
func (*Spin) locked(bool)        {}
func (*Spin) unlocking()         {}

// randomSteals: thieves steal as chance has it.
const randomSteals = false
