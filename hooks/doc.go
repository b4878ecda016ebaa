// Package hooks keeps the functions that a scheduler calls where it has a moment to spare: on an idle virtual processor
// (VP), at a context switch, on a timer tick, when a thread yields, when it enters a call that may block.
//
//	var set hooks.Set // a scheduler has one: s.Hooks()
//	looks := 0
//	h, err := set.Register(hooks.Idle, 10, "poller", func(vp int) hooks.Verdict {
//		if looks++; looks < 3 {
//			return hooks.Busy // something is pending: fire again at once
//		}
//		return hooks.Quiet // nothing is pending: VP vp may sleep
//	})
//	for set.Fire(hooks.Idle, 0) == hooks.Busy { // what the scheduler does on an idle VP
//	}
//	fmt.Println(err, looks)
//	h.Unregister()
//
// The progress engine and the tasklets register their functions here; the scheduler fires. Neither knows the other. The
// points are those of Marcel, from which PIOMan polls the networks (Danjean: "Contribution à l'élaboration
// d'ordonnanceurs de processus légers performants et portables pour architectures multiprocesseurs", 2004; Trahay,
// Denis: "A scalable and generic task scheduling system for communication libraries", 2009).
//
//	sched                        hooks.Set                          users
//	                        +---------------------------+
//	idle loop   -- Fire --> | Idle    -> [T -100][P 50] | --> T: a tasklet.Vector runs its tasklets
//	switch      -- Fire --> | Switch  -> [T -100][P 50] | --> P: pioman's engine polls the networks
//	clock's tick -- Fire -> | Timer   -> [T -100][P 50] |
//	Yield       -- Fire --> | Yield   -> [T -100]       |
//	Lock, Recv..-- Fire --> | Library -> [T -100]       |
//	                        +---------------------------+
//
// A hook is called in the name of a VP, whose number it gets. Hooks of Idle, Switch, Yield and Library run on the VP's
// own LWP. Hooks of Timer do not: the scheduler's clock, an OS thread of its own, fires them in the name of one VP
// after the other, while the VP's thread computes on. Only for a VP whose thread polls (sched.Poll) that thread fires
// them itself. What a hook remembers of each VP belongs into a PerVP, which keeps a state for every VP on cache lines
// of its own and passes it to the hook. The hook's answer, the Verdict, says whether the hook must be called again
// before the VP sleeps, so that an idle loop knows whether to call it at once, for a while longer, or no more.
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
//
// How registering and firing go together without a lock is in set.go.
package hooks
