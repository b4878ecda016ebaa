//go:build cgo && linux

package main

import "github.com/pm2-go/pm2/nmad/mpi"

// target is the part of a window that an access reaches: disp counts in the window's unit.
type target struct {
	window *cWindow   // the window
	rank   int        // of the window's group; MPI_PROC_NULL: no access
	disp   int        // in units of the target's window
	layout mpi.Layout // count and datatype of the elements there
	typ    *cType     // of layout
}

// target reads the rank, displacement, count and datatype of an access from arguments i to i+3, and the window
// from argument win.
func (a *cCall) target(i, win int) (x target, err error) {
	if x.window, err = a.window(win); err != nil {
		return x, err
	}
	x.rank, x.disp = a.int(i), a.int(i+1)
	if x.layout.Count, err = a.count(i + 2); err != nil {
		return x, err
	}
	if x.typ, err = a.committed(i + 3); err == nil {
		x.layout.Type = x.typ.typ
	}
	return x, err
}

// request wraps the request r of an access for the program.
func (x *target) request(r *mpi.Request) *cRequest {
	return &cRequest{comm: x.window.comm, object: &x.window.object, req: r, noStatus: true}
}

func (a *cCall) put(b mpi.Buffer, x target) error {
	return x.window.win.Put(b, x.rank, x.disp, x.layout)
}

func (a *cCall) get(b mpi.Buffer, x target) error {
	return x.window.win.Get(b, x.rank, x.disp, x.layout)
}

func (a *cCall) rput(b mpi.Buffer, x target) *cRequest {
	return x.request(x.window.win.Rput(b, x.rank, x.disp, x.layout))
}

func (a *cCall) rget(b mpi.Buffer, x target) *cRequest {
	return x.request(x.window.win.Rget(b, x.rank, x.disp, x.layout))
}

// windowOp returns the predefined operation at argument i in the form that changes elements of t in w. It is called
// before each accumulate.
func (a *cCall) windowOp(i int, t *cType, w *cWindow) (*mpi.Op, error) {
	w.noteAccumulate()
	o, err := a.op(i)
	if err != nil {
		return nil, err
	}
	if o.op == nil {
		return nil, errorf(errOp, "it is no predefined operation")
	}
	return o.forWindow(t)
}

func (a *cCall) accumulate(b mpi.Buffer, x target) error {
	o, err := a.windowOp(7, x.typ, x.window)
	if err != nil {
		return err
	}
	return x.window.win.Accumulate(o, b, x.rank, x.disp, x.layout)
}

func (a *cCall) raccumulate(b mpi.Buffer, x target) (*cRequest, error) {
	o, err := a.windowOp(7, x.typ, x.window)
	if err != nil {
		return nil, err
	}
	return x.request(x.window.win.Raccumulate(o, b, x.rank, x.disp, x.layout)), nil
}

// getAccumulateArgs reads the operation and the buffers of MPI_Get_accumulate and MPI_Rget_accumulate. With MPI_NO_OP b
// stays empty.
func (a *cCall) getAccumulateArgs(x *target) (o *mpi.Op, b, result mpi.Buffer, err error) {
	if o, err = a.windowOp(10, x.typ, x.window); err != nil {
		return
	}
	if result, err = a.elements(3); err != nil || o == mpi.NoOp {
		return
	}
	b, err = a.elements(0)
	return
}

func (a *cCall) getAccumulate(x target) error {
	o, b, result, err := a.getAccumulateArgs(&x)
	if err != nil {
		return err
	}
	return x.window.win.GetAccumulate(o, b, result, x.rank, x.disp, x.layout)
}

func (a *cCall) rgetAccumulate(x target) (*cRequest, error) {
	o, b, result, err := a.getAccumulateArgs(&x)
	if err != nil {
		return nil, err
	}
	return x.request(x.window.win.RgetAccumulate(o, b, result, x.rank, x.disp, x.layout)), nil
}

// element returns the one element of type t at the address in argument i.
func (a *cCall) element(i int, t *cType) (mpi.Buffer, error) { return a.elementsAt(i, 1, t) }

func (a *cCall) fetchAndOp(t *committed, rank, at int, w *cWindow) error {
	o, err := a.windowOp(5, t, w)
	if err != nil {
		return err
	}
	result, err := a.element(1, t)
	if err != nil {
		return err
	}
	var b mpi.Buffer
	if o != mpi.NoOp {
		if b, err = a.element(0, t); err != nil {
			return err
		}
	}
	return w.win.FetchAndOp(o, b, result, rank, at)
}

func (a *cCall) compareAndSwap(t *committed, rank, at int, w *cWindow) (err error) {
	var b [3]mpi.Buffer
	for i := range b {
		if b[i], err = a.element(i, t); err != nil {
			return err
		}
	}
	w.noteAccumulate()
	return w.win.CompareAndSwap(b[1], b[0], b[2], rank, at)
}

// asserts reads the bits MPI_MODE_... of argument i: what the program promises about a synchronization.
func (a *cCall) asserts(i int) (x mpi.Assert, err error) {
	rest := a.int(i)
	for bit, p := range map[int]mpi.Assert{mpiModeNocheck: mpi.NoCheck, mpiModeNoprecede: mpi.NoPrecede, mpiModeNoput: mpi.NoPut, mpiModeNostore: mpi.NoStore, mpiModeNosucceed: mpi.NoSucceed} {
		if rest&bit != 0 {
			x |= p
			rest &^= bit
		}
	}
	if rest != 0 {
		err = errorf(errAssert, "%d is no assertion", a.int(i))
	}
	return x, err
}

func (a *cCall) winFence(x mpi.Assert, w *cWindow) error              { return w.win.Fence(x) }
func (a *cCall) winPost(g mpi.Group, x mpi.Assert, w *cWindow) error  { return w.win.Post(g, x) }
func (a *cCall) winStart(g mpi.Group, x mpi.Assert, w *cWindow) error { return w.win.Start(g, x) }
func (a *cCall) winComplete(w *cWindow) error                         { return w.win.Complete() }
func (a *cCall) winWait(w *cWindow) error                             { return w.win.Wait() }
func (a *cCall) winTest(w *cWindow) (bool, error)                     { return w.win.Test() }
func (a *cCall) winLockAll(x mpi.Assert, w *cWindow) error            { return w.win.LockAll(x) }
func (a *cCall) winUnlock(rank int, w *cWindow) error                 { return w.win.Unlock(rank) }
func (a *cCall) winUnlockAll(w *cWindow) error                        { return w.win.UnlockAll() }
func (a *cCall) winFlush(rank int, w *cWindow) error                  { return w.win.Flush(rank) }
func (a *cCall) winFlushLocal(rank int, w *cWindow) error             { return w.win.FlushLocal(rank) }
func (a *cCall) winFlushAll(w *cWindow) error                         { return w.win.FlushAll() }
func (a *cCall) winFlushLocalAll(w *cWindow) error                    { return w.win.FlushLocalAll() }
func (a *cCall) winSync(w *cWindow) error                             { return w.win.Sync() }

func (a *cCall) winLock(kind, rank int, x mpi.Assert, w *cWindow) error {
	switch kind {
	case mpiLockShared:
		return w.win.Lock(mpi.LockShared, rank, x)
	case mpiLockExclusive:
		return w.win.Lock(mpi.LockExclusive, rank, x)
	}
	return errorf(errLocktype, "%d is no kind of lock", kind)
}

func (a *cCall) allocMem(n int) (uintptr, error) {
	if n < 0 {
		return 0, errorf(errArg, "%d B", n)
	}
	p := tryAllocate(n)
	if p == 0 {
		return 0, errorf(errNoMem, "there are no %d B", n)
	}
	return p, nil
}

func (a *cCall) freeMem() { release(a.word[0]) }
