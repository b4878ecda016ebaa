package pioman

import "github.com/pm2-go/pm2/sched/topo"

// simulated is a Scheduler whose VPs are simulated, or driven by hand (cmd/demo/internal/taskqueue). Attach gives it
// round, which does what the hooks of VP vp do: it polls the leaf of vp, and those queues above it that are due. The
// engine calls the function that Simulate returns, if it is not nil, before each access to a cache line that several
// cores write; the function may run the rounds of other VPs, on other goroutines or within the call.
type simulated interface {
	Simulate(round func(vp int)) func(queue *topo.Item, access string)
}

// accessWatch is called before an access to a cache line of the queue of an item, nil for the root, or of the engine.
type accessWatch = func(queue *topo.Item, access string)

// The accesses.
const (
	look   = "look"   // a poller reads the lock's line, to see whether there is anything
	lock   = "lock"   // a poller has found the queue free, and writes the lock's line
	skip   = "skip"   // a poller read the lock's line and found the queue held: a failed try-lock
	unlock = "unlock" // the holder writes the lock's line
	push   = "push"   // a submitter writes the submissions' line
	drain  = "drain"  // the holder writes the submissions' line
	peek   = "peek"   // a poller that has found no task in the main list, or a holder, reads the submissions' line
	count  = "count"  // a core writes the engine's word of pending requests
)

// simulate sets the watch of a simulated scheduler, for Attach.
func (e *Engine) simulate(s Scheduler) {
	x, ok := s.(simulated)
	if !ok {
		return
	}
	e.watch = x.Simulate(func(vp int) { e.poll(vp) })
	if e.root.watch = e.watch; e.watch != nil {
		e.ticks.survey = -never / 2 // one survey: real time has no meaning in a simulation
	}
}

// tell calls the watch, if there is one.
func (q *Queue) tell(access string) {
	if q.watch != nil {
		q.watch(q.item, access)
	}
}
