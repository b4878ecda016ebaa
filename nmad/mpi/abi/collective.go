//go:build cgo && linux

package main

import "github.com/pm2-go/pm2/nmad/mpi"

// callForm is the form of a collective operation: blocking, immediate or persistent. The zero value is blocking.
type callForm struct {
	request    int  // index of the argument where the request goes; 0: blocking
	persistent bool // the request is to be started by the program
}

// setCollective writes the handle of r, the request of a collective operation in form f, to its argument.
func (a *cCall) setCollective(c *cComm, f callForm, r *mpi.Request) error {
	return a.setRequest(f.request, &cRequest{comm: c, req: r, noStatus: true, persistent: f.persistent})
}

// collectives are the blocking operations that communicators of one group and of two groups have.
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
	requestViews
}

// requestViews give the operations that return requests.
type requestViews interface {
	Immediate() mpi.Immediate
	Persistent() mpi.Persistent
}

// view returns the operations of x in form f, which is not blocking. The two views have the same methods, so the
// persistent one is converted to the type of the other.
func (f callForm) view(x requestViews) mpi.Immediate {
	if f.persistent {
		return mpi.Immediate(x.Persistent())
	}
	return x.Immediate()
}

// collectives returns the operations of c.
func (c *cComm) collectives() collectives {
	if c.inter != nil {
		return c.inter
	}
	return c.local
}

// checkRoot refuses a root that does not exist. here: this process is the root. idle: this process is in the root's
// group of an intercommunicator and takes no part.
func (c *cComm) checkRoot(root int) (here, idle bool, err error) {
	switch {
	case c.inter == nil && root >= 0 && root < c.local.Size():
		return root == c.local.Rank(), false, nil
	case c.inter == nil:
		return false, false, errorf(errRoot, "root %d of %d", root, c.local.Size())
	case root == mpi.Root:
		return true, false, nil
	case root == mpiProcNull:
		return false, true, nil
	case root >= 0 && root < c.inter.RemoteSize():
		return false, false, nil
	}
	return false, false, errorf(errRoot, "root %d of %d", root, c.inter.RemoteSize())
}

func (a *cCall) barrier(f callForm, c *cComm) error {
	if f.request == 0 {
		return c.collectives().Barrier()
	}
	return a.setCollective(c, f, f.view(c.collectives()).Barrier())
}

func (a *cCall) bcast(f callForm, c *cComm) error {
	root := a.int(3)
	_, idle, err := c.checkRoot(root)
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
	return a.setCollective(c, f, f.view(c.collectives()).Bcast(b, root))
}

// blockArgs has the indices of the arguments of a gather or scatter.
type blockArgs struct {
	single int // first of three for the block of this process: address, count, datatype
	all    int // address of the blocks of all ranks
	count  int // count of each of the blocks of all ranks, or array of their counts
	displs int // array of the displacements of the blocks of all ranks; -1: all have one count, and lie one behind the other
	typ    int // datatype of the blocks of all ranks
	root   int // -1: there is none
}

// gatherArgs reads the arguments of a gather or scatter: own, the block of this process, and at the root the blocks of
// all ranks. In place, own stays empty.
func (a *cCall) gatherArgs(c *cComm, x blockArgs) (own mpi.Buffer, all mpi.Blocks, err error) {
	here, idle, err := c.checkRoot(a.int(x.root))
	if err != nil || idle {
		return
	}
	if here {
		if all, err = a.blocks(x, c.peers()); err != nil {
			return
		}
	}
	if !here || c.inter == nil && !a.inPlace(x.single) {
		own, err = a.elements(x.single)
	}
	return
}

// blocks reads the blocks of n ranks.
func (a *cCall) blocks(x blockArgs, n int) (mpi.Blocks, error) {
	if x.displs < 0 {
		return a.equalBlocks(x.all, x.count, x.typ, n)
	}
	return a.varyingBlocks(x.all, x.count, x.displs, x.typ, n)
}

var (
	gatherAt   = blockArgs{single: 0, all: 3, count: 4, displs: -1, typ: 5, root: 6}
	gathervAt  = blockArgs{single: 0, all: 3, count: 4, displs: 5, typ: 6, root: 7}
	scatterAt  = blockArgs{single: 3, all: 0, count: 1, displs: -1, typ: 2, root: 6}
	scattervAt = blockArgs{single: 4, all: 0, count: 1, displs: 2, typ: 3, root: 7}
)

// gatherWith is MPI_Gather and MPI_Gatherv.
func (a *cCall) gatherWith(f callForm, c *cComm, x blockArgs) error {
	own, all, err := a.gatherArgs(c, x)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return c.collectives().Gather(own, all, a.int(x.root))
	}
	return a.setCollective(c, f, f.view(c.collectives()).Gather(own, all, a.int(x.root)))
}

func (a *cCall) gather(f callForm, c *cComm) error  { return a.gatherWith(f, c, gatherAt) }
func (a *cCall) gatherv(f callForm, c *cComm) error { return a.gatherWith(f, c, gathervAt) }

// scatterWith is MPI_Scatter and MPI_Scatterv.
func (a *cCall) scatterWith(f callForm, c *cComm, x blockArgs) error {
	own, all, err := a.gatherArgs(c, x)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return c.collectives().Scatter(all, own, a.int(x.root))
	}
	return a.setCollective(c, f, f.view(c.collectives()).Scatter(all, own, a.int(x.root)))
}

func (a *cCall) scatter(f callForm, c *cComm) error  { return a.scatterWith(f, c, scatterAt) }
func (a *cCall) scatterv(f callForm, c *cComm) error { return a.scatterWith(f, c, scattervAt) }

var (
	allgatherAt  = blockArgs{single: 0, all: 3, count: 4, displs: -1, typ: 5, root: -1}
	allgathervAt = blockArgs{single: 0, all: 3, count: 4, displs: 5, typ: 6, root: -1}
)

// allgatherWith is MPI_Allgather and MPI_Allgatherv.
func (a *cCall) allgatherWith(f callForm, c *cComm, x blockArgs) error {
	all, err := a.blocks(x, c.peers())
	if err != nil {
		return err
	}
	var own mpi.Buffer
	if c.inter != nil || !a.inPlace(x.single) {
		if own, err = a.elements(x.single); err != nil {
			return err
		}
	}
	if f.request == 0 {
		return c.collectives().Allgather(own, all)
	}
	return a.setCollective(c, f, f.view(c.collectives()).Allgather(own, all))
}

func (a *cCall) allgather(f callForm, c *cComm) error  { return a.allgatherWith(f, c, allgatherAt) }
func (a *cCall) allgatherv(f callForm, c *cComm) error { return a.allgatherWith(f, c, allgathervAt) }

// alltoallWith is MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw. in and out read the arguments for n blocks.
func (a *cCall) alltoallWith(f callForm, c *cComm, in, out func(n int) (mpi.Blocks, error)) error {
	to, err := out(c.peers())
	if err != nil {
		return err
	}
	var from mpi.Blocks
	if c.inter != nil || !a.inPlace(0) {
		if from, err = in(c.peers()); err != nil {
			return err
		}
	}
	if f.request == 0 {
		return c.collectives().Alltoall(from, to)
	}
	return a.setCollective(c, f, f.view(c.collectives()).Alltoall(from, to))
}

// equalBlocksAt returns equalBlocks of the arguments from i on: address, count, datatype.
func (a *cCall) equalBlocksAt(i int) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) { return a.equalBlocks(i, i+1, i+2, n) }
}

// varyingBlocksAt returns varyingBlocks of the arguments from i on: address, counts, displacements, datatype.
func (a *cCall) varyingBlocksAt(i int) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) { return a.varyingBlocks(i, i+1, i+2, i+3, n) }
}

// typedBlocksAt returns typedBlocks of the arguments from i on: address, counts, displacements, datatypes. read reads
// the displacements.
func (a *cCall) typedBlocksAt(i int, read func(i, n int) ([]int, error)) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) { return a.typedBlocks(i, i+1, i+2, i+3, n, read) }
}

func (a *cCall) alltoall(f callForm, c *cComm) error {
	return a.alltoallWith(f, c, a.equalBlocksAt(0), a.equalBlocksAt(3))
}
func (a *cCall) alltoallv(f callForm, c *cComm) error {
	return a.alltoallWith(f, c, a.varyingBlocksAt(0), a.varyingBlocksAt(4))
}
func (a *cCall) alltoallw(f callForm, c *cComm) error {
	return a.alltoallWith(f, c, a.typedBlocksAt(0, a.counts), a.typedBlocksAt(4, a.counts))
}
