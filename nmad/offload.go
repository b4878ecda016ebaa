package nmad

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/tasklet"
)

// Offload says which core hands the sends of Isend, Post and Start to the network: that of the thread that starts them,
// or another one, so that the thread can go on computing (Trahay and Denis, 2009, section IV.B). Sends by Send, and
// messages to the own rank, are never offloaded.
type Offload uint8

const (
	// OffloadOff: the thread that starts a send submits it.
	OffloadOff Offload = iota
	// OffloadIdle: the nearest virtual processor that has nothing to run and is awake submits the send. If all compute
	// or sleep, the first poller does: an idle processor, the hooks of a timer, or the caller's wait. The caller wakes
	// no processor, because that costs it more than most submissions.
	OffloadIdle
	// OffloadTasklet: a tasklet on the caller's virtual processor submits the send at the processor's next hook: at a
	// switch, a wait, or the timer's.
	OffloadTasklet
)

// String returns the name in lower case.
func (off Offload) String() string { return name(off, "off", "idle", "tasklet") }

// offload makes other cores submit the sends of a gate. The starter leaves a send in the inbox, as if the lock were
// held, and a task, or a tasklet, handles the inbox.
//
//	starter:  push r onto the inbox; set pending; if it was not set before schedule the task, or, if that fails, tend
//	task:     clear pending; handle the inbox if the lock is free
//
// The task clears pending before it looks, so a starter that finds it set knows that the task looks after the push. If
// the link has no room, the gate's own task sends the rest later.
type offload struct {
	gate    *Gate
	pending atomic.Bool     // the task is scheduled, and has not begun to look; starters set it, the task clears it
	idle    atomic.Uint64   // Stats.Offloaded
	vector  *tasklet.Vector // of OffloadTasklet; else nil
	task    pioman.Task     // of OffloadIdle
	tasklet tasklet.Tasklet // of OffloadTasklet
}

// offloading makes the offload of a gate; nil if cfg has none.
func offloading(g *Gate, cfg *DomainConfig) *offload {
	if cfg.Offload == OffloadOff || g.rank == g.ownRank {
		return nil
	}
	x := &offload{gate: g}
	x.task.Init("nmad submission", func(*pioman.Task) pioman.Status { x.run(); return pioman.Done }, pioman.OneShot)
	if cfg.Offload == OffloadTasklet {
		x.vector = cfg.Tasklets
		_ = x.tasklet.Init(x.vector, x.run) // it is new, so it cannot be scheduled
	}
	return x
}

// run is the function of the task and of the tasklet.
func (of *offload) run() {
	of.pending.Store(false)
	of.gate.tend()
}

// leaveRequest leaves a send for another core.
func (of *offload) leaveRequest(r *Request) {
	of.gate.inbox.push(r)
	if !of.pending.Swap(true) && !of.schedule() {
		of.run()
	}
}

// schedule schedules the task, or the tasklet. It returns false if that fails, because the task is running just now.
func (of *offload) schedule() bool {
	if of.vector != nil {
		return of.tasklet.Schedule()
	}
	vp, err := of.gate.pollEngine.Offload(&of.task, false)
	if vp >= 0 {
		of.idle.Add(1)
	}
	return err == nil
}

// end waits until neither task nor tasklet runs any more, and handles what was left for them.
func (of *offload) end() {
	if of == nil {
		return
	}
	_ = of.task.Cancel() // not from its handler, so it cannot fail
	of.tasklet.Kill()
	of.run()
}

// offloads reports whether another core is to submit r.
func (g *Gate) offloads(r *Request) bool { return g.offload != nil && r.core.Kind == flow.RequestSend }

// checkOffload fails if Offload and Tasklets do not fit the rest of the configuration.
func (cfg *DomainConfig) checkOffload() error {
	switch {
	case cfg.Offload > OffloadTasklet:
		return fmt.Errorf("%w: offload %v", ErrConfig, cfg.Offload)
	case cfg.Offload != OffloadOff && cfg.resolved().Progress != Engine:
		return fmt.Errorf("%w: offload %v with progress %v: other cores submit only what the engine moves",
			ErrConfig, cfg.Offload, cfg.resolved().Progress)
	case cfg.Offload == OffloadTasklet && cfg.Tasklets == nil:
		return fmt.Errorf("%w: offload tasklet without Tasklets: give what tasklet.Attach returns", ErrConfig)
	case cfg.Offload != OffloadTasklet && cfg.Tasklets != nil:
		return fmt.Errorf("%w: Tasklets with offload %v, which has none", ErrConfig, cfg.Offload)
	}
	return nil
}
