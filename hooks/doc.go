// Package hooks keeps the functions that a scheduler calls where it has
// a moment to spare: on an idle processor, at a context switch, on a timer tick,
// when a thread yields, when it enters a call that may block. The progress engine
// and the tasklets hang here; the scheduler fires. Neither knows the other. The
// points are those of Marcel, from which PIOMan polls the networks (Danjean:
// "Contribution à l'élaboration d'ordonnanceurs de processus légers performants
// et portables pour architectures multiprocesseurs", 2004; Trahay, Denis: "A
// scalable and generic task scheduling system for communication libraries", 2009).
//
//	sched                        hooks.Set                          users
//	                        +-------------------------+
//	idle loop   -- Fire --> | Idle    -> [A 10][B 20] | --> pioman: poll the networks
//	switch      -- Fire --> | Switch  -> [B 20]       | --> tasklet: run the vector
//	timer       -- Fire --> | Timer   -> nil          |
//	Yield       -- Fire --> | Yield   -> nil          |
//	Lock, Recv..-- Fire --> | Library -> nil          |
//	                        +-------------------------+
//
// A hook is told in the name of which virtual processor (VP) it is called. What it
// remembers of each belongs into a PerVP, which keeps a state for every VP on
// cache lines of its own and hands it to the hook. What it answers, the Verdict, says
// whether work is pending, so that an idle loop knows whether to poll on, to wait
// for the kernel, or to sleep.
//
// # The mechanism
//
// Each point is one atomic pointer to an immutable slice of hooks, in order of
// priority; nil when there is none. Register and Unregister copy the slice,
// change the copy, and swing the pointer with a compare-and-swap, again if
// another writer was faster. Fire loads the pointer and walks what it finds:
// no lock, no reference count, nothing written, so that any number of
// processors can fire at once without exchanging a cache line. The collector
// frees old slices when the last one that walks them is through.
//
// A walk may therefore meet a hook that was unregistered meanwhile. So each hook
// carries a mark, set before the slice is changed and looked at immediately before
// each call: a call begins where the mark is found unset. The rejected alternatives:
// a read-write lock would bounce its count between all processors at every idle
// poll; waiting in Unregister until all walks are through would deadlock a hook
// that unregisters itself.
//
// # Guarantees
//
//   - Hooks of a point are called in ascending order of priority; equal ones in
//     order of registration.
//   - Once Unregister has returned no new call begins, not even in a walk that
//     is under way. A call that has begun may still be running, and so may the last
//     one when a hook unregisters itself.
//   - A hook registered during a walk is called from the next one on.
//   - Register, Unregister and Fire may be called from anywhere at once, hooks included.
//   - Whatever happened before Register (or Unregister) is visible to every
//     call after it (to every Fire that does not call it any more).
//   - Fire allocates nothing and blocks only if a hook does, which is forbidden.
//     With nothing registered it is one atomic load, inlined.
//   - A panic in a hook passes through Fire to the scheduler.
package hooks
