package pattern

import "unsafe"

// spill writes one byte right behind b, as a careless driver would.
func spill(b []byte) {
	*(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), len(b))) = 0
}
