// Package tasklet runs small pieces of work soon, outside of what the caller is
// doing, at the hook points of the scheduler: the bottom halves of Linux in user
// space (Rusty Russell's and Alexey Kuznetsov's tasklets of Linux 2.4; in Marcel,
// Danjean, Namyst: "Controlling kernel scheduling from user space", 2003). A
// communication library uses them for work that an event requires, and that the thread which
// notices the event has no time or no right to do.
//
//	v, err := tasklet.Attach(scheduler)     // once: hang the vector on the hooks
//	t := tasklet.New(v, func() { ... })     // or Init, on one that is embedded; NewHigh
//	t.Schedule()                            // from anywhere, any number of times
//	t.ScheduleOn(1)                         // on a processor of one's choice
//	v.Detach()                              // before the scheduler is stopped
//
// The function runs on a virtual processor between threads, or on the timer
// thread in its name. It must be short, must not block, must not switch threads.
//
// # Guarantees
//
//   - Scheduled means: it runs at least once after that, and that run sees
//     what the scheduler of it wrote before. Scheduled twice before it starts means:
//     it runs once.
//   - It never runs twice at the same time, and each run sees all of the one before.
//     Different tasklets run in parallel, those of one processor one after the other:
//     those of high priority first, which leave at least a quarter of each firing to the
//     normal ones; within a priority first come, first served.
//   - Disable counts: as many Enable as Disable, then it runs again; what was
//     scheduled meanwhile is not lost. Disable and Kill wait until a run in progress
//     is over. Once Kill has returned it never runs again, and may be given
//     to Init.
//   - Nothing here allocates, takes a lock, or enters the kernel, save for
//     waking a sleeping processor and for waiting in Disable, Kill and Detach.
//   - A firing runs a bounded number, and none twice; it says Busy if more are there. If
//     that happens too often in a row at the expense of threads (Config.Restarts), the
//     rest goes to a helper: a thread of the processor, made for that, which runs them
//     between the turns of the other threads until none is left. help.go has the
//     protocol.
//   - Stats says how many were scheduled, run, refused, and so on.
//
// # The picture
//
//	any thread or goroutine                     virtual processor 1
//	                              +----------------------------------------+
//	Schedule --compare-and-swap-> | head[2]: newest -> ... -> oldest       |  <- pushers write
//	          (Kick if it was     |- - - - - - - - - - - - - - - - - - - - |
//	           empty and not      | turn: the firing, or free: how often, |  <- firings write
//	           our processor)     |       whether some are left            |
//	                              | ready[2]: oldest -> ... -> newest      |
//	                              +----------------------------------------+
//	               Idle, Switch, Yield, Library -> fire <- Timer, helper
//
// Each virtual processor has a lane, with a stack and a queue for each priority.
// Pushing is one compare-and-swap on a stack; since it is emptied as a whole there is
// no ABA problem. A firing takes the lane's turn by one compare-and-swap, empties the
// stacks, turns them round behind what was left (ready), and runs from there. A firing that does not get the turn
// says Busy and goes: the timer firing for a processor never meets the
// processor's own firing inside a lane.
//
// A tasklet goes to the lane of the processor that schedules it. Scheduled from a
// plain goroutine (or a timer thread) it goes to its home: where it was last, at
// first one after the other. Scheduled while it runs it stays where it runs.
//
// # The state of a tasklet
//
// One 64-bit word: flags scheduled (S), queued (Q), running (R), killed (K), high
// (constant), the lane (24 bits), and the count of disables (32 bits). The transitions are
// methods of the type state.
//
//		             schedule                 begin
//		  idle ------------------> queued ------------> running --- end ---> idle
//		   |  0                      S Q   <--.            R
//		   |                        ^    |     \           | schedule
//		   | schedule,       enable |    | begin,\ end     v
//		   | disabled   (the last)  |    | disabled`-- again (R S)
//		   |                        |    v             | end, disabled
//		   `---------------------> parked (S) <--------'
//
//		  kill adds K and removes S, whatever else there is: idle and parked are dead
//		  at once, running after end, queued when it is found in its lane (drop).
//
//	  - Q is set by the transition that makes the last condition true for a run: schedule, the
//	    last enable, or end. Its caller alone links it into a lane, so that it is never in two.
//	    The holder of the turn, which takes it out, clears Q.
//	  - Q and R exclude each other, hence strict serialization without a lock: only a
//	    queued one begins, and only one that does not run gets queued.
//	  - Scheduling one that is scheduled already still writes the word (the same
//	    value): a mere reading would let the processor delay the caller's earlier
//	    writes past it, and the run could miss them. It is the full barrier of Linux's
//	    test_and_set_bit; begin is what it pairs with.
//
// # Why no wake-up is lost
//
// A processor goes to sleep after an idle firing that said Quiet. Quiet is said
// if turn was free, nothing left, head nil, and turn still the same, including
// the number of firings so far: then, when head was read, the lane was empty and
// no firing ran one of its tasklets and could have put it back. A pusher on an
// empty lane kicks the processor unless it runs there; it looks after the push, because
// its processor may have been taken from it before. A pusher on a lane that
// is not empty relies on the kick of the first one. A firing that leaves work behind
// says Busy, and kicks, too, if it is not on the processor: the timer's, or one whose
// processor was taken away while it ran.
//
// This leans on three promises of the scheduler: a processor about to sleep does not
// miss a Kick; after Busy it fires again, and does not sleep before it heard
// something else; CurrentVP does not name a processor that its thread has lost.
package tasklet
