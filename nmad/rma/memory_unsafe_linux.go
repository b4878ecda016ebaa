package rma

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// MaxBytes is the most that one Alloc, Make or Register takes, in bytes.
const MaxBytes = 1 << 42

// pointer is where memory that loads and stores reach lies.
type pointer = unsafe.Pointer

// nothing is where empty memory lies.
var nothing [8]byte

func baseOf(b []byte) pointer {
	if len(b) == 0 {
		b = nothing[:]
	}
	return unsafe.Pointer(unsafe.SliceData(b))
}

// makeMemory makes size bytes, zero all of them.
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

// bytesAt is memory at that address.
func bytesAt(base unsafe.Pointer, offset, n uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(base, offset)), n)
}

// piece is how much is copied at once, in bytes: the collector cannot stop a thread meanwhile.
const piece = 1 << 20

func copyIn(r *region, offset uint64, src []byte) {
	for len(src) > piece {
		copy(bytesAt(r.base, offset, piece), src)
		src, offset = src[piece:], offset+piece
	}
	copy(bytesAt(r.base, offset, uint64(len(src))), src)
	runtime.KeepAlive(r)
}

func copyOut(buf []byte, r *region, offset uint64) {
	for len(buf) > piece {
		copy(buf, bytesAt(r.base, offset, piece))
		buf, offset = buf[piece:], offset+piece
	}
	copy(buf, bytesAt(r.base, offset, uint64(len(buf))))
	runtime.KeepAlive(r)
}
