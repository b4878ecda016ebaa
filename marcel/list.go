package marcel

import (
	"io"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// ThreadInfo describes one thread in a list of threads: its handle, name, state, what it waits for and
// where, and its VP.
type ThreadInfo = sched.ThreadInfo

// ThreadWork is what a thread has done: its switches, moves and times. It is zero unless
// observe.CountThreads counts.
type ThreadWork = sched.ThreadWork

// ThreadState says what a thread is doing.
type ThreadState = sched.ThreadState

// The states of a thread.
const (
	StateSeed      = sched.StateSeed      // it has not begun
	StateReady     = sched.StateReady     // it waits for its turn
	StateRunning   = sched.StateRunning   // it has a VP
	StateBlocked   = sched.StateBlocked   // it waits for something
	StateAway      = sched.StateAway      // it goes on without a VP: in Blocking, or after its VP was taken
	StateSuspended = sched.StateSuspended // until Resume
	StateBarred    = sched.StateBarred    // it is ready, but the VPs on which it may run are disabled
)

// Threads lists the threads that live in the scheduler of the calling thread, or in the default one,
// by number, without stopping them. A thread that begins or ends during the call may be in the list or
// not. It costs running threads nothing.
func Threads() []ThreadInfo { return sched.Here().Threads() }

// WriteThreads writes that list for a person, one thread in a line.
func WriteThreads(w io.Writer) error { return observe.WriteThreads(w, Threads()) }
