package hooks

import "strconv"

// Point is a place in the scheduler at which hooks are fired.
type Point uint8

const (
	Idle      Point = iota // a virtual processor has no thread to run; fired in a loop, on its LWP
	Switch                 // a virtual processor has just changed threads; on its LWP
	Timer                  // a tick of the scheduler's clock; on that one OS thread, in the name of each processor in turn, or on a thread that polls, for its own processor
	Yield                  // a thread yields its processor; on the thread, before it looks for another one
	Library                // a thread makes a call that may block; on the thread, before the call does anything
	NumPoints              // number of points
)

var pointNames = [NumPoints]string{"idle", "switch", "timer", "yield", "library"}

// String returns the name of the point.
func (p Point) String() string {
	if p < NumPoints {
		return pointNames[p]
	}
	return "point " + strconv.Itoa(int(p))
}

// Verdict is a hook's answer: whether its work is pending. It tells an idle processor what to do next.
// The greatest verdict of all hooks counts.
type Verdict uint8

const (
	Quiet   Verdict = iota // nothing pending: the processor may sleep until it is kicked
	Waiting                // something pending that the kernel can announce: it may sleep until then
	Busy                   // poll again at once
)

var verdictNames = [...]string{"quiet", "waiting", "busy"}

// String returns the name of the verdict.
func (v Verdict) String() string {
	if v <= Busy {
		return verdictNames[v]
	}
	return "verdict " + strconv.Itoa(int(v))
}
