//go:build !amd64 || race

package sched

import "sync/atomic"

// storeRel is a release store, visible to the race detector (store_amd64.go is its fast twin).
func storeRel(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

// storeRel64 is storeRel for counters that one VP's holder writes and others read.
func storeRel64(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
