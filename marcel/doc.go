// Package marcel gives a Go program user-space threads that our own scheduler
// runs on bound OS threads, and what they need to work together: semaphores,
// mutexes, conditions, barriers, mailboxes, timers, and Select, which waits for
// any of several.
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
//		answers := marcel.NewMailbox[int](1)                      // where one wrote: make(chan int, 1)
//		t := marcel.Spawn(func() { _ = answers.Send(fib(25)) })   // where one wrote: go func() { ... }()
//		n, _ := answers.Recv()                                    // blocks this thread, or goroutine, only
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
// This is an M:N scheduler, on two levels. Of the threads of a VP one runs; it
// runs until it waits, yields, ends, or has had its slice (5 ms) while others are
// ready. The switch to the next one is made here, in user space, straight from
// thread to thread. A VP without work takes threads from another one, unless
// they are bound (Attr.VPs); so a thread may come back from any wait on another
// VP. A VP with nothing to do fires the idle hooks, from which package pioman
// polls networks, then sleeps without using the CPU.
//
// Package sched has the scheduler, its configuration (Configure, before the first
// use; New for schedulers beside the default one), its hooks, and the protocols
// in its README. The default scheduler starts by itself when it is first needed
// and has one VP per CPU that the process may use.
//
// # How threads differ from goroutines
//
// A thread is meant for code that waits a lot, for a short time, for other
// threads and for messages: there it costs a fraction of a goroutine (measure:
// go test -bench . ./marcel). What else is different:
//
//   - They belong to the scheduler of the thread that spawns them, to the default
//     one if a goroutine does. A thread may use go statements; what they start
//     are plain goroutines.
//   - runtime.LockOSThread, and C code that calls back into Go: while the lock
//     lasts the VP goes to another OS thread at each wait of the thread, and comes
//     back; microseconds instead of nanoseconds. The lock ends with the thread.
//   - Waiting in Go (a channel, sync, time.Sleep, net) costs what a goroutine
//     costs: the thread loses its VP and OS thread, goes on as a goroutine, and
//     its next call of this package queues it again. Taking the OS thread back
//     takes some tens of microseconds, so a program that mixes such waits with
//     these calls pays that each time; a function whose threads wait in Go first
//     is soon begun as a goroutine, and pays nothing.
//   - A system call, or C, keeps the VP for a millisecond or two if others wait.
//     Blocking(func() { ... }) tells it beforehand: then they go on at once.
//   - Computing for long is harmless: after a slice Go's own preemption stops the
//     thread, and others have their turn.
//   - A VP is not a lock: a slice may end anywhere, and threads of one VP may run
//     in parallel while one is in a system call. Data that two threads share need
//     a Mutex, as always; the race detector knows these threads.
//   - Panics. One that is not recovered ends the program, with the stack of its
//     thread; or, with Attr.Catch, only the thread, and Join returns it as a
//     *PanicError. From Run it comes out in the caller.
//   - runtime.Goexit (Exit; also t.FailNow) ends the thread after its deferred
//     calls, and is no error. Out of Run it ends the caller as well, so that a
//     test may run its body with Run.
//   - Cancel ends a thread from outside, as in POSIX: in a wait that is a
//     cancellation point (Semaphore, Cond, Mailbox, Select, Join, Sleep), or where
//     it calls TestCancel; SetCancelState disables it. It unwinds as Goexit does:
//     use defer, or PushCleanup, for what must be undone.
//   - Join waits for the end, and may be called by several, any number of times.
//     That is optional: a thread runs whether it is joined or not. When main ends,
//     threads end.
//   - Handles (Thread) are values and stay right for ever; the memory behind them
//     is used again.
//   - Processes that a thread starts with os/exec inherit its narrow CPU mask, and
//     a parent death signal would follow the LWP: use StartProcess or RunProcess.
//
// # Where and when threads run
//
// Of the ready threads of a VP those of the highest priority go first (Attr.Priority,
// Thread.SetPriority), strictly; equals take turns (Fair), or the youngest goes first
// (LIFO, for trees of threads). An idle VP takes the older half of what is ready on the
// nearest VP that has something. Attr.VPs says on which VPs a thread may run, Attr.Level
// and Thread.Place on the run queue of which part of the machine it waits, such as a
// NUMA node, whose VPs all take from there. What Marcel calls not migratable is a thread
// whose set is one VP: OneVP, or Attr.NonMigratable for the VP on which it happens to
// begin. Marcel's hint of how much stack a thread needs has no counterpart: the stacks of
// Go grow and shrink by themselves, and a runner keeps what one thread has made it grow for
// the next one.
//
// A Bubble is a group of threads, and of bubbles, that belong together. A BubblePolicy
// maps it onto the machine: Spread gives each bubble a part of its own, Cache keeps each
// below one cache, Gang has all threads of one run at the same time. With Spread:
//
//	bubbles:    ( ((t t)(t t)) ((t t)(t t)) )
//
//	machine:    ┌───────── NUMA 0 ────────┐ ┌───────── NUMA 1 ────────┐
//	            │ core 0       core 1     │ │ core 2       core 3     │
//	            │ (t t)        (t t)      │ │ (t t)        (t t)      │
//	            └─────────────────────────┘ └─────────────────────────┘
//
// A scheduler can be made for a machine that is not there (sched.Config.Topology, with
// topo.Synthetic or topo.Recorded): its VPs then share the CPUs. Where threads run is what
// that machine would see; how long they take is not.
//
// # What works on plain goroutines
//
// All primitives, from both sides: a goroutine that has to wait blocks as in a
// channel, a thread can wake a goroutine, and a goroutine a thread. Threads of
// different schedulers may use one primitive together, too. On a goroutine Yield
// is runtime.Gosched, Sleep is time.Sleep, Exit is runtime.Goexit, Blocking just
// calls its function, Self is the zero Thread and Ready is false. Hooks
// may call the functions that never block (Release, Unlock, Signal, Broadcast, the Try
// forms). A thread that has lost its VP does not wait for the VP in these functions.
//
// # Guarantees
//
//	           order of waiters      may a newcomer overtake them?        time limit
//	Semaphore  of arrival            no: a unit goes straight to the      AcquireTimeout
//	                                 one that has waited longest
//	Mutex      of arrival, woken     yes, until the one that was woken    LockTimeout
//	           one at a time         runs, or a thread has overtaken it
//	                                 often; then it is handed over
//	Recursive- as Mutex              as Mutex                             LockTimeout
//	Mutex
//	RWMutex    writers of arrival,   Preference: by default phases of     LockTimeout,
//	           readers all at once   readers and of one writer take turns RLockTimeout
//	SpinLock   none                  yes                                  LockTimeout
//	Cond       of arrival            Signal: no; for its Mutex: as above  WaitTimeout
//	WaitQueue  of arrival            no                                   WaitTimeout
//	Barrier    all at once                                                WaitTimeout; also of
//	                                                                      a Phase
//	WaitGroup, all at once                                                WaitTimeout
//	Latch, Group
//	Once       as Mutex              as Mutex                             DoTimeout
//	Join       all at once                                                JoinTimeout; also
//	                                                                      of a Bubble
//	Sleep      by time, to the microsecond                                at least d
//	Timer      of arrival            the first one has the expiry         WaitTimeout
//	Ticker     first comer has the ticks that passed                      WaitTimeout
//	Mailbox    of arrival            no: a message goes straight to the   SendTimeout,
//	                                 one that has waited longest          RecvTimeout
//	Select     in each of its lines  as there; of several cases that are  SelectTimeout
//	           as above              ready one is taken at random
//
// What waits has four forms: plain; Try, which does not wait; Timeout, for a time
// at most (Try if that is not positive); and Context, until a context is done, which
// returns its cause. Where a wait has an outcome of its own (Join, Group, Timer, Ticker)
// the forms tell that apart from having given up. Cond and WaitQueue have no Try: the one
// waits for a signal that is still to come, the other looks at its word first; and Sleep
// has SleepContext. A waiter that gives up has taken nothing and leaves no trace.
//
// There are no spurious wake-ups. A wake-up is never spent on one whose time is
// over: either it comes in time, and the wait returns true, or it goes to the
// next in line (Semaphore: or stays there as a unit). All of these are
// linearizable, the Try forms and time limits included: a failed TryLock has met
// a moment at which the mutex was locked. Only a TrySelect that finds nothing has looked
// at its cases one after the other.
//
// Time. What waits for a time is never early; it is late by the tens of microseconds
// that waking an OS thread takes, more if its VP has other work: BenchmarkLateness
// measures it beside Go's. A million timers may be pending: each costs 80 bytes, and the
// same to start and to stop as a single one (BenchmarkMillionTimers). What is
// over in 146 years or later never comes. Timers and functions that are pending do not
// keep a scheduler from being stopped; they are stopped with it.
//
// In the sense of the Go memory model a Release is synchronized before the
// Acquire that gets its unit, an Unlock before the next Lock, a Signal or
// Broadcast before the return of the Wait that it ends, the arrivals at a barrier
// before the returns of that phase, a Done or CountDown before the return of the Wait
// that it ends, the end of a Once's function before every return of Do, a Spawn
// before the first step of its thread, the end of a thread before the return of
// a Join; a Reset or AfterFunc before the Wait that takes its expiry or the first
// step of its function.
//
// In steady state no operation of a thread allocates, except SpawnWith and a wait
// under a context that can be done. Misuse
// (unlock of an unlocked Mutex, Wait without it, a nil receiver or function, a VP that
// does not exist) panics in the caller, or is an error where there is one to return
// (ErrNoThread, ErrNoBubble), leaves everything in order, and may be recovered from.
//
// # Where it comes from
//
//   - Marcel is the thread library of PM2 (Namyst, Méhaut: PM2, Parallel
//     Multithreaded Machine, ParCo 1995), http://runtime.bordeaux.inria.fr/marcel/:
//     the two levels, the words, the hooks for a progress engine are its own.
//     This package has them for Go and shares no code with it. Its bubbles
//     (Thibault, Namyst, Wacrenier, Euro-Par 2007,
//     https://doi.org/10.1007/978-3-540-74466-5_6) schedule by topology.
//   - Handing a VP to another LWP when its thread blocks is the purpose of scheduler
//     activations (Anderson, Bershad, Lazowska, Levy, SOSP 1991,
//     https://doi.org/10.1145/146941.146944), which Marcel had in a patched
//     kernel (Danjean, Namyst, Russell, IPDPS workshops 2000,
//     https://doi.org/10.1007/3-540-45591-4_160). Here it is done from user
//     space, with an LWP in reserve.
//   - To compare: FiTMPI (Mao, Song, Wu, Yang: Overlapping Communication and
//     Computation in MPI by Multithreading) has threads of its own make the
//     progress that here the scheduler's hooks make. Argobots (Seo et al.,
//     TPDS 2018, https://doi.org/10.1109/TPDS.2017.2766062) gives the building
//     blocks to other runtime systems and leaves schedulers, and threads that
//     block or compute for long, to them; its switches need not be ready for
//     any of that.
//   - Go's own scheduler is M:N, too, but cannot be told where to run a goroutine
//     and does not tell when a core falls idle, which is what a progress engine
//     lives on.
package marcel
