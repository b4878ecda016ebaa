package nmad

import "unsafe"

// counters returns all fields of the Stats, and of its RailStats, in order: each of them is a uint64.
func (st *Stats) counters() []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(st)), unsafe.Sizeof(*st)/unsafe.Sizeof(uint64(0)))
}
