package marcel

import (
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Priority says which of a VP's ready threads go first: see [sched.Priority]. It is
// given to a thread with Attr.Priority, and changed with Thread.SetPriority.
type Priority = sched.Priority

// The priorities, the highest first. They are strict: a thread waits as long as one
// of a higher priority is ready on its VP.
const (
	RealTime        = sched.RealTime        // for what must not wait, such as the progress of communication
	UserRealTime    = sched.UserRealTime    // for programs
	DefaultPriority = sched.DefaultPriority // the zero value
	Batch           = sched.Batch           // when nothing but Idle is ready
	Idle            = sched.Idle            // when nothing else is ready
)

// Level is the topology level in whose run queue a thread with Attr.Level waits when it is ready: the
// VP's own queue (the zero Level), or one that several VPs share.
type Level = sched.Level

// LevelOf is the level of the items of a kind: see [sched.LevelOf].
func LevelOf(k topo.Kind) Level { return sched.LevelOf(k) }

// ErrNoItem says that the scheduler has no VPs below that item of a topology.
var ErrNoItem = sched.ErrNoItem

// Policy says in which order a VP runs ready threads of one priority; it is chosen
// for a scheduler with sched.Config.Policy.
type Policy = sched.Policy

// The policies.
const (
	Fair = sched.Fair // in the order in which they became ready
	LIFO = sched.LIFO // the youngest first; thieves take the oldest: for trees of threads
)
