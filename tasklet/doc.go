// Package tasklet runs small pieces of work soon, at the hook points of the scheduler rather than in the caller.
//
//	s := sched.Default()
//	v, err := tasklet.Attach(s) // once: the hooks of s run what is scheduled
//	done := make(chan bool, 1)
//	t := tasklet.New(v, func() { done <- true }) // or Init, on a tasklet that is embedded
//	fmt.Println(err, t.Schedule(), <-done)       // from anywhere, any number of times
//	v.Detach()                                   // before s is stopped
//
//	Schedule, from anywhere ──▶ [ tasklet queue of VP 0 ]   idle, switch, yield, library hook of VP 0 ──▶ runs them
//	                            [ tasklet queue of VP 1 ]   timer hook, in the name of VP 1           ──▶ runs them
//
// A communication library uses tasklets for work that an event requires, and that the thread which notices the event
// has no time, or no right, to do. They are the bottom halves of Linux in user space (Rusty Russell's and Alexey
// Kuznetsov's tasklets of Linux 2.4; in Marcel, Danjean, Namyst: "Controlling kernel scheduling from user space",
// 2003). The package is there for programs that come from Marcel; the engine's own work goes by ltasks (package
// pioman).
//
// The function runs on a VP between threads, or on the clock's OS thread in its name. It must be short, must
// not block, and must not switch threads.
//
// # Guarantees
//
//   - A tasklet that is scheduled runs at least once after that, and the run sees what
//     the caller of Schedule wrote before. If it is scheduled twice before it begins it
//     runs once.
//   - It never runs twice at the same time, and each run sees all of the one before.
//     Different tasklets run in parallel, those of one VP one after the other:
//     those of high priority first, which leave at least a quarter of each firing to the
//     normal ones; within a priority first come, first served.
//   - Disable counts: as many Enable as Disable, then it runs again; what was
//     scheduled meanwhile is not lost. Disable and Kill wait until a run in progress
//     is over. Once Kill has returned it never runs again, and may be given
//     to Init.
//   - Nothing here allocates, takes a lock, or enters the kernel, except to wake a sleeping VP, and to wait in
//     Disable, Kill and Detach.
//   - A firing, which is one call of a hook, runs a bounded number of tasklets, and none twice; it says Busy if more are
//     there. If that happens too often in a row at the expense of threads, the rest goes to a helper: a thread of the
//     VP that runs them in turn with the other threads until none is left.
//
// README.md, beside the code, draws a tasklet queue and the states of a tasklet, and says why no wake-up is lost.
package tasklet
