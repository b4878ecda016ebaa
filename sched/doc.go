// Package sched schedules user-space threads on bound OS threads, on two levels. Programs use package marcel; this
// package is for those that build primitives of their own, as here a wait and its wake:
//
//	mu, queue := new(sched.Spin), new(sched.WaitQueue)
//	t := sched.Default().Spawn(sched.Attr{}, func() {
//		c := sched.Enter() // the thread holds its VP
//		mu.Lock()
//		c.Wait(queue, mu) // parks, and then unlocks mu; it leaves by itself
//	})
//	for w := (*sched.Waiter)(nil); w == nil; sched.Yield() { // until it has waited
//		c := sched.Visit() // nil on a goroutine, as here: what follows works nevertheless
//		mu.Lock()
//		w = queue.Pop()
//		mu.Unlock()
//		c.WakeAll(w)
//		c.Leave()
//	}
//	fmt.Println(t.Join())
//
// It is also for programs that need a scheduler of their own (New), that hang on its hooks, or that decide how an idle
// process sleeps (Sleeper), as package pioman does.
//
// The documentation of package marcel has the picture of threads, VPs, LWPs and CPUs. A VP has run queues; an LWP is a
// goroutine locked to an OS thread that is bound to the CPU of its VP.
//
// Why another scheduler? Go's cannot be told where to run a goroutine, and does not tell when a core falls idle. This
// one can do both. Its threads are goroutines that it switches itself, straight from stack to stack (package direct),
// on OS threads that stay on their CPU. At its idle, context-switch and timer points it fires hooks (package hooks),
// from which a progress engine polls networks.
//
// A thread that cannot go on does not stop the others of its VP:
//
//	it waits in Go (a channel, sync, net)   it gives its OS thread back, and comes back at its next call
//	it blocks in the kernel                 its VP goes to a spare LWP
//	it computes past its slice              Go's asynchronous preemption stops it
//
// That is the purpose of scheduler activations (Anderson et al., 1991), reached as in Marcel (Danjean, Namyst, Russell,
// 2000), but from user space.
//
// All methods may be called from threads, goroutines and, unless they block, hooks. In steady state no operation of a
// thread allocates, except a spawn with attributes (Scheduler.Spawn) and a wait under a context that can be done.
//
// Errors about a thread begin with "marcel:", the package from which programs have them; errors about a scheduler begin
// with "sched:".
//
// On platforms and Go releases that package direct does not know, and with the build tag portable, the Go scheduler
// switches the threads, on OS threads that are not bound. This is the portable mode; the first scheduler of a program
// says so on standard error (docs/platforms.md).
//
// README.md, beside the code, has the protocols: the switch, the VP's word, waking, threads that keep their VP or their
// OS thread, requests and stealing, ends, the order of locks. IDLE.md draws what sleeps and what is waking. Some of
// them are checked as models (testdata/spin).
package sched
