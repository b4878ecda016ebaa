//go:build cgo && linux

package main

import "github.com/pm2-go/pm2/nmad/mpi"

// manner is how an operation is called: the caller waits for its end, gets a request that is under way, or one that
// is to be started.
type manner uint8

const (
	now manner = iota
	later
	lasting
)

// form is a manner, and the argument where its request goes.
type form struct {
	m       manner
	request int
}

// begun hands out the request of an operation that was begun, or is to be.
func (a *call) begun(c *comm, f form, r *mpi.Request) error {
	return a.setRequest(f.request, &request{comm: c, r: r, sends: true, persistent: f.m == lasting})
}

// operations are the collective ones that communicators of one group and of two have.
type operations interface {
	Barrier() error
	Ibarrier() *mpi.Request
	BarrierInit() *mpi.Request
	Bcast(b mpi.Buffer, root int) error
	Ibcast(b mpi.Buffer, root int) *mpi.Request
	BcastInit(b mpi.Buffer, root int) *mpi.Request
	Gather(in mpi.Buffer, out mpi.Blocks, root int) error
	Igather(in mpi.Buffer, out mpi.Blocks, root int) *mpi.Request
	GatherInit(in mpi.Buffer, out mpi.Blocks, root int) *mpi.Request
	Scatter(in mpi.Blocks, out mpi.Buffer, root int) error
	Iscatter(in mpi.Blocks, out mpi.Buffer, root int) *mpi.Request
	ScatterInit(in mpi.Blocks, out mpi.Buffer, root int) *mpi.Request
	Allgather(in mpi.Buffer, out mpi.Blocks) error
	Iallgather(in mpi.Buffer, out mpi.Blocks) *mpi.Request
	AllgatherInit(in mpi.Buffer, out mpi.Blocks) *mpi.Request
	Alltoall(in, out mpi.Blocks) error
	Ialltoall(in, out mpi.Blocks) *mpi.Request
	AlltoallInit(in, out mpi.Blocks) *mpi.Request
	Reduce(op *mpi.Op, in, out mpi.Buffer, root int) error
	Ireduce(op *mpi.Op, in, out mpi.Buffer, root int) *mpi.Request
	ReduceInit(op *mpi.Op, in, out mpi.Buffer, root int) *mpi.Request
	Allreduce(op *mpi.Op, in, out mpi.Buffer) error
	Iallreduce(op *mpi.Op, in, out mpi.Buffer) *mpi.Request
	AllreduceInit(op *mpi.Op, in, out mpi.Buffer) *mpi.Request
	ReduceScatter(op *mpi.Op, in mpi.Blocks, out mpi.Buffer) error
	IreduceScatter(op *mpi.Op, in mpi.Blocks, out mpi.Buffer) *mpi.Request
	ReduceScatterInit(op *mpi.Op, in mpi.Blocks, out mpi.Buffer) *mpi.Request
}

// operations are those of this communicator.
func (c *comm) operations() operations {
	if c.x != nil {
		return c.x
	}
	return c.c
}

// as has three methods of x, for the three manners of an operation; its own call them with two, three or four arguments.
type as[X any] struct {
	a *call
	c *comm
	f form
	x X
}

func do2[X, P, Q any](as as[X], p P, q Q, at func(X, P, Q) error, begin, keep func(X, P, Q) *mpi.Request) error {
	switch as.f.m {
	case now:
		return at(as.x, p, q)
	case later:
		return as.a.begun(as.c, as.f, begin(as.x, p, q))
	}
	return as.a.begun(as.c, as.f, keep(as.x, p, q))
}

func do3[X, P, Q, R any](as as[X], p P, q Q, r R, at func(X, P, Q, R) error, begin, keep func(X, P, Q, R) *mpi.Request) error {
	switch as.f.m {
	case now:
		return at(as.x, p, q, r)
	case later:
		return as.a.begun(as.c, as.f, begin(as.x, p, q, r))
	}
	return as.a.begun(as.c, as.f, keep(as.x, p, q, r))
}

// rooted checks a root; here: it is this process; idle: this process has nothing to do.
func (c *comm) rooted(root int) (here, idle bool, err error) {
	switch {
	case c.x == nil && root >= 0 && root < c.c.Size():
		return root == c.c.Rank(), false, nil
	case c.x == nil:
		return false, false, wrong(errRoot, "root %d of %d", root, c.c.Size())
	case root == mpi.Root:
		return true, false, nil
	case root == procNull:
		return false, true, nil
	case root >= 0 && root < c.x.RemoteSize():
		return false, false, nil
	}
	return false, false, wrong(errRoot, "root %d of %d", root, c.x.RemoteSize())
}

func (a *call) barrier(f form, c *comm) error {
	switch x := c.operations(); f.m {
	case now:
		return x.Barrier()
	case later:
		return a.begun(c, f, x.Ibarrier())
	default:
		return a.begun(c, f, x.BarrierInit())
	}
}

func (a *call) bcast(f form, c *comm) error {
	root := a.int(3)
	_, idle, err := c.rooted(root)
	if err != nil {
		return err
	}
	var b mpi.Buffer
	if !idle {
		if b, _, err = a.buffer(0, 1, 2); err != nil {
			return err
		}
	}
	if f.m == now { // as MPI_Allreduce does
		return c.operations().Bcast(b, root)
	}
	return do2(as[operations]{a, c, f, c.operations()}, b, root, operations.Bcast, operations.Ibcast, operations.BcastInit)
}

// blocksAt is where the arguments of a gather or scatter are: own is that of the own block, all that of the blocks,
// at root; counts and places below 0: the blocks are equal.
type blocksAt struct {
	own    int // address, count, datatype
	all    int
	count  int
	places int
	t      int
	root   int
}

// gathered are the arguments of a gather or scatter.
func (a *call) gathered(c *comm, x blocksAt) (own mpi.Buffer, all mpi.Blocks, err error) {
	here, idle, err := c.rooted(a.int(x.root))
	if err != nil || idle {
		return
	}
	if here {
		if all, err = a.blocks(x, c.peers()); err != nil {
			return
		}
	}
	switch {
	case here && (c.x != nil || a.inPlace(x.own)):
	default:
		own, _, err = a.buffer(x.own, x.own+1, x.own+2)
	}
	return
}

// blocks are those for n ranks.
func (a *call) blocks(x blocksAt, n int) (b mpi.Blocks, err error) {
	if x.places < 0 {
		b, _, err = a.equal(x.all, x.count, x.t, n)
	} else {
		b, _, err = a.varied(x.all, x.count, x.places, x.t, n)
	}
	return b, err
}

var (
	gatherAt   = blocksAt{0, 3, 4, -1, 5, 6}
	gathervAt  = blocksAt{0, 3, 4, 5, 6, 7}
	scatterAt  = blocksAt{3, 0, 1, -1, 2, 6}
	scattervAt = blocksAt{4, 0, 1, 2, 3, 7}
)

func (a *call) gatherAs(f form, c *comm, x blocksAt) error {
	own, all, err := a.gathered(c, x)
	if err != nil {
		return err
	}
	return do3(as[operations]{a, c, f, c.operations()}, own, all, a.int(x.root), operations.Gather, operations.Igather, operations.GatherInit)
}

func (a *call) gather(f form, c *comm) error  { return a.gatherAs(f, c, gatherAt) }
func (a *call) gatherv(f form, c *comm) error { return a.gatherAs(f, c, gathervAt) }

func (a *call) scatterAs(f form, c *comm, x blocksAt) error {
	own, all, err := a.gathered(c, x)
	if err != nil {
		return err
	}
	return do3(as[operations]{a, c, f, c.operations()}, all, own, a.int(x.root), operations.Scatter, operations.Iscatter, operations.ScatterInit)
}

func (a *call) scatter(f form, c *comm) error  { return a.scatterAs(f, c, scatterAt) }
func (a *call) scatterv(f form, c *comm) error { return a.scatterAs(f, c, scattervAt) }

var (
	allgatherAt  = blocksAt{0, 3, 4, -1, 5, -1}
	allgathervAt = blocksAt{0, 3, 4, 5, 6, -1}
)

func (a *call) allgatherAs(f form, c *comm, x blocksAt) error {
	all, err := a.blocks(x, c.peers())
	if err != nil {
		return err
	}
	var own mpi.Buffer
	if c.x != nil || !a.inPlace(x.own) {
		if own, _, err = a.buffer(x.own, x.own+1, x.own+2); err != nil {
			return err
		}
	}
	return do2(as[operations]{a, c, f, c.operations()}, own, all, operations.Allgather, operations.Iallgather, operations.AllgatherInit)
}

func (a *call) allgather(f form, c *comm) error  { return a.allgatherAs(f, c, allgatherAt) }
func (a *call) allgatherv(f form, c *comm) error { return a.allgatherAs(f, c, allgathervAt) }

// alltoallAs has the blocks of both sides from in and out.
func (a *call) alltoallAs(f form, c *comm, in, out func(n int) (mpi.Blocks, error)) error {
	to, err := out(c.peers())
	if err != nil {
		return err
	}
	var from mpi.Blocks
	if c.x != nil || !a.inPlace(0) {
		if from, err = in(c.peers()); err != nil {
			return err
		}
	}
	return do2(as[operations]{a, c, f, c.operations()}, from, to, operations.Alltoall, operations.Ialltoall, operations.AlltoallInit)
}

// equals is n equal blocks at arguments from one on.
func (a *call) equals(i int) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) {
		b, _, err := a.equal(i, i+1, i+2, n)
		return b, err
	}
}

// varies is n blocks of several lengths at arguments from one on.
func (a *call) varies(i int) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) {
		b, _, err := a.varied(i, i+1, i+2, i+3, n)
		return b, err
	}
}

// typed is n blocks of several datatypes at arguments from one on.
func (a *call) typed(i int, read func(i, n int) ([]int, error)) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) { return a.ownTypes(i, i+1, i+2, i+3, n, read) }
}

func (a *call) alltoall(f form, c *comm) error  { return a.alltoallAs(f, c, a.equals(0), a.equals(3)) }
func (a *call) alltoallv(f form, c *comm) error { return a.alltoallAs(f, c, a.varies(0), a.varies(4)) }
func (a *call) alltoallw(f form, c *comm) error {
	return a.alltoallAs(f, c, a.typed(0, a.counts), a.typed(4, a.counts))
}
