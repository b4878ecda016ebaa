package sched

// ring is a queue of threads with two ends which only its VP's holder (or a thief
// that has borrowed the VP), or the holder of its lock, touches: no atomics. It
// grows by doubling.
type ring struct {
	buf        []*thread // its length is a power of two
	head, tail uint32    // tail-head threads; others peep at both as a hint
}

// minRing is the first size of a ring; tests set it to 2.
var minRing = firstRing

func (q *ring) len() int { return int(q.tail - q.head) }

func (q *ring) at(i uint32) **thread { return &q.buf[i&uint32(len(q.buf)-1)] }

// push adds at the young end.
func (q *ring) push(t *thread) {
	if !q.tryPush(t) {
		q.grow()
		q.tryPush(t)
	}
}

// tryPush is push where there is room; it is inlined.
func (q *ring) tryPush(t *thread) bool {
	if q.len() == len(q.buf) {
		return false
	}
	*q.at(q.tail) = t
	q.tail++
	return true
}

// pushOld adds at the old end: t is older than all others.
func (q *ring) pushOld(t *thread) {
	if q.len() == len(q.buf) {
		q.grow()
	}
	q.head--
	*q.at(q.head) = t
}

func (q *ring) grow() {
	b := make([]*thread, max(minRing, 2*len(q.buf)))
	for i := q.head; i != q.tail; i++ {
		b[i&uint32(len(b)-1)] = q.buf[i&uint32(len(q.buf)-1)]
	}
	q.buf = b
}

// pop takes the oldest.
func (q *ring) pop() *thread {
	if q.head == q.tail {
		return nil
	}
	p := &q.buf[q.head&uint32(len(q.buf)-1)]
	t := *p
	*p = nil // the collector must not keep an ended thread alive
	q.head++
	return t
}

// oldest is the one that pop would take.
func (q *ring) oldest() *thread {
	if q.head == q.tail {
		return nil
	}
	return q.buf[q.head&uint32(len(q.buf)-1)]
}

// rotate is pop of the oldest, where there is one, and push of t.
func (q *ring) rotate(t *thread) {
	mask := uint32(len(q.buf) - 1)
	q.buf[q.head&mask] = nil
	q.buf[q.tail&mask] = t
	q.head++
	q.tail++
}

// popYoung takes the youngest.
func (q *ring) popYoung() *thread {
	if q.head == q.tail {
		return nil
	}
	q.tail--
	p := q.at(q.tail)
	t := *p
	*p = nil
	return t
}

// withdraw takes t out if it is among the last or the first look threads; the
// others keep their order.
func (q *ring) withdraw(t *thread, look int) bool {
	mask := uint32(len(q.buf) - 1)
	n := uint32(min(look, q.len()))
	for i := range n {
		if at := q.tail - 1 - i; q.buf[at&mask] == t {
			for ; at != q.tail-1; at++ {
				q.buf[at&mask] = q.buf[(at+1)&mask]
			}
			q.tail--
			q.buf[q.tail&mask] = nil
			return true
		}
	}
	for i := range n {
		if at := q.head + i; q.buf[at&mask] == t {
			for ; at != q.head; at-- {
				q.buf[at&mask] = q.buf[(at-1)&mask]
			}
			q.buf[q.head&mask] = nil
			q.head++
			return true
		}
	}
	return false
}
