//go:build cgo && linux

package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// entry is a function that crosses.
type entry struct {
	name string
	do   func(*call) error
}

// enter makes a call, and returns its code.
func enter(a *call) (code int) {
	if a.function == -1 { // handle_of of C asks
		if a.word[1] = uintptr(fromNumber(a.word[0])); a.word[1] == 0 {
			return int(errArg)
		}
		return int(success)
	}
	defer a.caught(&code)
	if err := entries[a.function].do(a); err != nil {
		return a.fails(entries[a.function].name, err)
	}
	return int(success)
}

// caught turns a panic, which is a mistake of this library or an address of the program's that cannot be read, into an error.
func (a *call) caught(code *int) {
	if why := recover(); why != nil {
		*code = a.fails(entries[a.function].name, wrong(errIntern, "internal error: %v\n%s", why, debug.Stack()))
	}
}

// refused is a function that is not there.
func (a *call) refused() error {
	return wrong(errRefused, "not supported: this library has no files, and starts or connects no processes")
}

// fails has an error told as the handler of its object says, and returns its code: one of the program is left to C.
func (a *call) fails(name string, err error) int {
	code := codeOf(err)
	if strings.HasPrefix(name, "MPI_T_") {
		return code
	}
	if a.wide != 0 {
		name += "_c"
	}
	h, object := handlerOf(a.object)
	switch {
	case h == &errorsReturn:
	case h.function != 0:
		a.object, a.handler = object, h.function
	default:
		die(name, code, err)
	}
	return code
}

// die ends the job.
func die(name string, code int, err error) {
	engine.abort(code, fmt.Sprintf("%s: %v (%s)", name, err, codeText(code)))
}
