//go:build !amd64 || race || portable

package asm

import "sync/atomic"

// StoreRelease32 is a release store: a thread that loads v atomically sees all that was written
// before. The twin, which the race detector sees, is a whole Store.
func StoreRelease32(p *atomic.Uint32, v uint32) { p.Store(v) }

// StoreRelease64 is StoreRelease32 for a longer word.
func StoreRelease64(p *atomic.Uint64, v uint64) { p.Store(v) }

// StoreReleasePtr is StoreRelease32 for a word as wide as an address.
func StoreReleasePtr(p *atomic.Uintptr, v uintptr) { p.Store(v) }
