package match

import (
	"sync/atomic"
	"unsafe"
)

// Counts is where it lies what waits: receives, messages, a pointer that is not nil while receives with a mask or probes
// wait, how many wait for any gate; and the clock of Any.Now. The first word of a shelf.List is its oldest element.
func (x *Matcher[R, M]) Counts() (posted, unexpected *int, wild unsafe.Pointer, any *atomic.Int32, clock *atomic.Uint64) {
	return &x.posted.len, &x.unexpected.len, unsafe.Pointer(&x.wild), &x.any.count, x.any.clock
}
