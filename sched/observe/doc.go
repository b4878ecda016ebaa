// Package observe records what happens on a scheduler: traces, and the work of each thread.
//
//	err := observe.StartTrace(s, observe.TraceConfig{})
//	work()
//	trace, err := observe.StopTrace(s) // package marcel/timeline shows it
//
// The scheduler knows nothing of this package but one interface (sched.Observer), which is nil while neither is asked
// for: then it costs a switch one load.
//
//	off ── StartTrace: rings are made, the tracer stored, then VP by VP the observer ──► recording
//	recording ── StopTrace: the tracer becomes nil, then each ring is read up to its n ──► off
//	recording ── ReadTrace: the tracer is paused, each ring read up to its n ──► recording
//
// A VP's ring has one writer at a time, as its run queue has; what happens without a VP goes to a ring of its own,
// under a spin lock. A reader waits for no VP: a holder that has loaded the tracer before it became nil, or was paused,
// may still add one event, at place n, after the reader has read n. In a full ring that is the place of the oldest
// event, which the reader therefore leaves out.
package observe
