//go:build cgo && linux

package main

import "github.com/pm2-go/pm2/nmad/mpi"

// manner is how an operation is called: the caller waits for its end, gets a request that is under way, or one that is to be started.
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

// again hands out a request that begins anew with each start.
func (a *call) again(c *comm, f form, start func() *mpi.Request) error {
	return a.setRequest(f.request, &request{comm: c, fresh: start, sends: true, persistent: true})
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

func (a *call) barrierAs(f form) error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	switch f.m {
	case now:
		return c.m.Barrier()
	case later:
		return a.begun(c, f, c.m.Ibarrier())
	}
	return a.begun(c, f, c.m.BarrierInit())
}

func (a *call) barrier() error     { return a.barrierAs(form{now, 0}) }
func (a *call) ibarrier() error    { return a.barrierAs(form{later, 1}) }
func (a *call) barrierInit() error { return a.barrierAs(form{lasting, 2}) }

func (a *call) bcastAs(f form) error {
	c, err := a.comm(4)
	if err != nil {
		return err
	}
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
	switch x := c.x; {
	case x != nil && f.m == now:
		return x.Bcast(b, root)
	case x != nil && f.m == later:
		return a.begun(c, f, x.Ibcast(b, root))
	case x != nil:
		return a.again(c, f, func() *mpi.Request { return x.Ibcast(b, root) })
	case f.m == now:
		return c.c.Bcast(b, root)
	case f.m == later:
		return a.begun(c, f, c.c.Ibcast(b, root))
	}
	return a.begun(c, f, c.c.BcastInit(b, root))
}

func (a *call) bcast() error     { return a.bcastAs(form{now, 0}) }
func (a *call) ibcast() error    { return a.bcastAs(form{later, 5}) }
func (a *call) bcastInit() error { return a.bcastAs(form{lasting, 6}) }

// gathers is where the arguments of a gather or scatter are: block is that of the own block, all that of the blocks, at root; counts and places below 0: the blocks are equal.
type blocksAt struct {
	own    int // address, count, datatype
	all    int
	count  int
	places int
	t      int
	root   int
	comm   int
}

// gathered are the arguments of a gather or scatter.
func (a *call) gathered(x blocksAt) (c *comm, own mpi.Buffer, all mpi.Blocks, err error) {
	if c, err = a.comm(x.comm); err != nil {
		return
	}
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
	gatherAt   = blocksAt{0, 3, 4, -1, 5, 6, 7}
	gathervAt  = blocksAt{0, 3, 4, 5, 6, 7, 8}
	scatterAt  = blocksAt{3, 0, 1, -1, 2, 6, 7}
	scattervAt = blocksAt{4, 0, 1, 2, 3, 7, 8}
)

func (a *call) gatherAs(f form, x blocksAt) error {
	c, own, all, err := a.gathered(x)
	if err != nil {
		return err
	}
	root := a.int(x.root)
	switch x := c.x; {
	case x != nil && f.m == now:
		return x.Gather(own, all, root)
	case x != nil && f.m == later:
		return a.begun(c, f, x.Igather(own, all, root))
	case x != nil:
		return a.again(c, f, func() *mpi.Request { return x.Igather(own, all, root) })
	case f.m == now:
		return c.c.Gather(own, all, root)
	case f.m == later:
		return a.begun(c, f, c.c.Igather(own, all, root))
	}
	return a.begun(c, f, c.c.GatherInit(own, all, root))
}

func (a *call) gather() error      { return a.gatherAs(form{now, 0}, gatherAt) }
func (a *call) igather() error     { return a.gatherAs(form{later, 8}, gatherAt) }
func (a *call) gatherInit() error  { return a.gatherAs(form{lasting, 9}, gatherAt) }
func (a *call) gatherv() error     { return a.gatherAs(form{now, 0}, gathervAt) }
func (a *call) igatherv() error    { return a.gatherAs(form{later, 9}, gathervAt) }
func (a *call) gathervInit() error { return a.gatherAs(form{lasting, 10}, gathervAt) }

func (a *call) scatterAs(f form, x blocksAt) error {
	c, own, all, err := a.gathered(x)
	if err != nil {
		return err
	}
	root := a.int(x.root)
	switch x := c.x; {
	case x != nil && f.m == now:
		return x.Scatter(all, own, root)
	case x != nil && f.m == later:
		return a.begun(c, f, x.Iscatter(all, own, root))
	case x != nil:
		return a.again(c, f, func() *mpi.Request { return x.Iscatter(all, own, root) })
	case f.m == now:
		return c.c.Scatter(all, own, root)
	case f.m == later:
		return a.begun(c, f, c.c.Iscatter(all, own, root))
	}
	return a.begun(c, f, c.c.ScatterInit(all, own, root))
}

func (a *call) scatter() error      { return a.scatterAs(form{now, 0}, scatterAt) }
func (a *call) iscatter() error     { return a.scatterAs(form{later, 8}, scatterAt) }
func (a *call) scatterInit() error  { return a.scatterAs(form{lasting, 9}, scatterAt) }
func (a *call) scatterv() error     { return a.scatterAs(form{now, 0}, scattervAt) }
func (a *call) iscatterv() error    { return a.scatterAs(form{later, 9}, scattervAt) }
func (a *call) scattervInit() error { return a.scatterAs(form{lasting, 10}, scattervAt) }

var (
	allgatherAt  = blocksAt{0, 3, 4, -1, 5, -1, 6}
	allgathervAt = blocksAt{0, 3, 4, 5, 6, -1, 7}
)

func (a *call) allgatherAs(f form, x blocksAt) error {
	c, err := a.comm(x.comm)
	if err != nil {
		return err
	}
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
	switch x := c.x; {
	case x != nil && f.m == now:
		return x.Allgather(own, all)
	case x != nil && f.m == later:
		return a.begun(c, f, x.Iallgather(own, all))
	case x != nil:
		return a.again(c, f, func() *mpi.Request { return x.Iallgather(own, all) })
	case f.m == now:
		return c.c.Allgather(own, all)
	case f.m == later:
		return a.begun(c, f, c.c.Iallgather(own, all))
	}
	return a.begun(c, f, c.c.AllgatherInit(own, all))
}

func (a *call) allgather() error      { return a.allgatherAs(form{now, 0}, allgatherAt) }
func (a *call) iallgather() error     { return a.allgatherAs(form{later, 7}, allgatherAt) }
func (a *call) allgatherInit() error  { return a.allgatherAs(form{lasting, 8}, allgatherAt) }
func (a *call) allgatherv() error     { return a.allgatherAs(form{now, 0}, allgathervAt) }
func (a *call) iallgatherv() error    { return a.allgatherAs(form{later, 8}, allgathervAt) }
func (a *call) allgathervInit() error { return a.allgatherAs(form{lasting, 9}, allgathervAt) }

// alltoallAs has the blocks of both sides from in and out, for the communicator of the argument at.
func (a *call) alltoallAs(f form, at int, in, out func(n int) (mpi.Blocks, error)) error {
	c, err := a.comm(at)
	if err != nil {
		return err
	}
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
	switch x := c.x; {
	case x != nil && f.m == now:
		return x.Alltoall(from, to)
	case x != nil && f.m == later:
		return a.begun(c, f, x.Ialltoall(from, to))
	case x != nil:
		return a.again(c, f, func() *mpi.Request { return x.Ialltoall(from, to) })
	case f.m == now:
		return c.c.Alltoall(from, to)
	case f.m == later:
		return a.begun(c, f, c.c.Ialltoall(from, to))
	}
	return a.begun(c, f, c.c.AlltoallInit(from, to))
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

func (a *call) alltoall() error { return a.alltoallAs(form{now, 0}, 6, a.equals(0), a.equals(3)) }
func (a *call) ialltoall() error {
	return a.alltoallAs(form{later, 7}, 6, a.equals(0), a.equals(3))
}
func (a *call) alltoallInit() error {
	return a.alltoallAs(form{lasting, 8}, 6, a.equals(0), a.equals(3))
}
func (a *call) alltoallv() error { return a.alltoallAs(form{now, 0}, 8, a.varies(0), a.varies(4)) }
func (a *call) ialltoallv() error {
	return a.alltoallAs(form{later, 9}, 8, a.varies(0), a.varies(4))
}
func (a *call) alltoallvInit() error {
	return a.alltoallAs(form{lasting, 10}, 8, a.varies(0), a.varies(4))
}
func (a *call) alltoallw() error {
	return a.alltoallAs(form{now, 0}, 8, a.typed(0, a.counts), a.typed(4, a.counts))
}
func (a *call) ialltoallw() error {
	return a.alltoallAs(form{later, 9}, 8, a.typed(0, a.counts), a.typed(4, a.counts))
}
func (a *call) alltoallwInit() error {
	return a.alltoallAs(form{lasting, 10}, 8, a.typed(0, a.counts), a.typed(4, a.counts))
}
