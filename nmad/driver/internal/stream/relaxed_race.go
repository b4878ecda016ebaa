//go:build race

package stream

import "sync/atomic"

// store and load: see relaxed_norace.go. The race detector wants to see them.
func store(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
func load(p *uint64) uint64     { return atomic.LoadUint64(p) }
