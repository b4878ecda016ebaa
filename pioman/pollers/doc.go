// Package pollers has OS threads that poll for a program of plain goroutines: the
// progress engine hangs on their hooks as it hangs on those of marcel's scheduler.
//
//	pool, err := pollers.Start(pollers.Config{Warn: func(error) {}}) // a poller for each usable CPU
//	if err != nil {
//		panic(err)
//	}
//	looked := make(chan int, 1)
//	h, err := pool.Hooks().Register(hooks.Idle, 10, "look", func(vp int) hooks.Verdict {
//		select {
//		case looked <- vp:
//		default:
//		}
//		return hooks.Quiet // nothing is pending: the poller may sleep
//	})
//	pool.Kick(0) // something is there: a poller is to look
//	fmt.Println(<-looked >= 0, err)
//	h.Unregister()
//	pool.Stop()
//
// Programs call pioman.EnableThreads, which has the engine do that. It is what PIOMan does without Marcel (Denis, "pioman: a pthread-based multithreaded
// communication engine", 2015: threads under SCHED_IDLE and a timer thread).
//
//	        wants a turn              a turn
//	poller ──────────────▶ sentinel ─────────▶ poller        one pair per CPU,
//	(ordinary priority,    (SCHED_IDLE, same CPU)             bound to it
//	 polls 50 us a turn)
//
//	clock: polls in the name of pollers that get no turn, once a millisecond
//
// # Why two threads per CPU
//
// Polling shall take only cycles that no other thread wants. A Go thread cannot poll under SCHED_IDLE
// itself: preempted in the middle it keeps its P and the lock of the queue, and on a CPU
// with something to compute it does not get on for up to 1.2 s (measured; the
// collector, which has to stop it, took 0.8 s). And without privilege no thread can be
// helped out of SCHED_IDLE. So the thread under SCHED_IDLE, the sentinel, runs no Go
// code: it sits in one system call, a sendmsg of 64 MiB into a socket that holds a few
// KiB. The poller reads from the other end whenever it has polled for a while. There is
// something to read once the kernel had nothing better to run than the sentinel. The
// poller itself has ordinary priority, for 50 us at most per turn: a thread that becomes ready
// while it polls waits no longer than for any other thread.
//
// Where SCHED_IDLE is forbidden the pool says so once. Then the poller asks the kernel
// itself, by yielding: if that took long another thread wanted the CPU, and the poller sleeps, from
// 1 ms on, twice as long each time, up to 16 ms.
//
// # The states of a poller
//
//	           Kick, clock                           no turn for a tick (clock)
//	asleep ─────────────────▶ awake: polls, or ─────────────────────────▶ starved
//	  ▲ ◀──────────────────── waits for a turn ◀───────────────────────────  │
//	  │  hooks are Quiet,       │                  got its turn              │
//	  │  or enough others poll  │ hooks are Waiting                         │
//	  │                         ▼                                           │
//	  └──────────────────── asleep, in the Sleeper                          │
//	                                                       clock: Timer hooks
//
// The word that holds the state is the futex on which a poller sleeps. running counts
// those that are awake: Kick looks there first.
//
//	poller                                      poster
//	a state = asleep, running-1                 1 the request is pending
//	b try the Sleeper (none: fire Idle)         2 Kick: running != 0: done
//	c asleep still: futex                         else a sleeping poller: awake, wake it
//
// If 2 comes after a it finds the poller; else b sees 1. A poller that starves no longer
// counts as running: the clock, which says so, then looks itself whether
// something is pending, polls, and wakes another poller, whose CPU may be idle. The
// clock ticks as long as a poller is awake, or starves with something pending; it sleeps
// otherwise, and is roused by a poller that waits for a turn and by Kick.
//
// # Guarantees
//
//   - With nothing pending no thread of a Pool runs; with something pending that the
//     kernel announces, one sleeps in the engine's Sleeper.
//   - Stop ends every thread. None of the program's other threads is ever bound, nor put
//     under another policy.
//   - Kick never blocks, and is one load while a poller polls.
//   - A Pool raises GOMAXPROCS by what its threads occupy, and lowers it again.
package pollers
