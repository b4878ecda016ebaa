package nmad

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/tasklet"
)

// Offload says which core submits the sends of Isend, Post and Start to the network: those of the thread that starts them,
// or another one, so that their caller goes on with its computation (Trahay and Denis, 2009, section IV.B). Send, and
// messages to the own rank, are never offloaded.
type Offload uint8

const (
	// OffloadOff: the thread that starts a send submits it.
	OffloadOff Offload = iota
	// OffloadIdle: the nearest virtual processor that has nothing to run and is awake submits the send. If all compute or
	// sleep, the first poller does: an idle processor, the hooks of a timer, or the caller's wait. The caller wakes no
	// processor, because that costs it more than most submissions.
	OffloadIdle
	// OffloadTasklet: a tasklet on the caller's virtual processor submits the send at the processor's next hook: at a
	// switch, a wait, or the timer's.
	OffloadTasklet
)

// String returns the name in lower case.
func (off Offload) String() string { return name(off, "off", "idle", "tasklet") }

// offload has other cores submit the sends of a gate. The caller leaves a send in the inbox, as if the lock were held, and
// a task, or a tasklet, takes in what is there.
//
//	starter:  push r onto the inbox; was pending, set it: not yet: schedule the task, or, if that is not to be had, tend
//	task:     clear pending; take in the inbox, if the lock is free
//
// The task clears pending before it looks, so a starter that finds it set knows that the task looks after the push. If the
// link has no room, the gate's own task, which polls, sends the rest later.
type offload struct {
	g       *Gate
	pending atomic.Bool   // the task has not begun to look
	idle    atomic.Uint64 // submissions that an idle processor was given
	vector  *tasklet.Vector
	task    pioman.Task
	tasklet tasklet.Tasklet
}

// offloading makes what offloads the sends of a gate; nil: nothing does.
func offloading(g *Gate, cfg *DomainConfig) *offload {
	if cfg.Offload == OffloadOff || g.rank == g.ownRank {
		return nil
	}
	x := &offload{g: g}
	if x.task.Init("nmad submission", func(*pioman.Task) pioman.Status { x.run(); return pioman.Done }, pioman.OneShot); cfg.Offload == OffloadTasklet {
		x.vector = cfg.Tasklets
		_ = x.tasklet.Init(x.vector, x.run) // it is new, so it cannot be scheduled
	}
	return x
}

func (of *offload) run() {
	of.pending.Store(false)
	of.g.tend()
}

// leaveRequest leaves a send to another core.
func (of *offload) leaveRequest(r *Request) {
	of.g.inbox.push(r)
	if !of.pending.Swap(true) && !of.schedule() {
		of.run()
	}
}

// schedule says whether it was possible: the task may be running just now.
func (of *offload) schedule() bool {
	if of.vector != nil {
		return of.tasklet.Schedule()
	}
	vp, err := of.g.pollEngine.Offload(&of.task, false)
	if vp >= 0 {
		of.idle.Add(1)
	}
	return err == nil
}

// end waits until nothing is run any more; what was left to it the caller does.
func (of *offload) end() {
	if of == nil {
		return
	}
	_ = of.task.Cancel() // not from its handler, so it cannot fail
	of.tasklet.Kill()
	of.run()
}

// offloads says whether r is to be submitted by another core.
func (g *Gate) offloads(r *Request) bool { return g.offload != nil && r.core.Op == flow.OpSend }

// checkOffload says what is wrong with that part of a configuration.
func (cfg *DomainConfig) checkOffload() error {
	switch {
	case cfg.Offload > OffloadTasklet:
		return fmt.Errorf("%w: offload %v", ErrConfig, cfg.Offload)
	case cfg.Offload != OffloadOff && cfg.resolved().Progress != Engine:
		return fmt.Errorf("%w: offload %v with progress %v: other cores submit only what the engine moves", ErrConfig, cfg.Offload, cfg.resolved().Progress)
	case cfg.Offload == OffloadTasklet && cfg.Tasklets == nil:
		return fmt.Errorf("%w: offload tasklet without Tasklets: give what tasklet.Attach returns", ErrConfig)
	case cfg.Offload != OffloadTasklet && cfg.Tasklets != nil:
		return fmt.Errorf("%w: Tasklets with offload %v, which has none", ErrConfig, cfg.Offload)
	}
	return nil
}
