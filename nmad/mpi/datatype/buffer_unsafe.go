package datatype

import "unsafe"

// Address is the address of a byte in the memory of a buffer. It keeps the memory, as a pointer does.
type Address unsafe.Pointer

// AddressOf returns the address of the first element of a slice; nil if the slice is nil.
func AddressOf[T any](s []T) Address { return Address(unsafe.Pointer(unsafe.SliceData(s))) }

// stretch returns size bytes at a displacement.
func stretch(base Address, at, size int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(base), at)), size)
}

// Slice returns the n elements of a Go type at an address.
func Slice[T any](base Address, n int) []T { return unsafe.Slice((*T)(unsafe.Pointer(base)), n) }

// Add returns the address that many bytes further on.
func Add(base Address, bytes int) Address { return Address(unsafe.Add(unsafe.Pointer(base), bytes)) }
