//go:build cgo && linux

package main

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// cWindow is a window of memory.
type cWindow struct {
	object
	w         *mpi.Window
	comm      *cComm        // that it was made of
	thread    atomic.Uint64 // that accumulates, by asm.GoID; 0: none has; manyThreads; written under mu
	flavor    int
	size      int
	unit      int
	base      uintptr
	constants []int32            // what attributes are the addresses of: flavor, model, unit, and the size in two words
	attached  map[uintptr][]byte // under mu
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
func (w *cWindow) used() {
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
func (a *cCall) window(i int) (*cWindow, error) {
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
func (a *cCall) newWindow(at int, c *cComm, hints *cInfo, w *mpi.Window, flavor, size, unit int, base uintptr) error {
	x := &cWindow{object: object{what: ofWindow, info: hints.Dup()}, w: w, comm: c, flavor: flavor, size: size, unit: unit, base: base, attached: map[uintptr][]byte{}, constants: permanent(6)}
	x.standard = x.standardAttribute
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
func (a *cCall) sized(at int) (c *cComm, i *cInfo, size, unit int, err error) {
	if c, err = a.intra(at + 3); err != nil {
		return
	}
	if i, err = a.hints(at + 2); err != nil {
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

func (a *cCall) winCreate() error {
	c, i, size, unit, err := a.sized(1)
	if err != nil {
		return err
	}
	if size > 0 && a.word[0] == 0 {
		return wrong(errBase, "%d B at no address", size)
	}
	w, err := mpi.NewWindow(c.c, memory(a.ptr(0), size), unit)
	if err != nil {
		return err
	}
	return a.newWindow(5, c, i, w, flavorCreate, size, unit, a.word[0])
}

func (a *cCall) winAllocate() error {
	return a.allocated(flavorAllocate, mpi.NewAllocatedWindow)
}

func (a *cCall) winAllocateShared() error {
	return a.allocated(flavorShared, func(c *mpi.Comm, size, unit int) (*mpi.Window, error) {
		w, err := mpi.NewSharedWindow(c, size, unit)
		if err != nil {
			err = wrong(errRMAShared, "%v", err)
		}
		return w, err
	})
}

// allocated hands out a window whose memory allocate makes.
func (a *cCall) allocated(flavor int, allocate func(c *mpi.Comm, size, unit int) (*mpi.Window, error)) error {
	c, i, size, unit, err := a.sized(0)
	if err != nil {
		return err
	}
	w, err := allocate(c.c, size, unit)
	if err != nil {
		return err
	}
	base := place(w.Bytes())
	if err := a.setPtr(4, base); err != nil {
		return err
	}
	return a.newWindow(5, c, i, w, flavor, size, unit, base)
}

func (a *cCall) winCreateDynamic(i *hints, c *intraComm) error {
	w, err := mpi.NewDynamicWindow(c.c)
	if err != nil {
		return err
	}
	return a.newWindow(2, c, i, w, flavorDynamic, 0, 1, 0)
}

func (a *cCall) winAttach(w *cWindow, size int) error {
	if size < 0 {
		return wrong(errSize, "%d B", size)
	}
	if size == 0 {
		return nil
	}
	if a.word[1] == 0 {
		return wrong(errBase, "%d B at no address", size)
	}
	m := memory(a.ptr(1), size)
	if _, err := w.w.Attach(m); err != nil {
		return wrong(errRMAAttach, "%v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attached[a.word[1]] = m
	return nil
}

func (a *cCall) winDetach(w *cWindow) error {
	w.mu.Lock()
	m, ok := w.attached[a.word[1]]
	delete(w.attached, a.word[1])
	w.mu.Unlock()
	if !ok {
		return wrong(errRMAAttach, "nothing is attached at that address")
	}
	return w.w.Detach(m)
}

func (a *cCall) winFree(h *handle) error {
	if *h == nullWindow {
		return wrong(errWin, "it is MPI_WIN_NULL")
	}
	w, err := windows.get(*h)
	if err != nil {
		return err
	}
	a.object = *h
	if err := w.endAttributes(); err != nil {
		return err
	}
	if err := w.w.Free(); err != nil {
		return err
	}
	a.object = 0
	windows.drop(*h)
	*h = nullWindow
	return nil
}

func (a *cCall) winGetGroup(w *cWindow) mpi.Group { return w.w.Group() }

func (a *cCall) winSharedQuery(w *cWindow, r int) (size, unit int, base uintptr, err error) {
	if w.flavor == flavorDynamic {
		return 0, 0, 0, wrong(errRMAFlavor, "a window of MPI_Win_create_dynamic has no memory to ask for")
	}
	if w.flavor != flavorShared { // only the own memory is shared with this process
		if r == w.w.Comm().Rank() {
			size, unit, base = w.size, w.unit, w.base
		}
		return size, unit, base, nil
	}
	if r == procNull { // the first that has memory
		for r = 0; r < w.w.Group().Size()-1; r++ {
			if n, _, _ := w.w.Extent(r); n > 0 {
				break
			}
		}
	}
	if size, unit, err = w.w.Extent(r); err != nil {
		return 0, 0, 0, err
	}
	b, err := w.w.Shared(r)
	return size, unit, place(b), err
}

// standardAttribute is the value of an attribute that all windows have.
func (w *cWindow) standardAttribute(key int) (value uintptr, ok, known bool) {
	switch key {
	case winBase:
		return w.base, true, true
	case winUnit:
		return numberOf(&w.constants[2]), true, true
	case winSize:
		return numberOf(&w.constants[4]), true, true
	case winFlavor:
		return numberOf(&w.constants[0]), true, true
	case winModel:
		return numberOf(&w.constants[1]), true, true
	}
	return 0, false, false
}
