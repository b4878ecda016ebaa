//go:build !race

package sched

func raceAcquire(*lwp) {}
func raceRelease(*lwp) {}
func (c *co) release() {}
func (c *co) acquire() {}
