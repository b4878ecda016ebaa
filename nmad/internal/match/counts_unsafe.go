package match

import (
	"sync/atomic"
	"unsafe"
)

// Counts returns where counts of what waits lie in memory, for C code (lane.Way): the number of exact receives; the
// number of unexpected messages; a pointer that is not nil while receives with a mask, or probes, wait (the first word
// of a shelf.List is its oldest element); the number of entries of AnyList; and the clock of AnyList.Now.
func (x *Matcher[R, M]) Counts() (posted, unexpected *int, wild unsafe.Pointer, anyList *atomic.Int32, clock *atomic.Uint64) {
	return &x.posted.len, &x.unexpected.len, unsafe.Pointer(&x.wild), &x.anyList.count, x.anyList.clock
}
