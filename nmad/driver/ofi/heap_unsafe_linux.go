//go:build ofi && cgo

package ofi

import "unsafe"

// findObject gives the object of Go's heap that an address belongs to; 0: to none. Go's runtime leaves this
// function to other modules.
//
//go:linkname findObject runtime.findObject
func findObject(p, base, offset uintptr) (object uintptr, in unsafe.Pointer, index uintptr)

// isGo reports whether memory is of Go's heap: it stays where it is while something refers to it.
func isGo(buf []byte) bool {
	object, _, _ := findObject(uintptr(addressOf(buf)), 0, 0)
	return object != 0
}
