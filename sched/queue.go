package sched

import "math/bits"

// Policy says in which order a VP runs its ready threads of one priority.
type Policy uint8

const (
	// Fair runs them in the order in which they became ready.
	Fair Policy = iota
	// LIFO runs the youngest first, while thieves take the oldest: what Cilk does (Blumofe, Leiserson, JACM 1999).
	// Programs that spawn recursively so go down their tree instead of across it, need far less memory, and thieves get
	// the largest pieces. A thread that yields lets all others go first; and every 61st time it is another one's turn,
	// by rotation, so that none waits for ever.
	LIFO
)

// queue holds ready threads: a ring for each priority. Almost always all are of Default priority: that ring is
// embedded, and nonDefault, beside it, is 0 then.
type queue struct {
	threadRing                    // the threads of Default priority
	nonDefault uint32             // the other ranks of which threads are queued, as bits; and lifoBit
	others     *[ranks]threadRing // the threads of the other ranks; nil: there has been none
}

// lifoBit in nonDefault: the policy is LIFO.
const lifoBit = 1 << 31

// anyEvery is how many turns pass, under LIFO, until a thread from any position gets one.
const anyEvery = 61

// of returns the ring of rank r.
func (q *queue) of(r rank) *threadRing {
	if r == defaultRank {
		return &q.threadRing
	}
	if q.others == nil {
		q.others = new([ranks]threadRing)
	}
	return &q.others[r]
}

// present returns the ranks of which threads are queued, as bits.
func (q *queue) present() uint32 {
	b := q.nonDefault &^ lifoBit
	if q.threadRing.len() > 0 {
		b |= defaultRank.bit()
	}
	return b
}

// total returns the number of threads of all priorities.
func (q *queue) total() int {
	n := q.threadRing.len()
	if q.nonDefault&^lifoBit != 0 {
		for b := q.nonDefault &^ lifoBit; b != 0; b &= b - 1 {
			n += q.others[bits.TrailingZeros32(b)].len()
		}
	}
	return n
}

// add queues t by its class's priority, as the youngest.
func (q *queue) add(t *thread) {
	r := t.rank()
	q.of(r).push(t)
	q.mark(r)
}

// addYielder queues t, which yields, behind all others.
func (q *queue) addYielder(t *thread) {
	if q.nonDefault&lifoBit == 0 {
		q.add(t)
		return
	}
	r := t.rank()
	q.of(r).pushOld(t)
	q.mark(r)
}

// mark notes that a thread of rank r is queued.
func (q *queue) mark(r rank) {
	if r != defaultRank {
		q.nonDefault |= r.bit()
	}
}

// took corrects nonDefault after threads of rank r have been taken.
func (q *queue) took(r rank) {
	if r != defaultRank && q.others[r].len() == 0 {
		q.nonDefault &^= r.bit()
	}
}

// take takes out the next thread of rank r by the policy; n counts the turns. There is one.
func (q *queue) take(r rank, n uint32) *thread {
	var t *thread
	switch o := q.of(r); {
	case q.nonDefault&lifoBit == 0:
		t = o.pop()
	case n%anyEvery == 0 && o.len() > 1:
		p, young := o.at(o.head+n/anyEvery%uint32(o.len())), o.at(o.tail-1)
		*p, *young = *young, *p
		t = o.popYoung()
	default:
		t = o.popYoung()
	}
	q.took(r)
	return t
}

// putFirst puts t, which was taken, back before all others of its priority.
func (q *queue) putFirst(t *thread) {
	r := t.rank()
	if q.nonDefault&lifoBit != 0 {
		q.of(r).push(t)
	} else {
		q.of(r).pushOld(t)
	}
	q.mark(r)
}

// withdraw takes t out if it is among the last or the first look threads of its priority.
func (q *queue) withdraw(t *thread, look int) bool {
	r := t.rank()
	if r != defaultRank && q.others == nil || !q.of(r).withdraw(t, look) {
		return false
	}
	q.took(r)
	return true
}

// highest returns the rank of the highest priority whose bit is set.
func highest(b uint32) rank { return rank(bits.TrailingZeros32(b)) }
