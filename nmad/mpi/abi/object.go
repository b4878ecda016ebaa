//go:build cgo && linux

package main

import (
	"sync"
	"sync/atomic"
)

// object is what communicators, windows, datatypes and sessions have in common.
type object struct {
	handle   handle
	what     objectKind
	handler  atomic.Pointer[cErrhandler]                   // nil: of a datatype
	buffers  buffers                                       // of communicators and sessions
	standard func(key int) (value uintptr, ok, known bool) // the attributes that the standard names; nil: there are none

	mu         sync.Mutex
	name       string       // under mu
	info       *cInfo       // under mu
	attributes []cAttribute // in the order in which they were set; under mu
}

func (o *object) common() *object { return o }

// objectOf is the part of an argument that all objects have.
func objectOf[T interface{ common() *object }](x T, err error) (*object, error) {
	if err != nil {
		return nil, err
	}
	return x.common(), nil
}

// name is one of an object, of at most maxName bytes.
type name string

// maxName is MPI_MAX_OBJECT_NAME, without the zero at the end.
const maxName = 127

// setName writes a name, and its length behind it.
func (a *cCall) setName(i int, s name) error { return a.setText(i, i+1, string(s), maxName+1) }

func (a *cCall) objectSetName(o *object, s string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.name = s[:min(len(s), maxName)]
}

// nameOf is the name of an argument, which may be the null handle of its kind.
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

func (a *cCall) commGetName() (name, error) { return nameOf(a, nullComm, "MPI_COMM_NULL", a.comm) }
func (a *cCall) typeGetName() (name, error) { return nameOf(a, nullType, "MPI_DATATYPE_NULL", a.dtype) }
func (a *cCall) winGetName() (name, error)  { return nameOf(a, nullWindow, "MPI_WIN_NULL", a.window) }

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
	h, err := a.handlerAt(1, o.what)
	if err == nil {
		o.handler.Store(h)
	}
	return err
}

func (a *cCall) objectGetErrhandler(o *object) *cErrhandler { return o.handler.Load() }

// families begin the names of the functions of objects.
var families = [...]string{ofComm: "Comm", ofWindow: "Win", ofSession: "Session"}

// objectCallErrhandler has the handler of an object told of a code; the call itself succeeds, unless the error ends
// the job.
func (a *cCall) objectCallErrhandler(o *object, code int) {
	tell(o.handler.Load(), o.handle, "MPI_"+families[o.what]+"_call_errhandler", code)
}
