package pioman

import (
	"sync"

	"github.com/pm2-go/pm2/sched"
)

// Enable makes the requests of the default engine progress in the background, for all kinds of callers: threads of
// marcel, goroutines, goroutines that are locked to their OS thread, and calls from C, in any mixture. Once marcel's
// default scheduler runs, its VPs poll when they are idle, switch threads, or compute past a timer period. In a program
// without threads one OS thread, which starts with the first pending request, polls while no waiter does, and blocks in
// the kernel when it has polled in vain.
//
// stop undoes that: the engine is explicit again, and a waiter polls for itself. stop may be called again, without
// effect. Libraries of one program may each call Enable: the engine's parameters are those of its first use, and the
// last of their stops ends its progress. ErrAttached if Attach has hooked it to a scheduler of the program's own.
func Enable() (stop func(), err error) { return Default().Enable() }

// Enable is the function Enable for this engine.
func (e *Engine) Enable() (stop func(), err error) {
	watchDefault()
	return e.share("enable", isCarrier, e.carrier)
}

// isCarrier reports whether Enable accepts an engine that is hooked to s.
func isCarrier(s Scheduler) bool { return hasNone(s) || s == Scheduler(sched.Running()) }

// hasNone reports whether s stands for no scheduler.
func hasNone(s Scheduler) bool {
	_, none := s.(*noVPs)
	return none
}

// none returns a stand-in for the scheduler of a program that has none.
func (e *Engine) none() Scheduler { return &noVPs{shared: e.config.SharedCPUs} }

// carrier returns the scheduler that Enable hooks the engine to: the default one, if it runs, or must for a dedicated
// VP; else a stand-in, and adopt moves the engine when the default scheduler starts.
func (e *Engine) carrier() Scheduler {
	if e.params.Dedicated >= 0 {
		return sched.Default()
	}
	enabledEngines.Store(e, nil) // before the look: adopt moves the engine to a scheduler that starts after it
	if s := sched.Running(); s != nil {
		return s
	}
	return e.none()
}

// enabledEngines are the engines that were enabled before the default scheduler ran: they move to it when it starts.
var enabledEngines sync.Map

// watchDefault makes the default scheduler call adopt when it starts.
var watchDefault = sync.OnceFunc(func() { sched.OnDefault(adopt) })

// adopt moves the enabled engines to s, the default scheduler, which has just started. It does not wait for that: the
// thread that starts s may be in a handler. Until then the progressor goes on.
func adopt(s *sched.Scheduler) {
	go enabledEngines.Range(func(e, _ any) bool { e.(*Engine).moveTo(s); return true })
}

// moveTo moves the engine to s, if it is still enabled and without a scheduler.
func (e *Engine) moveTo(s *sched.Scheduler) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.attached.Load()
	if a == nil || !hasNone(a.scheduler) || sched.Running() != s {
		return
	}
	a.detach()
	err := e.hook(s, a.users)
	if err == nil {
		return
	}
	e.complain(err)
	if err := e.hook(a.scheduler, a.users); err != nil {
		e.complain(err)
	}
}
