// Package place has bubbles, which are groups of threads that belong together, and the policies that map them onto the
// machine. It is there for programs that come from Marcel, whose bubbles these are; package marcel exports them.
//
//	b := marcel.NewBubble(marcel.Spread{})
//	marcel.SpawnWith(marcel.Attr{Bubble: b}, work)
//	err := errors.Join(b.Wake(), b.Join())
//
// The scheduler knows neither bubbles nor policies. It has run queues, one for each item of the topology (sched.Queue),
// and calls this package in four places, which cost nothing where there is no bubble:
//
//	a thread is spawned with Attr.Bubble   sched.Bubble: Adopt
//	a thread of a bubble has ended         sched.Member: Ended
//	a VP has nothing to run                sched.Planner: Seek
//	the clock's period is over             sched.Planner: Tick
//
// A thread in a bubble is always placed: on its bubble's hold, a queue that no VP looks at, or on the
// queue of an item. A bubble controls its threads only by the queue in which they wait. A plan
// (Arrange) assigns all threads first, and then sorts each queue that they left once, so that no
// thread runs where only an intermediate step has put it.
//
//	      NewBubble            Wake, WakeOn, Place              Hold
//	───────────────► held ───────────────────────► on an item ────────► held
//	                   insert: its threads are held   insert: on its item's queue
//
// The trees of bubbles are under one lock for each scheduler (sched.Scheduler.BubbleLock). Bubble.busy makes the calls
// of a policy for one bubble exclusive: the caller that arranges waits for it, idle VPs and the clock try it. Policies
// run outside of all locks: in the caller that wakes, in the base of an idle VP as idle hooks do, and on the clock. A
// VP is woken to ask policies when threads queue up on an item whose VPs are all awake, at the rate at which VPs are
// woken to steal.
package place
