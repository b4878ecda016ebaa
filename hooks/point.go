package hooks

import "strconv"

// Point is a place in the scheduler at which hooks are fired.
type Point uint8

const (
	// Idle is fired again and again while a VP has no thread to run, on its LWP.
	Idle Point = iota
	// Switch is fired when a VP has just switched to another thread, on that thread.
	Switch
	// Timer is fired once a period: by the scheduler's clock, in the name of each VP in turn, or by a thread that
	// polls, for its own VP.
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

// Verdict is a hook's answer: whether the hook must be called again before the VP sleeps. It tells an idle VP what to
// do next, and the scheduler's clock whether it may stop ticking. The greatest verdict of all hooks of the point
// counts.
type Verdict uint8

const (
	// Quiet: the hook needs no further call before the VP sleeps. Nothing is pending, or another thread, or the kernel,
	// watches what is.
	Quiet Verdict = iota
	// Waiting: something is pending that the kernel can announce. The VP calls the hook again for a while
	// (sched.Config.PollSpin), and then may sleep.
	Waiting
	// Busy: the VP calls the hook again at once, and does not sleep.
	Busy
)

var verdictNames = [...]string{"quiet", "waiting", "busy"}

// String returns the name of the verdict.
func (v Verdict) String() string {
	if v <= Busy {
		return verdictNames[v]
	}
	return "verdict " + strconv.Itoa(int(v))
}
