//go:build !race

package sched

func raceAcquire(*lwp) {}
func raceRelease(*lwp) {}
func (c *co) release() {}
func (c *co) acquire() {}

// born and sawBirth are for the race detector: see race_on.go.
func raceBirth()    {}
func raceSawBirth() {}
