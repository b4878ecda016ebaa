package pioman

import "github.com/pm2-go/pm2/sched/topo"

// Access is an access that a Watch is told of: a core is about to touch a cache line that several
// cores write.
type Access uint8

// The accesses. Each concerns one of the lines of a queue, or the engine's own: the
// word that counts pending requests.
const (
	Look   Access = iota // a poller reads the lock's line, to see whether there is anything
	Lock                 // a poller writes the lock's line, and finds the queue free
	Skip                 // a poller read the lock's line and found the queue held: a failed try-lock
	Unlock               // the holder writes the lock's line
	Push                 // a submitter writes the submissions' line
	Drain                // the holder writes the submissions' line
	Peek                 // a poller that finds nothing there, or a holder, reads the submissions' line
	Count                // a core writes the engine's word of pending requests
)

// Watch is called before each access. item is the topology item of the queue, nil for the root and for
// Count. It is for simulations: it may run other pollers of the same engine meanwhile, on other
// goroutines or within the call, as other cores would. It makes the engine slower. It must not panic.
type Watch func(item *topo.Item, a Access)

// PollAs runs the round that virtual processor vp runs at its hooks: it polls the leaf of vp, and
// those queues above it that are due. It is for programs that run pollers of their own, one for each
// processor; others use Poll. Two pollers may use the same vp; then their rounds are counted
// inexactly.
func (e *Engine) PollAs(vp int) { e.poll(vp) }
