//go:build !linux

package sched

// osThreadBound returns the default of Config.MaxLWPs: the limits of this system are not read.
func osThreadBound() int { return defaultMaxLWPs }
