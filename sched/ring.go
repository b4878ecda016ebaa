package sched

// threadRing is a queue of threads with two ends, in a ring that grows by doubling. Only the holder of its VP, a thief
// that has borrowed the VP, or the holder of its node's lock uses it, so it needs no atomics.
type threadRing struct {
	buf        []*thread // its length is a power of two
	head, tail uint32    // from the oldest thread to behind the youngest: tail-head threads. Others read both as a hint
}

// minRing is the first size of a ring; tests set it to 2.
var minRing = firstRing

func (rg *threadRing) len() int { return int(rg.tail - rg.head) }

// at returns place i, counted as head and tail are.
func (rg *threadRing) at(i uint32) **thread { return &rg.buf[i&uint32(len(rg.buf)-1)] }

// push adds at the young end.
func (rg *threadRing) push(t *thread) {
	if !rg.tryPush(t) {
		rg.grow()
		rg.tryPush(t)
	}
}

// tryPush is push where there is room; it is inlined.
func (rg *threadRing) tryPush(t *thread) bool {
	if rg.len() == len(rg.buf) {
		return false
	}
	*rg.at(rg.tail) = t
	rg.tail++
	return true
}

// pushOld adds at the old end: t is older than all others.
func (rg *threadRing) pushOld(t *thread) {
	if rg.len() == len(rg.buf) {
		rg.grow()
	}
	rg.head--
	*rg.at(rg.head) = t
}

func (rg *threadRing) grow() {
	b := make([]*thread, max(minRing, 2*len(rg.buf)))
	for i := rg.head; i != rg.tail; i++ {
		b[i&uint32(len(b)-1)] = rg.buf[i&uint32(len(rg.buf)-1)]
	}
	rg.buf = b
}

// pop takes the oldest.
func (rg *threadRing) pop() *thread {
	if rg.head == rg.tail {
		return nil
	}
	p := &rg.buf[rg.head&uint32(len(rg.buf)-1)]
	t := *p
	*p = nil // the collector must not keep an ended thread alive
	rg.head++
	return t
}

// oldest is the one that pop would take.
func (rg *threadRing) oldest() *thread {
	if rg.head == rg.tail {
		return nil
	}
	return rg.buf[rg.head&uint32(len(rg.buf)-1)]
}

// rotate is pop of the oldest, where there is one, and push of t.
func (rg *threadRing) rotate(t *thread) {
	mask := uint32(len(rg.buf) - 1)
	rg.buf[rg.head&mask] = nil
	rg.buf[rg.tail&mask] = t
	rg.head++
	rg.tail++
}

// popYoung takes the youngest.
func (rg *threadRing) popYoung() *thread {
	if rg.head == rg.tail {
		return nil
	}
	rg.tail--
	p := rg.at(rg.tail)
	t := *p
	*p = nil
	return t
}

// withdraw takes t out if it is among the last or the first look threads; the others keep their order.
func (rg *threadRing) withdraw(t *thread, look int) bool {
	mask := uint32(len(rg.buf) - 1)
	n := uint32(min(look, rg.len()))
	for i := range n {
		if at := rg.tail - 1 - i; rg.buf[at&mask] == t {
			for ; at != rg.tail-1; at++ {
				rg.buf[at&mask] = rg.buf[(at+1)&mask]
			}
			rg.tail--
			rg.buf[rg.tail&mask] = nil
			return true
		}
	}
	for i := range n {
		if at := rg.head + i; rg.buf[at&mask] == t {
			for ; at != rg.head; at-- {
				rg.buf[at&mask] = rg.buf[(at-1)&mask]
			}
			rg.buf[rg.head&mask] = nil
			rg.head++
			return true
		}
	}
	return false
}
