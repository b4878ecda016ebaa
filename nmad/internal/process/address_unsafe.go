package process

import "unsafe"

// AddressOf returns the address of b, by which other processes reach it (Memory). b must be on the heap, where nothing
// moves, and must stay reachable in this process as long as another process uses the address.
func AddressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
