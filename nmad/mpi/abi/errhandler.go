//go:build cgo && linux

package main

import (
	"sync"
	"sync/atomic"
)

// cErrhandler is an error handler.
type cErrhandler struct {
	function uintptr    // of the program; 0: it is a predefined one
	what     objectKind // of the objects that it is for
	handle   atomic.Uintptr
	uses     int // handles that the program has; under handlerLock
}

const (
	nullHandler   handle = 0x140
	fatalHandler  handle = 0x141
	abortHandler  handle = 0x142
	returnHandler handle = 0x143
)

var (
	errorsAreFatal, errorsAbort, errorsReturn cErrhandler
	handlerLock                               sync.Mutex
)

// handlerAt is an argument that is an error handler for objects of a kind.
func (a *cCall) handlerAt(i int, what objectKind) (*cErrhandler, error) {
	switch h := a.handle(i); h {
	case fatalHandler:
		return &errorsAreFatal, nil
	case abortHandler:
		return &errorsAbort, nil
	case returnHandler:
		return &errorsReturn, nil
	case nullHandler:
		return nil, wrong(errErrhandler, "MPI_ERRHANDLER_NULL is no error handler")
	default:
		x, err := handlers.get(h)
		if err == nil && x.what != what {
			return nil, wrong(errErrhandler, "an error handler for a %v is none for a %v", x.what, what)
		}
		return x, err
	}
}

// setHandler writes the handle of an error handler, which the program may free.
func (a *cCall) setHandler(i int, h *cErrhandler) (err error) {
	switch h {
	case &errorsAreFatal:
		return a.setHandle(i, fatalHandler)
	case &errorsAbort:
		return a.setHandle(i, abortHandler)
	case &errorsReturn:
		return a.setHandle(i, returnHandler)
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

// handlerOf is the error handler for an object, and the object that it is told.
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
	if x := initial.handler.Load(); x != nil {
		return x, 0
	}
	if self := engine.self.Load(); self != nil && self.handler.Load() != &errorsAreFatal {
		return self.handler.Load(), selfHandle
	}
	if world := engine.world.Load(); world != nil {
		return world.handler.Load(), worldHandle
	}
	return &errorsAreFatal, 0
}

// toldTo is an error that a handler hears that is an argument of the call: it makes an object, and has none.
type toldTo struct {
	error
	handler *cErrhandler
	object  handle // that there is none of
}

func (to *toldTo) Unwrap() error { return to.error }

// tells has an error told to the handler at an argument, if that is one for objects of a kind.
func (a *cCall) tells(i int, what objectKind, none handle, err error) error {
	if err == nil {
		return nil
	}
	h, e := a.handlerAt(i, what)
	if e != nil {
		return err
	}
	return &toldTo{err, h, none}
}

// initial has the error handler of calls before MPI_Init.
var initial struct{ handler atomic.Pointer[cErrhandler] }

func (a *cCall) createHandler(what objectKind) (*cErrhandler, error) {
	if a.word[0] == 0 {
		return nil, wrong(errArg, "there is no function")
	}
	return &cErrhandler{function: a.word[0], what: what}, nil
}

func (a *cCall) commCreateErrhandler() (*cErrhandler, error)    { return a.createHandler(ofComm) }
func (a *cCall) winCreateErrhandler() (*cErrhandler, error)     { return a.createHandler(ofWindow) }
func (a *cCall) sessionCreateErrhandler() (*cErrhandler, error) { return a.createHandler(ofSession) }

func (a *cCall) errhandlerFree(h *handle) error {
	switch *h {
	case nullHandler:
		return wrong(errErrhandler, "MPI_ERRHANDLER_NULL cannot be freed")
	case fatalHandler, abortHandler, returnHandler:
		*h = nullHandler
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
	*h = nullHandler
	return nil
}

// tell has a handler told of a code.
func tell(h *cErrhandler, object handle, name string, code int) {
	switch {
	case h == &errorsReturn:
	case h.function != 0:
		callHandler(h.function, object, code)
	default:
		die(name, code, coded(code))
	}
}

// codes are the classes and codes that the program has added.
var codes struct {
	sync.Mutex
	last  int
	class map[int]int // of a code; of a class itself
	count map[int]int // of the codes that a class has
	text  map[int]string
}

// firstCode is the first class or code that the program adds.
const firstCode = int(lastCode) + 1

func codeText(code int) string {
	if code >= 0 && code < len(classTexts) {
		return classTexts[code]
	}
	if i := code - firstToolClass; i >= 0 && i < len(toolTexts) {
		return toolTexts[i]
	}
	codes.Lock()
	defer codes.Unlock()
	if _, ok := codes.class[code]; ok {
		return codes.text[code]
	}
	return "unknown error"
}

// isClass says that a code is a class of the standard.
func isClass(code int) bool {
	return code >= 0 && code <= int(lastClass) || code >= firstToolClass && code < firstToolClass+len(toolTexts)
}

// addCode adds a class, or a code of a class.
func addCode(of int) (int, error) {
	codes.Lock()
	defer codes.Unlock()
	if codes.class == nil {
		codes.class, codes.count, codes.text, codes.last = map[int]int{}, map[int]int{}, map[int]string{}, firstCode-1
	}
	if class, ok := codes.class[of]; of >= 0 && !isClass(of) && (!ok || class != of) {
		return 0, wrong(errArg, "%d is no class of errors", of)
	}
	if codes.last++; of < 0 {
		of = codes.last
	} else {
		codes.count[of]++
	}
	codes.class[codes.last] = of
	return codes.last, nil
}

func (a *cCall) addErrorClass() (int, error) { return addCode(-1) }

func (a *cCall) addErrorCode(of int) (int, error) { return addCode(of) }

// added says whether a code is one that the program has added, and of which class.
func added(code int) (of int, err error) {
	codes.Lock()
	defer codes.Unlock()
	of, ok := codes.class[code]
	if !ok {
		return 0, wrong(errArg, "%d is no code or class that the program has added", code)
	}
	return of, nil
}

func (a *cCall) addErrorString(code int, s string) error {
	if len(s) > 511 {
		return wrong(errArg, "the text has %d bytes, more than 511", len(s))
	}
	return setCodeText(code, s)
}

// setCodeText gives a code of the program a text.
func setCodeText(code int, s string) error {
	if _, err := added(code); err != nil {
		return err
	}
	codes.Lock()
	defer codes.Unlock()
	codes.text[code] = s
	return nil
}

// remove takes out a class or a code; class: a class is meant.
func remove(code int, isClass bool) error {
	of, err := added(code)
	if err != nil {
		return err
	}
	if (of == code) != isClass {
		return wrong(errArg, "%d is not of that kind", code)
	}
	codes.Lock()
	defer codes.Unlock()
	if n := codes.count[code]; isClass && n > 0 {
		return wrong(errArg, "class %d has %d codes: remove these first", code, n)
	}
	if !isClass {
		codes.count[of]--
	}
	delete(codes.class, code)
	delete(codes.text, code)
	return nil
}

func (a *cCall) removeErrorClass(code int) error { return remove(code, true) }
func (a *cCall) removeErrorCode(code int) error  { return remove(code, false) }

func (a *cCall) removeErrorString(code int) error { return setCodeText(code, "") }

func (a *cCall) errorClass(code int) (int, error) {
	if isClass(code) {
		return code, nil
	}
	return added(code)
}

func (a *cCall) errorString(code int) error {
	if _, err := a.errorClass(code); err != nil {
		return err
	}
	return a.setText(1, 2, codeText(code), 512)
}
