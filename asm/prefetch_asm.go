//go:build (amd64 || arm64) && !portable

package asm

import "sync/atomic"

// PrefetchWrite has the cache line of p fetched for writing, in the background: a store that follows some 100 ns later
// need not wait until other cores have given the line up. It is a hint: it reads nothing and writes nothing, whatever p
// is, nil included. About 20 cycles.
//
//go:noescape
func PrefetchWrite(p *atomic.Uint64)
