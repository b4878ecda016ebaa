package hooks

import "strconv"

// Point is a place in the scheduler at which hooks are fired.
type Point uint8

const (
	Idle      Point = iota // a virtual processor has no thread to run; fired in a loop, on its LWP
	Switch                 // a virtual processor has just changed threads; on its LWP
	Timer                  // time has passed; on the timer thread, in the name of each processor
	Yield                  // a thread offers its processor to others; on it, before it looks for one
	Library                // a thread calls what may block, and still computes; on it, before the call does anything
	NumPoints              // how many there are; no point itself
)

// String returns the name of the point.
func (p Point) String() string {
	switch p {
	case Idle:
		return "idle"
	case Switch:
		return "switch"
	case Timer:
		return "timer"
	case Yield:
		return "yield"
	case Library:
		return "library"
	}
	return "point " + strconv.Itoa(int(p))
}
