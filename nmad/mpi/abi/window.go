//go:build cgo && linux

package main

import (
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// window is a window of memory.
type window struct {
	handle     handle
	w          *mpi.Window
	comm       *comm // that it was made of
	handler    atomic.Pointer[handler]
	thread     atomic.Uint64 // that accumulates, by asm.GoID; 0: none has; manyThreads; written under mu
	attributes attributes
	flavor     int
	size       int
	unit       int
	base       uintptr
	constants  []int32 // what attributes are the addresses of: flavor, model, unit, and the size in two words

	mu       sync.Mutex
	name     string             // under mu
	info     *info              // under mu
	attached map[uintptr][]byte // under mu
}

const (
	nullWindow handle = 0x110

	flavorCreate   = 311
	flavorAllocate = 312
	flavorDynamic  = 313
	flavorShared   = 314
	modelUnified   = 321

	lockExclusive = 301
	lockShared    = 302

	winBase   = 601
	winUnit   = 602
	winSize   = 603
	winFlavor = 604
	winModel  = 605
)

// manyThreads stands for more than one.
const manyThreads = 1<<64 - 1

// used is called before each accumulate. While one thread alone calls these the window may do without atomics.
func (w *window) used() {
	me := asm.GoID()
	if t := w.thread.Load(); t == me || t == manyThreads {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.thread.Load() {
	case 0:
		w.thread.Store(me)
		w.w.Serialize(true)
	case me, manyThreads:
	default:
		w.thread.Store(manyThreads)
		w.w.Serialize(false)
	}
}

// window is an argument that is one.
func (a *call) window(i int) (*window, error) {
	if a.handle(i) == nullWindow {
		return nil, wrong(errWin, "it is MPI_WIN_NULL")
	}
	w, err := windows.get(a.handle(i))
	if err == nil {
		a.object = a.handle(i)
	}
	return w, err
}

// newWindow hands one out.
func (a *call) newWindow(at int, c *comm, hints *info, w *mpi.Window, flavor, size, unit int, base uintptr) error {
	x := &window{w: w, comm: c, flavor: flavor, size: size, unit: unit, base: base, info: hints.dup(), attached: map[uintptr][]byte{}, constants: permanent(6)}
	x.attributes.what = ofWindow
	x.handler.Store(&errorsAreFatal)
	copy(x.constants, []int32{int32(flavor), modelUnified, int32(unit), 0, int32(size), int32(size >> 32)})
	h, err := windows.add(x)
	if err != nil {
		return err
	}
	x.handle = h
	return a.setHandle(at, h)
}

// sized are the arguments of a new window: a size, a unit, an info, a communicator, from the argument at on.
func (a *call) sized(at int) (c *comm, i *info, size, unit int, err error) {
	if c, err = a.intra(at + 3); err != nil {
		return
	}
	if i, err = a.infoOrNull(at + 2); err != nil {
		return
	}
	size, unit = a.int(at), a.int(at+1)
	if size < 0 {
		err = wrong(errSize, "a window of %d B", size)
	} else if unit < 1 {
		err = wrong(errDisp, "a unit of %d B", unit)
	}
	return
}

func (a *call) winCreate() error {
	c, i, size, unit, err := a.sized(1)
	if err != nil {
		return err
	}
	if size > 0 && a.word[0] == 0 {
		return wrong(errBase, "%d B at no address", size)
	}
	w, err := c.c.CreateWindow(memory(a.ptr(0), size), unit)
	if err != nil {
		return err
	}
	return a.newWindow(5, c, i, w, flavorCreate, size, unit, a.word[0])
}

func (a *call) winAllocate() error {
	c, i, size, unit, err := a.sized(0)
	if err != nil {
		return err
	}
	w, err := c.c.AllocateWindow(size, unit)
	if err != nil {
		return err
	}
	base := place(w.Bytes())
	if err := a.setPtr(4, base); err != nil {
		return err
	}
	return a.newWindow(5, c, i, w, flavorAllocate, size, unit, base)
}

func (a *call) winAllocateShared() error {
	c, i, size, unit, err := a.sized(0)
	if err != nil {
		return err
	}
	w, err := c.c.AllocateShared(size, unit)
	if err != nil {
		return wrong(errRMAShared, "%v", err)
	}
	base := place(w.Bytes())
	if err := a.setPtr(4, base); err != nil {
		return err
	}
	return a.newWindow(5, c, i, w, flavorShared, size, unit, base)
}

func (a *call) winCreateDynamic() error {
	c, err := a.intra(1)
	if err != nil {
		return err
	}
	i, err := a.infoOrNull(0)
	if err != nil {
		return err
	}
	w, err := c.c.DynamicWindow()
	if err != nil {
		return err
	}
	return a.newWindow(2, c, i, w, flavorDynamic, 0, 1, 0)
}

func (a *call) winAttach() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	if a.int(2) < 0 {
		return wrong(errSize, "%d B", a.int(2))
	}
	m := memory(a.ptr(1), a.int(2))
	if len(m) == 0 {
		return nil
	}
	if _, err := w.w.Attach(m); err != nil {
		return wrong(errRMAAttach, "%v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attached[a.word[1]] = m
	return nil
}

func (a *call) winDetach() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	w.mu.Lock()
	m, ok := w.attached[a.word[1]]
	delete(w.attached, a.word[1])
	w.mu.Unlock()
	if !ok {
		return wrong(errRMAAttach, "nothing is attached at that address")
	}
	return w.w.Detach(m)
}

func (a *call) winFree() error {
	h, err := a.handleAt(0)
	if err != nil {
		return err
	}
	if h == nullWindow {
		return wrong(errWin, "it is MPI_WIN_NULL")
	}
	w, err := windows.get(h)
	if err != nil {
		return err
	}
	a.object = h
	if err := w.attributes.end(h); err != nil {
		return err
	}
	if err := w.w.Free(); err != nil {
		return err
	}
	a.object = 0
	windows.drop(h)
	return a.setHandle(0, nullWindow)
}

func (a *call) winGetGroup() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	return a.setGroup(1, w.w.Group())
}

func (a *call) winSharedQuery() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	r := a.int(1)
	if w.flavor == flavorDynamic {
		return wrong(errRMAFlavor, "a window of MPI_Win_create_dynamic has no memory to ask for")
	}
	if w.flavor != flavorShared { // only the own memory is shared with this process
		size, unit, base := 0, 0, uintptr(0)
		if r == w.w.Comm().Rank() {
			size, unit, base = w.size, w.unit, w.base
		}
		return a.shared(size, unit, base)
	}
	if r == procNull { // the first that has memory
		for r = 0; r < w.w.Group().Size()-1; r++ {
			if n, _, _ := w.w.Extent(r); n > 0 {
				break
			}
		}
	}
	n, unit, err := w.w.Extent(r)
	if err != nil {
		return err
	}
	b, err := w.w.Shared(r)
	if err != nil {
		return err
	}
	return a.shared(n, unit, place(b))
}

// shared writes a size, a unit and an address.
func (a *call) shared(size, unit int, base uintptr) (err error) {
	if err := a.setAint(2, size); err != nil {
		return err
	}
	if a.wide != 0 {
		err = a.setAint(3, unit)
	} else {
		err = a.setInt(3, unit)
	}
	if err != nil {
		return err
	}
	return a.setPtr(4, base)
}

func (a *call) winSetName() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	s, err := a.string(1)
	if err == nil {
		w.mu.Lock()
		w.name = s[:min(len(s), 127)]
		w.mu.Unlock()
	}
	return err
}

func (a *call) winGetName() error {
	if a.handle(0) == nullWindow {
		return a.setText(1, 2, "MPI_WIN_NULL", 128)
	}
	w, err := a.window(0)
	if err != nil {
		return err
	}
	w.mu.Lock()
	s := w.name
	w.mu.Unlock()
	return a.setText(1, 2, s, 128)
}

func (a *call) winSetInfo() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	i, err := a.info(1)
	if err == nil {
		w.mu.Lock()
		w.info = w.info.merged(i)
		w.mu.Unlock()
	}
	return err
}

func (a *call) winGetInfo() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	w.mu.Lock()
	i := w.info.dup()
	w.mu.Unlock()
	return a.setInfo(1, i)
}

func (a *call) winSetAttr() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	if err := given(a.int(1)); err != nil {
		return err
	}
	return w.attributes.set(w.handle, a.int(1), a.word[2])
}

func (a *call) winDeleteAttr() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	if err := given(a.int(1)); err != nil {
		return err
	}
	return w.attributes.delete(w.handle, a.int(1))
}

func (a *call) winGetAttr() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	if _, err := a.out(2); err != nil {
		return err
	}
	switch a.int(1) {
	case winBase:
		return a.attribute(w.base, true)
	case winUnit:
		return a.attribute(numberOf(&w.constants[2]), true)
	case winSize:
		return a.attribute(numberOf(&w.constants[4]), true)
	case winFlavor:
		return a.attribute(numberOf(&w.constants[0]), true)
	case winModel:
		return a.attribute(numberOf(&w.constants[1]), true)
	}
	value, ok, err := w.attributes.get(a.int(1))
	if err != nil {
		return err
	}
	return a.attribute(value, ok)
}
