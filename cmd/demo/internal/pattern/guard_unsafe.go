package pattern

import (
	"fmt"
	"unsafe"
)

// CheckGuard reports whether something was written behind b, which must come from [New] with its length unchanged. The
// guard is out of the slice's capacity on purpose and therefore reached through a pointer; it belongs to the same
// allocation.
func CheckGuard(b []byte) error {
	end := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	for i, c := range unsafe.Slice((*byte)(end), Guard) {
		if c != guardByte {
			return fmt.Errorf("%#02x was written behind the buffer, %d bytes past its end of %d bytes", c, i, len(b))
		}
	}
	return nil
}

// address is where b lies, whose memory does not move: it is on the heap.
func address(b []byte) int { return int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
