// Package timeline turns traces of schedulers (observe.Trace) into what people can look at: the JSON that Perfetto
// (https://ui.perfetto.dev) and Chrome's chrome://tracing open, in Google's Trace Event Format.
//
//	s := sched.Default()
//	err := observe.StartTrace(s, observe.TraceConfig{})
//	work()
//	trace, err := observe.StopTrace(s)
//	err = timeline.Of(trace).Write(file)
//
// What is drawn:
//
//	process       one, named by Trace.Description
//	VP n          a row for each VP: a slice for each stretch that a thread ran,
//	              "looking for work", "asleep" and "free" (its
//	              thread is in Blocking) in between; inside of them calls
//	              of hooks, and ltasks of package pioman, that took long or moved
//	              something
//	no VP         the same for the clock, goroutines, and threads whose VP
//	              was away
//	arrows        from a spawn or a wake to where the thread runs; from the victim of
//	              a steal to the thief; from a message's departure to its arrival,
//	              across processes
//	asynchronous  Blocking, and running without the VP after a seizure; sends and
//	              receives, from start to end, by peer
//
// Traces of several processes of one host share a clock (CLOCK_MONOTONIC), so Merge just puts them side by side. Across
// hosts the clocks do not agree.
package timeline
