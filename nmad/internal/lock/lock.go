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

// SpinTries is how often a waiter looks at a lock that is held before it offers its processor to others. A critical
// section takes from tens of nanoseconds up to a few microseconds, the time of copying one eager body.
const SpinTries = 200

// Spin is a spin lock for short critical sections, in which the holder neither blocks nor switches threads. A poller
// that finds the lock held goes away, because the holder polls itself. Parking the waiters would save nothing in
// sections this short, and costs 20 us for a bound OS thread. The zero Spin is free.
//
// A holder can lose its CPU all the same. A holder that has also lost its VP needs another VP to run it. So a thread
// that waits long yields in the kernel and on its own VP. A waiter without a VP, such as the LWP that sleeps in the
// kernel for the VPs, yields in the kernel, too: a yield to the Go scheduler alone does not give the CPU to a holder on
// another OS thread before the kernel's slice is over.
type Spin struct {
	word    atomic.Uint32 // 0 free, 1 held; the thread that takes or releases the lock writes it
	waiters atomic.Int32  // threads inside slow; they write it; a holder that could stay longer reads it (Wanted)
}

// TryLock takes the lock if it is free.
func (mu *Spin) TryLock() bool {
	return mu.word.Load() == 0 && mu.word.CompareAndSwap(0, 1)
}

// Lock spins until it has the lock. Hooks must not call it: they call TryLock.
func (mu *Spin) Lock() {
	if !mu.word.CompareAndSwap(0, 1) {
		mu.slow()
	}
}

// slow is Lock for a lock that is held.
func (mu *Spin) slow() {
	mu.waiters.Add(1)
	for tries := 0; !mu.TryLock(); tries++ {
		BackOff(tries)
	}
	mu.waiters.Add(-1)
}

// BackOff pauses between two looks at a lock that is held, or at another word that a thread is about to write: it spins
// for the first SpinTries tries, and then yields in the kernel and to the scheduler.
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

// Wanted reports whether a thread spins for the lock.
func (mu *Spin) Wanted() bool { return mu.waiters.Load() != 0 }

// Gate is the lock of a gate: its own, or that of its domain. In some domains the lists of what is sent and matched
// have a lock of their own, which all gates of the domain share. The holder of a gate's lock holds the lock of the
// lists, too, except while it is inside the driver (UnlockLists): then other threads may use the lists. The lock of the
// lists is taken inside that of the gate. The zero Gate is a lock of its own, and free.
type Gate struct {
	Spin           // the gate's own lock; held for ever if joint
	joint  bool    // the gate uses locks of its domain; Join sets it
	domain *Domain // the lock of all gates of the domain; nil if the domain has none
	lists  *Spin   // the lock of the lists; nil if the gate's lock guards them
	driver Spin    // the gate's own lock if there is a lock of the lists and none of all gates
}

// Join makes the gate use the locks of its domain, of which each may be nil. The gate's own Spin then stays held, so
// that Lock and TryLock look at one word in the usual case. The gate must not be shared with other threads yet.
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
		mu.LockLists()
	}
	return got
}

// Lock spins until it has the lock. Hooks must not call it.
func (mu *Gate) Lock() {
	if mu.joint || !mu.word.CompareAndSwap(0, 1) { // joint first: the lock of a private domain costs no locked instruction
		mu.lockSlow()
	}
}

//go:noinline
func (mu *Gate) lockSlow() {
	switch d := mu.domain; {
	case d != nil && d.owner == asm.G() && d.enter():
	case d != nil:
		d.Lock()
	case mu.lists != nil:
		mu.driver.Lock()
	default:
		mu.Spin.slow()
	}
	mu.LockLists()
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
	mu.UnlockLists()
	switch d := mu.domain; {
	case d == nil:
		mu.driver.Unlock()
	case d.byOwner:
		asm.StoreRelease32(&d.held, 0)
	default:
		d.Unlock()
	}
}

// UnlockLists releases the lock of the lists, if there is one, while the holder of the gate's lock is inside the
// driver. LockLists takes it again.
func (mu *Gate) UnlockLists() {
	if mu.lists != nil {
		mu.lists.Unlock()
	}
}

// LockLists takes the lock of the lists, if there is one. It spins.
func (mu *Gate) LockLists() {
	if mu.lists != nil {
		mu.lists.Lock()
	}
}

// Wanted reports whether a thread spins for the lock, or for that of the lists.
func (mu *Gate) Wanted() bool {
	switch {
	case mu.domain != nil:
		return mu.domain.Wanted()
	case mu.lists != nil:
		return mu.driver.Wanted() || mu.lists.Wanted()
	}
	return mu.Spin.Wanted()
}

// Joint reports whether the gate uses locks of its domain.
func (mu *Gate) Joint() bool { return mu.joint }

// HasLists reports whether the lists have a lock of their own.
func (mu *Gate) HasLists() bool { return mu.lists != nil }

// Domain returns the lock of all gates of the domain; nil if there is none.
func (mu *Gate) Domain() *Domain { return mu.domain }

// Word returns the word by which code outside of Go takes a lock that is not Joint: it is 0 if the lock is free, 1 if
// it is held.
func (mu *Gate) Word() *atomic.Uint32 { return &mu.word }

// Owed reports whether a thread has left work at a gate of the domain (Domain.Owed).
func (mu *Gate) Owed() bool { return mu.domain != nil && mu.domain.Owed.Load() }

// Domain is one lock for all gates of a domain. Bias makes it a biased lock, for a private domain (nmad.Private) or one
// that has a worker: the owner takes the lock by a store to held, which no other thread writes, and a look at claimed,
// which the other threads write when they want the lock. The others are the session's own goroutines, which make links,
// bring the news of the end of a process, or close. As long as none of them comes, the owner needs no locked
// instruction and shares no cache line that another core writes.
//
// The owner's store may still be in the store buffer of its CPU when the owner looks at claimed. So another thread
// stores to claimed and then makes all CPUs that run this process pass a barrier (membarrier). After that either the
// owner has seen the claim, or the other thread sees the owner's store.
//
//	owner:   held = 1; if claimed == 0 the owner has the lock; else held = 0, and it tries again later
//	others:  take spin, so that one of them claims at a time; claimed = 1; barrier; wait until held == 0: it has the lock
//	         to release it: claimed = 0; release spin
//
// nmad/testdata/spin/bias.pml is the model.
type Domain struct {
	tend    func()      // looks at all gates of the domain; see Tend
	spin    Spin        // the lock itself if there is no owner; else the others take it before they claim
	Owed    atomic.Bool // a thread that found the lock held has left work at a gate, and sets it; Tend clears it
	tending atomic.Bool // a thread is inside Tend
	owner   uintptr     // asm.G of the owner; 0 if there is none. No two living goroutines have the same
	Strict  atomic.Bool // TryLock fails for all but the owner: the others leave their work to it, or call Lock
	fenced  bool        // there is no membarrier: the owner's store is a barrier itself

	_       [pad]byte
	held    atomic.Uint32 // 1 while the owner has the lock, or looks; the owner writes, the others read
	byOwner bool          // the holder is the owner; guarded by the lock
	_       [pad]byte
	claimed atomic.Uint32 // 1 while another thread has the lock, or waits for it; the others write, the owner reads
	_       [pad]byte
}

// NewDomain makes a lock. tend does the work that other threads have left at the gates of the domain; see Tend.
func NewDomain(tend func()) *Domain { return &Domain{tend: tend} }

// NewLists makes a lock of the lists, in cache lines of its own.
func NewLists() *Spin {
	return &(&struct {
		_ [pad]byte
		Spin
		_ [pad]byte
	}{}).Spin
}

// hasBarrier reports whether this kernel has membarrier, by which a thread makes the owner's CPU pass a barrier.
var hasBarrier = sync.OnceValue(kernel.HasMembarrier)

// Bias makes the calling goroutine the owner. No thread may use the lock yet.
func (mu *Domain) Bias() { mu.owner, mu.fenced = asm.G(), !hasBarrier() }

// TryLock takes the lock if it is free. It always fails for a caller that is not the owner of a Strict lock.
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

// Lock spins until it has the lock. Hooks must not call it.
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

// claim keeps the owner from taking the lock. If the owner has it, it keeps it until it releases it (held).
func (mu *Domain) claim() {
	mu.claimed.Store(1)
	if !mu.fenced {
		kernel.Membarrier()
	}
}

// release undoes claim, and releases spin.
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

// Wanted reports whether a thread spins for the lock.
func (mu *Domain) Wanted() bool {
	return mu.spin.Wanted() || mu.owner != 0 && mu.claimed.Load() != 0
}

// Tend does the work that threads have left at the gates of the domain because they found the lock held, perhaps by a
// thread that was busy with another gate. Every holder calls it after it has released the lock. mu may be nil.
func (mu *Domain) Tend() {
	if mu == nil {
		return
	}
	for mu.Owed.Load() && mu.tending.CompareAndSwap(false, true) {
		mu.Owed.Store(false)
		mu.tend()
		mu.tending.Store(false)
		if !mu.TryLock() {
			return // the holder of the lock calls Tend when it has released it
		}
		mu.Unlock()
	}
}
