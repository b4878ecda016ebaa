//go:build cgo && linux

package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// entry is a function of MPI that C passes on to Go. entries, in table_gen.go, has all of them.
type entry struct {
	name string
	do   func(*cCall) error
}

// signalRoom is the least room on a goroutine's stack, in bytes, that a call leaves to the program's signal
// handlers. The kernel itself takes some 4 KiB of it.
const signalRoom = 100 << 10

// growStack makes the stack of the calling goroutine larger by its own frame. The stack stays that large, because
// the library is built without the shrinking of stacks (internal/build).
//
//go:noinline
func growStack(i int) byte {
	var room [signalRoom]byte
	room[i] = 1
	return room[signalRoom-1-i]
}

// enter carries out the call a and returns its error code. It runs in the program's thread.
func enter(a *cCall) (code int) {
	if a.function < 0 {
		return a.service()
	}
	if t := tracer.Load(); t != nil {
		defer t.record(a, monotonic(), &code)
	}
	defer a.recoverPanic(&code)
	if err := entries[a.function].do(a); err != nil {
		return a.report(entries[a.function].name, err)
	}
	return int(success)
}

// Values of cCall.function that are requests of C and no functions of MPI; front/call.h says what each does.
const (
	serviceHandleOf       = -1
	serviceTend           = -2
	serviceStartSlipTimer = -3
)

// service carries out a request of C that is no function of MPI.
func (a *cCall) service() int {
	switch a.function {
	case serviceHandleOf:
		a.word[1] = uintptr(handleFromInt(a.word[0]))
		if a.word[1] == 0 {
			return int(errArg)
		}
	case serviceTend:
		(*lane.Lane)(a.ptr(0)).Tend()
	case serviceStartSlipTimer:
		(*lane.Lane)(a.ptr(0)).StartSlipTimer()
	}
	return int(success)
}

// recoverPanic turns a panic into an error of class MPI_ERR_INTERN. A panic is a mistake of this library, or comes
// from an address of the program below firstAddress. A higher address without memory behind it ends the process by
// a signal, as in C.
func (a *cCall) recoverPanic(code *int) {
	if why := recover(); why != nil {
		*code = a.report(entries[a.function].name, errorf(errIntern, "internal error: %v\n%s", why, debug.Stack()))
	}
}

// unsupportedComm gives, for functions that this library does not support, the argument that is a communicator.
// Its error handler gets the error.
var unsupportedComm = map[string]int{"MPI_Comm_accept": 3, "MPI_Comm_connect": 3, "MPI_Comm_spawn": 5, "MPI_Comm_spawn_multiple": 6}

// givenHandlers gives, for functions that make an object and get its error handler, the argument that is the handler,
// the kind of the object, and the null handle with which the handler is called. It gets the errors of the function.
var givenHandlers = map[string]struct {
	argument int
	kind     objectKind
	null     handle
}{
	"MPI_Session_init":                 {1, ofSession, sessionNullHandle},
	"MPI_Comm_create_from_group":       {3, ofComm, commNullHandle},
	"MPI_Intercomm_create_from_groups": {6, ofComm, commNullHandle},
}

// unsupported serves all functions that this library does not support.
func (a *cCall) unsupported() error { return errUnsupported }

var errUnsupported = errorf(errUnsupportedOperation, "not supported: this library has no files, and starts or connects no processes")

// report passes the error of function name to the error handler of the call's object and returns the error's code.
// C calls the handler if it is a function of the program: report leaves it, and its argument, in a.
func (a *cCall) report(name string, err error) int {
	if strings.HasPrefix(name, toolPrefix) { // the tools interface has no error handlers
		if err == errUnsupported {
			err = unsupportedTool(name)
		}
		if code := codeOf(err); code != int(errArg) {
			return code
		}
		return int(tErrInvalid)
	}
	code := codeOf(err)
	if i, ok := unsupportedComm[name]; ok {
		_, _ = a.comm(i) // sets a.object; if it is no communicator the error goes to the handler for calls without object
	}
	h, object := handlerOf(a.object)
	if strings.HasPrefix(name, "MPI_File_") || name == "MPI_Register_datarep" {
		h, object = handlerOfFiles(), fileNullHandle
	}
	if x, ok := givenHandlers[name]; ok {
		if given, err := a.handlerAt(x.argument, x.kind); err == nil {
			h, object = given, x.null
		}
	}
	if a.wide != 0 {
		name += "_c"
	}
	switch {
	case h == &errorsReturn:
	case h.function != 0:
		a.object, a.handler = object, h.function
	default:
		abortOnError(name, code, err)
	}
	return code
}

// abortOnError ends the job. The message names the function, the error and its class.
func abortOnError(name string, code int, err error) {
	text := fmt.Sprintf("%s: %v", name, err)
	if class := codeText(code); !strings.Contains(text, class) && code != int(errInStatus) {
		text += " (" + class + ")"
	}
	job.abort(code, text)
}
