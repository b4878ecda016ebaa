//go:build cgo && linux

package main

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// attributes are what libraries keep at a communicator, datatype or window.
type attributes struct {
	what kind // of the object
	mu   sync.Mutex
	all  []attribute // in the order in which they were set; under mu
}

// attribute is one of them.
type attribute struct {
	key    *keyval
	number int
	value  uintptr
}

// keyval is what attributes are kept under.
type keyval struct {
	what         kind
	copy, delete uintptr // functions of the program
	extra        uintptr
	freed        bool // by the program; under keyvals
	uses         int  // attributes; under keyvals
}

// What stands for functions.
const (
	copyNone = 0
	copyDup  = 1
)

// firstKeyval is the first number of one that the program makes.
const firstKeyval = 1024

// keyvals are all that the program has made, by their numbers from firstKeyval on; nil: it was freed. One that was freed stays until its last attribute ends.
var keyvals struct {
	sync.Mutex
	all []*keyval
}

// createKeyval makes one.
func (a *call) createKeyval(what kind) error {
	if _, err := a.out(2); err != nil {
		return err
	}
	keyvals.Lock()
	defer keyvals.Unlock()
	keyvals.all = append(keyvals.all, &keyval{what: what, copy: a.word[0], delete: a.word[1], extra: a.word[3]})
	return a.setInt(2, firstKeyval+len(keyvals.all)-1)
}

// keyvalOf is the one of a number, for objects of a kind.
func keyvalOf(n int, what kind) (*keyval, error) {
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

// use notes that there are more attributes, or fewer.
func (k *keyval) use(number, more int) {
	keyvals.Lock()
	defer keyvals.Unlock()
	if k.uses += more; k.uses == 0 && k.freed {
		keyvals.all[number-firstKeyval] = nil
	}
}

// freeKeyval ends one; its attributes stay.
func (a *call) freeKeyval(what kind) error {
	n, err := a.narrow(0, 1)
	if err != nil {
		return err
	}
	if _, err := keyvalOf(int(n[0]), what); err != nil {
		return err
	}
	keyvals.Lock()
	defer keyvals.Unlock()
	k := keyvals.all[n[0]-firstKeyval]
	if k.freed = true; k.uses == 0 {
		keyvals.all[n[0]-firstKeyval] = nil
	}
	n[0] = 0
	return nil
}

func (a *call) commCreateKeyval() error { return a.createKeyval(ofComm) }
func (a *call) keyvalCreate() error     { return a.createKeyval(ofComm) }
func (a *call) typeCreateKeyval() error { return a.createKeyval(ofType) }
func (a *call) winCreateKeyval() error  { return a.createKeyval(ofWindow) }
func (a *call) commFreeKeyval() error   { return a.freeKeyval(ofComm) }
func (a *call) keyvalFree() error       { return a.freeKeyval(ofComm) }
func (a *call) typeFreeKeyval() error   { return a.freeKeyval(ofType) }
func (a *call) winFreeKeyval() error    { return a.freeKeyval(ofWindow) }

// find is the place of a key's; below 0: there is none. Under mu.
func (x *attributes) find(k *keyval) int {
	return slices.IndexFunc(x.all, func(y attribute) bool { return y.key == k })
}

// set keeps a value for the object of a handle; the one before ends first.
func (x *attributes) set(h handle, n int, value uintptr) error {
	k, err := keyvalOf(n, x.what)
	if err != nil {
		return err
	}
	x.mu.Lock()
	i := x.find(k)
	var was attribute
	if i >= 0 {
		was = x.all[i]
	}
	x.mu.Unlock()
	if i >= 0 {
		if err := was.end(h); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if i = x.find(k); i >= 0 {
		x.all[i].value = value
		return nil
	}
	x.all = append(x.all, attribute{k, n, value})
	k.use(n, 1)
	return nil
}

// get is a value.
func (x *attributes) get(n int) (value uintptr, ok bool, err error) {
	k, err := keyvalOf(n, x.what)
	if err != nil {
		return 0, false, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := x.find(k); i >= 0 {
		return x.all[i].value, true, nil
	}
	return 0, false, nil
}

// delete ends a value.
func (x *attributes) delete(h handle, n int) error {
	k, err := keyvalOf(n, x.what)
	if err != nil {
		return err
	}
	x.mu.Lock()
	i := x.find(k)
	if i < 0 {
		x.mu.Unlock()
		return wrong(errKeyval, "there is no attribute of key %d", n)
	}
	was := x.all[i]
	x.mu.Unlock()
	if err := was.end(h); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if i = x.find(k); i >= 0 {
		x.all = slices.Delete(x.all, i, i+1)
		k.use(n, -1)
	}
	return nil
}

// end has the program's function told that a value ends.
func (y attribute) end(h handle) error {
	if y.key.delete == 0 {
		return nil
	}
	return failed(callDelete(y.key.delete, h, y.number, y.value, y.key.extra))
}

// end ends all values, in the opposite order of their being set, up to the first error.
func (x *attributes) end(h handle) error {
	for {
		x.mu.Lock()
		n := len(x.all)
		if n == 0 {
			x.mu.Unlock()
			return nil
		}
		last := x.all[n-1]
		x.mu.Unlock()
		if err := last.end(h); err != nil {
			return err
		}
		x.mu.Lock()
		if i := x.find(last.key); i >= 0 {
			x.all = slices.Delete(x.all, i, i+1)
			last.key.use(last.number, -1)
		}
		x.mu.Unlock()
	}
}

// copy copies the values of the object of a handle to those of a new one, as the program's functions say.
func (x *attributes) copy(h handle, to *attributes) error {
	x.mu.Lock()
	all := slices.Clone(x.all)
	x.mu.Unlock()
	for _, y := range all {
		switch y.key.copy {
		case copyNone:
			continue
		case copyDup:
		default:
			value, ok, code := callCopy(y.key.copy, h, y.number, y.key.extra, y.value)
			if err := failed(code); err != nil {
				return err
			}
			if !ok {
				continue
			}
			y.value = value
		}
		y.key.use(y.number, 1)
		to.all = append(to.all, y)
	}
	return nil
}

func (a *call) commSetAttr() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	if err := given(a.int(1)); err != nil {
		return err
	}
	return c.attributes.set(c.handle, a.int(1), a.word[2])
}

// given says why a key's value cannot be changed.
func given(n int) error {
	if n > 0 && n < firstKeyval {
		return wrong(errKeyval, "attribute %d is not to be changed", n)
	}
	return nil
}

func (a *call) attrPut() error { return a.commSetAttr() }

func (a *call) commDeleteAttr() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	if err := given(a.int(1)); err != nil {
		return err
	}
	return c.attributes.delete(c.handle, a.int(1))
}

func (a *call) attrDelete() error { return a.commDeleteAttr() }

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

func (a *call) commGetAttr() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	if _, err := a.out(2); err != nil {
		return err
	}
	n := a.int(1)
	switch value := uintptr(0); n {
	case tagUB:
		value = constant(0, maxTag)
		return a.attribute(value, true)
	case canIO:
		value = constant(1, procNull)
		return a.attribute(value, true)
	case hostRank:
		value = constant(2, procNull)
		return a.attribute(value, true)
	case wtimeIsGlobal:
		return a.attribute(constant(3, globalTime()), true)
	case appNum:
		n, known := engine.session.Program()
		return a.attribute(constant(4, n), known)
	case lastUsedCode:
		codes.Lock()
		last := max(codes.last, int(lastCode))
		codes.Unlock()
		return a.attribute(constant(5, last), true)
	case universeSize:
		return a.attribute(constant(6, engine.all.Size()), true)
	}
	value, ok, err := c.attributes.get(n)
	if err != nil {
		return err
	}
	return a.attribute(value, ok)
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

// attribute writes one.
func (a *call) attribute(value uintptr, ok bool) error {
	if ok {
		if err := a.setPtr(2, value); err != nil {
			return err
		}
	}
	return a.setFlag(3, ok)
}

func (a *call) attrGet() error { return a.commGetAttr() }

func (a *call) typeSetAttr() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	return t.attributes.set(t.handle, a.int(1), a.word[2])
}

func (a *call) typeDeleteAttr() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	return t.attributes.delete(t.handle, a.int(1))
}

func (a *call) typeGetAttr() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	value, ok, err := t.attributes.get(a.int(1))
	if err != nil {
		return err
	}
	return a.attribute(value, ok)
}
