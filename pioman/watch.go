package pioman

import "github.com/pm2-go/pm2/sched/topo"

// Access is what a Watch is told of: a core is about to touch a line that several cores write.
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

// Watch is told of accesses before they happen. item is whose queue it is, nil for the root and for Count.
// It is for simulations: it may
// run other pollers of the same engine meanwhile, on other goroutines or within the
// call, as other cores would; with one, everything is slower. It must not panic.
type Watch func(item *topo.Item, a Access)

// PollAs makes the round that virtual processor vp makes at its hooks: its leaf, and of
// what is above it that is due. It is for programs that run pollers of their own, one
// for each processor; others use Poll. Two may run as one processor; then their
// rounds are counted inexactly.
func (e *Engine) PollAs(vp int) { e.poll(vp) }
