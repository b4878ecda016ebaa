package match

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
)

// A table holds entries by tag, and those with the same tag in the order in which they came. A Matcher has two tables:
// exact receives that wait for a message, and messages that wait for a receive. For each tag at most one of them has
// entries.
//
//	bucket            chain: one per tag         ring: same tag, in order
//	+---+
//	| 0 | -> [tag 7, newest] -next-> [tag 7, oldest] -next-> [tag 7] -next-> the newest
//	+---+         | chain
//	| 1 |    [tag 9, newest, and oldest] -next-> itself
//	+---+
//
// The newest entry of a tag is in the chain of its bucket, and its next is the oldest entry. So to find, add or take an
// entry costs one hash and a walk over the distinct tags of one bucket, fewer than two on average, however long the
// rings are. Only the buckets are allocated; they double when there are more tags than buckets. The hash is keyed with
// random numbers, so a peer cannot choose tags that all fall into one bucket.

// Entry is an element of a table. It is part of a T, to which Value points.
type Entry[T any] struct {
	Tag   uint64
	Value *T
	Age   uint64    // of a receive: what AnyList.Now or Stamp has returned when it was posted
	chain *Entry[T] // of the newest entry of a tag: the newest entry of the next tag in the same bucket
	next  *Entry[T] // the next newer entry of the same tag; of the newest entry: the oldest; nil in no table
}

// firstBuckets is the number of buckets of a new table, a power of two.
const firstBuckets = 16

// table is the table drawn above. newTable makes one.
type table[T any] struct {
	buckets []*Entry[T] // their number is a power of two
	key     [2]uint64   // of the hash, random; the second word is odd
	tags    int         // number of distinct tags
	len     int         // number of entries
	total   *int        // counts the entries of several tables; may be nil
}

func newTable[T any](buckets int) table[T] {
	var seed [16]byte
	rand.Read(seed[:]) // never fails
	return table[T]{
		buckets: make([]*Entry[T], buckets),
		key:     [2]uint64{binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:]) | 1},
	}
}

// place returns the address of the pointer to the newest entry of the tag. If the tag has no entry, that pointer is
// nil, and is where a new entry belongs.
func (t *table[T]) place(tag uint64) **Entry[T] {
	hi, lo := bits.Mul64(tag^t.key[0], t.key[1])
	p := &t.buckets[(hi^lo)&uint64(len(t.buckets)-1)]
	for *p != nil && (*p).Tag != tag {
		p = &(*p).chain
	}
	return p
}

// add adds e behind all entries of its tag.
func (t *table[T]) add(e *Entry[T]) {
	t.len++
	if t.total != nil {
		*t.total++
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

// take removes and returns the oldest entry of the tag; nil if there is none.
func (t *table[T]) take(tag uint64) *Entry[T] {
	p := t.place(tag)
	if *p == nil {
		return nil
	}
	return t.unlink(p, *p)
}

// unlink removes and returns the entry after before in the ring of a tag. *p is the newest entry of the tag.
func (t *table[T]) unlink(p **Entry[T], before *Entry[T]) *Entry[T] {
	e := before.next
	t.len--
	if t.total != nil {
		*t.total--
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

// remove takes e out of the table, and reports whether it was there. It walks the whole ring of its tag.
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

// drain takes out all entries, and passes them to yield: those of a tag in a row, the oldest first.
func (t *table[T]) drain(yield func(*Entry[T]) bool) {
	for i := range t.buckets {
		for e := t.buckets[i]; e != nil; e = t.buckets[i] {
			if !yield(t.take(e.Tag)) {
				return
			}
		}
	}
}

// grow doubles the number of buckets.
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
