package process

import "unsafe"

// AddressOf gives the address by which other processes name b, which must be on the heap
// (where nothing moves) and stay alive as long as they do.
func AddressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
