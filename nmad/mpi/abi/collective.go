//go:build cgo && linux

package main

import "github.com/pm2-go/pm2/nmad/mpi"

// callForm is how a collective operation is called.
type callForm struct {
	request    int  // the argument where its request goes; 0: it blocks
	persistent bool // the request is to be started; else it is under way
}

// begun hands out the request of an operation that was begun, or is to be.
func (a *cCall) begun(c *cComm, f callForm, r *mpi.Request) error {
	return a.setRequest(f.request, &cRequest{comm: c, r: r, sends: true, persistent: f.persistent})
}

// collectives are the blocking operations that communicators of one group and of two have.
type collectives interface {
	Barrier() error
	Bcast(b mpi.Buffer, root int) error
	Gather(in mpi.Buffer, out mpi.Blocks, root int) error
	Scatter(in mpi.Blocks, out mpi.Buffer, root int) error
	Allgather(in mpi.Buffer, out mpi.Blocks) error
	Alltoall(in, out mpi.Blocks) error
	Reduce(op *mpi.Op, in, out mpi.Buffer, root int) error
	Allreduce(op *mpi.Op, in, out mpi.Buffer) error
	ReduceScatter(op *mpi.Op, in mpi.Blocks, out mpi.Buffer) error
	viewed
}

// viewed has the operations in the forms with requests.
type viewed interface {
	Immediate() mpi.Immediate
	Persistent() mpi.Persistent
}

// of is x in the form, which has requests: the two views have the same methods, and one is turned into the other.
func (f callForm) of(x viewed) mpi.Immediate {
	if f.persistent {
		return mpi.Immediate(x.Persistent())
	}
	return x.Immediate()
}

// collectives are those of this communicator.
func (c *cComm) collectives() collectives {
	if c.x != nil {
		return c.x
	}
	return c.c
}

// rooted checks a root; here: it is this process; idle: this process has nothing to do.
func (c *cComm) rooted(root int) (here, idle bool, err error) {
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

func (a *cCall) barrier(f callForm, c *cComm) error {
	if f.request == 0 {
		return c.collectives().Barrier()
	}
	return a.begun(c, f, f.of(c.collectives()).Barrier())
}

func (a *cCall) bcast(f callForm, c *cComm) error {
	root := a.int(3)
	_, idle, err := c.rooted(root)
	if err != nil {
		return err
	}
	var b mpi.Buffer
	if !idle {
		if b, err = a.elements(0); err != nil {
			return err
		}
	}
	if f.request == 0 {
		return c.collectives().Bcast(b, root)
	}
	return a.begun(c, f, f.of(c.collectives()).Bcast(b, root))
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
func (a *cCall) gathered(c *cComm, x blocksAt) (own mpi.Buffer, all mpi.Blocks, err error) {
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
		own, err = a.elements(x.own)
	}
	return
}

// blocks are those for n ranks.
func (a *cCall) blocks(x blocksAt, n int) (mpi.Blocks, error) {
	if x.places < 0 {
		return a.equal(x.all, x.count, x.t, n)
	}
	return a.varied(x.all, x.count, x.places, x.t, n)
}

var (
	gatherAt   = blocksAt{0, 3, 4, -1, 5, 6}
	gathervAt  = blocksAt{0, 3, 4, 5, 6, 7}
	scatterAt  = blocksAt{3, 0, 1, -1, 2, 6}
	scattervAt = blocksAt{4, 0, 1, 2, 3, 7}
)

func (a *cCall) gatherAs(f callForm, c *cComm, x blocksAt) error {
	own, all, err := a.gathered(c, x)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return c.collectives().Gather(own, all, a.int(x.root))
	}
	return a.begun(c, f, f.of(c.collectives()).Gather(own, all, a.int(x.root)))
}

func (a *cCall) gather(f callForm, c *cComm) error  { return a.gatherAs(f, c, gatherAt) }
func (a *cCall) gatherv(f callForm, c *cComm) error { return a.gatherAs(f, c, gathervAt) }

func (a *cCall) scatterAs(f callForm, c *cComm, x blocksAt) error {
	own, all, err := a.gathered(c, x)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return c.collectives().Scatter(all, own, a.int(x.root))
	}
	return a.begun(c, f, f.of(c.collectives()).Scatter(all, own, a.int(x.root)))
}

func (a *cCall) scatter(f callForm, c *cComm) error  { return a.scatterAs(f, c, scatterAt) }
func (a *cCall) scatterv(f callForm, c *cComm) error { return a.scatterAs(f, c, scattervAt) }

var (
	allgatherAt  = blocksAt{0, 3, 4, -1, 5, -1}
	allgathervAt = blocksAt{0, 3, 4, 5, 6, -1}
)

func (a *cCall) allgatherAs(f callForm, c *cComm, x blocksAt) error {
	all, err := a.blocks(x, c.peers())
	if err != nil {
		return err
	}
	var own mpi.Buffer
	if c.x != nil || !a.inPlace(x.own) {
		if own, err = a.elements(x.own); err != nil {
			return err
		}
	}
	if f.request == 0 {
		return c.collectives().Allgather(own, all)
	}
	return a.begun(c, f, f.of(c.collectives()).Allgather(own, all))
}

func (a *cCall) allgather(f callForm, c *cComm) error  { return a.allgatherAs(f, c, allgatherAt) }
func (a *cCall) allgatherv(f callForm, c *cComm) error { return a.allgatherAs(f, c, allgathervAt) }

// alltoallAs has the blocks of both sides from in and out.
func (a *cCall) alltoallAs(f callForm, c *cComm, in, out func(n int) (mpi.Blocks, error)) error {
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
	if f.request == 0 {
		return c.collectives().Alltoall(from, to)
	}
	return a.begun(c, f, f.of(c.collectives()).Alltoall(from, to))
}

// equals is n equal blocks at arguments from one on.
func (a *cCall) equals(i int) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) { return a.equal(i, i+1, i+2, n) }
}

// varies is n blocks of several lengths at arguments from one on.
func (a *cCall) varies(i int) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) { return a.varied(i, i+1, i+2, i+3, n) }
}

// typed is n blocks of several datatypes at arguments from one on.
func (a *cCall) typed(i int, read func(i, n int) ([]int, error)) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) { return a.ownTypes(i, i+1, i+2, i+3, n, read) }
}

func (a *cCall) alltoall(f callForm, c *cComm) error {
	return a.alltoallAs(f, c, a.equals(0), a.equals(3))
}
func (a *cCall) alltoallv(f callForm, c *cComm) error {
	return a.alltoallAs(f, c, a.varies(0), a.varies(4))
}
func (a *cCall) alltoallw(f callForm, c *cComm) error {
	return a.alltoallAs(f, c, a.typed(0, a.counts), a.typed(4, a.counts))
}
