package region

import "math/bits"

// PageSize is what blocks are made of, in bytes.
const PageSize = 4096

// MaxSize is the largest region, in bytes.
const MaxSize = 16 << 30

// maxOrder is that of a free block as large as a region can be.
const maxOrder = 22

// Blocks says which pages of a region are free. It is the buddy system (Knowlton, "A fast storage
// allocator", CACM 1965) in pages: a free block has a power of two of them, its order, and lies at a multiple of
// its size; two halves that are both free are one block again. Of a block that is larger than what is asked for
// the rest is given back at once, so what is taken has exactly the pages that it needs.
//
// What is freed last comes first, as it may be in the caches still. All of it takes a time that grows with the
// logarithm of the size, and nothing is allocated after NewBlocks. The table lies beside the region, where the peer
// cannot write. Not safe for concurrent use: the owner has one lock for it and what belongs to it.
type Blocks struct {
	pages []page
	heads [maxOrder + 1]int32 // of the lists of free blocks: 1 + the first page; 0: none
	some  uint32              // bit i: there are free blocks of order i
	free  int                 // pages
}

// page is the entry of a page. All of it is about the block that begins there, if one does.
type page struct {
	next, prev int32 // free: the neighbours in its list, as in heads
	taken      int32 // pages of a block that is taken; 0: none begins here
	order      int8  // free
	free       bool
}

// NewBlocks makes the table of a region of that many pages, at least 1, all of them free.
func NewBlocks(pages int) *Blocks {
	b := &Blocks{pages: make([]page, min(pages, MaxSize/PageSize))}
	b.give(0, len(b.pages))
	return b
}

// Free is how many pages are free.
func (b *Blocks) Free() int { return b.free }

// Take takes a block of that many bytes, at least one page, and says at which page it begins; false: there is no
// block of free pages as long as that.
func (b *Blocks) Take(bytes int) (at int, ok bool) {
	if bytes < 0 || bytes > len(b.pages)*PageSize {
		return 0, false
	}
	n := max(1, (bytes+PageSize-1)/PageSize)
	order := bits.Len(uint(n - 1))
	fit := b.some >> order << order
	if fit == 0 {
		return 0, false
	}
	order = bits.TrailingZeros32(fit)
	at = int(b.heads[order]) - 1
	b.unlink(at)
	b.free -= 1 << order
	b.pages[at].taken = int32(n)
	b.give(at+n, 1<<order-n)
	return at, true
}

// Bytes is how many bytes the block has that was taken at that page; 0: none was.
func (b *Blocks) Bytes(at int) int {
	if at < 0 || at >= len(b.pages) {
		return 0
	}
	return int(b.pages[at].taken) * PageSize
}

// Give gives back the block that was taken at that page, and says whether one was.
func (b *Blocks) Give(at int) bool {
	if b.Bytes(at) == 0 {
		return false
	}
	n := int(b.pages[at].taken)
	b.pages[at].taken = 0
	b.give(at, n)
	return true
}

// give makes n pages free, in blocks as large as they can be.
func (b *Blocks) give(at, n int) {
	b.free += n
	for end := at + n; at < end; {
		order := bits.Len(uint(end-at)) - 1
		if at != 0 {
			order = min(order, bits.TrailingZeros(uint(at)))
		}
		b.join(at, order)
		at += 1 << order
	}
}

// join makes a block free, together with those beside it that it makes a larger one with.
func (b *Blocks) join(at, order int) {
	for order < maxOrder {
		buddy := at ^ 1<<order
		if buddy+1<<order > len(b.pages) || !b.pages[buddy].free || int(b.pages[buddy].order) != order {
			break
		}
		b.unlink(buddy)
		at = min(at, buddy)
		order++
	}
	p := &b.pages[at]
	p.free, p.order = true, int8(order)
	p.prev, p.next = 0, b.heads[order]
	if p.next != 0 {
		b.pages[p.next-1].prev = int32(at) + 1
	}
	b.heads[order] = int32(at) + 1
	b.some |= 1 << order
}

// unlink takes a free block out of its list.
func (b *Blocks) unlink(at int) {
	p := &b.pages[at]
	if p.prev != 0 {
		b.pages[p.prev-1].next = p.next
	} else if b.heads[p.order] = p.next; p.next == 0 {
		b.some &^= 1 << p.order
	}
	if p.next != 0 {
		b.pages[p.next-1].prev = p.prev
	}
	p.free, p.next, p.prev = false, 0, 0
}
