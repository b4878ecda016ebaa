//go:build amd64 && !race

package sched

// storeRel is a release store. On x86 every store is one (total store order), and the compiler keeps memory operations
// before a store that follows them: where an atomic store would be an XCHG of 20 cycles, this is a MOV. The race-build
// twin is in store_other.go.
func storeRel(p *uint32, v uint32) { *p = v }

// storeRel64 is storeRel for counters that one VP's holder writes and others read.
func storeRel64(p *uint64, v uint64) { *p = v }
