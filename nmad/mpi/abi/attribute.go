//go:build cgo && linux

package main

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// cAttribute is what a library keeps at a communicator, datatype or window.
type cAttribute struct {
	key    *keyval
	number int
	value  uintptr
}

// keyval is what attributes are kept under.
type keyval struct {
	what         objectKind
	copy, delete uintptr // functions of the program
	extra        uintptr
	freed        bool // by the program; under keyvals
	uses         int  // attributes; under keyvals
}

// Addresses that stand for predefined functions which copy attributes.
const (
	copyNone = 0
	copyDup  = 1
)

// firstKeyval is the number of the first key that the program makes; those below are predefined.
const firstKeyval = 1024

// keyvals are all that the program has made, by their numbers from firstKeyval on; nil: it was freed. One that was
// freed stays until its last attribute ends.
var keyvals struct {
	sync.Mutex
	all []*keyval
}

// createKeyval makes a key for objects of a kind, with the program's functions that copy and delete attributes.
func (a *cCall) createKeyval(what objectKind) error {
	if _, err := a.out(2); err != nil {
		return err
	}
	keyvals.Lock()
	defer keyvals.Unlock()
	keyvals.all = append(keyvals.all, &keyval{what: what, copy: a.word[0], delete: a.word[1], extra: a.word[3]})
	return a.setInt(2, firstKeyval+len(keyvals.all)-1)
}

// keyvalOf returns the key with number n, if it is for objects of that kind.
func keyvalOf(n int, what objectKind) (*keyval, error) {
	keyvals.Lock()
	defer keyvals.Unlock()
	i := n - firstKeyval
	if i < 0 || i >= len(keyvals.all) || keyvals.all[i] == nil {
		return nil, wrong(errKeyval, "%d is no attribute key, or was freed", n)
	}
	if k := keyvals.all[i]; k.what == what {
		return k, nil
	}
	return nil, wrong(errKeyval, "attribute key %d is not for a %v", n, what)
}

// use notes that there are more attributes, or fewer. The last one of a key that was freed ends it.
func (k *keyval) use(number, more int) {
	keyvals.Lock()
	defer keyvals.Unlock()
	if k.uses += more; k.uses == 0 && k.freed {
		keyvals.all[number-firstKeyval] = nil
	}
}

// freeKeyval ends a key; the attributes under it stay.
func freeKeyval(n *int32, what objectKind) error {
	k, err := keyvalOf(int(*n), what)
	if err != nil {
		return err
	}
	keyvals.Lock()
	k.freed = true
	keyvals.Unlock()
	k.use(int(*n), 0)
	*n = 0
	return nil
}

func (a *cCall) commCreateKeyval() error       { return a.createKeyval(ofComm) }
func (a *cCall) keyvalCreate() error           { return a.createKeyval(ofComm) }
func (a *cCall) typeCreateKeyval() error       { return a.createKeyval(ofType) }
func (a *cCall) winCreateKeyval() error        { return a.createKeyval(ofWindow) }
func (a *cCall) commFreeKeyval(n *int32) error { return freeKeyval(n, ofComm) }
func (a *cCall) keyvalFree(n *int32) error     { return freeKeyval(n, ofComm) }
func (a *cCall) typeFreeKeyval(n *int32) error { return freeKeyval(n, ofType) }
func (a *cCall) winFreeKeyval(n *int32) error  { return freeKeyval(n, ofWindow) }

// find returns the index of the attribute that o has under k; below 0: it has none. The caller holds mu.
func (o *object) find(k *keyval) int {
	return slices.IndexFunc(o.attributes, func(y cAttribute) bool { return y.key == k })
}

// attribute returns what o keeps under key n; if it keeps nothing there, x has no key.
func (o *object) attribute(n int) (k *keyval, x cAttribute, err error) {
	if k, err = keyvalOf(n, o.what); err != nil {
		return nil, x, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.find(k); i >= 0 {
		x = o.attributes[i]
	}
	return k, x, nil
}

// objectSetAttr keeps a value; the one before ends first.
func (a *cCall) objectSetAttr(o *object, n int) error {
	k, was, err := o.attribute(n)
	if err != nil {
		return err
	}
	if err := was.end(o.handle); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.find(k); i >= 0 {
		o.attributes[i].value = a.word[2]
		return nil
	}
	o.attributes = append(o.attributes, cAttribute{k, n, a.word[2]})
	k.use(n, 1)
	return nil
}

func (a *cCall) attrPut(o *object, n int) error { return a.objectSetAttr(o, n) }

func (a *cCall) objectDeleteAttr(o *object, n int) error {
	_, was, err := o.attribute(n)
	if err != nil {
		return err
	}
	if was.key == nil {
		return wrong(errKeyval, "there is no attribute of key %d", n)
	}
	return o.drop(was)
}

func (a *cCall) attrDelete(o *object, n int) error { return a.objectDeleteAttr(o, n) }

func (a *cCall) objectGetAttr(o *object, n int) error {
	if _, err := a.out(2); err != nil {
		return err
	}
	if o.standard != nil {
		if value, ok, known := o.standard(n); known {
			return a.attribute(value, ok)
		}
	}
	_, x, err := o.attribute(n)
	if err != nil {
		return err
	}
	return a.attribute(x.value, x.key != nil)
}

func (a *cCall) attrGet(o *object, n int) error { return a.objectGetAttr(o, n) }

// attribute writes the value of an attribute, if there is one, and whether there is.
func (a *cCall) attribute(value uintptr, ok bool) error {
	if ok {
		if err := a.setPtr(2, value); err != nil {
			return err
		}
	}
	return a.setFlag(3, ok)
}

// end has the program's function told that a value ends, if there is one.
func (y cAttribute) end(h handle) error {
	if y.key == nil || y.key.delete == 0 {
		return nil
	}
	return failed(callDelete(y.key.delete, h, y.number, y.value, y.key.extra))
}

// drop ends a value, and takes it out.
func (o *object) drop(x cAttribute) error {
	if err := x.end(o.handle); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.find(x.key); i >= 0 {
		o.attributes = slices.Delete(o.attributes, i, i+1)
		x.key.use(x.number, -1)
	}
	return nil
}

// endAttributes ends all values, in the opposite order of their being set, up to the first error.
func (o *object) endAttributes() error {
	for {
		o.mu.Lock()
		n := len(o.attributes)
		if n == 0 {
			o.mu.Unlock()
			return nil
		}
		last := o.attributes[n-1]
		o.mu.Unlock()
		if err := o.drop(last); err != nil {
			return err
		}
	}
}

// copyAttributes copies the values to a new object, as the program's functions say.
func (o *object) copyAttributes(to *object) error {
	o.mu.Lock()
	all := slices.Clone(o.attributes)
	o.mu.Unlock()
	for _, y := range all {
		switch y.key.copy {
		case copyNone:
			continue
		case copyDup:
		default:
			value, ok, code := callCopy(y.key.copy, o.handle, y.number, y.key.extra, y.value)
			if err := failed(code); err != nil {
				return err
			}
			if !ok {
				continue
			}
			y.value = value
		}
		y.key.use(y.number, 1)
		to.attributes = append(to.attributes, y)
	}
	return nil
}

// The predefined attributes of communicators: ints, whose addresses the program gets.
const (
	tagUB         = 501
	canIO         = 502
	hostRank      = 503
	wtimeIsGlobal = 504
	appNum        = 505
	lastUsedCode  = 506
	universeSize  = 507
	anySource     = mpi.AnySource
	maxTag        = mpi.MaxTag
)

// constants are memory for them, apart from Go's: the program keeps the addresses.
var constants = permanent(8)

// constant is the address of a number.
func constant(i, v int) uintptr {
	atomic.StoreInt32(&constants[i], int32(v))
	return numberOf(&constants[i])
}

// standardOfComm is the value of an attribute that all communicators have.
func standardOfComm(key int) (value uintptr, ok, known bool) {
	switch key {
	case tagUB:
		return constant(0, maxTag), true, true
	case canIO:
		return constant(1, procNull), true, true
	case hostRank:
		return constant(2, procNull), true, true
	case wtimeIsGlobal:
		return constant(3, globalTime()), true, true
	case appNum:
		if n, known := engine.session.Program(); known {
			return constant(4, n), true, true
		}
		return 0, false, true
	case lastUsedCode:
		codes.Lock()
		defer codes.Unlock()
		return constant(5, max(codes.last, int(lastCode))), true, true
	case universeSize:
		return constant(6, engine.all.Size()), true, true
	}
	return 0, false, false
}

// globalTime is whether MPI_Wtime is the same at all processes: 1 on one host, which has one clock.
func globalTime() int {
	for r := range engine.all.Size() {
		if engine.session.HostOf(r) != 0 {
			return 0
		}
	}
	return 1
}
