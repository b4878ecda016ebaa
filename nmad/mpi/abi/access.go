//go:build cgo && linux

package main

import "github.com/pm2-go/pm2/nmad/mpi"

// target is where an access goes.
type target struct {
	w    *window
	rank int
	at   int
	as   mpi.Layout
	t    *dtype
}

// target are the arguments of one, from the rank on: a rank, a displacement, a count, a datatype.
func (a *call) target(i, win int) (x target, err error) {
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
	if x.t, err = ready(a.handle(i + 3)); err == nil {
		x.as.Type = x.t.t
	}
	return x, err
}

// rank checks one.
func (w *window) rank(r int) error {
	if n := w.w.Group().Size(); r != procNull && (r < 0 || r >= n) {
		return wrong(errRank, "rank %d of %d", r, n)
	}
	return nil
}

// moved are the arguments of a put or get.
func (a *call) moved() (mpi.Buffer, target, error) {
	x, err := a.target(3, 7)
	if err != nil {
		return mpi.Buffer{}, x, err
	}
	b, _, err := a.buffer(0, 1, 2)
	return b, x, err
}

func (a *call) put() error {
	b, x, err := a.moved()
	if err != nil {
		return err
	}
	return x.w.w.Put(b, x.rank, x.at, x.as)
}

func (a *call) get() error {
	b, x, err := a.moved()
	if err != nil {
		return err
	}
	return x.w.w.Get(b, x.rank, x.at, x.as)
}

// accesses is a put or get with a request.
func (a *call) accesses(f func(*mpi.Window, mpi.Buffer, int, int, ...mpi.Layout) *mpi.Request) error {
	b, x, err := a.moved()
	if err != nil {
		return err
	}
	return a.setAccess(8, x, f(x.w.w, b, x.rank, x.at, x.as))
}

// setAccess writes the request of an access.
func (a *call) setAccess(i int, x target, r *mpi.Request) error {
	return a.setRequest(i, &request{comm: x.w.comm, window: x.w, r: r, sends: true})
}

func (a *call) rput() error { return a.accesses((*mpi.Window).Rput) }
func (a *call) rget() error { return a.accesses((*mpi.Window).Rget) }

// accumulated are the arguments of an accumulate.
func (a *call) accumulated() (o *mpi.Op, b mpi.Buffer, x target, err error) {
	if x, err = a.target(3, 8); err != nil {
		return
	}
	if b, _, err = a.buffer(0, 1, 2); err != nil {
		return
	}
	x.w.used()
	o, err = a.updates(7, x.t)
	return
}

// updates is an argument that is a predefined operation for what an access changes.
func (a *call) updates(i int, t *dtype) (*mpi.Op, error) {
	o, err := opOf(a.handle(i))
	if err != nil {
		return nil, err
	}
	if o.op == nil {
		return nil, wrong(errOp, "it is no predefined operation")
	}
	return o.inWindow(t)
}

func (a *call) accumulate() error {
	o, b, x, err := a.accumulated()
	if err != nil {
		return err
	}
	return x.w.w.Accumulate(o, b, x.rank, x.at, x.as)
}

func (a *call) raccumulate() error {
	o, b, x, err := a.accumulated()
	if err != nil {
		return err
	}
	return a.setAccess(9, x, x.w.w.Raccumulate(o, b, x.rank, x.at, x.as))
}

// fetched are the arguments of a get-accumulate.
func (a *call) fetched() (o *mpi.Op, b, result mpi.Buffer, x target, err error) {
	if x, err = a.target(6, 11); err != nil {
		return
	}
	x.w.used()
	if o, err = a.updates(10, x.t); err != nil {
		return
	}
	if result, _, err = a.buffer(3, 4, 5); err != nil || o == mpi.NoOp {
		return
	}
	b, _, err = a.buffer(0, 1, 2)
	return
}

func (a *call) getAccumulate() error {
	o, b, result, x, err := a.fetched()
	if err != nil {
		return err
	}
	return x.w.w.GetAccumulate(o, b, result, x.rank, x.at, x.as)
}

func (a *call) rgetAccumulate() error {
	o, b, result, x, err := a.fetched()
	if err != nil {
		return err
	}
	return a.setAccess(12, x, x.w.w.RgetAccumulate(o, b, result, x.rank, x.at, x.as))
}

// element is one element at an argument.
func (a *call) element(i int, t *dtype) (mpi.Buffer, error) { return a.elementsAt(i, 1, t) }

func (a *call) fetchAndOp() error {
	w, err := a.window(6)
	if err != nil {
		return err
	}
	t, err := ready(a.handle(2))
	if err != nil {
		return err
	}
	if err := w.rank(a.int(3)); err != nil {
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
	return w.w.FetchAndOp(o, b, result, a.int(3), a.int(4))
}

func (a *call) compareAndSwap() error {
	w, err := a.window(6)
	if err != nil {
		return err
	}
	t, err := ready(a.handle(3))
	if err != nil {
		return err
	}
	if err := w.rank(a.int(4)); err != nil {
		return err
	}
	var b [3]mpi.Buffer
	for i := range b {
		if b[i], err = a.element(i, t); err != nil {
			return err
		}
	}
	w.used()
	return w.w.CompareAndSwap(b[1], b[0], b[2], a.int(4), a.int(5))
}

// asserts are what the program promises.
func (a *call) asserts(i int) (x mpi.Assert, err error) {
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

// asserted are the arguments of a call with a window and an assertion.
func (a *call) asserted(win, assert int) (*mpi.Window, mpi.Assert, error) {
	w, err := a.window(win)
	if err != nil {
		return nil, 0, err
	}
	x, err := a.asserts(assert)
	return w.w, x, err
}

func (a *call) winFence() error {
	w, x, err := a.asserted(1, 0)
	if err != nil {
		return err
	}
	return w.Fence(x)
}

// opens begins an epoch between the processes of a group.
func (a *call) opens(f func(*mpi.Window, mpi.Group, mpi.Assert) error) error {
	w, x, err := a.asserted(2, 1)
	if err != nil {
		return err
	}
	g, err := a.group(0)
	if err != nil {
		return err
	}
	return f(w, g, x)
}

// on is a call for the window at an argument, onRank one for a rank of it.
func (a *call) on(i int, f func(*mpi.Window) error) error {
	w, err := a.window(i)
	if err != nil {
		return err
	}
	return f(w.w)
}

func (a *call) onRank(f func(*mpi.Window, int) error) error {
	return a.on(1, func(w *mpi.Window) error { return f(w, a.int(0)) })
}

func (a *call) winPost() error          { return a.opens((*mpi.Window).Post) }
func (a *call) winStart() error         { return a.opens((*mpi.Window).Start) }
func (a *call) winComplete() error      { return a.on(0, (*mpi.Window).Complete) }
func (a *call) winWait() error          { return a.on(0, (*mpi.Window).Wait) }
func (a *call) winUnlock() error        { return a.onRank((*mpi.Window).Unlock) }
func (a *call) winUnlockAll() error     { return a.on(0, (*mpi.Window).UnlockAll) }
func (a *call) winFlush() error         { return a.onRank((*mpi.Window).Flush) }
func (a *call) winFlushLocal() error    { return a.onRank((*mpi.Window).FlushLocal) }
func (a *call) winFlushAll() error      { return a.on(0, (*mpi.Window).FlushAll) }
func (a *call) winFlushLocalAll() error { return a.on(0, (*mpi.Window).FlushLocalAll) }
func (a *call) winSync() error          { return a.on(0, (*mpi.Window).Sync) }

func (a *call) winTest() error {
	w, err := a.window(0)
	if err != nil {
		return err
	}
	done, err := w.w.Test()
	if err != nil {
		return err
	}
	return a.setFlag(1, done)
}

func (a *call) winLock() error {
	w, x, err := a.asserted(3, 2)
	if err != nil {
		return err
	}
	kind := mpi.LockShared
	switch a.int(0) {
	case lockShared:
	case lockExclusive:
		kind = mpi.LockExclusive
	default:
		return wrong(errLockType, "%d is no kind of lock", a.int(0))
	}
	return w.Lock(kind, a.int(1), x)
}

func (a *call) winLockAll() error {
	w, x, err := a.asserted(1, 0)
	if err != nil {
		return err
	}
	return w.LockAll(x)
}

func (a *call) allocMem() error {
	n := a.int(0)
	if n < 0 {
		return wrong(errArg, "%d B", n)
	}
	p := tryAllocate(n)
	if p == 0 {
		return wrong(errNoMem, "there are no %d B", n)
	}
	return a.setPtr(2, p)
}

func (a *call) freeMem() error {
	release(a.word[0])
	return nil
}
