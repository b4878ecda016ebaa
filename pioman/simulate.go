package pioman

import "github.com/pm2-go/pm2/sched/topo"

// simulated is a Scheduler whose virtual processors are simulated, or driven by hand (cmd/demo/internal/taskqueue). Attach
// gives it round, which is what virtual processor vp does at its hooks: it polls the leaf of vp, and those queues above it
// that are due. The watch that it returns, if any, is told of each access to a cache line that several cores write, before
// it happens; it may run the rounds of other processors meanwhile, on other goroutines or within the call.
type simulated interface {
	Simulate(round func(vp int)) func(queue *topo.Item, a string)
}

// accessWatch is told of an access to a line of a queue, whose item is nil for the root, or to the engine's own.
type accessWatch = func(queue *topo.Item, a string)

// The accesses.
const (
	look   = "look"   // a poller reads the lock's line, to see whether there is anything
	lock   = "lock"   // a poller writes the lock's line, and finds the queue free
	skip   = "skip"   // a poller read the lock's line and found the queue held: a failed try-lock
	unlock = "unlock" // the holder writes the lock's line
	push   = "push"   // a submitter writes the submissions' line
	drain  = "drain"  // the holder writes the submissions' line
	peek   = "peek"   // a poller that finds nothing there, or a holder, reads the submissions' line
	count  = "count"  // a core writes the engine's word of pending requests
)

// simulate is Attach's.
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

// tell tells the watch.
func (q *Queue) tell(a string) {
	if q.watch != nil {
		q.watch(q.item, a)
	}
}
