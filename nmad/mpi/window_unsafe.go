package mpi

import (
	"unsafe"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// bytesOf returns the memory of the elements of a slice, with the gaps inside the elements.
func bytesOf[T any](s []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(one)))
}

// elementsOf returns memory as elements of a Go type, without the bytes at the end that are no whole element. false:
// the memory is not aligned for such elements.
func elementsOf[T any](b []byte) ([]T, bool) {
	var one T
	at := unsafe.Pointer(unsafe.SliceData(b))
	if unsafe.Sizeof(one) == 0 || uintptr(at)%unsafe.Alignof(one) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(at), len(b)/int(unsafe.Sizeof(one))), true
}

// sizeOf returns how many bytes an element of a Go type takes.
func sizeOf[T any]() int {
	var one T
	return int(unsafe.Sizeof(one))
}

// numberOf returns the address of memory, as a number.
func numberOf(b []byte) int { return int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// wordAt returns the bits of a word of 4 or 8 bytes.
func wordAt(at datatype.Address, size int) uint64 {
	if size == 4 {
		return uint64(*(*uint32)(at))
	}
	return *(*uint64)(at)
}

// setWord stores the bits of a word of 4 or 8 bytes.
func setWord(at datatype.Address, size int, bits uint64) {
	if size == 4 {
		*(*uint32)(at) = uint32(bits)
		return
	}
	*(*uint64)(at) = bits
}

// bitsOf returns the bits of a value of 4 or 8 bytes.
func bitsOf[T any](v T) uint64 {
	if unsafe.Sizeof(v) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&v)))
	}
	return *(*uint64)(unsafe.Pointer(&v))
}

// valueOf returns the value of 4 or 8 bytes that has these bits.
func valueOf[T any](bits uint64) (v T) {
	if unsafe.Sizeof(v) == 4 {
		*(*uint32)(unsafe.Pointer(&v)) = uint32(bits)
	} else {
		*(*uint64)(unsafe.Pointer(&v)) = bits
	}
	return v
}
