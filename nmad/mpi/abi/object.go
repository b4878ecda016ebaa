//go:build cgo && linux

package main

import (
	"sync"
	"sync/atomic"
)

// object is what communicators, windows, datatypes and sessions have in common. mu guards what stands below it.
type object struct {
	handle   handle                                        // by which the program names it; written before the program gets it
	kind     objectKind                                    // what it is
	handler  atomic.Pointer[cErrhandler]                   // its error handler; nil for a datatype, which has none
	buffers  buffers                                       // attached memory of a communicator or session
	standard func(key int) (value uintptr, ok, known bool) // reads predefined attributes; nil: it has none

	mu         sync.Mutex
	name       string       // as the program has set it; under mu
	info       *cInfo       // its hints; under mu
	attributes []cAttribute // in the order in which they were set; under mu
}

func (o *object) common() *object { return o }

// objectOf returns the common part of x, for arguments of several kinds.
func objectOf[T interface{ common() *object }](x T, err error) (*object, error) {
	if err != nil {
		return nil, err
	}
	return x.common(), nil
}

// name is the name of an object.
type name string

// setName writes a name to argument i and its length to argument i+1.
func (a *cCall) setName(i int, s name) error { return a.setText(i, i+1, string(s), mpiMaxObjectName) }

func (a *cCall) objectSetName(o *object, s string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.name = s[:min(len(s), mpiMaxObjectName-1)]
}

// nameOf returns the name of the object at argument 0, or none if that is the null handle of its kind.
func nameOf[T interface{ common() *object }](a *cCall, null handle, none name, get func(i int) (T, error)) (name, error) {
	if a.handle(0) == null {
		return none, nil
	}
	o, err := objectOf(get(0))
	if err != nil {
		return "", err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return name(o.name), nil
}

func (a *cCall) commGetName() (name, error) {
	return nameOf(a, commNullHandle, "MPI_COMM_NULL", a.comm)
}
func (a *cCall) typeGetName() (name, error) {
	return nameOf(a, datatypeNullHandle, "MPI_DATATYPE_NULL", a.dtype)
}
func (a *cCall) winGetName() (name, error) { return nameOf(a, winNullHandle, "MPI_WIN_NULL", a.window) }

func (a *cCall) objectSetInfo(o *object, i *cInfo) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.info = merged(o.info, i)
}

func (a *cCall) objectGetInfo(o *object) *cInfo {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.info.Dup()
}

func (a *cCall) objectSetErrhandler(o *object) error {
	h, err := a.handlerAt(1, o.kind)
	if err == nil {
		o.handler.Store(h)
	}
	return err
}

func (a *cCall) objectGetErrhandler(o *object) *cErrhandler { return o.handler.Load() }

// kindPrefixes are the first words in the names of functions, by the kind of object.
var kindPrefixes = [...]string{ofComm: "Comm", ofWindow: "Win", ofSession: "Session"}

// objectCallErrhandler calls the error handler of o with a code. The call itself succeeds, unless the handler ends
// the job.
func (a *cCall) objectCallErrhandler(o *object, code int) {
	callErrhandler(o.handler.Load(), o.handle, "MPI_"+kindPrefixes[o.kind]+"_call_errhandler", code)
}
