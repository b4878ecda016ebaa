//go:build cgo && linux

package main

import (
	"sync"
	"sync/atomic"
)

// cErrhandler is an error handler.
type cErrhandler struct {
	function uintptr        // of the program; 0: it is predefined
	kind     objectKind     // of the objects that it is for
	handle   atomic.Uintptr // while uses is above 0; written under handlerLock
	uses     int            // handles that the program has; under handlerLock
}

var (
	errorsAreFatal, errorsAbort, errorsReturn cErrhandler
	predefinedHandlers                        = map[handle]*cErrhandler{errorsAreFatalHandle: &errorsAreFatal, errorsAbortHandle: &errorsAbort, errorsReturnHandle: &errorsReturn}

	handlerLock sync.Mutex
)

// handlerAt returns the error handler at argument i. It refuses one that is for objects of another kind.
func (a *cCall) handlerAt(i int, kind objectKind) (*cErrhandler, error) {
	h := a.handle(i)
	if x := predefinedHandlers[h]; x != nil {
		return x, nil
	}
	x, err := handlers.get(h)
	if err == nil && x.kind != kind {
		return nil, errorf(errErrhandler, "an error handler for a %v is none for a %v", x.kind, kind)
	}
	return x, err
}

// setHandler writes the handle of h to argument i. The program frees each handle that it gets; the last one ends
// the object.
func (a *cCall) setHandler(i int, h *cErrhandler) (err error) {
	for predefined, x := range predefinedHandlers {
		if x == h {
			return a.setHandle(i, predefined)
		}
	}
	handlerLock.Lock()
	defer handlerLock.Unlock()
	if h.uses == 0 {
		made, err := handlers.add(h)
		if err != nil {
			return err
		}
		h.handle.Store(uintptr(made))
	}
	h.uses++
	return a.setHandle(i, handle(h.handle.Load()))
}

// handlerOf returns the error handler of the object h, and the object with which it is called. Without an object
// these are the handler of MPI_COMM_SELF, if that was changed, else that of MPI_COMM_WORLD.
func handlerOf(h handle) (*cErrhandler, handle) {
	if c, err := commOf(h); err == nil && h != 0 {
		return c.handler.Load(), h
	}
	if w := windows.find(h); w != nil {
		return w.handler.Load(), h
	}
	if s := sessions.find(h); s != nil {
		return s.handler.Load(), h
	}
	if self := job.self.Load(); self != nil && self.handler.Load() != &errorsAreFatal {
		return self.handler.Load(), commSelfHandle
	}
	if world := job.world.Load(); world != nil {
		return world.handler.Load(), commWorldHandle
	}
	return &errorsAreFatal, 0
}

// objectCreateErrhandler returns a new error handler for objects of a kind: the program's function at argument 0.
func (a *cCall) objectCreateErrhandler(kind objectKind) (*cErrhandler, error) {
	if a.word[0] == 0 {
		return nil, errorf(errArg, "there is no function")
	}
	return &cErrhandler{function: a.word[0], kind: kind}, nil
}

func (a *cCall) errhandlerFree(h *handle) error {
	if predefinedHandlers[*h] != nil {
		*h = errhandlerNullHandle
		return nil
	}
	x, err := handlers.get(*h)
	if err != nil {
		return err
	}
	handlerLock.Lock()
	if x.uses--; x.uses == 0 {
		handlers.drop(*h)
	}
	handlerLock.Unlock()
	*h = errhandlerNullHandle
	return nil
}

// callErrhandler calls an error handler with a code that the program gives (MPI_Comm_call_errhandler). name is
// that function.
func callErrhandler(h *cErrhandler, object handle, name string, code int) {
	switch {
	case h == &errorsReturn:
	case h.function != 0:
		callHandler(h.function, object, code)
	default:
		abortOnError(name, code, codeError(code))
	}
}
