package marcel

import (
	"os/exec"
	"runtime"
	"time"

	"github.com/pm2-go/pm2/internal/ours"
	"github.com/pm2-go/pm2/marcel/view"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/vpset"
)

// calls are the functions that package sched has for this module only.
var calls = sched.Calls(ours.Module{})

// Thread is a handle of a thread: a value that may be copied, compared and kept for ever. See [sched.Thread], which has
// its methods: Join, Cancel, SetPriority and others.
type Thread = sched.Thread

// Attr says how a thread is to be made: its VPs, Name, Priority, Level and Bubble; Catch, Detached, Pinned,
// NonPreemptible, NonMigratable. See [sched.Attr].
type Attr = sched.Attr

// VPSet is a set of virtual processors, where a thread may run (Attr.VPs, Thread.SetVPs): see [vpset.Set].
type VPSet = sched.VPSet

// OneVP returns the set of VP i alone. It panics if no scheduler can have a VP i.
func OneVP(i int) VPSet { return sched.OneVP(i) }

// FullVPs returns the set of all VPs.
func FullVPs() VPSet { return vpset.All() }

// PanicError is what Join returns for a thread made with Attr.Catch that panicked: see [sched.PanicError].
type PanicError = sched.PanicError

// Errors, for errors.Is: see package sched, which has the same.
var (
	ErrDetached  = sched.ErrDetached
	ErrJoinSelf  = sched.ErrJoinSelf
	ErrNoThread  = sched.ErrNoThread
	ErrNotThread = sched.ErrNotThread
	ErrCanceled  = sched.ErrCanceled
	ErrNoVPs     = sched.ErrNoVPs
	ErrNoItem    = sched.ErrNoItem
	ErrStopped   = sched.ErrStopped
)

// Spawn starts a thread that runs fn, in place of go fn(). A thread spawned by a thread belongs to the
// same scheduler and, at first, to the same VP. If threads of the same function have waited in Go
// first, it begins as a goroutine, on no VP, until its first call of this package. A thread spawned by
// a plain goroutine belongs to the default scheduler. Spawn never blocks, and does not allocate in
// steady state when called from a thread. A panic in fn ends the program, as in a goroutine.
func Spawn(fn func()) Thread { return sched.Spawn(fn) }

// Body is what a thread runs, for SpawnBody: see [sched.Body].
type Body = sched.Body

// SpawnBody is Spawn for a Body that carries its own data, in place of go x.Run(). Unlike a closure
// for Spawn, a pointer x as a Body needs no allocation.
func SpawnBody(b Body) Thread { return calls.SpawnBody(b) }

// SpawnWith is Spawn with attributes. It allocates. It panics if the scheduler has none of a.VPs, if a names a priority
// or level that does not exist, or if a.Bubble refuses the thread.
func SpawnWith(a Attr, fn func()) Thread { return calls.SpawnWith(a, fn) }

// Do runs the functions, possibly at the same time, and returns when all have returned: fork and join in one call, the
// fastest way there is. The first runs on the calling thread, the others as threads. Those that no other VP has begun
// when the first returns run on the calling thread as well: in them Self is the caller, and a panic or an Exit is the
// caller's. On a plain goroutine the others are threads of the default scheduler.
func Do(first func(), others ...func()) { calls.Do(first, others...) }

// Self returns the calling thread, the zero Thread on a plain goroutine.
func Self() Thread { return sched.Self() }

// OnThread reports whether the caller is a thread; false on a plain goroutine and in hooks that no thread runs.
func OnThread() bool { return sched.OnThread() }

// Yield lets the next ready thread of the caller's VP run; the caller goes to the end of its queue. On a plain
// goroutine it is runtime.Gosched.
func Yield() { sched.Yield() }

// YieldTo lets t run at once if it is ready on the caller's VP, before all others, whatever their priority; the caller
// goes to the end of the queue. Else it is Yield. It reports whether t got its turn in this way. It looks through the
// VP's run queue for it.
func YieldTo(t Thread) bool { return calls.YieldTo(t) }

// DisablePreemption keeps the VP from being taken from the calling thread until EnablePreemption: neither the end of
// its slice nor a thread of higher priority takes it. Between its scheduling points (waits, yields, Blocking) the
// caller stays on its VP, and no other thread of that VP runs, except a thread that lost the VP in a system call or by
// preemption and still executes. A thread that has disabled preemption never loses its VP in this way, so threads that
// all disable preemption need no lock for data of their VP. Calls nest. A thread that blocks in this state outside of
// Blocking keeps all others of its VP from running. Threads made with Attr.NonPreemptible begin with one such call. On
// a plain goroutine it returns ErrNotThread.
func DisablePreemption() error { return calls.DisablePreemption() }

// EnablePreemption ends what as many calls of DisablePreemption began; more do nothing. On a plain goroutine it returns
// ErrNotThread.
func EnablePreemption() error { return calls.EnablePreemption() }

// TestCancel ends the calling thread if it has been canceled (Thread.Cancel) and has cancellation enabled. On a plain
// goroutine it does nothing.
func TestCancel() { calls.TestCancel() }

// SetCancelState enables or disables cancellation of the calling thread, and reports whether it was enabled before.
// Threads begin with cancellation enabled. While it is disabled the thread keeps a request for when it is enabled. On a
// plain goroutine SetCancelState does nothing and returns false.
func SetCancelState(enabled bool) (before bool) { return calls.SetCancelState(enabled) }

// OthersReady reports whether another thread is ready on the caller's VP, so that spinning would keep it from running;
// false on a plain goroutine.
func OthersReady() bool { return sched.OthersReady() }

// Exit ends the calling thread after running its deferred calls, as runtime.Goexit does for a goroutine.
func Exit() { runtime.Goexit() }

// Blocking runs f, which may block in the kernel, in a Go channel or in C code, without the VP: the
// other threads go on meanwhile. A thread that blocks outside of Blocking delays the threads behind
// it. In a wait of Go's they wait until an idle VP notices it, after microseconds, or the clock, at
// its next tick (1 ms). In a system call or C they wait for a tick or two. In portable mode, and where
// a pinned thread waits in Go, they wait for a slice (5 ms).
func Blocking(f func()) { sched.Blocking(f) }

// StartProcess is cmd.Start, for threads: called directly, that would give the child the one CPU of the thread's VP,
// and a parent death signal when the OS thread ends. The child is started by an OS thread that belongs to no VP;
// meanwhile the other threads go on. Wait with Blocking(func() { err = cmd.Wait() }).
func StartProcess(cmd *exec.Cmd) error { return calls.StartProcess(cmd) }

// RunProcess starts cmd as StartProcess does and waits for its end, as cmd.Run.
func RunProcess(cmd *exec.Cmd) error { return calls.RunProcess(cmd) }

// Sleep suspends the calling thread, or goroutine, for at least d. The threads behind it run meanwhile.
func Sleep(d time.Duration) { calls.Sleep(d) }

// Running reports whether the default scheduler runs; it does not start it.
func Running() bool { return sched.Running() != nil }

// Run runs fn as a thread and waits for its end. It is for main, and for the body of a test. A panic
// in fn comes out of Run as a *PanicError with the thread's stack; if fn calls runtime.Goexit
// (t.FailNow does), Run calls it too. Called from a thread it runs fn on another one.
func Run(fn func()) { RunOn(sched.Default(), fn) }

// RunOn is Run on scheduler s.
func RunOn(s *sched.Scheduler, fn func()) {
	returned := false
	t := s.Spawn(Attr{Catch: true}, func() {
		fn()
		returned = true
	})
	err := t.Join()
	if !sched.OnThread() { // the program may end next
		view.Save()
	}
	if err != nil && err != sched.ErrCanceled {
		panic(err)
	}
	if !returned {
		runtime.Goexit()
	}
}
