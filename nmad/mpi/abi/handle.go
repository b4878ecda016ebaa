//go:build cgo && linux

package main

import (
	"sync"
	"sync/atomic"
)

// Types whose names begin with c are what C has: a cComm is what a handle MPI_Comm names, a cStatus an MPI_Status.

// handle is what the program has for an object. From the lowest bit on it has 20 bits for the place in the table of
// its kind, bits 26 to 29 for the kind, and bit 30, which is 1. From bit 32 on it counts how often the place was
// used. Fortran has the low 31 bits.
type handle uintptr

// objectKind is the kind of an object.
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
	ofControl // and the two behind it: of the tools interface
	ofMeasuring
	ofMeasure
)

var kindNames = [...]string{ofFile: "file", ofComm: "communicator", ofGroup: "group", ofType: "datatype", ofOp: "operation", ofRequest: "request", ofMessage: "message", ofHandler: "error handler", ofInfo: "info", ofWindow: "window", ofSession: "session", ofControl: "handle of a control variable", ofMeasuring: "session of performance variables", ofMeasure: "handle of a performance variable"}

func (kd objectKind) String() string { return kindNames[kd] }

const (
	placeBits  = 20
	chunkBits  = 10
	kindShift  = 26
	madeBit    = 1 << 30
	useShift   = 32
	predefined = 0x1000 // handles below are
)

// slot is a place of a table, for one object after the other.
type slot[T any] struct {
	uses   atomic.Uintptr
	object atomic.Pointer[T]
}

// table has all objects of a kind, but for predefined ones.
type table[T any] struct {
	kind   objectKind
	class  errorClass // of the error that there is no such object
	chunks [1 << (placeBits - chunkBits)]atomic.Pointer[[1 << chunkBits]slot[T]]

	mu   sync.Mutex
	free []uint32 // places; under mu
	used uint32   // places so far; under mu
}

// add takes an object in.
func (tb *table[T]) add(x *T) (handle, error) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	var at uint32
	if n := len(tb.free); n > 0 {
		at, tb.free = tb.free[n-1], tb.free[:n-1]
	} else {
		if at = tb.used; at == 1<<placeBits {
			return 0, wrong(errOther, "there are %d objects of kind %v: free some", at, tb.kind)
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

// slot returns the place that a handle names; nil: there is none.
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

// find returns the object of a handle; nil: there is none.
func (tb *table[T]) find(h handle) *T {
	if s := tb.slot(h); s != nil {
		if x := s.object.Load(); s.uses.Load() == uintptr(h)>>useShift {
			return x
		}
	}
	return nil
}

// get is find with an error that says what is wrong.
func (tb *table[T]) get(h handle) (*T, error) {
	if x := tb.find(h); x != nil {
		return x, nil
	}
	if tb.slot(h) != nil {
		return nil, wrong(tb.class, "the %v %#x was freed, or is done", tb.kind, uintptr(h))
	}
	return nil, wrong(tb.class, "%#x is no %v", uintptr(h), tb.kind)
}

// drop takes an object out, and says whether it was there.
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

// setNew takes an object in, and writes its handle.
func setNew[T any](a *cCall, i int, tb *table[T], x *T) error {
	if _, err := a.out(i); err != nil {
		return err
	}
	h, err := tb.add(x)
	if err != nil {
		return err
	}
	return a.setHandle(i, h)
}

// free takes an object out, and replaces the program's handle by the null handle.
func free[T any](tb *table[T], h *handle, null handle) error {
	if _, err := tb.get(*h); err != nil {
		return err
	}
	tb.drop(*h)
	*h = null
	return nil
}

// whole returns the handle whose low 31 bits are a number; 0: there is none.
func (tb *table[T]) whole(n uintptr) handle {
	if s := tb.slot(handle(n)); s != nil && s.object.Load() != nil {
		return handle(s.uses.Load()<<useShift | n)
	}
	return 0
}

// The tables.
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

// wholes are the whole of the tables, by their kinds.
var wholes = [16]func(n uintptr) handle{
	ofComm: comms.whole, ofGroup: groups.whole, ofType: types.whole, ofOp: ops.whole, ofRequest: requests.whole, ofMessage: messages.whole, ofHandler: handlers.whole, ofInfo: infos.whole, ofWindow: windows.whole, ofSession: sessions.whole,
}

// fromNumber returns the handle, of any kind of object, whose low bits are a number; 0: there is none.
func fromNumber(n uintptr) handle {
	if whole := wholes[n>>kindShift&15]; whole != nil {
		return whole(n)
	}
	return 0
}
