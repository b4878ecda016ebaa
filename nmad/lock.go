package nmad

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/marcel"
)

// spinTries is how often a lock that is held is looked at before the processor
// is offered to others. Sections take tens of nanoseconds up to the copy of one eager
// body, a few microseconds.
const spinTries = 200

// spinlock is a lock for sections: nothing inside blocks or
// switches threads. A poller that finds it held goes away, for the holder
// polls or is about to. Parking the waiters instead would save nothing for sections
// this short, and costs 20 us for a bound OS thread.
//
// A holder can lose its CPU all the same. A holder that has also lost its VP needs another VP to run it. So a thread that
// waits long yields in the kernel and on its own VP. A waiter without a VP, such as the LWP that sleeps in the kernel for
// the VPs, yields in the kernel, too: a yield to the Go scheduler alone does not give the CPU to a holder on another OS
// thread before the kernel's slice is over.
type spinlock struct {
	word    atomic.Uint32 // 0 free, 1 held; the thread that takes or releases the lock writes it
	waiters atomic.Int32  // callers inside slow; read by a holder that could stay longer
}

func (mu *spinlock) tryLock() bool {
	return mu.word.Load() == 0 && mu.word.CompareAndSwap(0, 1)
}

// lock spins until it has the lock. It must not be called from hooks: those try.
func (mu *spinlock) lock() {
	if !mu.word.CompareAndSwap(0, 1) {
		mu.slow()
	}
}

func (mu *spinlock) slow() {
	mu.waiters.Add(1)
	for tries := 0; !mu.tryLock(); tries++ {
		backOff(tries)
	}
	mu.waiters.Add(-1)
}

// backOff is what a caller does between two looks at a lock that is held.
func backOff(tries int) {
	switch {
	case tries < spinTries:
		asm.Pause()
	case tries%4 != 0:
		kernel.Yield()
	case marcel.OnThread():
		marcel.Yield()
	default:
		runtime.Gosched() // the holder may be a goroutine that waits for a P
	}
}

func (mu *spinlock) unlock() { mu.word.Store(0) }

// wanted says whether a thread spins for the lock.
func (mu *spinlock) wanted() bool { return mu.waiters.Load() != 0 }

// gateLock is the lock of a gate: its own, or that of its domain. If the domain also has a lock for the lists, the holder
// of the gate's lock holds that one, too, except while it is inside the driver (dropLists): then other threads look into
// the lists. The lock of the lists is the inner one.
type gateLock struct {
	spinlock
	joint  bool        // it is not the spinlock alone, whose word stays set
	domain *domainLock // of all gates; nil: there is none
	lists  *spinlock   // of what is sent and matched at all gates; nil: it is under the gate's lock like all else
	driver spinlock    // of the gate, if there are lists and no lock of all gates
}

// join has the gate use the locks of its domain, if that has any. Its own stays held, so that the usual case looks at one
// word.
func (mu *gateLock) join(d *domainLock, lists *spinlock) {
	if mu.domain, mu.lists = d, lists; d != nil || lists != nil {
		mu.joint = true
		mu.word.Store(1)
	}
}

func (mu *gateLock) tryLock() bool {
	return mu.word.Load() == 0 && mu.word.CompareAndSwap(0, 1) || mu.tryJoint()
}

//go:noinline
func (mu *gateLock) tryJoint() bool {
	got := false
	switch d := mu.domain; {
	case d != nil:
		got = d.owner == asm.G() && d.enter() || d.tryLock()
	case mu.lists != nil:
		got = mu.driver.tryLock()
	}
	if got {
		mu.takeLists()
	}
	return got
}

func (mu *gateLock) lock() {
	if mu.joint || !mu.word.CompareAndSwap(0, 1) { // the lock of a private domain costs no locked instruction
		mu.lockSlowly()
	}
}

//go:noinline
func (mu *gateLock) lockSlowly() {
	switch d := mu.domain; {
	case d != nil && d.owner == asm.G() && d.enter():
	case d != nil:
		d.lock()
	case mu.lists != nil:
		mu.driver.lock()
	default:
		mu.spinlock.slow()
	}
	mu.takeLists()
}

func (mu *gateLock) unlock() {
	if mu.joint {
		mu.unlockJoint()
	} else {
		mu.spinlock.unlock()
	}
}

//go:noinline
func (mu *gateLock) unlockJoint() {
	mu.dropLists()
	switch d := mu.domain; {
	case d == nil:
		mu.driver.unlock()
	case d.byOwner:
		asm.StoreRelease32(&d.held, 0)
	default:
		d.unlock()
	}
}

// dropLists lets other threads look into the lists while the holder is inside the driver. takeLists ends that.
func (mu *gateLock) dropLists() {
	if mu.lists != nil {
		mu.lists.unlock()
	}
}

func (mu *gateLock) takeLists() {
	if mu.lists != nil {
		mu.lists.lock()
	}
}

func (mu *gateLock) wanted() bool {
	switch {
	case mu.domain != nil:
		return mu.domain.wanted()
	case mu.lists != nil:
		return mu.driver.wanted() || mu.lists.wanted()
	}
	return mu.spinlock.wanted()
}

// owed says that a thread has left something at another gate of the domain.
func (mu *gateLock) owed() bool { return mu.domain != nil && mu.domain.owed.Load() }

// domainLock is one lock for all gates of a domain. If the domain is Private the lock is biased: its owner stores to a
// word that no other thread writes, and then looks at a word that the others write when they want the lock. The others are
// the session's own goroutines, which make links, bring the news of the end of a process, or close. As long as none of
// them comes, the owner needs no locked instruction and shares no line that is written. The owner's store may still be in
// the buffer of its CPU when it looks. So another thread stores its claim and then makes all CPUs that run this process
// pass a barrier (membarrier): after that either the owner has seen the claim, or its store is visible.
//
//	owner:   held = 1; claimed == 0: it has the lock. Else held = 0, and again later
//	others:  one at a time (spin); claimed = 1; barrier; until held == 0; they have the lock. claimed = 0
//
// testdata/spin/bias.pml is the model.
type domainLock struct {
	gates   iter.Seq[*Gate] // of the domain
	spin    spinlock        // of all, or of all but the owner
	owed    atomic.Bool     // a thread has left something at a gate of the domain while it found the lock held
	tending atomic.Bool     // a thread is inside tend
	owner   uintptr         // asm.G of the owner; 0: there is none. A goroutine that has ended leaves its G to another one; two at once never have the same
	strict  atomic.Bool     // only the owner may try: others leave all to it, or wait for the lock
	fenced  bool            // the owner's store is a barrier itself: there is no other one

	_       [pad]byte
	held    atomic.Uint32 // the owner writes
	byOwner bool          // the holder is the owner; under the lock
	_       [pad]byte
	claimed atomic.Uint32 // the others write
	_       [pad]byte
}

// hasBarrier says whether other threads can have the owner's CPU pass a barrier.
var hasBarrier = sync.OnceValue(kernel.HasMembarrier)

// bias makes the caller the owner.
func (mu *domainLock) bias() { mu.owner, mu.fenced = asm.G(), !hasBarrier() }

func (mu *domainLock) tryLock() bool {
	if mu.owner == 0 {
		return mu.spin.tryLock()
	}
	if asm.G() == mu.owner {
		return mu.enter()
	}
	if mu.strict.Load() || !mu.spin.tryLock() {
		return false
	}
	mu.claim()
	if mu.held.Load() != 0 {
		mu.release()
		return false
	}
	mu.byOwner = false
	return true
}

func (mu *domainLock) lock() {
	switch {
	case mu.owner == 0:
		mu.spin.lock()
	case asm.G() == mu.owner:
		for tries := 0; !mu.enter(); tries++ {
			backOff(tries)
		}
	default:
		mu.spin.lock()
		mu.claim()
		for tries := 0; mu.held.Load() != 0; tries++ {
			backOff(tries)
		}
		mu.byOwner = false
	}
}

// enter is tryLock for the owner.
func (mu *domainLock) enter() bool {
	if asm.StoreRelease32(&mu.held, 1); mu.fenced {
		mu.held.Store(1)
	}
	if mu.claimed.Load() == 0 {
		mu.byOwner = true
		return true
	}
	asm.StoreRelease32(&mu.held, 0)
	return false
}

// claim keeps the owner out, once it is out.
func (mu *domainLock) claim() {
	mu.claimed.Store(1)
	if !mu.fenced {
		kernel.Membarrier()
	}
}

// release ends what claim began.
func (mu *domainLock) release() {
	mu.claimed.Store(0)
	mu.spin.unlock()
}

func (mu *domainLock) unlock() {
	switch {
	case mu.owner == 0:
		mu.spin.unlock()
	case mu.byOwner:
		asm.StoreRelease32(&mu.held, 0)
	default:
		mu.release()
	}
}

func (mu *domainLock) wanted() bool {
	return mu.spin.wanted() || mu.owner != 0 && mu.claimed.Load() != 0
}

// tend does the work that threads have left at the gates because they found the lock held by a thread that was busy with
// another gate. Every thread calls it after it has let the lock go. mu may be nil.
func (mu *domainLock) tend() {
	if mu == nil {
		return
	}
	for mu.owed.Load() && mu.tending.CompareAndSwap(false, true) {
		mu.owed.Store(false)
		for g := range mu.gates {
			g.tend()
		}
		mu.tending.Store(false)
		if !mu.tryLock() {
			return // its holder comes here
		}
		mu.unlock()
	}
}
