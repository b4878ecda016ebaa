package sched

import "sync/atomic"

// vpWord says which LWP holds a VP: the id of the LWP, or 0 for none. borrowBit is set while a taker works on the
// VP's private state. Whether the thread that runs there is inside the scheduler stands in another
// word, co.inside, which that thread writes with plain stores. See README.md.
//
//	free ── claim: a spare that was woken, or a thread back from Blocking ──► L
//	L ───── release: L goes to sleep, or its thread enters Blocking ────────► free
//	x ───── borrow: a taker; then it looks whether L is inside ─────────────► x, borrowed
//	x, borrowed ── giveBack ────────────────────────────────────────────────► x
//	L, borrowed ── giveBack as another: the VP is taken from L, for S ──────► S
type vpWord struct{ word uint32 }

const (
	borrowBit = 1 << 31
	fencedBit = 1 << 30       // in co.id, where Enter needs a barrier: see borrow.go
	lostID    = fencedBit - 1 // in co.id: its thread is on no LWP
)

// load returns the word, with borrowBit.
func (wd *vpWord) load() uint32 { return atomic.LoadUint32(&wd.word) }

// holder returns the id of the LWP that a word names; 0: none.
func holder(x uint32) uint32 { return x &^ borrowBit }

// holder returns the id of the LWP that has the VP; 0: none.
func (wd *vpWord) holder() uint32 { return holder(wd.load()) }

// claim: free -> L. Counterparts: other claims, borrow.
func (wd *vpWord) claim(id uint32) bool {
	return atomic.LoadUint32(&wd.word) == 0 && atomic.CompareAndSwapUint32(&wd.word, 0, id)
}

// release: L -> free, by L, which is inside. A taker that has borrowed the word meanwhile sees that L is inside, and
// gives the word back. The look at the inbox that follows must not pass the release.
func (wd *vpWord) release(id uint32) { wd.passOn(id, 0) }

// passOn: L -> another LWP, by L, which is inside.
func (wd *vpWord) passOn(id, to uint32) {
	for n := 1; !atomic.CompareAndSwapUint32(&wd.word, id, to); n++ {
		spinPause(n)
	}
}

// borrow: x -> x, borrowed. Takers exclude each other by it.
func (wd *vpWord) borrow() (x uint32, ok bool) {
	x = wd.load()
	return x, x&borrowBit == 0 && atomic.CompareAndSwapUint32(&wd.word, x, x|borrowBit)
}

// giveBack: x, borrowed -> x, or another holder.
func (wd *vpWord) giveBack(x uint32) { atomic.StoreUint32(&wd.word, x) }

// fenced says that each Enter passes a barrier of its own, because the kernel has no membarrier; chooseMode sets it.
//
// A thread enters the scheduler with a store (co.inside) and a load (the VP's word), several times in a microsecond; a
// taker seldom comes. So the taker pays for the barrier between the two: with membarrier(2) the kernel interrupts the
// process's other CPUs, which takes some microseconds. (Biased locks do the same.) Without that call co.id carries
// fencedBit, so Enter goes by comeBack, which has a barrier. In the portable mode takers change the id of a thread that
// runs, and all threads go that way.
var fenced bool
