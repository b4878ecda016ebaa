// Package marcel gives a Go program user-space threads that our own scheduler runs on bound OS threads, and what they
// need to work together: semaphores, mutexes, conditions, barriers, mailboxes, timers, and Select, which waits for any
// of several.
//
//	func fib(n int) (a int) {
//		if n < 2 {
//			return n
//		}
//		var b int
//		marcel.Do(func() { a = fib(n - 1) }, func() { b = fib(n - 2) }) // fork and join, the fast form
//		return a + b
//	}
//
//	func main() {
//		answers := marcel.NewMailbox[int](1)                    // where one wrote: make(chan int, 1)
//		t := marcel.Spawn(func() { _ = answers.Send(fib(25)) }) // where one wrote: go func() { ... }()
//		n, _ := answers.Recv()                                  // blocks this thread, or goroutine, only
//		fmt.Println(n, t.Join())
//	}
//
// # The picture
//
//	threads   t t t t t      t t t            Spawn; as many as you like
//	            \  |  /        |
//	VPs        [ VP 0 ]     [ VP 1 ]          virtual processors: a run queue each
//	              |            |
//	LWPs       L1 (L2)      L3 (L4 L5)        OS threads; one holds the VP, spares wait
//	              |            |
//	CPUs         #0           #1              each LWP is bound to its VP's CPU
//
// This is an M:N scheduler, on two levels. Of the threads of a VP one runs; it runs until it waits, yields, ends, or
// has had its slice (5 ms) while others are ready. The switch to the next one is made here, in user space, straight
// from thread to thread. A VP without work takes threads from another one, unless they are bound (Attr.VPs); so a
// thread may come back from any wait on another VP. A VP with nothing to do fires the idle hooks, from which package
// pioman polls networks, then sleeps without using the CPU.
//
// Package sched has the scheduler, its configuration (Configure, before the first use; New for schedulers beside the
// default one), its hooks, and the protocols in its README. The default scheduler starts by itself when it is first
// needed and has one VP per CPU that the process may use.
//
// # How threads differ from goroutines
//
// A thread is meant for code that waits a lot, for a short time, for other threads and for messages: there it costs a
// fraction of a goroutine (measure: go test -bench . ./marcel). docs/migrating.md is the guide.
// What follows is the short form.
//
// # What a thread belongs to
//
//   - A thread belongs to the scheduler of the thread that spawns it, or to the default one if a goroutine does. A go
//     statement in a thread starts a plain goroutine.
//   - Handles (Thread) are values and stay right for ever; the memory behind them is used again.
//   - A VP is not a lock: a slice may end anywhere, and threads of one VP may run in parallel while one is in a system
//     call. Data that two threads share need a Mutex, as always; the race detector knows these threads.
//
// # What a wait outside of this package costs
//
//   - In Go (a channel, sync, time.Sleep, net) a wait costs what it costs a goroutine: the thread loses its VP and OS
//     thread, goes on as a goroutine, and its next call of this package queues it again. Taking the OS thread back takes
//     some tens of microseconds. A function whose threads wait in Go first is soon begun as a goroutine, and pays nothing.
//   - In a system call, or in C, the thread keeps its VP for a millisecond or two if others wait. Blocking(func() { ... })
//     tells the scheduler beforehand: then they go on at once.
//   - With runtime.LockOSThread, and in C code that calls back into Go, the VP goes to another OS thread at each wait of
//     the thread, and comes back: microseconds instead of nanoseconds. The lock ends with the thread.
//   - Computing for long is harmless: after a slice Go's own preemption stops the thread, and others have their turn.
//   - A process that a thread starts with os/exec inherits the narrow CPU mask, and a parent death signal would follow the
//     LWP: use StartProcess or RunProcess.
//
// # How a thread ends
//
//   - A thread runs whether it is joined or not. Join waits for the end; several may call it, any number of times. When
//     main ends, threads end.
//   - A panic that is not recovered ends the program, with the stack of its thread; or, with Attr.Catch, only the thread,
//     and Join returns it as a *PanicError. From Run it comes out in the caller.
//   - runtime.Goexit (Exit; also t.FailNow) ends the thread after its deferred calls, and is no error. Out of Run it ends
//     the caller as well, so that a test may run its body with Run.
//   - Cancel ends a thread from outside, as in POSIX: in a wait that is a cancellation point (Semaphore, Cond, Mailbox,
//     Select, Join, Sleep; those of package pioman/io), or where it calls TestCancel; SetCancelState disables it. It
//     unwinds as Goexit does: use defer, or PushCleanup, for what must be undone.
//
// README.md, beside the code, has where and when threads run, bubbles, what works on goroutines, and what
// each primitive promises: order, time limits, memory model.
package marcel
