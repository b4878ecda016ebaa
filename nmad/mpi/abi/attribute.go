//go:build cgo && linux

package main

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// cAttribute is a value that a library has attached to a communicator, datatype or window.
type cAttribute struct {
	key       *keyval
	keyNumber int // of key
	value     uintptr
}

// keyval is a key of attributes.
type keyval struct {
	kind         objectKind // of the objects to which it can be attached
	copy, delete uintptr    // functions of the program. copy may be mpiNullCopyFn or mpiDupFn instead; a delete of 0: there is none
	extra        uintptr    // the extra state: an argument of these functions
	freed        bool       // the program has freed the key; keyvals guards it
	uses         int        // how many attributes have the key; keyvals guards it
}

// firstKeyval is the number of the first key that a program creates. Lower ones are predefined.
const firstKeyval = 1024

// keyvals are the keys that the program has created, by their numbers from firstKeyval on. A freed key stays until
// its last attribute ends; then its place is nil.
var keyvals struct {
	sync.Mutex
	all []*keyval
}

// objectCreateKeyval creates a key for objects of a kind. Arguments 0 and 1 are the functions that copy and delete
// attributes, argument 3 is their extra state, and argument 2 is where the number of the key goes.
func (a *cCall) objectCreateKeyval(kind objectKind) error {
	if _, err := a.out(2); err != nil {
		return err
	}
	keyvals.Lock()
	defer keyvals.Unlock()
	keyvals.all = append(keyvals.all, &keyval{kind: kind, copy: a.word[0], delete: a.word[1], extra: a.word[3]})
	return a.setInt(2, firstKeyval+len(keyvals.all)-1)
}

func (a *cCall) keyvalCreate() error { return a.objectCreateKeyval(ofComm) }

// keyvalOf returns the key with number n. It refuses one that is for objects of another kind.
func keyvalOf(n int, kind objectKind) (*keyval, error) {
	keyvals.Lock()
	defer keyvals.Unlock()
	i := n - firstKeyval
	if i < 0 || i >= len(keyvals.all) || keyvals.all[i] == nil {
		return nil, errorf(errKeyval, "%d is no attribute key, or was freed", n)
	}
	if k := keyvals.all[i]; k.kind == kind {
		return k, nil
	}
	return nil, errorf(errKeyval, "attribute key %d is not for a %v", n, kind)
}

// use adds delta, which may be negative, to the number of attributes that have the key. A freed key ends with its last
// attribute. number is that of the key.
func (k *keyval) use(number, delta int) {
	keyvals.Lock()
	defer keyvals.Unlock()
	if k.uses += delta; k.uses == 0 && k.freed {
		keyvals.all[number-firstKeyval] = nil
	}
}

// objectFreeKeyval frees a key. The attributes under it stay.
func (a *cCall) objectFreeKeyval(kind objectKind, n *int32) error {
	k, err := keyvalOf(int(*n), kind)
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

func (a *cCall) keyvalFree(n *int32) error { return a.objectFreeKeyval(ofComm, n) }

// find returns the index of the attribute of o under k; -1 if there is none. The caller holds mu.
func (o *object) find(k *keyval) int {
	return slices.IndexFunc(o.attributes, func(y cAttribute) bool { return y.key == k })
}

// attribute returns the attribute of o under key n. If there is none, x.key is nil.
func (o *object) attribute(n int) (k *keyval, x cAttribute, err error) {
	if k, err = keyvalOf(n, o.kind); err != nil {
		return nil, x, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.find(k); i >= 0 {
		x = o.attributes[i]
	}
	return k, x, nil
}

// objectSetAttr attaches a value, argument 2, under key n. It deletes an earlier value first.
func (a *cCall) objectSetAttr(o *object, n int) error {
	k, old, err := o.attribute(n)
	if err != nil {
		return err
	}
	if err := old.end(o.handle); err != nil {
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
	_, old, err := o.attribute(n)
	if err != nil {
		return err
	}
	if old.key == nil {
		return errorf(errKeyval, "there is no attribute of key %d", n)
	}
	return o.drop(old)
}

func (a *cCall) attrDelete(o *object, n int) error { return a.objectDeleteAttr(o, n) }

func (a *cCall) objectGetAttr(o *object, n int) error {
	if _, err := a.out(2); err != nil {
		return err
	}
	if o.standard != nil {
		if value, ok, known := o.standard(n); known {
			return a.setAttribute(value, ok)
		}
	}
	_, x, err := o.attribute(n)
	if err != nil {
		return err
	}
	return a.setAttribute(x.value, x.key != nil)
}

func (a *cCall) attrGet(o *object, n int) error { return a.objectGetAttr(o, n) }

// setAttribute writes the value of an attribute to argument 2, if there is one, and to argument 3 whether there is one.
func (a *cCall) setAttribute(value uintptr, ok bool) error {
	if ok {
		if err := a.setPtr(2, value); err != nil {
			return err
		}
	}
	return a.setFlag(3, ok)
}

// end calls the program's function that deletes the attribute, if there is one. h is the object.
func (y cAttribute) end(h handle) error {
	if y.key == nil || y.key.delete == 0 {
		return nil
	}
	return callbackError(callDelete(y.key.delete, h, y.keyNumber, y.value, y.key.extra))
}

// drop deletes an attribute and takes it off the object.
func (o *object) drop(x cAttribute) error {
	if err := x.end(o.handle); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.find(x.key); i >= 0 {
		o.attributes = slices.Delete(o.attributes, i, i+1)
		x.key.use(x.keyNumber, -1)
	}
	return nil
}

// endAttributes drops all attributes, the one that was set last first. It stops at the first error.
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

// copyAttributes copies those attributes of o to a new object that the program's copy functions let it copy.
func (o *object) copyAttributes(to *object) error {
	o.mu.Lock()
	all := slices.Clone(o.attributes)
	o.mu.Unlock()
	for _, y := range all {
		switch y.key.copy {
		case mpiNullCopyFn:
			continue
		case mpiDupFn:
		default:
			value, ok, code := callCopy(y.key.copy, o.handle, y.keyNumber, y.key.extra, y.value)
			if err := callbackError(code); err != nil {
				return err
			}
			if !ok {
				continue
			}
			y.value = value
		}
		y.key.use(y.keyNumber, 1)
		to.attributes = append(to.attributes, y)
	}
	return nil
}

// constants are the ints to which predefined attributes point. They lie in C's memory because the program keeps the
// addresses.
var constants = allocateInts(8)

// constant stores v in constant i and returns its address.
func constant(i, v int) uintptr {
	atomic.StoreInt32(&constants[i], int32(v))
	return addressOfInt(&constants[i])
}

// standardOfComm returns the value of a predefined attribute of communicators. known: there is such a key; ok: it
// has a value.
func standardOfComm(key int) (value uintptr, ok, known bool) {
	switch key {
	case mpiTagUb:
		return constant(0, mpi.MaxTag), true, true
	case mpiIo:
		return constant(1, mpiProcNull), true, true
	case mpiHost:
		return constant(2, mpiProcNull), true, true
	case mpiWtimeIsGlobal:
		return constant(3, globalTime()), true, true
	case mpiAppnum:
		if n, known := job.session.Program(); known {
			return constant(4, n), true, true
		}
		return 0, false, true
	case mpiLastusedcode:
		codes.Lock()
		defer codes.Unlock()
		return constant(5, max(codes.last, int(errLastcode))), true, true
	case mpiUniverseSize:
		return constant(6, job.allComm.Size()), true, true
	}
	return 0, false, false
}

// globalTime is the value of MPI_WTIME_IS_GLOBAL: 1 if all processes are on one host, which has one clock.
func globalTime() int {
	for r := range job.allComm.Size() {
		if job.session.HostOf(r) != 0 {
			return 0
		}
	}
	return 1
}
