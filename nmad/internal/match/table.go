package match

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
)

// A table holds entries by tag, those of a tag in the order in which they came. A matcher has two: receives that
// wait for their message, and messages that wait for their receive. For any tag at most one of them holds entries.
//
//	bucket            chain: one per tag         ring: same tag, in order
//	+---+
//	| 0 | -> [tag 7, newest] -next-> [tag 7, oldest] -next-> [tag 7] -next-> the newest
//	+---+         | chain
//	| 1 |    [tag 9, newest, and oldest] -next-> itself
//	+---+
//
// The newest entry of a tag stands in the chain of its bucket, and leads to the oldest. So finding, adding and
// taking cost one hash and a walk over the distinct tags of one bucket, fewer
// than two on average, whatever the lengths of the rings; and nothing is
// allocated but the buckets, which double when there are more tags than
// buckets. The hash is keyed with random numbers: a peer cannot choose tags
// that fall into one bucket.

// Entry is what a table holds: part of a T, to which Of leads.
type Entry[T any] struct {
	Tag   uint64
	Of    *T
	Age   uint64    // of a receive: Any.Now when it was posted
	chain *Entry[T] // newest of its tag: the next tag in the same bucket
	next  *Entry[T] // next of the same tag; newest: the oldest; nil: in no table
}

// firstBuckets is a power of two.
const firstBuckets = 16

// table is what is drawn above. newTable makes one.
type table[T any] struct {
	buckets []*Entry[T]
	key     [2]uint64
	tags    int  // distinct tags
	len     int  // entries
	all     *int // entries of several tables; nil: they are not counted
}

func newTable[T any](buckets int) table[T] {
	var seed [16]byte
	rand.Read(seed[:]) // never fails
	return table[T]{
		buckets: make([]*Entry[T], buckets),
		key:     [2]uint64{binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:]) | 1},
	}
}

// place gives the address of the pointer that leads to the tag's newest entry, or to
// the nil at which that of a new tag belongs.
func (t *table[T]) place(tag uint64) **Entry[T] {
	hi, lo := bits.Mul64(tag^t.key[0], t.key[1])
	p := &t.buckets[(hi^lo)&uint64(len(t.buckets)-1)]
	for *p != nil && (*p).Tag != tag {
		p = &(*p).chain
	}
	return p
}

// add puts e behind all of its tag.
func (t *table[T]) add(e *Entry[T]) {
	t.len++
	if t.all != nil {
		*t.all++
	}
	p := t.place(e.Tag)
	if last := *p; last != nil {
		e.next, last.next = last.next, e
		e.chain, last.chain = last.chain, nil
		*p = e
		return
	}
	e.next, e.chain = e, nil
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
	return t.unlink(p, *p)
}

// unlink removes and returns the entry behind before, of a tag to whose newest p leads.
func (t *table[T]) unlink(p **Entry[T], before *Entry[T]) *Entry[T] {
	e := before.next
	t.len--
	if t.all != nil {
		*t.all--
	}
	if e == before {
		*p = e.chain
		t.tags--
	} else if before.next = e.next; e == *p {
		before.chain, *p = e.chain, before
	}
	e.chain, e.next = nil, nil
	return e
}

// peek returns the oldest entry of the tag and leaves it where it is.
func (t *table[T]) peek(tag uint64) *Entry[T] {
	if last := *t.place(tag); last != nil {
		return last.next
	}
	return nil
}

// remove takes e out of the table and says whether it was there. It walks the
// ring of its tag: for what is rare.
func (t *table[T]) remove(e *Entry[T]) bool {
	if e.next == nil {
		return false
	}
	p, before := t.place(e.Tag), e
	for before.next != e {
		before = before.next
	}
	t.unlink(p, before)
	return true
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
	for _, last := range old {
		for last != nil {
			rest := last.chain
			last.chain = nil
			*t.place(last.Tag) = last
			last = rest
		}
	}
}
