//go:build cgo && linux

package main

import "github.com/pm2-go/pm2/nmad/mpi"

// target says where the memory is that an access reaches.
type target struct {
	w    *cWindow
	rank int
	at   int
	as   mpi.Layout
	t    *cType
}

// target reads a target from the arguments from i on: a rank, a displacement, a count, a datatype.
func (a *cCall) target(i, win int) (x target, err error) {
	if x.w, err = a.window(win); err != nil {
		return x, err
	}
	x.rank, x.at = a.int(i), a.int(i+1)
	if err := x.w.rank(x.rank); err != nil {
		return x, err
	}
	if x.as.Count, err = a.count(i + 2); err != nil {
		return x, err
	}
	if x.t, err = a.committed(i + 3); err == nil {
		x.as.Type = x.t.t
	}
	return x, err
}

// rank refuses a rank that is not in the window's group.
func (w *cWindow) rank(r int) error {
	if n := w.w.Group().Size(); r != procNull && (r < 0 || r >= n) {
		return wrong(errRank, "rank %d of %d", r, n)
	}
	return nil
}

// moved are the arguments of a put or get.
func (a *cCall) moved() (mpi.Buffer, target, error) {
	x, err := a.target(3, 7)
	if err != nil {
		return mpi.Buffer{}, x, err
	}
	b, err := a.elements(0)
	return b, x, err
}

func (a *cCall) put() error {
	b, x, err := a.moved()
	if err != nil {
		return err
	}
	return x.w.w.Put(b, x.rank, x.at, x.as)
}

func (a *cCall) get() error {
	b, x, err := a.moved()
	if err != nil {
		return err
	}
	return x.w.w.Get(b, x.rank, x.at, x.as)
}

// accesses is a put or get with a request.
func (a *cCall) accesses(f func(*mpi.Window, mpi.Buffer, int, int, ...mpi.Layout) *mpi.Request) (*cRequest, error) {
	b, x, err := a.moved()
	if err != nil {
		return nil, err
	}
	return x.made(f(x.w.w, b, x.rank, x.at, x.as)), nil
}

// made returns the request of an access, for the program.
func (x *target) made(r *mpi.Request) *cRequest {
	return &cRequest{comm: x.w.comm, object: &x.w.object, r: r, sends: true}
}

func (a *cCall) rput() (*cRequest, error) { return a.accesses((*mpi.Window).Rput) }
func (a *cCall) rget() (*cRequest, error) { return a.accesses((*mpi.Window).Rget) }

// accumulated are the arguments of an accumulate.
func (a *cCall) accumulated() (o *mpi.Op, b mpi.Buffer, x target, err error) {
	if x, err = a.target(3, 8); err != nil {
		return
	}
	if b, err = a.elements(0); err != nil {
		return
	}
	x.w.used()
	o, err = a.updates(7, x.t)
	return
}

// updates returns the predefined operation at argument i, with which an access changes elements of t.
func (a *cCall) updates(i int, t *cType) (*mpi.Op, error) {
	o, err := a.op(i)
	if err != nil {
		return nil, err
	}
	if o.op == nil {
		return nil, wrong(errOp, "it is no predefined operation")
	}
	return o.inWindow(t)
}

func (a *cCall) accumulate() error {
	o, b, x, err := a.accumulated()
	if err != nil {
		return err
	}
	return x.w.w.Accumulate(o, b, x.rank, x.at, x.as)
}

func (a *cCall) raccumulate() (*cRequest, error) {
	o, b, x, err := a.accumulated()
	if err != nil {
		return nil, err
	}
	return x.made(x.w.w.Raccumulate(o, b, x.rank, x.at, x.as)), nil
}

// fetched are the arguments of a get-accumulate.
func (a *cCall) fetched() (o *mpi.Op, b, result mpi.Buffer, x target, err error) {
	if x, err = a.target(6, 11); err != nil {
		return
	}
	x.w.used()
	if o, err = a.updates(10, x.t); err != nil {
		return
	}
	if result, err = a.elements(3); err != nil || o == mpi.NoOp {
		return
	}
	b, err = a.elements(0)
	return
}

func (a *cCall) getAccumulate() error {
	o, b, result, x, err := a.fetched()
	if err != nil {
		return err
	}
	return x.w.w.GetAccumulate(o, b, result, x.rank, x.at, x.as)
}

func (a *cCall) rgetAccumulate() (*cRequest, error) {
	o, b, result, x, err := a.fetched()
	if err != nil {
		return nil, err
	}
	return x.made(x.w.w.RgetAccumulate(o, b, result, x.rank, x.at, x.as)), nil
}

// element returns the element of t whose address is argument i.
func (a *cCall) element(i int, t *cType) (mpi.Buffer, error) { return a.elementsAt(i, 1, t) }

func (a *cCall) fetchAndOp(t *committed, rank, at int, w *cWindow) error {
	if err := w.rank(rank); err != nil {
		return err
	}
	w.used()
	o, err := a.updates(5, t)
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
	return w.w.FetchAndOp(o, b, result, rank, at)
}

func (a *cCall) compareAndSwap(t *committed, rank, at int, w *cWindow) (err error) {
	if err := w.rank(rank); err != nil {
		return err
	}
	var b [3]mpi.Buffer
	for i := range b {
		if b[i], err = a.element(i, t); err != nil {
			return err
		}
	}
	w.used()
	return w.w.CompareAndSwap(b[1], b[0], b[2], rank, at)
}

// asserts reads argument i, which says what the program promises (MPI_MODE_...).
func (a *cCall) asserts(i int) (x mpi.Assert, err error) {
	left := a.int(i)
	for bit, p := range map[int]mpi.Assert{1024: mpi.NoCheck, 2048: mpi.NoPrecede, 4096: mpi.NoPut, 8192: mpi.NoStore, 16384: mpi.NoSucceed} {
		if left&bit != 0 {
			x |= p
			left &^= bit
		}
	}
	if left != 0 {
		err = wrong(22, "%d is no assertion", a.int(i))
	}
	return x, err
}

func (a *cCall) winFence(x mpi.Assert, w *cWindow) error              { return w.w.Fence(x) }
func (a *cCall) winPost(g mpi.Group, x mpi.Assert, w *cWindow) error  { return w.w.Post(g, x) }
func (a *cCall) winStart(g mpi.Group, x mpi.Assert, w *cWindow) error { return w.w.Start(g, x) }
func (a *cCall) winComplete(w *cWindow) error                         { return w.w.Complete() }
func (a *cCall) winWait(w *cWindow) error                             { return w.w.Wait() }
func (a *cCall) winTest(w *cWindow) (bool, error)                     { return w.w.Test() }
func (a *cCall) winLockAll(x mpi.Assert, w *cWindow) error            { return w.w.LockAll(x) }
func (a *cCall) winUnlock(rank int, w *cWindow) error                 { return w.w.Unlock(rank) }
func (a *cCall) winUnlockAll(w *cWindow) error                        { return w.w.UnlockAll() }
func (a *cCall) winFlush(rank int, w *cWindow) error                  { return w.w.Flush(rank) }
func (a *cCall) winFlushLocal(rank int, w *cWindow) error             { return w.w.FlushLocal(rank) }
func (a *cCall) winFlushAll(w *cWindow) error                         { return w.w.FlushAll() }
func (a *cCall) winFlushLocalAll(w *cWindow) error                    { return w.w.FlushLocalAll() }
func (a *cCall) winSync(w *cWindow) error                             { return w.w.Sync() }

func (a *cCall) winLock(kind, rank int, x mpi.Assert, w *cWindow) error {
	switch kind {
	case lockShared:
		return w.w.Lock(mpi.LockShared, rank, x)
	case lockExclusive:
		return w.w.Lock(mpi.LockExclusive, rank, x)
	}
	return wrong(errLockType, "%d is no kind of lock", kind)
}

func (a *cCall) allocMem(n int) (uintptr, error) {
	if n < 0 {
		return 0, wrong(errArg, "%d B", n)
	}
	p := tryAllocate(n)
	if p == 0 {
		return 0, wrong(errNoMem, "there are no %d B", n)
	}
	return p, nil
}

func (a *cCall) freeMem() { release(a.word[0]) }
