//go:build race

package relaxed

import "sync/atomic"

// Store writes a word.
func Store(p *uint64, v uint64) { atomic.StoreUint64(p, v) }

// Load reads it.
func Load(p *uint64) uint64 { return atomic.LoadUint64(p) }
