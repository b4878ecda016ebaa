// Package pioman is the progress engine: it runs small pieces of communication work, ltasks, whenever a CPU has a
// moment, so that messages move while threads compute, block, or sleep.
//
//	stop, err := pioman.Enable() // from here on requests progress while threads compute
//	defer stop()
//	var task pioman.Task // embedded in a request, as is
//	var done pioman.Completion
//	rounds := 0
//	task.Init("three rounds", func(*pioman.Task) pioman.Status {
//		if rounds++; rounds < 3 {
//			return pioman.Again // poll it again
//		}
//		return pioman.Done
//	}, pioman.Repeat)
//	task.Notify(&done, 1)
//	pioman.Default().AddPending() // one more request is pending, until RemovePending
//	fmt.Println(err, pioman.Default().Submit(&task), done.Wait(nil, 1), rounds)
//	pioman.Default().RemovePending()
//
// A program that passes messages (package nmad) or reads sockets (package pioman/io) calls Enable, and
// no more. All else in this package is for libraries whose work the engine runs. The package answers PIOMan (Trahay &
// Denis, 2009; Denis, 2015); the code is new.
//
//	 owner (a gate, a socket ...)                          waiter
//	   │ Task, embedded                     AddPending,      │ Completion.Wait
//	   │                                    RemovePending    │ polls (BusyWait),
//	   ▼ Submit                                  ▼           │ then sleeps on a parker
//	submission list ──drain──▶ main list      load word      │
//	(lock-free)                (the holder's) pending|asleep │
//	   └──────────── Queue, try-lock ─┘          │           │
//	                      ▲                      │           │
//	       ┌──────────────┼───────────────┐      │           │
//	     round          round           round    │           │
//	       │              │               │      │           │
//	  idle hook     switch hook       timer hook │   explicit: Poll, Wait
//	 (VP is idle)    (every 10 us)  (VP computes)│
//	       │                                     │
//	       ▼ nothing to do, something pending    ▼
//	     the sleeper: epoll over all Sources + eventfd ◀── wake
//
// A Completion.Wait polls the engine for Params.BusyWait, 5 us, before it sleeps. The waiter of a message of nmad polls
// its gate instead, for nmad.Config.Spin, 10 us, and then calls Completion.Park. There a thread sleeps without another
// poll: the idle VP, or the switch hook, polls next. A goroutine, which has no VP that would poll in its place, polls
// on for at most 1.5 ms before it sleeps. Params.Points can add the library hook, which fires as the waiter goes to
// sleep.
//
// # Which thread polls
//
// Enable is the one call for every program: threads of marcel, goroutines, goroutines that are locked to their OS
// thread, and calls from C may wait at the same time, and what a wait costs does not depend on what waits.
//
//	a waiter polls first       at most one goroutine a CPU, and one thread a VP, while nothing else is ready there
//	an idle VP                 where marcel's scheduler runs, while no goroutine polls
//	the hooks of busy VPs      at switches and at the ticks of the clock
//	the progressor             one goroutine: where none of these polls, and asleep in the kernel when that is vain
//
// Without Enable the waiters alone poll. internal/test/piomantest is the suite of tests for all kinds of callers.
//
// # What one must know
//
// Tasks:
//
//   - A handler must not block. Handlers of one queue never run in parallel, and a task is polled by one poller at a time;
//     each poll sees what the last one did.
//   - After Cancel no handler of the task runs. Task.SetCPUs keeps the polls of a task near some CPUs.
//   - A handler or function that panics or calls runtime.Goexit ends itself, not the engine.
//
// Waits:
//
//   - A wait is for any bits of a completion, or for all; it may have a context, or end when the thread is canceled.
//   - The last waiter of a completion may reuse its memory, and that of the task which signaled it, at once.
//   - Completion.Then has a poller call a function instead of waking a waiter: once, outside of every lock. Completion.Case
//     is for a marcel.Select.
//
// Costs:
//
//   - Submit, polling, AddPending, RemovePending, Signal, Test and Wait allocate nothing, but for the first wait of a new greatest number
//     of simultaneous sleepers. Submit, Poll, AddPending, RemovePending, Signal and the hooks spin on no lock.
//   - With nothing pending, and with only announced receives pending, no CPU is used.
//   - Close leaves nothing behind; the stop function of Enable leaves the two descriptors by which an engine sleeps.
//
// Only the files thread*.go import package marcel: the engine takes a mutex from it, and a semaphore to sleep on, for
// threads and goroutines alike. All other files use sched and hooks.
//
// What may be set is in Params, and in the variables PIOM_...; docs/parameters.md explains it. Engine.Explain says what
// is polled, where, how often, and why. README.md, beside the code, has the protocols: which VP polls when, what sleeps
// and is woken, why no wake-up is lost, what each operation costs.
package pioman
