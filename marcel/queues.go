package marcel

import (
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Priority says which of a VP's ready threads go first (Attr.Priority, Thread.SetPriority): see [sched.Priority].
type Priority = sched.Priority

// The priorities, the highest first.
const (
	PriorityRealTime, PriorityUserRealTime = sched.PriorityRealTime, sched.PriorityUserRealTime
	PriorityDefault                        = sched.PriorityDefault
	PriorityBatch, PriorityIdle            = sched.PriorityBatch, sched.PriorityIdle
)

// Level is the topology level in whose run queue a thread waits (Attr.Level): see [sched.Level].
type Level = sched.Level

// LevelOf is the level of the items of a kind: see [sched.LevelOf].
func LevelOf(k topo.Kind) Level { return sched.LevelOf(k) }

// Policy says in which order a VP runs ready threads of one priority (sched.Config.Policy): see [sched.Policy].
type Policy = sched.Policy

// The policies.
const (
	Fair, LIFO = sched.Fair, sched.LIFO
)
