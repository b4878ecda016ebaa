package sched

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestClockGoesOn: a change of GOMAXPROCS that takes long, as it does while a collection
// runs, does not keep the clock from taking VPs from those who hog them, and is made up for.
func TestClockGoesOn(t *testing.T) {
	s := running(t, Config{VPs: 1, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	procs.mu.Lock()
	locked := true
	defer func() {
		if locked {
			procs.mu.Unlock()
		}
	}()
	const hogs = 3
	var end atomic.Bool
	defer end.Store(true)
	for range hogs {
		s.Spawn(Attr{}, func() {
			for !end.Load() {
			}
		})
	}
	awaited(t, "the VP is taken from one after the other", func() bool { return s.Stats().Total.Robbed == hogs-1 })
	procs.mu.Unlock()
	locked = false
	awaited(t, "GOMAXPROCS follows", func() bool {
		procs.mu.Lock()
		defer procs.mu.Unlock()
		return procs.extra >= s.NumVP()+1+hogs-1
	})
}
