package match

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
)

// A table holds entries by tag, those of a tag in the order in which they came. A matcher has two: receives that
// wait for their message, and messages that wait for their receive. For any tag at most one of them holds entries.
//
//	bucket            chain: one leader per tag            queue: same tag, in order
//	+---+
//	| 0 | -> [tag 7 leader] -next-> [tag 7] -next-> [tag 7] <- tail of the leader
//	+---+         | chain
//	| 1 |    [tag 9 leader]
//	+---+
//
// The oldest entry of a tag leads its queue and stands in the chain of its
// bucket; when it is taken, the next one steps into its place. So finding, adding and
// taking cost one hash and a walk over the distinct tags of one bucket, fewer
// than two on average, whatever the lengths of the queues; and nothing is
// allocated but the buckets, which double when there are more tags than
// buckets. The hash is keyed with random numbers: a peer cannot choose tags
// that fall into one bucket.

// Entry is what a table holds: part of a T, to which Of leads.
type Entry[T any] struct {
	Tag   uint64
	Of    *T
	Age   uint64    // of a receive: Any.Now when it was posted
	chain *Entry[T] // leader: next tag in the same bucket
	next  *Entry[T] // next of the same tag
	tail  *Entry[T] // leader: last of the same tag
}

// firstBuckets is a power of two.
const firstBuckets = 16

// table is what is drawn above. newTable makes one.
type table[T any] struct {
	buckets []*Entry[T]
	key     [2]uint64
	tags    int // distinct tags, which is the number of leaders
	len     int // entries
}

func newTable[T any](buckets int) table[T] {
	var seed [16]byte
	rand.Read(seed[:]) // never fails
	return table[T]{
		buckets: make([]*Entry[T], buckets),
		key:     [2]uint64{binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:]) | 1},
	}
}

// place gives the address of the pointer that leads to the tag's leader, or to
// the nil at which a new leader belongs.
func (t *table[T]) place(tag uint64) **Entry[T] {
	hi, lo := bits.Mul64(tag^t.key[0], t.key[1])
	p := &t.buckets[(hi^lo)&uint64(len(t.buckets)-1)]
	for *p != nil && (*p).Tag != tag {
		p = &(*p).chain
	}
	return p
}

// add appends e to the queue of its tag.
func (t *table[T]) add(e *Entry[T]) {
	t.len++
	e.chain, e.next = nil, nil
	p := t.place(e.Tag)
	if lead := *p; lead != nil {
		lead.tail.next = e
		lead.tail = e
		return
	}
	e.tail = e
	*p = e
	if t.tags++; t.tags > len(t.buckets) {
		t.grow()
	}
}

// take removes and returns the oldest entry of the tag, nil if there is none.
func (t *table[T]) take(tag uint64) *Entry[T] {
	p := t.place(tag)
	if *p == nil {
		return nil
	}
	return t.unlink(p)
}

// unlink removes and returns the oldest entry of a tag that has some, to which p leads.
func (t *table[T]) unlink(p **Entry[T]) *Entry[T] {
	e := *p
	t.len--
	if heir := e.next; heir != nil {
		heir.chain, heir.tail = e.chain, e.tail
		*p = heir
	} else {
		*p = e.chain
		t.tags--
	}
	e.chain, e.next, e.tail = nil, nil, nil
	return e
}

// peek returns the oldest entry of the tag and leaves it where it is.
func (t *table[T]) peek(tag uint64) *Entry[T] { return *t.place(tag) }

// remove takes e out of the table and says whether it was there. It walks the
// queue of its tag: for what is rare.
func (t *table[T]) remove(e *Entry[T]) bool {
	lead := *t.place(e.Tag)
	if lead == nil {
		return false
	}
	if lead == e {
		t.take(e.Tag)
		return true
	}
	for before := lead; before.next != nil; before = before.next {
		if before.next == e {
			before.next = e.next
			if lead.tail == e {
				lead.tail = before
			}
			e.next = nil
			t.len--
			return true
		}
	}
	return false
}

// takeAny removes and returns some entry, oldest first within its tag; nil when
// the table is empty. from is a bucket below which all are known to be empty,
// and is moved on.
func (t *table[T]) takeAny(from *int) *Entry[T] {
	for ; *from < len(t.buckets); *from++ {
		if e := t.buckets[*from]; e != nil {
			return t.take(e.Tag)
		}
	}
	return nil
}

func (t *table[T]) grow() {
	old := t.buckets
	t.buckets = make([]*Entry[T], 2*len(old))
	for _, lead := range old {
		for lead != nil {
			rest := lead.chain
			lead.chain = nil
			*t.place(lead.Tag) = lead
			lead = rest
		}
	}
}
