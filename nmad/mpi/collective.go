package mpi

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Op is an operation of a reduction.
type Op = reduce.Op

// The predefined operations; see package reduce.
var (
	Sum, Prod, Min, Max, BAnd, BOr, BXor, LAnd, LOr, LXor, MinLoc, MaxLoc = reduce.Sum, reduce.Prod, reduce.Min, reduce.Max, reduce.BAnd, reduce.BOr, reduce.BXor, reduce.LAnd, reduce.LOr, reduce.LXor, reduce.MinLoc, reduce.MaxLoc
)

// Blocks is a buffer with a block for each rank: equal ones of Each elements, or such of Counts elements that begin at Places (in elements; nil: where the one before ends).
type Blocks = datatype.Blocks

// Barrier returns when all processes have called it. It blocks the calling thread or goroutine only, as all collective operations do.
func (c *Comm) Barrier() error { return finish(c.barrier(now)) }

// Ibarrier begins what Barrier does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Ibarrier() *Request { return inBackground(c.barrier(later)) }

// BarrierInit makes Barrier a request that Request.Start starts, again and again.
func (c *Comm) BarrierInit() *Request { return persistent(c.barrier(later)) }

func (c *Comm) barrier(m manner) (*follower, error) {
	f, h, err := c.begin(barrier, noRoot, m, likewise{})
	if err != nil {
		return nil, err
	}
	switch h.way() {
	case inMemory:
		f.plan.SharedBarrier(h.hosts.Members)
	case inLevels:
		f.plan.HostsBarrier(&h.hosts)
	default:
		f.plan.Barrier(c.rank, c.Size())
	}
	return f, nil
}

// Bcast brings b of root to all. The processes give as many elements.
func (c *Comm) Bcast(b Buffer, root int) error { return finish(c.bcast(now, b, root)) }

// Ibcast begins what Bcast does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Ibcast(b Buffer, root int) *Request { return inBackground(c.bcast(later, b, root)) }

// BcastInit makes Bcast a request that Request.Start starts, again and again.
func (c *Comm) BcastInit(b Buffer, root int) *Request { return persistent(c.bcast(later, b, root)) }

func (c *Comm) bcast(m manner, b Buffer, root int) (*follower, error) {
	if err := c.check("bcast", root); err != nil {
		return nil, err
	}
	f, h, err := c.begin(bcast, root, m, likewise{b: b})
	if err != nil {
		return nil, err
	}
	switch h.way() {
	case inMemory:
		f.plan.SharedBcast(h.hosts.Members, root, b)
	case inLevels:
		f.plan.HostsBcast(&h.hosts, root, b)
	default:
		f.plan.Bcast(c.rank, c.Size(), root, b)
	}
	return f, nil
}

// Reduce leaves in of rank 0 op in of rank 1 op ... in out, at root. in the zero Buffer, at root: it lies in out. The order of the operands is that of the ranks if the operation does not commute,
// and else the same for each call with as many ranks, elements, and that root.
func (c *Comm) Reduce(op *Op, in Buffer, out Buffer, root int) error {
	return finish(c.reduce(now, op, in, out, root))
}

// Ireduce begins what Reduce does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Ireduce(op *Op, in Buffer, out Buffer, root int) *Request {
	return inBackground(c.reduce(later, op, in, out, root))
}

// ReduceInit makes Reduce a request that Request.Start starts, again and again.
func (c *Comm) ReduceInit(op *Op, in Buffer, out Buffer, root int) *Request {
	return persistent(c.reduce(later, op, in, out, root))
}

func (c *Comm) reduce(m manner, op *Op, in Buffer, out Buffer, root int) (*follower, error) {
	err := c.check("reduce", root)
	if err == nil {
		err = c.reducible("reduce", op, in, out, c.rank == root, c.rank == root)
	}
	if err != nil {
		return nil, err
	}
	f, h, err := c.begin(reduces, root, m, likewise{op, operand(in, out)})
	if err != nil {
		return nil, err
	}
	switch c.reducing(h, op, in, out) {
	case inMemory:
		f.plan.SharedReduce(h.hosts.Members, root, op, in, out)
	case inLevels:
		f.plan.HostsReduce(&h.hosts, root, op, in, out)
	case inOrder:
		f.plan.OrderedReduce(c.rank, c.Size(), root, op, in, out)
	default:
		f.plan.Reduce(c.rank, c.Size(), root, op, in, out)
	}
	return f, nil
}

// Allreduce is Reduce with the result at all. in the zero Buffer: it lies in out, at all.
func (c *Comm) Allreduce(op *Op, in Buffer, out Buffer) error {
	return finish(c.allreduce(now, op, in, out))
}

// Iallreduce begins what Allreduce does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Iallreduce(op *Op, in Buffer, out Buffer) *Request {
	return inBackground(c.allreduce(later, op, in, out))
}

// AllreduceInit makes Allreduce a request that Request.Start starts, again and again.
func (c *Comm) AllreduceInit(op *Op, in Buffer, out Buffer) *Request {
	return persistent(c.allreduce(later, op, in, out))
}

func (c *Comm) allreduce(m manner, op *Op, in Buffer, out Buffer) (*follower, error) {
	if err := c.reducible("allreduce", op, in, out, true, true); err != nil {
		return nil, err
	}
	f, h, err := c.begin(allreduce, noRoot, m, likewise{op, out})
	if err != nil {
		return nil, err
	}
	switch c.reducing(h, op, in, out) {
	case inMemory:
		f.plan.SharedReduce(h.hosts.Members, plan.Everyone, op, in, out)
	case inLevels:
		f.plan.HostsAllreduce(&h.hosts, op, in, out)
	case inOrder:
		f.plan.OrderedAllreduce(c.rank, c.Size(), op, in, out)
	default:
		f.plan.Allreduce(c.rank, c.Size(), op, in, out)
	}
	return f, nil
}

// Scan leaves in of rank 0 op ... op in of this rank in out. in the zero Buffer: it lies in out.
func (c *Comm) Scan(op *Op, in Buffer, out Buffer) error { return finish(c.scan(now, op, in, out)) }

// Iscan begins what Scan does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Iscan(op *Op, in Buffer, out Buffer) *Request {
	return inBackground(c.scan(later, op, in, out))
}

// ScanInit makes Scan a request that Request.Start starts, again and again.
func (c *Comm) ScanInit(op *Op, in Buffer, out Buffer) *Request {
	return persistent(c.scan(later, op, in, out))
}

func (c *Comm) scan(m manner, op *Op, in Buffer, out Buffer) (*follower, error) {
	if err := c.reducible("scan", op, in, out, true, true); err != nil {
		return nil, err
	}
	f, h, err := c.begin(scan, noRoot, m, likewise{op, out})
	if err != nil {
		return nil, err
	}
	switch c.reducing(h, op, in, out) {
	case inMemory:
		f.plan.SharedScan(h.hosts.Members, true, op, in, out)
	case inOrder:
		f.plan.OrderedScan(c.rank, c.Size(), true, op, in, out)
	default:
		f.plan.Scan(c.rank, c.Size(), op, in, out)
	}
	return f, nil
}

// Exscan is Scan without the operand of this rank. At rank 0 it leaves out as it is.
func (c *Comm) Exscan(op *Op, in Buffer, out Buffer) error { return finish(c.exscan(now, op, in, out)) }

// Iexscan begins what Exscan does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Iexscan(op *Op, in Buffer, out Buffer) *Request {
	return inBackground(c.exscan(later, op, in, out))
}

// ExscanInit makes Exscan a request that Request.Start starts, again and again.
func (c *Comm) ExscanInit(op *Op, in Buffer, out Buffer) *Request {
	return persistent(c.exscan(later, op, in, out))
}

func (c *Comm) exscan(m manner, op *Op, in Buffer, out Buffer) (*follower, error) {
	if err := c.reducible("exscan", op, in, out, true, true); err != nil {
		return nil, err
	}
	f, h, err := c.begin(exscan, noRoot, m, likewise{op, out})
	if err != nil {
		return nil, err
	}
	switch c.reducing(h, op, in, out) {
	case inMemory:
		f.plan.SharedScan(h.hosts.Members, false, op, in, out)
	case inOrder:
		f.plan.OrderedScan(c.rank, c.Size(), false, op, in, out)
	default:
		f.plan.Exscan(c.rank, c.Size(), op, in, out)
	}
	return f, nil
}

// ReduceScatter leaves the block of each rank of the reduction of in at that rank, in out.
func (c *Comm) ReduceScatter(op *Op, in Blocks, out Buffer) error {
	return finish(c.reduceScatter(now, op, in, out))
}

// IreduceScatter begins what ReduceScatter does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) IreduceScatter(op *Op, in Blocks, out Buffer) *Request {
	return inBackground(c.reduceScatter(later, op, in, out))
}

// ReduceScatterInit makes ReduceScatter a request that Request.Start starts, again and again.
func (c *Comm) ReduceScatterInit(op *Op, in Blocks, out Buffer) *Request {
	return persistent(c.reduceScatter(later, op, in, out))
}

func (c *Comm) reduceScatter(m manner, op *Op, in Blocks, out Buffer) (*follower, error) {
	if err := laidOut("reduce-scatter", &in, c.Size()); err != nil {
		return nil, err
	}
	mine := in.Block(c.rank)
	if err := c.reducible("reduce-scatter", op, mine, out, true, true); err != nil {
		return nil, err
	}
	f, h, err := c.begin(reduceScatter, noRoot, m, likewise{op, in.Buffer})
	if err != nil {
		return nil, err
	}
	switch c.reducing(h, op, in.Buffer, out) {
	case inMemory:
		f.plan.SharedReduceScatter(h.hosts.Members, op, &in, out)
	case inOrder:
		f.plan.OrderedReduceScatter(c.rank, c.Size(), op, &in, out)
	default:
		f.plan.ReduceScatter(c.rank, c.Size(), op, &in, out)
	}
	return f, nil
}

// Gather brings in of each rank to its block of out, at root. in the zero Buffer, at root: it lies there.
func (c *Comm) Gather(in Buffer, out Blocks, root int) error {
	return finish(c.gather(now, in, out, root))
}

// Igather begins what Gather does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Igather(in Buffer, out Blocks, root int) *Request {
	return inBackground(c.gather(later, in, out, root))
}

// GatherInit makes Gather a request that Request.Start starts, again and again.
func (c *Comm) GatherInit(in Buffer, out Blocks, root int) *Request {
	return persistent(c.gather(later, in, out, root))
}

func (c *Comm) gather(m manner, in Buffer, out Blocks, root int) (*follower, error) {
	err := c.check("gather", root)
	if err == nil && c.rank == root {
		err = laidOut("gather", &out, c.Size())
	}
	if err == nil && c.rank != root && in.Type == nil {
		err = fmt.Errorf("mpi: gather: %w: nothing is sent, in place is for root", ErrCount)
	}
	if err != nil {
		return nil, err
	}
	f, h, err := c.begin(gather, root, m, likewise{})
	if err != nil {
		return nil, err
	}
	switch h.way() {
	case inMemory:
		f.plan.SharedGather(h.hosts.Members, root, in, &out)
	default:
		f.plan.Gather(c.rank, c.Size(), root, in, &out)
	}
	return f, nil
}

// Scatter brings the block of each rank of in, at root, to out of that rank. out the zero Buffer, at root: its block stays there.
func (c *Comm) Scatter(in Blocks, out Buffer, root int) error {
	return finish(c.scatter(now, in, out, root))
}

// Iscatter begins what Scatter does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Iscatter(in Blocks, out Buffer, root int) *Request {
	return inBackground(c.scatter(later, in, out, root))
}

// ScatterInit makes Scatter a request that Request.Start starts, again and again.
func (c *Comm) ScatterInit(in Blocks, out Buffer, root int) *Request {
	return persistent(c.scatter(later, in, out, root))
}

func (c *Comm) scatter(m manner, in Blocks, out Buffer, root int) (*follower, error) {
	err := c.check("scatter", root)
	if err == nil && c.rank == root {
		err = laidOut("scatter", &in, c.Size())
	}
	if err == nil && c.rank != root && out.Type == nil {
		err = fmt.Errorf("mpi: scatter: %w: nothing is received, in place is for root", ErrCount)
	}
	if err != nil {
		return nil, err
	}
	f, h, err := c.begin(scatter, root, m, likewise{})
	if err != nil {
		return nil, err
	}
	switch h.way() {
	case inMemory:
		f.plan.SharedScatter(h.hosts.Members, root, &in, out)
	default:
		f.plan.Scatter(c.rank, c.Size(), root, &in, out)
	}
	return f, nil
}

// Allgather brings in of each rank to its block of out, at all. in the zero Buffer, at all: it lies there. Either all processes give Counts, or none does.
func (c *Comm) Allgather(in Buffer, out Blocks) error { return finish(c.allgather(now, in, out)) }

// Iallgather begins what Allgather does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Iallgather(in Buffer, out Blocks) *Request {
	return inBackground(c.allgather(later, in, out))
}

// AllgatherInit makes Allgather a request that Request.Start starts, again and again.
func (c *Comm) AllgatherInit(in Buffer, out Blocks) *Request {
	return persistent(c.allgather(later, in, out))
}

func (c *Comm) allgather(m manner, in Buffer, out Blocks) (*follower, error) {
	if err := laidOut("allgather", &out, c.Size()); err != nil {
		return nil, err
	}
	f, h, err := c.begin(allgather, noRoot, m, likewise{b: whole(&out, c.Size())})
	if err != nil {
		return nil, err
	}
	switch h.gathering(&out) {
	case inMemory:
		f.plan.SharedAllgather(h.hosts.Members, in, &out)
	case inLevels:
		f.plan.HostsAllgather(&h.hosts, in, &out)
	default:
		f.plan.Allgather(c.rank, c.Size(), in, &out)
	}
	return f, nil
}

// Alltoall brings block j of in of rank i to block i of out of rank j. in the zero Blocks, at all: the blocks lie in out, and are replaced; then both of a pair have as many elements. Either all processes give Counts, or none does.
func (c *Comm) Alltoall(in Blocks, out Blocks) error { return finish(c.alltoall(now, in, out)) }

// Ialltoall begins what Alltoall does, and goes on while the program computes; Request.Wait waits for its end. The buffers belong to it until then.
func (c *Comm) Ialltoall(in Blocks, out Blocks) *Request {
	return inBackground(c.alltoall(later, in, out))
}

// AlltoallInit makes Alltoall a request that Request.Start starts, again and again.
func (c *Comm) AlltoallInit(in Blocks, out Blocks) *Request {
	return persistent(c.alltoall(later, in, out))
}

func (c *Comm) alltoall(m manner, in Blocks, out Blocks) (*follower, error) {
	err := laidOut("alltoall", &out, c.Size())
	if err == nil && (in.Type != nil || in.Types != nil) {
		err = laidOut("alltoall", &in, c.Size())
	}
	if err != nil {
		return nil, err
	}
	f, h, err := c.begin(alltoall, noRoot, m, likewise{b: whole(&out, c.Size())})
	if err != nil {
		return nil, err
	}
	switch h.exchanging(&in) {
	case inMemory:
		f.plan.SharedAlltoall(h.hosts.Members, &in, &out)
	default:
		f.plan.Alltoall(c.rank, c.Size(), &in, &out)
	}
	return f, nil
}

func finish(f *follower, err error) error {
	if err != nil {
		return err
	}
	return f.finish()
}

func inBackground(f *follower, err error) *Request {
	r := persistent(f, err)
	if !r.none {
		r.err = r.Start()
		r.none = r.err != nil
	}
	return r
}

func persistent(f *follower, err error) *Request {
	r := &Request{}
	if err != nil {
		return r.idle(err)
	}
	r.operation = f
	r.comm = f.comm
	f.over.Signal(finished) // it counts as done until it is started
	return r
}

// reducible says why buffers cannot be reduced.
func (c *Comm) reducible(what string, op *Op, in, out Buffer, needsOut, mayBeInPlace bool) error {
	switch {
	case op == nil:
		return fmt.Errorf("mpi: %s: %w: no operation", what, ErrOp)
	case in.Type == nil && !mayBeInPlace:
		return fmt.Errorf("mpi: %s: %w: no operand, in place is for root", what, ErrCount)
	case in.Type != nil && needsOut && (in.Count != out.Count || in.Type != out.Type):
		return fmt.Errorf("mpi: %s: %w: %d elements of %v are reduced to %d of %v", what, ErrCount, in.Count, in.Type, out.Count, out.Type)
	}
	t := out.Type
	if in.Type != nil {
		t = in.Type
	}
	if err := op.Check(t); err != nil {
		return fmt.Errorf("mpi: %s: %w", what, err)
	}
	return nil
}

// laidOut says why a buffer does not have n blocks.
func laidOut(what string, b *Blocks, n int) error {
	switch {
	case b.Types != nil:
		if len(b.Types) != n || len(b.Bytes) != n || len(b.Counts) != n {
			return fmt.Errorf("mpi: %s: %w: %d counts, %d displacements, %d datatypes for %d blocks", what, ErrCount, len(b.Counts), len(b.Bytes), len(b.Types), n)
		}
		return nil
	case b.Counts == nil:
		if b.Each < 0 || b.Each*n > b.Count {
			return fmt.Errorf("mpi: %s: %w: %d blocks of %d elements in %d", what, ErrCount, n, b.Each, b.Count)
		}
		return nil
	case len(b.Counts) != n || b.Places != nil && len(b.Places) != n:
		return fmt.Errorf("mpi: %s: %w: %d counts, %d places for %d blocks", what, ErrCount, len(b.Counts), len(b.Places), n)
	}
	at := 0
	for i, count := range b.Counts {
		if b.Places != nil {
			at = b.Places[i]
		}
		if count < 0 || at < 0 || at > b.Count-count {
			return fmt.Errorf("mpi: %s: %w: block %d has %d elements at %d, of %d", what, ErrCount, i, count, at, b.Count)
		}
		at += count
	}
	return nil
}

// operand is where the elements of a reduction lie at this rank.
func operand(in, out Buffer) Buffer {
	if in.Type == nil {
		return out
	}
	return in
}
