//go:build amd64 && !race && !portable

package asm

import (
	"sync/atomic"
	"unsafe"
)

// StoreRelease32 is a release store: a thread that loads v atomically sees all that was written before. Unlike p.Store,
// loads that come after it may be carried out before it: it is for words on which no protocol waits for an answer, such
// as the end of a lock. On x86 every store is a release (total store order): where Store is an XCHG of 20 cycles, this
// is a MOV. The compiler keeps it behind what precedes it.
func StoreRelease32(p *atomic.Uint32, v uint32) { *(*uint32)(unsafe.Pointer(p)) = v }

// StoreRelease64 is StoreRelease32 for a longer word.
func StoreRelease64(p *atomic.Uint64, v uint64) { *(*uint64)(unsafe.Pointer(p)) = v }

// StoreReleasePtr is StoreRelease32 for a word as wide as an address.
func StoreReleasePtr(p *atomic.Uintptr, v uintptr) { *(*uintptr)(unsafe.Pointer(p)) = v }
