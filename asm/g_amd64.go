//go:build !portable

package asm

import "unsafe"

// G identifies the goroutine that calls: different from that of every other living
// goroutine, never 0, constant for the life of the goroutine; the runtime gives
// it to another one later. It is the runtime's descriptor, only to be compared.
//
// On amd64 a register holds the descriptor, in Go's internal calling convention, which assembly outside of the
// runtime has only behind a func value: half a nanosecond, where a call of an assembly function would read the descriptor
// from thread-local storage three times, each time right behind the store of the switch that has just been made.
func G() uintptr { return g() }

// g is set once, before any other package is initialized.
var g = chooseG()

func gRegisterAt() uintptr
func gTLS() uintptr

// chooseG tries the register against thread-local storage.
func chooseG() func() uintptr {
	entry := new(uintptr) // what a func value points to: the address of the code, then what is captured
	*entry = gRegisterAt()
	if f := *(*func() uintptr)(unsafe.Pointer(&entry)); f() == gTLS() {
		return f
	}
	return gTLS
}
