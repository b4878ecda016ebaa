//go:build !race

package sched

func raceAcquire(*lwp) {}
func raceRelease(*lwp) {}
func (c *co) release() {}
func (c *co) acquire() {}

// raceBirth and raceSawBirth are for the race detector: see race_on.go.
func raceBirth()    {}
func raceSawBirth() {}
