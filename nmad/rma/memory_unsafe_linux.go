package rma

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// MaxBytes is the most that one Alloc, Make or Register takes, in bytes.
const MaxBytes = 1 << 42

// pointer is the address of mapped memory, for files that do not import unsafe.
type pointer = unsafe.Pointer

// nothing gives empty memory an address that is not nil.
var nothing [8]byte

// baseOf is the address of the first byte of b; never nil.
func baseOf(b []byte) pointer {
	if len(b) == 0 {
		b = nothing[:]
	}
	return unsafe.Pointer(unsafe.SliceData(b))
}

// makeMemory makes size bytes, all zero, that other processes of the host can map. ErrSize.
func makeMemory(size uint64) (*mapped.Memory, error) {
	if size > MaxBytes {
		return nil, fmt.Errorf("%w: %d B, at most %d can be had", ErrSize, size, uint64(MaxBytes))
	}
	m, err := mapped.Make("pm2-rma", size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSize, err)
	}
	return m, nil
}

// bytesAt is the n bytes at an offset from an address. The caller has checked both against the size of the memory.
func bytesAt(base unsafe.Pointer, offset, n uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(base, offset)), n)
}

// piece is how many bytes are copied at once: the garbage collector cannot stop a thread during a copy.
const piece = 1 << 20

// copyIn copies src to an offset of a mapped region.
func copyIn(r *region, offset uint64, src []byte) {
	for len(src) > piece {
		copy(bytesAt(r.base, offset, piece), src)
		src, offset = src[piece:], offset+piece
	}
	copy(bytesAt(r.base, offset, uint64(len(src))), src)
	runtime.KeepAlive(r)
}

// copyOut copies from an offset of a mapped region to buf.
func copyOut(buf []byte, r *region, offset uint64) {
	for len(buf) > piece {
		copy(buf, bytesAt(r.base, offset, piece))
		buf, offset = buf[piece:], offset+piece
	}
	copy(buf, bytesAt(r.base, offset, uint64(len(buf))))
	runtime.KeepAlive(r)
}
