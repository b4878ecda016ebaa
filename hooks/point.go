package hooks

import "strconv"

// Point is a place in the scheduler at which hooks are fired.
type Point uint8

const (
	// Idle is fired again and again while a virtual processor has no thread to run, on its LWP.
	Idle Point = iota
	// Switch is fired when a virtual processor has just switched to another thread, on that thread.
	Switch
	// Timer is fired once a period: by the scheduler's clock, in the name of each processor in turn, or by a thread that polls,
	// for its own processor.
	Timer
	// Yield is fired by a thread that yields, before it looks for another thread to run.
	Yield
	// Library is fired by a thread that makes a call which may block, before the call does anything.
	Library
	// NumPoints is the number of points.
	NumPoints
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
