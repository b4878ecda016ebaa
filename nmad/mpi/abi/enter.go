//go:build cgo && linux

package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// entry is a function of MPI that crosses into Go.
type entry struct {
	name string
	do   func(*cCall) error
}

// handlerRoom is the least that the stack of a call leaves to the program's handlers for signals, in bytes; the
// kernel takes some 4 KiB of it itself.
const handlerRoom = 100 << 10

// spread has a frame that large, so that the stack of the goroutine that called it is larger from then on: it does
// not shrink (see internal/build).
//
//go:noinline
func spread(i int) byte {
	var room [handlerRoom]byte
	room[i] = 1
	return room[handlerRoom-1-i]
}

// enter makes a call, and returns its code.
func enter(a *cCall) (code int) {
	if a.function < 0 {
		return a.asks()
	}
	if t := traced.Load(); t != nil {
		defer t.note(a, monotonic(), &code)
	}
	defer a.caught(&code)
	if err := entries[a.function].do(a); err != nil {
		return a.fails(entries[a.function].name, err)
	}
	return int(success)
}

// What C asks for that is no function of MPI, in place of the number of one; see front/call.h.
const (
	handleOf = -1
	tends    = -2
	watches  = -3
)

// asks does what C asks for.
func (a *cCall) asks() int {
	switch a.function {
	case handleOf:
		a.word[1] = uintptr(numbered(a.word[0]))
		if a.word[1] == 0 {
			return int(errArg)
		}
	case tends:
		(*lane.Lane)(a.ptr(0)).Tend()
	case watches:
		(*lane.Lane)(a.ptr(0)).Watch()
	}
	return int(success)
}

// caught turns a panic into an error. It is a mistake of this library, or an address of the program's below
// firstAddress. An address above that which is no memory ends the process, as it does in C.
func (a *cCall) caught(code *int) {
	if why := recover(); why != nil {
		*code = a.fails(entries[a.function].name, wrong(errIntern, "internal error: %v\n%s", why, debug.Stack()))
	}
}

// refusedOn gives, for a function that this library does not have, the argument that is a communicator: its error
// handler is told.
var refusedOn = map[string]int{"MPI_Comm_accept": 3, "MPI_Comm_connect": 3, "MPI_Comm_spawn": 5, "MPI_Comm_spawn_multiple": 6}

// refused is the error of a function that this library does not have.
func (a *cCall) refused() error { return errLacking }

var errLacking = wrong(errRefused, "not supported: this library has no files, and starts or connects no processes")

// fails tells an error to the error handler of the call's object, and returns the code of the error. A handler of the
// program is called by C.
func (a *cCall) fails(name string, err error) int {
	if strings.HasPrefix(name, toolPrefix) { // tools have no handlers
		if err == errLacking {
			err = a.lackingTool(name)
		}
		return codeOf(err)
	}
	code := codeOf(err)
	if i, ok := refusedOn[name]; ok {
		_, _ = a.comm(i) // no communicator: the handler of those that have none
	}
	h, object := handlerOf(a.object)
	if a.wide != 0 {
		name += "_c"
	}
	if strings.HasPrefix(name, "MPI_File_") || name == "MPI_Register_datarep" {
		h, object = handlerOfFiles(), nullFile
	}
	var t *toldTo
	if errors.As(err, &t) {
		h, object = t.handler, t.object
	}
	switch {
	case h == &errorsReturn:
	case h.function != 0:
		a.object, a.handler = object, h.function
	default:
		die(name, code, err)
	}
	return code
}

// die ends the job, and says why, as a status would have.
func die(name string, code int, err error) {
	text := fmt.Sprintf("%s: %v", name, err)
	if class := codeText(code); !strings.Contains(text, class) && code != int(errInStatus) {
		text += " (" + class + ")"
	}
	engine.abort(code, text)
}
