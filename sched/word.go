package sched

import "sync/atomic"

// word says who holds a VP and whether it may be taken: the id of the LWP in
// the upper bits (with firmBit: see preempt.go), the mode in the lower two. It is the lock of the VP's private
// state: plain loads and stores of that state lie between an acquiring
// transition into held or lent and a releasing one out of it. See README.md for
// the drawing.
type word struct{ v uint32 }

// mode of a VP.
type mode uint32

const (
	free mode = 0 // nobody holds it; LWP 0
	user mode = 1 // the LWP's thread runs user code: the VP may be taken, or borrowed
	held mode = 2 // the LWP is inside the scheduler: hands off
	lent mode = 3 // a thief works on the queue for a moment; LWP 0 if the VP was free
)

func (w *word) load() uint32 { return atomic.LoadUint32(&w.v) }
func modeOf(x uint32) mode   { return mode(x & 3) }
func lwpOf(x uint32) uint32  { return x >> 2 &^ firmBit }

// seizable: its thread runs user code and may be preempted.
func seizable(x uint32) bool { return modeOf(x) == user && x&(firmBit<<2) == 0 }

// tryEnter: user(l) -> held(l). Counterparts: seize, borrow.
func (w *word) tryEnter(id uint32) bool {
	return atomic.CompareAndSwapUint32(&w.v, id<<2|uint32(user), id<<2|uint32(held))
}

// leave: held(l) -> user(l). Nobody else changes held(l), so a store will do.
func (w *word) leave(id uint32) { storeRel(&w.v, id<<2|uint32(user)) }

// claim: free -> held(l). Counterparts: other claims, borrow.
func (w *word) claim(id uint32) bool {
	return atomic.LoadUint32(&w.v) == 0 && atomic.CompareAndSwapUint32(&w.v, 0, id<<2|uint32(held))
}

// release: held(l) -> free. An exchange: what comes after it (the look at the
// inbox) must not pass it.
func (w *word) release() { atomic.StoreUint32(&w.v, 0) }

// seize: user(x) -> held(l), if the word is still as load has found it. Counterparts:
// tryEnter, borrow. That x may have been in and out since somebody decided to seize does
// no harm.
func (w *word) seize(found, id uint32) bool {
	return seizable(found) && atomic.CompareAndSwapUint32(&w.v, found, id<<2|uint32(held))
}

// borrow: user(x) -> lent(x), or free -> lent(0); old is for giveBack.
// Counterparts: tryEnter, seize, claim.
func (w *word) borrow() (old uint32, ok bool) {
	x := w.load()
	return x, w.borrowAs(x)
}

// borrowAs is borrow if the word is still as load has found it.
func (w *word) borrowAs(found uint32) bool {
	m := modeOf(found)
	return (m == user || m == free) && atomic.CompareAndSwapUint32(&w.v, found, found|uint32(lent))
}

// giveBack: lent(x) -> what it was. An exchange, as release.
func (w *word) giveBack(old uint32) { atomic.StoreUint32(&w.v, old) }

// carries tells whether LWP id has this VP and runs user code with it.
func (w *word) carries(id uint32) bool {
	x := w.load()
	return lwpOf(x) == id&^firmBit && modeOf(x) == user
}

// holds tells whether LWP id is inside the scheduler with this VP.
func (w *word) holds(id uint32) bool {
	x := w.load() // with or without firmBit: that of the thread which has left
	return lwpOf(x) == id&^firmBit && modeOf(x) == held
}
