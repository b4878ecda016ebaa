//go:build (!amd64 && !arm64) || portable

package asm

import "sync/atomic"

// PrefetchWrite has the cache line of p fetched for writing, in the background. Without an
// instruction for it this is an empty call, which is inlined.
func PrefetchWrite(*atomic.Uint64) {}
