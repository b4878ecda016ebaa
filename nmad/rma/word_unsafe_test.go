package rma

import (
	"sync/atomic"
	"unsafe"
)

// word is the one at the beginning of b.
func word(b []byte) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&b[0])) }
