// Package pioman is the progress engine: it runs small pieces of communication
// work, ltasks, whenever a processor has a moment, so that messages move while
// threads compute, block, or sleep. It answers PIOMan (Trahay & Denis, 2009;
// Denis, 2015); the code is new.
//
// A program that passes messages (package nmad) or reads sockets (package pioman/io) calls one function of it:
//
//	stop, err := pioman.Enable() // from here on requests progress while threads compute
//
// The rest is for libraries whose work it runs.
//
//	 owner (a request, a gate ...)                         waiter
//	   │ Task, embedded          Need / Done                 │ Completion.Wait
//	   ▼ Submit                     │                        │ spin 5 us, polling
//	submission list ──drain──▶ main list      load word      │ then sleep on a parker
//	(lock-free, anyone)        (the holder's) pending|asleep │
//	   └──────────── Queue, try-lock ─┘          │           │
//	                      ▲                      │           │
//	       ┌──────────────┼───────────────┐      │           │
//	     round          round           round    │           │
//	       │              │               │      │           │
//	  idle hook      switch hook     timer hook  │   explicit: Poll, Wait
//	 (VP is idle)  (every 10 us)  (VP computes)  │
//	       │                                     │
//	       ▼ nothing to do, something pending    ▼
//	     Sleeper: epoll over all Sources + eventfd ◀── wake
//
// # Use
//
//	type request struct {
//		task pioman.Task
//		done pioman.Completion
//	}
//	r.task.Init("my request", func(*pioman.Task) pioman.Status {
//		if !r.progress() {
//			return pioman.Again
//		}
//		return pioman.Done
//	}, pioman.Repeat)
//	r.task.Notify(&r.done, 1)
//	engine.Need()                 // one more request pending
//	err := engine.Submit(&r.task) // somebody polls it from now on
//	...
//	err = r.done.Wait(engine, 1)
//	engine.Done()
//
// Completion.Case makes a completion one of several things that a marcel.Select
// waits for. Completion.Then runs a function instead of waking a waiter.
//
// # Which flavour for whom
//
//	program of            start the default engine by     polls besides who waits
//	marcel threads        Enable                          the hooks of marcel's scheduler
//	plain goroutines      EnableThreads                   threads on CPUs that are idle (package pollers)
//	either                nothing                         nobody
//
// Start takes the variable PIOM_FLAVOUR's word for it. Whoever calls Wait waits in his own
// way in each flavour (flavour.go). Package piomantest has the suite that all of them pass.
//
// # Who polls
//
// An engine is explicit at first: tasks run inside Poll and Wait, on the caller's stack.
// Attach (for the default engine: Enable) hooks it to a scheduler. Then, while requests are
// pending, it also polls at the Points in use: where a virtual processor is idle (one of each
// socket, or those that the Distribution names), where it switches threads, where it
// enters a call that may block, and, in the name of one that computes, on a timer. With
// nothing pending every hook returns after one load. polling.go has the policy,
// docs/decisions/who-polls-when.md the figures and the reasons.
//
// What does not come for long is left to the kernel: an idle processor blocks there for
// all, once it has polled in vain for as long as the arrivals observed make it worth
// (adaptation.go); while all compute, an OS thread beside them does (progressor.go), and no
// hook polls. A task that waits for a descriptor of its own (Descriptor, Task.On) leaves its
// queue meanwhile (descriptor.go), so that thousands of them cost nothing. Or else one
// processor does nothing but poll (progressor.go).
//
// Every number and switch is in one table: Params, the variables PIOM_...,
// docs/parameters.md. Engine.Explain says who polls what, where, how
// often, and why.
//
// # Tasks and queues
//
// README.md draws what polls, sleeps and is woken. The state of a task is in state.go, with its drawing. A queue is held by one poller at a time, which
// polls each task once a round, at most 64 of them; the next round goes on where
// this one stopped, or, if it came to all of them, begins with another one. A poller that
// finds the queue held skips it. What a handler submits runs in the next round. Handlers
// of one queue never run in parallel; a task is polled by one poller at a time whatever
// its queue. A handler must not block.
//
// An engine hooked to a scheduler of several virtual processors has a tree of queues over
// the machine's topology, one for each item that has siblings: tree.go has its picture,
// who visits which queue, and why no task starves. Task.SetCPUs chooses the lowest
// item that covers a set; tasks without one are in the root's queue.
//
// # The end of a task, and of a wait
//
// The store that brings a task to rest is the engine's last touch of it; the Notify signal
// comes after it. A task with the option Destroy is not touched even by that: its handler may free it
// (ownership.go). The compare-and-swap by which Signal sets the bits also takes the list of waiters
// off the completion, and is its last touch of it, unless it holds waiters whose bits
// are still missing: those it puts back, and they cannot leave before. So whoever has waited,
// last of all that wait there, may reuse the memory of both, at once. A sleeping waiter is woken through a
// parker, which belongs to the process and is never freed. Wakes are hints: who wakes
// up looks again. completion.go has the protocol.
//
// Waits are for any or for all of some bits, for ever, for a time, until a moment, or under a
// context; any number of them at a time. A Continuation stands in the list as a waiter does and
// runs when its bits are set: inline within a budget, as a tasklet, or in a thread. A wait
// polls for BusyWait before it sleeps, in the scheduler's loop (sched.Poll).
//
// Mask keeps a task from being polled, and waits for the handler that runs; masks count (mask.go).
//
// # What it costs
//
// Instructions rather than times, since these vary with the machine; a compare-and-swap of a line that
// another core has written costs one crossing.
//
//	Test, TestAll               one load, inlined
//	Signal, nobody asleep       one load, one compare-and-swap
//	Signal, n asleep            the same, then each of the n is visited, and woken (a semaphore's Release)
//	                            or put back, with one more compare-and-swap for all of those
//	Wait, bits set              one load
//	Wait, they come in the spin a poll and a load a turn, the clock every fourth turn
//	Wait, they come later       a parker off and on the free list, one compare-and-swap on the completion,
//	                            two on the pending count, a semaphore's Acquire; no allocation
//	the same, under a context   and what context.AfterFunc costs and allocates
//	giving up (time, context)   a compare-and-swap, and a visit to each other waiter
//	Then                        as for the Wait that sleeps, without the semaphore; and so for its way back
//	a masked task               a load and a place in the round, each round
//
// # No wake-up gets lost
//
// The number of pending requests and the mark "asleep" of the Sleeper live in one word,
// so all changes of either are in one order.
//
//	poster                                    sleeper
//	------                                    -------
//	1 put the request where a task sees it    a become the sleeper (else: make
//	2 Need: pending+1, and look at asleep       him look again, and be refused)
//	3 OneShot: push, look at asleep again     b set asleep
//	  Repeat: push, posted+1, look            c poll once; leave if anything moved,
//	4 asleep was set: wake (eventfd)            or if somebody else was polling
//	                                          d arm every source; leave if one says no
//	                                          e epoll_wait: sources and eventfd
//	                                          f clear asleep, poll, disarm, poll
//
// If 2 (or 3) comes before b, then c sees the request. If it comes after b, the poster
// sees the mark and wakes, and the eventfd keeps that until e. What arrives from
// outside before d is what Arm answers no to; after it, it makes the descriptor readable.
// A poster that carries a virtual processor wakes nobody, but sees to it that the timer
// ticks: his processor polls at its own hooks from then on, the timer's makes the sleeper look
// again, and when the processor goes idle it comes to a and is refused, which does so too. So the sleeper has always seen everything by the time that
// the last processor sleeps. It watches for what the tasks wanted when it armed; the
// rule "whoever is refused makes him look again" covers what others changed since.
//
// A wake that is meant for one of several who want to sleep there may be consumed by another one, who
// sleeps at that moment. So each has a word of its own, which is changed before the wake, and looks at it
// when it has become the sleeper (sleepAs).
//
// When nothing is pending, processors sleep in the scheduler's own way, and
// the first Need off any processor kicks one. The scheduler lets itself be found before
// it asks the Sleeper, who reads the pending count: either the count is seen,
// or the kick finds the processor (Scheduler lists what is asked of it).
//
// Waiters of an explicit engine do the same for themselves. One sleeps in the kernel
// for all, the others on their parkers; who leaves wakes another one if nobody sleeps
// in the kernel then. Who is refused there has the sleeper look again only if something has
// happened in his own polls, or was posted: else two waiters would take turns in waking
// each other. A follower announces itself (prepare) before it looks
// whether there is a sleeper; the sleeper is off the word before it looks for a
// follower: one of them sees the other. Hooking and unhooking use the same pair:
// stop first makes the engine explicit, then wakes every parker.
//
// # Guarantees
//
//   - Submit, polling, Need, Done, Signal, Test and Wait allocate nothing (the first
//     wait of a new greatest number of simultaneous sleepers excepted).
//   - No lock is spun on in Submit, Poll, Need, Done, Signal and the hooks.
//   - With nothing pending, and with only announced receives pending, no CPU is used.
//   - After Cancel no handler of the task runs; Close and stop leave nothing behind.
//   - After Mask, until Unmask, no handler of the task runs either.
//   - A continuation runs exactly once for each Then that was not cancelled.
//   - A handler or continuation that panics or calls runtime.Goexit ends itself, not the engine.
//   - Handlers run on many threads, one after the other, each seeing what the last did.
package pioman
