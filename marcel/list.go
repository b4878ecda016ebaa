package marcel

import (
	"io"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// What a list of threads has of each thread: see package sched.
type (
	ThreadInfo  = sched.ThreadInfo
	ThreadWork  = sched.ThreadWork
	ThreadState = sched.ThreadState
)

// The states of a thread.
const (
	StateSeed, StateReady, StateRunning = sched.StateSeed, sched.StateReady, sched.StateRunning
	StateBlocked, StateAway             = sched.StateBlocked, sched.StateAway
	StateSuspended, StateBarred         = sched.StateSuspended, sched.StateBarred
)

// Threads lists the threads that live in the scheduler of the calling thread, or in the default one,
// by number, without stopping them. A thread that begins or ends during the call may be in the list or
// not. It costs running threads nothing.
func Threads() []ThreadInfo { return sched.Current().Threads() }

// WriteThreads writes that list for a person, one thread in a line.
func WriteThreads(w io.Writer) error { return observe.WriteThreads(w, Threads()) }
