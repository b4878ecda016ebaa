//go:build go1.26 && !go1.28 && linux && !cgo && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package direct

import (
	"crypto/subtle"
	"runtime"
	"testing"
)

// TestTiming: a goroutine that wants data-independent timing has it, and no other one, since
// a switch between the two goes by way of the Go scheduler.
func TestTiming(t *testing.T) {
	if !Supported() {
		t.Skip("no direct switch here")
	}
	wanted := func() bool { return *(*bool)(address(Current() + gDitWanted)) }
	enabled := func() bool { return *(*bool)(address(Machine() + mDitEnabled)) }
	has := false
	subtle.WithDataIndependentTiming(func() { has = wanted() })
	if !has {
		t.Skip("this processor has no such mode")
	}
	Hold()
	defer Unhold()
	base := Current()
	refused := func(g uintptr) bool {
		for {
			switch Try(g) {
			case Recorded:
				HandOver(new(Seat), g)
				return true
			case Done:
				return false
			}
			runtime.Gosched()
		}
	}
	var seat Seat
	rounds := 0
	go func() {
		Park(&seat)
		for range 3 {
			subtle.WithDataIndependentTiming(func() {
				if rounds++; !wanted() || !enabled() {
					t.Error("the mode is off where it is wanted")
				}
				if !refused(base) {
					t.Error("a switch has left the mode on")
				}
				if !enabled() {
					t.Error("the mode is off after a switch back")
				}
			})
		}
		if refused(base) {
			t.Error("a switch between two that do not want it is refused")
		}
	}()
	for !seat.Parked() {
		runtime.Gosched()
	}
	g := seat.G
	for range 4 {
		if refused(g); enabled() {
			t.Error("the mode is on where it is not wanted")
		}
	}
	Ready(g)
	if rounds != 3 {
		t.Errorf("%d rounds", rounds)
	}
}

// TestTimingRefused marks a parked goroutine, and the OS thread, as the runtime would, also on
// processors without the mode: Switch compares the two.
func TestTimingRefused(t *testing.T) {
	if !Supported() {
		t.Skip("no direct switch here")
	}
	Hold()
	defer Unhold()
	var seat Seat
	base, turns := Current(), 0
	go func() {
		Park(&seat)
		turns++
		leap(base)
	}()
	for !seat.Parked() {
		runtime.Gosched()
	}
	g := seat.G
	wanted, enabled := (*bool)(address(g+gDitWanted)), (*bool)(address(Machine()+mDitEnabled))
	for _, is := range []struct{ wanted, enabled bool }{{true, false}, {false, true}} {
		*wanted, *enabled = is.wanted, is.enabled
		r := Try(g)
		for r == Asked {
			runtime.Gosched()
			r = Try(g)
		}
		*wanted, *enabled = false, false
		if r != Recorded {
			t.Errorf("wanted %v, enabled %v: %d", is.wanted, is.enabled, r)
		}
	}
	if leap(g); turns != 1 {
		t.Errorf("%d turns", turns)
	}
	Ready(g)
}
