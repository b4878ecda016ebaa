//go:build cgo && linux

package main

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// cWindow is a window: an MPI_Win.
type cWindow struct {
	object
	win         *mpi.Window
	comm        *cComm             // of which it was made
	accumulator atomic.Uint64      // thread that accumulates, by asm.GoID; 0: none so far; manyThreads: several. Written under mu
	flavor      int                // MPI_WIN_FLAVOR_...
	size        int                // bytes in this process
	unit        int                // displacement unit, bytes
	base        uintptr            // address of the memory in this process
	constants   []int32            // to which attributes point: flavor, model, unit, and the size in two ints
	attached    map[uintptr][]byte // memory of a dynamic window, by address; under mu
}

// manyThreads stands for several threads in cWindow.accumulator.
const manyThreads = 1<<64 - 1

// noteAccumulate is called before each accumulate. While a single thread accumulates the window needs no atomic
// instructions.
func (w *cWindow) noteAccumulate() {
	me := asm.GoID()
	if t := w.accumulator.Load(); t == me || t == manyThreads {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.accumulator.Load() {
	case 0:
		w.accumulator.Store(me)
		w.win.Serialize(true)
	case me, manyThreads:
	default:
		w.accumulator.Store(manyThreads)
		w.win.Serialize(false)
	}
}

// window returns the window whose handle is argument i. Errors of the call go to its error handler from here on.
func (a *cCall) window(i int) (*cWindow, error) {
	w, err := windows.get(a.handle(i))
	if err == nil {
		a.object = a.handle(i)
	}
	return w, err
}

// newWindow makes the cWindow of w and writes its handle to argument at. size is in bytes, base its address in
// this process.
func (a *cCall) newWindow(at int, c *cComm, hints *cInfo, w *mpi.Window, flavor, size, unit int, base uintptr) error {
	x := &cWindow{object: object{kind: ofWindow, info: hints.Dup()}, win: w, comm: c, flavor: flavor, size: size, unit: unit, base: base, attached: map[uintptr][]byte{}, constants: allocateInts(6)}
	x.standard = x.standardAttribute
	x.handler.Store(&errorsAreFatal)
	copy(x.constants, []int32{int32(flavor), mpiWinUnified, int32(unit), 0, int32(size), int32(size >> 32)})
	h, err := windows.add(x)
	if err != nil {
		return err
	}
	x.handle = h
	return a.setHandle(at, h)
}

// checkWindow refuses the size of a window, and the displacement unit, that a window cannot have.
func checkWindow(size, unit int) error {
	if size < 0 {
		return errorf(errSize, "a window of %d B", size)
	}
	if unit < 1 {
		return errorf(errDisp, "a unit of %d B", unit)
	}
	return nil
}

func (a *cCall) winCreate(size, unit int, i *hints, c *intraComm) error {
	if err := checkWindow(size, unit); err != nil {
		return err
	}
	if size > 0 && a.word[0] == 0 {
		return errorf(errBase, "%d B at no address", size)
	}
	w, err := mpi.NewWindow(c.local, memory(a.ptr(0), size), unit)
	if err != nil {
		return err
	}
	return a.newWindow(5, c, i, w, mpiWinFlavorCreate, size, unit, a.word[0])
}

func (a *cCall) winAllocate(size, unit int, i *hints, c *intraComm) error {
	return a.allocateWindow(mpiWinFlavorAllocate, mpi.NewAllocatedWindow, size, unit, i, c)
}

func (a *cCall) winAllocateShared(size, unit int, i *hints, c *intraComm) error {
	return a.allocateWindow(mpiWinFlavorShared, func(c *mpi.Comm, size, unit int) (*mpi.Window, error) {
		w, err := mpi.NewSharedWindow(c, size, unit)
		if err != nil {
			err = errorf(errRmaShared, "%v", err)
		}
		return w, err
	}, size, unit, i, c)
}

// allocateWindow makes a window whose memory comes from allocate.
func (a *cCall) allocateWindow(flavor int, allocate func(c *mpi.Comm, size, unit int) (*mpi.Window, error), size, unit int, i *hints, c *intraComm) error {
	if err := checkWindow(size, unit); err != nil {
		return err
	}
	w, err := allocate(c.local, size, unit)
	if err != nil {
		return err
	}
	base := addressOf(w.Bytes())
	if err := a.setPtr(4, base); err != nil {
		return err
	}
	return a.newWindow(5, c, i, w, flavor, size, unit, base)
}

func (a *cCall) winCreateDynamic(i *hints, c *intraComm) error {
	w, err := mpi.NewDynamicWindow(c.local)
	if err != nil {
		return err
	}
	return a.newWindow(2, c, i, w, mpiWinFlavorDynamic, 0, 1, 0)
}

func (a *cCall) winAttach(w *cWindow, size int) error {
	if size < 0 {
		return errorf(errSize, "%d B", size)
	}
	if size == 0 {
		return nil
	}
	if a.word[1] == 0 {
		return errorf(errBase, "%d B at no address", size)
	}
	m := memory(a.ptr(1), size)
	if _, err := w.win.Attach(m); err != nil {
		return errorf(errRmaAttach, "%v", err)
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
		return errorf(errRmaAttach, "nothing is attached at that address")
	}
	return w.win.Detach(m)
}

func (a *cCall) winFree(h *handle) error {
	w, err := windows.get(*h)
	if err != nil {
		return err
	}
	a.object = *h
	if err := w.endAttributes(); err != nil {
		return err
	}
	if err := w.win.Free(); err != nil {
		return err
	}
	a.object = 0
	windows.drop(*h)
	*h = winNullHandle
	return nil
}

func (a *cCall) winGetGroup(w *cWindow) mpi.Group { return w.win.Group() }

func (a *cCall) winSharedQuery(w *cWindow, r int) (size, unit int, base uintptr, err error) {
	if w.flavor == mpiWinFlavorDynamic {
		return 0, 0, 0, errorf(errRmaFlavor, "a window of MPI_Win_create_dynamic has no memory to ask for")
	}
	if w.flavor != mpiWinFlavorShared { // this process shares only its own memory
		if r == w.win.Comm().Rank() {
			size, unit, base = w.size, w.unit, w.base
		}
		return size, unit, base, nil
	}
	if r == mpiProcNull { // the first rank that has memory
		for r = 0; r < w.win.Group().Size()-1; r++ {
			if n, _, _ := w.win.Extent(r); n > 0 {
				break
			}
		}
	}
	if size, unit, err = w.win.Extent(r); err != nil {
		return 0, 0, 0, err
	}
	b, err := w.win.Shared(r)
	return size, unit, addressOf(b), err
}

// standardAttribute returns the value of a predefined attribute of windows. known: there is such a key; ok: it has
// a value.
func (w *cWindow) standardAttribute(key int) (value uintptr, ok, known bool) {
	displs := map[int]int{mpiWinCreateFlavor: 0, mpiWinModel: 1, mpiWinDispUnit: 2, mpiWinSize: 4}
	i, known := displs[key]
	switch {
	case key == mpiWinBase:
		return w.base, true, true
	case known:
		return addressOfInt(&w.constants[i]), true, true
	}
	return 0, false, false
}
