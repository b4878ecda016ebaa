//go:build cgo && linux

package main

/*
#include <stdint.h>
*/
import "C"

import "unsafe"

// pm2_enter is the only function that C's side calls: it makes a call. The result is a code of MPI.
//
//export pm2_enter
func pm2_enter(c, s unsafe.Pointer) C.int { //nolint:revive // C's name
	if state.Load() == nil {
		attach((*frontState)(s))
	}
	return C.int(enter((*cCall)(c)))
}

// pm2_make_room is called once by each thread of the program, before its first call: from then on its stack here has
// room for handlers of signals.
//
//export pm2_make_room
func pm2_make_room() { growStack(0) } //nolint:revive // C's name

// pm2_exit is called when the process exits.
//
//export pm2_exit
func pm2_exit() { job.exit() } //nolint:revive // C's name

// main is never run: the package is a library of C.
func main() {}
