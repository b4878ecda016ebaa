package direct

import (
	"runtime/trace"
	"unsafe"
)

// Refusal says why Switch has not switched.
type Refusal uint32

// The refusals. The assembly has them, too.
const (
	Done      = Refusal(iota) // it has switched, and the caller has been resumed since
	Asked                     // the Go scheduler wants the OS thread: runtime.Gosched, then again
	Recorded                  // a goroutine profile or an execution trace is being taken: use HandOver
	Unlocked                  // the caller is not locked to its OS thread by Hold alone, or is in a callback from C
	NotParked                 // next is not parked, or not yet
)

// Stop says what ClaimStopped has found.
type Stop uint32

// The outcomes of ClaimStopped.
const (
	NotStopped    = Stop(iota)
	Stopped       // the g is parked, and base has its OS thread: the caller readies base
	StoppedInside // the g is parked, and keeps its OS thread, because *inside was not 0: the caller readies the g
)

// Held is what Hold adds to the count of locks: more than any program unlocks by mistake.
const Held = 1 << 16

// What Status tells of a g.
const (
	Runnable  = 1
	Running   = 2
	Syscall   = 3
	Waiting   = 4 // in Go, or parked by this package
	Preempted = 9 // stopped: for ClaimStopped
)

// Bonds are the runtime's fields that tie a g to an OS thread, and those of the OS thread on which the
// caller runs.
type Bonds struct {
	Status               uint32 // of g, without Scanned
	Scanned              bool   // the collector, or a taker, holds g at this moment
	M, LockedM           uintptr
	Machine              uintptr // the caller's
	Curg, LockedG, Locks uintptr // of Machine; Locks as Locks has it
}

//go:linkname gopark runtime.gopark
func gopark(commit func(g, lock unsafe.Pointer) bool, lock unsafe.Pointer, reason uint8, traceReason uint8, traceskip int)

//go:linkname goready runtime.goready
func goready(g uintptr, traceskip int)

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

// Pin keeps the Go scheduler from preempting the calling goroutine until Unpin: for some tens of
// nanoseconds, in which the caller must not block.
func Pin() { procPin() }

// Unpin ends what Pin began.
func Unpin() { procUnpin() }

// Seat is where a goroutine is found while it is parked by Park or HandOver.
type Seat struct {
	G      uintptr // the g of the goroutine; Park and HandOver write it
	parked uint32  // 1: the goroutine is parked, and one caller may resume it
	next   uintptr // the g to which HandOver hands over
}

// Parked reports whether the goroutine has parked since Leave.
func (s *Seat) Parked() bool { return loadAcquire(&s.parked) != 0 }

// Leave says that the goroutine is not parked any more; the goroutine itself calls it, or the one that resumes it.
func (s *Seat) Leave() { storeRelease(&s.parked, 0) }

//go:linkname setLabels runtime/pprof.runtime_setProfLabel
func setLabels(labels unsafe.Pointer)

// Unlabel takes the profiler labels from the calling goroutine, so that goroutines which it starts
// inherit none.
func Unlabel() { setLabels(nil) }

// Ready makes g, which is parked, runnable for the Go scheduler.
func Ready(g uintptr) { goready(g, 1) }

// Park parks the calling goroutine through the Go scheduler; from then on s.Parked is true.
func Park(s *Seat) { gopark(park, unsafe.Pointer(s), waitReason, 0, 1) }

// park runs on the system stack when the caller of Park is parked.
//
//go:norace
func park(g, seat unsafe.Pointer) bool {
	s := (*Seat)(seat)
	s.G = uintptr(g)
	storeRelease(&s.parked, 1)
	return true
}

// HandOver is Switch by way of the Go scheduler: it parks the caller, and makes next, which is parked,
// runnable. If the caller is locked to its OS thread the lock goes to next, as in Switch. It takes a
// hundred nanoseconds; on a locked OS thread some tens of microseconds.
func HandOver(s *Seat, next uintptr) {
	s.next = next
	gopark(handOver, unsafe.Pointer(s), waitReason, 0, 1)
}

// handOver runs on the system stack when the caller of HandOver is parked.
//
//go:norace
func handOver(g, seat unsafe.Pointer) bool {
	s := (*Seat)(seat)
	s.G = uintptr(g)
	next := s.next
	passLock(uintptr(g), next)
	goready(next, 1)
	return true
}

// Traced reports whether an execution trace is being taken. It looks at two signs, because each alone misses some
// traces.
func Traced() bool { return trace.IsEnabled() || traceBufs() }
