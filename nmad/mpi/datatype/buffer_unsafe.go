package datatype

import "unsafe"

// Address is of a byte of the memory of a buffer.
type Address unsafe.Pointer

// AddressOf is the address of the first element of a slice; nil: it has none.
func AddressOf[T any](s []T) Address { return Address(unsafe.Pointer(unsafe.SliceData(s))) }

// stretch is the bytes at a displacement.
func stretch(base Address, at, size int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(base), at)), size)
}

// Slice is the n elements of a Go type at an address.
func Slice[T any](base Address, n int) []T { return unsafe.Slice((*T)(unsafe.Pointer(base)), n) }

// Add is the address that many bytes further on.
func Add(base Address, bytes int) Address { return Address(unsafe.Add(unsafe.Pointer(base), bytes)) }
