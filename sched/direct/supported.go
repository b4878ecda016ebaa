//go:build go1.26 && !go1.28 && linux && (amd64 || (arm64 && !cgo)) && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package direct

import (
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// waitReason is what stack dumps say of a goroutine that is parked here.
const waitReason = waitSwitched

// Current returns the g of the calling goroutine.
func Current() uintptr

// Machine returns the m on which the caller runs. It stays the same while the caller is locked to its OS thread.
//
//go:norace
//go:nosplit
func Machine() uintptr { return load(Current() + gM) }

// Locks returns how often the caller's OS thread is locked: 1 for once, by runtime.LockOSThread, and Held by Hold; the
// upper half counts callbacks from C.
//
//go:norace
//go:nosplit
func Locks() uint64 { return uint64(load(Machine() + mLockedExt)) }

// Hold locks the calling goroutine to its OS thread Held times at once, as Switch, Repossess and ClaimStopped require.
// So code that calls runtime.UnlockOSThread once too often does not unlock it: else the Go runtime would begin to clone
// the OS thread, with the one CPU to which it is bound.
//
//go:norace
func Hold() {
	runtime.LockOSThread()
	*lockedExt() += Held - 1
}

// Unhold undoes Hold, and every runtime.LockOSThread since: see Hold.
//
//go:norace
func Unhold() {
	*lockedExt() = 1
	runtime.UnlockOSThread()
}

// Rehold undoes every runtime.LockOSThread and UnlockOSThread since Hold: see Hold.
//
//go:norace
func Rehold() { *lockedExt() = Held }

// lockedExt returns the runtime's count of locks of the caller's OS thread, to which the caller must be locked. Only
// the goroutine on that OS thread writes it, in an order that the race detector does not know, since the runtime uses
// OS threads again.
//
//go:norace
func lockedExt() *uint32 { return (*uint32)(address(Machine() + mLockedExt)) }

// Marked reports whether the calling goroutine has profiler labels, has called
// debug.SetPanicOnFault, or is not locked to its OS thread by Hold alone.
//
//go:norace
func Marked() bool {
	g := Current()
	return *octet(g + gPaniconfault) != 0 || load(g+gLabels) != 0 || load(load(g+gM)+mLockedExt) != Held
}

// Status returns what g does: a value of the list above, or another one of the runtime's. A hint.
//
//go:norace
func Status(gp uintptr) uint32 { return loadAcquire((*uint32)(address(gp+gStatus))) &^ scanBit }

// ByChoice reports whether gp waits because of its own code (a channel, sync, time.Sleep, net), not for
// the collector. A hint.
//
//go:norace
func ByChoice(gp uintptr) bool {
	r := *(*uint8)(unsafe.Add(address(gp), gWaitreason))
	return r == waitIO || r >= waitFirst && r <= waitLast
}

// Own returns the pointer that SetOwn has stored for the calling goroutine, in a word of the g that
// the runtime does not use and the collector does not read. It returns nil if the runtime lays out the
// g in another way than offsets.go says. It is a func variable, so that callers which know the
// pointer's type can convert it.
var Own = ownIfThere()

func ownIfThere() func() unsafe.Pointer {
	if g := Current(); load(Machine()+mCurg) != g || ownOf() != nil {
		return func() unsafe.Pointer { return nil }
	}
	return ownOf
}

// SetOwn leaves p on g: the caller's, or one that is parked. What p points to must be kept alive by something else, and
// p be taken back by a nil before g ends, as the runtime uses it again.
//
//go:norace
func SetOwn(g uintptr, p unsafe.Pointer) { *(*uintptr)(address(g + gOwn)) = uintptr(p) }

// traceBufs reports whether the caller's OS thread has a buffer of a trace. The runtime writes these words in an order
// that the race detector does not know; a reading that is out of date is as good as one a moment ago.
//
//go:norace
func traceBufs() bool {
	m := Machine()
	return load(m+mTraceBufs)|load(m+mTraceBufsUp) != 0
}

// Recording reports whether an execution trace is being taken, and sets *r if so. The caller asks Recording before each
// Switch, because Switch detects a trace only by the OS thread's trace buffer, which may not exist yet. Recording
// returns false if the caller holds a further lock of its OS thread; Switch then refuses.
func Recording(r *Refusal) bool { return trace.IsEnabled() && recorded(r) }

// recorded is Recording while a trace is being taken.
func recorded(r *Refusal) bool {
	if Locks() != Held {
		return false
	}
	*r = Recorded
	return true
}

// Try is Switch that returns what it says, Done if it has switched.
func Try(next uintptr) Refusal {
	r := new(Refusal)
	if !Recording(r) {
		Switch(next, r)
	}
	return *r
}

// AskedToStop reports whether g has been asked to stop, by AskStop or the collector, and has not done
// so yet. A hint.
//
//go:norace
func AskedToStop(gp uintptr) bool {
	return *(*bool)(unsafe.Add(address(gp), gPreemptStop))
}

// BondsOf is for checks: racy, but for the caller's own g.
//
//go:norace
//go:nosplit
func BondsOf(gp uintptr) (b Bonds) {
	status := *(*uint32)(unsafe.Add(address(gp), gStatus))
	b.Status, b.Scanned = status&^scanBit, status&scanBit != 0
	b.M, b.LockedM = load(gp+gM), load(gp+gLockedm)
	b.Machine = Machine()
	b.Curg, b.LockedG, b.Locks = load(b.Machine+mCurg), load(b.Machine+mLockedg), load(b.Machine+mLockedExt)
	return b
}

// StoppedInRuntime reports whether g, which has been stopped, was in a function of the runtime. Such a g
// may hold a lock for which others wait, such as the collector. A g that was stopped at an
// asynchronous safe point is not in the runtime; one that was stopped at a function call may be.
//
//go:norace
func StoppedInRuntime(gp uintptr) bool {
	if *(*bool)(unsafe.Add(address(gp), gAsyncSafePoint)) {
		return false
	}
	f := runtime.FuncForPC(*(*uintptr)(unsafe.Add(address(gp), gPc)))
	return f == nil || strings.HasPrefix(f.Name(), "runtime.") || strings.HasPrefix(f.Name(), "internal/runtime/")
}

// startpc returns where the calling goroutine began. The runtime, which the race detector does not see, wrote it before
// that.
//
//go:norace
func startpc() uintptr { return load(Current() + gStartpc) }

// goid returns the number of the calling goroutine: see startpc.
//
//go:norace
func goid() uint64 { return uint64(load(Current() + gGoid)) }

// address converts the address of a structure of the runtime, which never moves, to a pointer.
//
//go:norace
//go:nosplit
func address(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// newborn is the entry of the goroutines that launch starts, 0 until the first has begun.
var newborn atomic.Uintptr

// Go starts a goroutine, which calls run once it is switched to. If g is not 0 the goroutine is parked
// already, and only the caller knows it. If g is 0 it starts by itself, and run has to park first. The
// caller is locked to its OS thread and starts no goroutines meanwhile.
func Go(run func()) (g uintptr) {
	launch(run)
	if pc := newborn.Load(); pc != 0 && !Traced() {
		return take(goid(), pc)
	}
	return 0
}

// launch has the only go statement, whose wrapper's address newborn is.
//
//go:noinline
func launch(run func()) { go begin(run) }

//go:noinline
func begin(run func()) {
	if newborn.Load() == 0 {
		newborn.Store(startpc())
	}
	run()
}

var supported = sync.OnceValue(behaves)

// Supported reports whether this program can switch goroutines directly: its Go release keeps things where offsets.go
// says, as far as can be seen by trying. In a bubble of testing/synctest it says no, since the runtime counts there how
// many wait.
func Supported() bool { return load(Current()+gBubble) == 0 && supported() }

// behaves tries what the offsets are for, on goroutines of its own. It reads before it writes.
func behaves() bool {
	var ok bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		ok = looksRight()
		runtime.UnlockOSThread()
		if ok {
			Hold()
			ok = switches()
			Unhold()
		}
	}()
	<-done
	return ok
}

// looksRight reads what offsets.go names, on a goroutine that is locked to its OS thread once, and reports whether it
// finds what must be there.
func looksRight() bool {
	g, m := Current(), Machine()
	if g == 0 || m == 0 || load(m+mCurg) != g || load(m+mLockedg) != g || load(g+gLockedm) != m || Locks() != 1 {
		return false
	}
	runtime.LockOSThread()
	locked := Locks()
	runtime.UnlockOSThread()
	return locked == 2 && Locks() == 1 && Status(g) == Running && load(m+mP) != 0 && load(g+gBubble) == 0
}

// switches tries Switch, to a goroutine and back.
func switches() bool {
	base, reached := Current(), 0
	var seat Seat
	gone := make(chan struct{})
	launch(func() {
		defer close(gone)
		Park(&seat)
		reached++
		jump(base)
	})
	for !seat.Parked() {
		runtime.Gosched()
	}
	g := seat.G
	if Status(g) != Waiting || *(*uint8)(address(g + gWaitreason)) != waitSwitched {
		return false // it stays parked, as nothing is known of how to resume it
	}
	jump(g)
	Ready(g)
	<-gone
	return reached == 1
}

// jump switches to g, in whichever way is possible at the moment.
func jump(g uintptr) {
	for {
		switch Try(g) {
		case Done:
			return
		case Recorded:
			HandOver(new(Seat), g)
			return
		default:
			runtime.Gosched()
		}
	}
}
