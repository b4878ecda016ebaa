//go:build cgo && linux

package main

import (
	"sync"
	"sync/atomic"
)

// A type whose name begins with c stands for one of C: a cComm for an MPI_Comm, a cStatus for an MPI_Status.

// handle is the value by which a program in C names an object. A predefined object has a number of the standard,
// below predefined. The handle of another one has these bits:
//
//	0 to 19    place in the table of its kind
//	26 to 29   objectKind
//	30         1
//	32 and up  how often the place was used before
//
// So a handle that is used after its object was freed is found out. Fortran has the low 31 bits (MPI_Comm_toint).
type handle uintptr

// objectKind is the kind of an object: bits 26 to 29 of its handle.
type objectKind uint8

const (
	ofComm objectKind = iota + 1
	ofGroup
	ofType
	ofOp
	ofRequest
	ofMessage
	ofHandler
	ofInfo
	ofWindow
	ofSession
	ofControl // this kind and the next two are of the tools interface (MPI_T)
	ofPvarSession
	ofMeasure
)

var kindNames = [...]string{ofFile: "file", ofComm: "communicator", ofGroup: "group", ofType: "datatype", ofOp: "operation", ofRequest: "request", ofMessage: "message", ofHandler: "error handler", ofInfo: "info", ofWindow: "window", ofSession: "session", ofControl: "handle of a control variable", ofPvarSession: "session of performance variables", ofMeasure: "handle of a performance variable"}

func (kd objectKind) String() string { return kindNames[kd] }

const (
	placeBits  = 20      // of a handle: the place in the table
	chunkBits  = 10      // of a place: the index in its chunk
	kindShift  = 26      // position of the kind in a handle
	madeBit    = 1 << 30 // tells a handle from the numbers of predefined objects
	useShift   = 32      // position in a handle of how often the place was used
	predefined = 0x1000  // handles below are of predefined objects
)

// slot is a place of a table. It holds one object after the other.
type slot[T any] struct {
	uses   atomic.Uintptr    // how often the place was used before; changed under table.mu, read without
	object atomic.Pointer[T] // nil: the place is free
}

// table has all objects of a kind that are not predefined. find and get take no lock: a slot is never moved. add
// and drop take mu.
type table[T any] struct {
	kind   objectKind                                                            // of the objects
	class  errorClass                                                            // of the error that there is no such object
	chunks [1 << (placeBits - chunkBits)]atomic.Pointer[[1 << chunkBits]slot[T]] // places, allocated by chunks when they are first used; written under mu, read without

	mu   sync.Mutex
	free []uint32 // places that are free again; under mu
	used uint32   // places from here on were never used; under mu
}

// add stores x at a free place and returns its handle. It fails if all places are in use.
func (tb *table[T]) add(x *T) (handle, error) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	var at uint32
	if n := len(tb.free); n > 0 {
		at, tb.free = tb.free[n-1], tb.free[:n-1]
	} else {
		if at = tb.used; at == 1<<placeBits {
			return 0, errorf(errOther, "there are %d objects of kind %v: free some", at, tb.kind)
		}
		tb.used++
		if c := &tb.chunks[at>>chunkBits]; c.Load() == nil {
			c.Store(new([1 << chunkBits]slot[T]))
		}
	}
	s := &tb.chunks[at>>chunkBits].Load()[at&(1<<chunkBits-1)]
	s.object.Store(x)
	return handle(s.uses.Load()<<useShift | madeBit | uintptr(tb.kind)<<kindShift | uintptr(at)), nil
}

// slot returns the place that h names; nil if h is of another kind or beyond the places used so far.
func (tb *table[T]) slot(h handle) *slot[T] {
	at := uintptr(h) & (1<<placeBits - 1)
	if uintptr(h)&(1<<useShift-1) != madeBit|uintptr(tb.kind)<<kindShift|at {
		return nil
	}
	if c := tb.chunks[at>>chunkBits].Load(); c != nil {
		return &c[at&(1<<chunkBits-1)]
	}
	return nil
}

// find returns the object of a handle; nil if there is none, or it was dropped.
func (tb *table[T]) find(h handle) *T {
	if s := tb.slot(h); s != nil {
		if x := s.object.Load(); s.uses.Load() == uintptr(h)>>useShift {
			return x
		}
	}
	return nil
}

// get is find with an error that says why there is no object.
func (tb *table[T]) get(h handle) (*T, error) {
	if x := tb.find(h); x != nil {
		return x, nil
	}
	if name := handleNames[h]; name != "" {
		return nil, errorf(tb.class, "%s is no %v of the program's", name, tb.kind)
	}
	if tb.slot(h) != nil {
		return nil, errorf(tb.class, "the %v %#x was freed, or is done", tb.kind, uintptr(h))
	}
	return nil, errorf(tb.class, "%#x is no %v", uintptr(h), tb.kind)
}

// drop frees the place of a handle. It reports false if the object was dropped before.
func (tb *table[T]) drop(h handle) bool {
	s := tb.slot(h)
	if s == nil {
		return false
	}
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if !s.uses.CompareAndSwap(uintptr(h)>>useShift, (uintptr(h)>>useShift+1)&(1<<31-1)) {
		return false
	}
	s.object.Store(nil)
	tb.free = append(tb.free, uint32(uintptr(h)&(1<<placeBits-1)))
	return true
}

// setNewHandle stores x in the table and writes its handle to argument i.
func setNewHandle[T any](a *cCall, i int, tb *table[T], x *T) error {
	if _, err := a.out(i); err != nil {
		return err
	}
	h, err := tb.add(x)
	if err != nil {
		return err
	}
	return a.setHandle(i, h)
}

// freeHandle drops the object of *h and sets *h to the null handle.
func freeHandle[T any](tb *table[T], h *handle, null handle) error {
	if _, err := tb.get(*h); err != nil {
		return err
	}
	tb.drop(*h)
	*h = null
	return nil
}

// fromInt returns the handle whose low 31 bits are n; 0 if there is no such object.
func (tb *table[T]) fromInt(n uintptr) handle {
	if s := tb.slot(handle(n)); s != nil && s.object.Load() != nil {
		return handle(s.uses.Load()<<useShift | n)
	}
	return 0
}

// The tables of objects, one for each kind.
var (
	comms    = table[cComm]{kind: ofComm, class: errComm}
	groups   = table[cGroup]{kind: ofGroup, class: errGroup}
	types    = table[cType]{kind: ofType, class: errType}
	ops      = table[cOp]{kind: ofOp, class: errOp}
	requests = table[cRequest]{kind: ofRequest, class: errRequest}
	messages = table[cMessage]{kind: ofMessage, class: errRequest}
	handlers = table[cErrhandler]{kind: ofHandler, class: errErrhandler}
	infos    = table[cInfo]{kind: ofInfo, class: errInfo}
	windows  = table[cWindow]{kind: ofWindow, class: errWin}
	sessions = table[cSession]{kind: ofSession, class: errSession}
)

// fromIntByKind are the methods fromInt of the tables.
var fromIntByKind = [16]func(n uintptr) handle{
	ofComm: comms.fromInt, ofGroup: groups.fromInt, ofType: types.fromInt, ofOp: ops.fromInt, ofRequest: requests.fromInt, ofMessage: messages.fromInt, ofHandler: handlers.fromInt, ofInfo: infos.fromInt, ofWindow: windows.fromInt, ofSession: sessions.fromInt,
}

// objectFromInt returns the handle, of whatever kind, whose low 31 bits are n; 0 if there is no such object. It
// does not know slips: see handleFromInt.
func objectFromInt(n uintptr) handle {
	if whole := fromIntByKind[n>>kindShift&15]; whole != nil {
		return whole(n)
	}
	return 0
}
