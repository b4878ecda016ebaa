package mpi

import (
	"unsafe"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// bytesOf is the memory of the elements of a slice, with the gaps inside of them.
func bytesOf[T any](s []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(one)))
}

// elementsOf is bytesOf the other way; false: the memory does not begin where such an element may lie. What is no
// whole element at the end is left out.
func elementsOf[T any](b []byte) ([]T, bool) {
	var one T
	at := unsafe.Pointer(unsafe.SliceData(b))
	if unsafe.Sizeof(one) == 0 || uintptr(at)%unsafe.Alignof(one) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(at), len(b)/int(unsafe.Sizeof(one))), true
}

// sizeOf is how many bytes an element of that Go type takes.
func sizeOf[T any]() int {
	var one T
	return int(unsafe.Sizeof(one))
}

// numberOf is where memory lies, as a number.
func numberOf(b []byte) int { return int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// wordAt is the bits of a word of 4 or 8 bytes.
func wordAt(at datatype.Address, size int) uint64 {
	if size == 4 {
		return uint64(*(*uint32)(at))
	}
	return *(*uint64)(at)
}

// setWord is wordAt the other way.
func setWord(at datatype.Address, size int, bits uint64) {
	if size == 4 {
		*(*uint32)(at) = uint32(bits)
		return
	}
	*(*uint64)(at) = bits
}

// bitsOf is a value of 4 or 8 bytes as it lies in memory, and valueOf the way back.
func bitsOf[T any](v T) uint64 {
	if unsafe.Sizeof(v) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&v)))
	}
	return *(*uint64)(unsafe.Pointer(&v))
}

func valueOf[T any](bits uint64) (v T) {
	if unsafe.Sizeof(v) == 4 {
		*(*uint32)(unsafe.Pointer(&v)) = uint32(bits)
	} else {
		*(*uint64)(unsafe.Pointer(&v)) = bits
	}
	return v
}
