package sched

import "sync/atomic"

// word says which LWP has a VP: its id, 0 for none, and lentBit while a taker works on the
// VP's private state. What the LWP does with it, the word does not say: the thread that runs
// there says so by a word of its own, co.inside, with plain stores. See README.md.
//
//	free ── claim: a spare that was woken, or a thread back from Blocking ──► L
//	L ───── release: L goes to sleep, or its thread enters Blocking ────────► free
//	x ───── lend: a taker; then it looks whether L is inside ───────────────► x, lent
//	x, lent ── giveBack ────────────────────────────────────────────────────► x
//	L, lent ── giveBack as another: the VP is taken from L, for S ──────────► S
type word struct{ v uint32 }

const (
	lentBit   = 1 << 31
	fencedBit = 1 << 30       // in co.id, where Enter needs a barrier: see borrow.go
	lostID    = fencedBit - 1 // in co.id: its thread is on no LWP
)

func (w *word) load() uint32   { return atomic.LoadUint32(&w.v) }
func holder(x uint32) uint32   { return x &^ lentBit }
func (w *word) holder() uint32 { return holder(w.load()) }

// claim: free -> L. Counterparts: other claims, lend.
func (w *word) claim(id uint32) bool {
	return atomic.LoadUint32(&w.v) == 0 && atomic.CompareAndSwapUint32(&w.v, 0, id)
}

// release: L -> free, by L, which is inside: a taker that has the word for this moment
// finds that, and gives it back. What comes after it (the look at the inbox) must not pass it.
func (w *word) release(id uint32) { w.passOn(id, 0) }

// passOn: L -> another LWP, by L, which is inside.
func (w *word) passOn(id, to uint32) {
	for n := 1; !atomic.CompareAndSwapUint32(&w.v, id, to); n++ {
		if relax(); n%spinsPerYield == 0 {
			giveWay()
		}
	}
}

// lend: x -> x, lent. Takers exclude each other by it.
func (w *word) lend() (x uint32, ok bool) {
	x = w.load()
	return x, x&lentBit == 0 && atomic.CompareAndSwapUint32(&w.v, x, x|lentBit)
}

// giveBack: x, lent -> x, or another holder.
func (w *word) giveBack(x uint32) { atomic.StoreUint32(&w.v, x) }

// Entering the scheduler is a store (co.inside) and a load (the VP's word), each several times
// in a microsecond; taking something from a VP's queue from outside is rare. So the barrier
// between the two is the taker's: membarrier(2) has the kernel interrupt the process's other
// CPUs, some microseconds. (Biased locks do the same.) Where there is no such call the threads
// pass a barrier themselves: their co.id carries fencedBit, so Enter goes by comeBack, which
// has one. In the portable mode, where takers change the id of a thread that runs, all go that way.
var fenced bool // see chooseMode
