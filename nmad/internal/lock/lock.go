package lock

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/marcel"
)

// pad keeps words that different cores write apart, in bytes.
const pad = 128

// SpinTries is how often a lock that is held is looked at before the processor
// is offered to others. Sections take tens of nanoseconds up to the copy of one eager
// body, a few microseconds.
const SpinTries = 200

// Spin is a lock for sections: nothing inside blocks or
// switches threads. A poller that finds it held goes away, for the holder
// polls or is about to. Parking the waiters instead would save nothing for sections
// this short, and costs 20 us for a bound OS thread.
//
// A holder can lose its CPU all the same. A holder that has also lost its VP needs another VP to run it. So a thread that
// waits long yields in the kernel and on its own VP. A waiter without a VP, such as the LWP that sleeps in the kernel for
// the VPs, yields in the kernel, too: a yield to the Go scheduler alone does not give the CPU to a holder on another OS
// thread before the kernel's slice is over.
type Spin struct {
	word    atomic.Uint32 // 0 free, 1 held; the thread that takes or releases the lock writes it
	waiters atomic.Int32  // callers inside slow; read by a holder that could stay longer
}

// TryLock takes the lock if it is free.
func (mu *Spin) TryLock() bool {
	return mu.word.Load() == 0 && mu.word.CompareAndSwap(0, 1)
}

// Lock spins until it has the lock. It must not be called from hooks: those try.
func (mu *Spin) Lock() {
	if !mu.word.CompareAndSwap(0, 1) {
		mu.slow()
	}
}

func (mu *Spin) slow() {
	mu.waiters.Add(1)
	for tries := 0; !mu.TryLock(); tries++ {
		BackOff(tries)
	}
	mu.waiters.Add(-1)
}

// BackOff is what a caller does between two looks at a lock that is held.
func BackOff(tries int) {
	switch {
	case tries < SpinTries:
		asm.Pause()
	case tries%4 != 0:
		kernel.Yield()
	case marcel.OnThread():
		marcel.Yield()
	default:
		runtime.Gosched() // the holder may be a goroutine that waits for a P
	}
}

// Unlock releases the lock.
func (mu *Spin) Unlock() { mu.word.Store(0) }

// Wanted says whether a thread spins for the lock.
func (mu *Spin) Wanted() bool { return mu.waiters.Load() != 0 }

// Gate is the lock of a gate: its own, or that of its domain. If the domain also has a lock for the lists, the holder
// of the gate's lock holds that one, too, except while it is inside the driver (DropLists): then other threads look into
// the lists. The lock of the lists is the inner one.
type Gate struct {
	Spin
	joint  bool    // it is not the Spin alone, whose word stays set
	domain *Domain // of all gates; nil: there is none
	lists  *Spin   // of what is sent and matched at all gates; nil: it is under the gate's lock like all else
	driver Spin    // of the gate, if there are lists and no lock of all gates
}

// Join has the gate use the locks of its domain, if that has any. Its own stays held, so that the usual case looks at one
// word.
func (mu *Gate) Join(d *Domain, lists *Spin) {
	if mu.domain, mu.lists = d, lists; d != nil || lists != nil {
		mu.joint = true
		mu.word.Store(1)
	}
}

// TryLock takes the lock if it is free.
func (mu *Gate) TryLock() bool {
	return mu.word.Load() == 0 && mu.word.CompareAndSwap(0, 1) || mu.tryJoint()
}

//go:noinline
func (mu *Gate) tryJoint() bool {
	got := false
	switch d := mu.domain; {
	case d != nil:
		got = d.owner == asm.G() && d.enter() || d.TryLock()
	case mu.lists != nil:
		got = mu.driver.TryLock()
	}
	if got {
		mu.TakeLists()
	}
	return got
}

// Lock is Spin.Lock.
func (mu *Gate) Lock() {
	if mu.joint || !mu.word.CompareAndSwap(0, 1) { // the lock of a private domain costs no locked instruction
		mu.lockSlowly()
	}
}

//go:noinline
func (mu *Gate) lockSlowly() {
	switch d := mu.domain; {
	case d != nil && d.owner == asm.G() && d.enter():
	case d != nil:
		d.Lock()
	case mu.lists != nil:
		mu.driver.Lock()
	default:
		mu.Spin.slow()
	}
	mu.TakeLists()
}

// Unlock releases the lock.
func (mu *Gate) Unlock() {
	if mu.joint {
		mu.unlockJoint()
	} else {
		mu.Spin.Unlock()
	}
}

//go:noinline
func (mu *Gate) unlockJoint() {
	mu.DropLists()
	switch d := mu.domain; {
	case d == nil:
		mu.driver.Unlock()
	case d.byOwner:
		asm.StoreRelease32(&d.held, 0)
	default:
		d.Unlock()
	}
}

// DropLists lets other threads look into the lists while the holder is inside the driver. TakeLists ends that.
func (mu *Gate) DropLists() {
	if mu.lists != nil {
		mu.lists.Unlock()
	}
}

// TakeLists takes the lock of the lists, if there is one.
func (mu *Gate) TakeLists() {
	if mu.lists != nil {
		mu.lists.Lock()
	}
}

// Wanted says whether a thread spins for the lock, or for that of the lists.
func (mu *Gate) Wanted() bool {
	switch {
	case mu.domain != nil:
		return mu.domain.Wanted()
	case mu.lists != nil:
		return mu.driver.Wanted() || mu.lists.Wanted()
	}
	return mu.Spin.Wanted()
}

// Joint says that the lock is not that of the gate alone.
func (mu *Gate) Joint() bool { return mu.joint }

// HasLists says that the lists have a lock of their own.
func (mu *Gate) HasLists() bool { return mu.lists != nil }

// Domain is the lock of all gates of the domain; nil: there is none.
func (mu *Gate) Domain() *Domain { return mu.domain }

// Word is what code outside of Go takes the lock by, where it is not Joint: 0 is free, 1 held.
func (mu *Gate) Word() *atomic.Uint32 { return &mu.word }

// Owed says that a thread has left something at another gate of the domain.
func (mu *Gate) Owed() bool { return mu.domain != nil && mu.domain.Owed.Load() }

// Domain is one lock for all gates of a domain. If the domain is private (nmad.Private) the lock is biased: its owner stores to a
// word that no other thread writes, and then looks at a word that the others write when they want the lock. The others are
// the session's own goroutines, which make links, bring the news of the end of a process, or close. As long as none of
// them comes, the owner needs no locked instruction and shares no line that is written. The owner's store may still be in
// the buffer of its CPU when it looks. So another thread stores its claim and then makes all CPUs that run this process
// pass a barrier (membarrier): after that either the owner has seen the claim, or its store is visible.
//
//	owner:   held = 1; claimed == 0: it has the lock. Else held = 0, and again later
//	others:  one at a time (spin); claimed = 1; barrier; until held == 0; they have the lock. claimed = 0
//
// nmad/testdata/spin/bias.pml is the model.
type Domain struct {
	tend    func()      // looks at all gates of the domain; see Tend
	spin    Spin        // of all, or of all but the owner
	Owed    atomic.Bool // a thread has left something at a gate of the domain while it found the lock held
	tending atomic.Bool // a thread is inside Tend
	owner   uintptr     // asm.G of the owner; 0: there is none. A goroutine that has ended leaves its G to another one; two at once never have the same
	Strict  atomic.Bool // only the owner may try: others leave all to it, or wait for the lock
	fenced  bool        // the owner's store is a barrier itself: there is no other one

	_       [pad]byte
	held    atomic.Uint32 // the owner writes
	byOwner bool          // the holder is the owner; under the lock
	_       [pad]byte
	claimed atomic.Uint32 // the others write
	_       [pad]byte
}

// NewDomain makes the lock of gates at all of which tend looks.
func NewDomain(tend func()) *Domain { return &Domain{tend: tend} }

// NewLists makes a lock of lists, in lines of its own.
func NewLists() *Spin {
	return &(&struct {
		_ [pad]byte
		Spin
		_ [pad]byte
	}{}).Spin
}

// hasBarrier says whether other threads can have the owner's CPU pass a barrier.
var hasBarrier = sync.OnceValue(kernel.HasMembarrier)

// Bias makes the caller the owner.
func (mu *Domain) Bias() { mu.owner, mu.fenced = asm.G(), !hasBarrier() }

// TryLock takes the lock if it is free, and the caller may try.
func (mu *Domain) TryLock() bool {
	if mu.owner == 0 {
		return mu.spin.TryLock()
	}
	if asm.G() == mu.owner {
		return mu.enter()
	}
	if mu.Strict.Load() || !mu.spin.TryLock() {
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

// Lock is Spin.Lock.
func (mu *Domain) Lock() {
	switch {
	case mu.owner == 0:
		mu.spin.Lock()
	case asm.G() == mu.owner:
		for tries := 0; !mu.enter(); tries++ {
			BackOff(tries)
		}
	default:
		mu.spin.Lock()
		mu.claim()
		for tries := 0; mu.held.Load() != 0; tries++ {
			BackOff(tries)
		}
		mu.byOwner = false
	}
}

// enter is TryLock for the owner.
func (mu *Domain) enter() bool {
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
func (mu *Domain) claim() {
	mu.claimed.Store(1)
	if !mu.fenced {
		kernel.Membarrier()
	}
}

// release ends what claim began.
func (mu *Domain) release() {
	mu.claimed.Store(0)
	mu.spin.Unlock()
}

// Unlock releases the lock.
func (mu *Domain) Unlock() {
	switch {
	case mu.owner == 0:
		mu.spin.Unlock()
	case mu.byOwner:
		asm.StoreRelease32(&mu.held, 0)
	default:
		mu.release()
	}
}

// Wanted says whether a thread spins for the lock.
func (mu *Domain) Wanted() bool {
	return mu.spin.Wanted() || mu.owner != 0 && mu.claimed.Load() != 0
}

// Tend does the work that threads have left at the gates because they found the lock held by a thread that was busy with
// another gate. Every thread calls it after it has let the lock go. mu may be nil.
func (mu *Domain) Tend() {
	if mu == nil {
		return
	}
	for mu.Owed.Load() && mu.tending.CompareAndSwap(false, true) {
		mu.Owed.Store(false)
		mu.tend()
		mu.tending.Store(false)
		if !mu.TryLock() {
			return // its holder comes here
		}
		mu.Unlock()
	}
}
