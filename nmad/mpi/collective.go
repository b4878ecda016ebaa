package mpi

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
	reduction "github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Op is the operation of a reduction, such as Sum, or one of reduce.User.
type Op = reduction.Op

// The predefined operations; see package reduce.
var (
	Sum, Prod, Min, Max = reduction.Sum, reduction.Prod, reduction.Min, reduction.Max
	BAnd, BOr, BXor     = reduction.BAnd, reduction.BOr, reduction.BXor
	LAnd, LOr, LXor     = reduction.LAnd, reduction.LOr, reduction.LXor
	MinLoc, MaxLoc      = reduction.MinLoc, reduction.MaxLoc
)

// Blocks is a buffer with a block for each rank. All blocks have Each elements, or the block of rank i has Counts[i]
// elements and begins at element Displacements[i]; if Displacements is nil, each block begins where the one before
// ends.
type Blocks = datatype.Blocks

// Barrier returns when all processes of the communicator have called it. It blocks the calling thread or goroutine
// only, as all collective operations do.
func (c *Comm) Barrier() error { return finish(c.barrier(blocking)) }

func (c *Comm) barrier(callForm form) (*follower, error) {
	f, h, err := c.begin(barrier, noRoot, callForm, signature{}, nil)
	if err != nil {
		return f, err
	}
	switch h.route() {
	case inMemory:
		f.plan.SharedBarrier(h.hosts.Members)
	case inLevels:
		f.plan.HostsBarrier(&h.hosts)
	default:
		f.plan.Barrier(c.rank, c.Size())
	}
	return f, nil
}

// Bcast copies the elements of b at root to b at every other rank. All ranks give the same number of elements.
func (c *Comm) Bcast(b Buffer, root int) error { return finish(c.bcast(blocking, b, root, nil)) }

func (c *Comm) bcast(callForm form, b Buffer, root int, wrong error) (*follower, error) {
	f, h, err := c.begin(bcast, root, callForm, signature{buffer: b}, c.checkRoot(root, wrong))
	if err != nil {
		return f, err
	}
	switch h.route() {
	case inMemory:
		f.plan.SharedBcast(h.hosts.Members, root, b)
	case inLevels:
		f.plan.HostsBcast(&h.hosts, root, b)
	default:
		f.plan.Bcast(c.rank, c.Size(), root, b)
	}
	return f, nil
}

// Reduce combines the operands of all ranks, which they give as in, and stores the result in out at root. If in is the
// zero Buffer at root, root's operand is what out holds there (in place). An operation that does not commute is applied
// in the order of the ranks; an operation that commutes in an order that is the same in each call with as many ranks
// and elements and the same root.
func (c *Comm) Reduce(op *Op, in, out Buffer, root int) error {
	return finish(c.reduce(blocking, op, in, out, root, nil))
}

func (c *Comm) reduce(callForm form, op *Op, in, out Buffer, root int, wrong error) (*follower, error) {
	here := c.Rank() == root
	f, h, err := c.begin(reduce, root, callForm, signature{op, operand(in, out)}, checkOperands(op, in, out, here, here, c.checkRoot(root, wrong)))
	if err != nil {
		return f, err
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

// Allreduce is Reduce whose result every rank gets, in out. If in is the zero Buffer at a rank, the rank's operand is
// what out holds there.
func (c *Comm) Allreduce(op *Op, in, out Buffer) error {
	return finish(c.allreduce(blocking, op, in, out, nil))
}

func (c *Comm) allreduce(callForm form, op *Op, in, out Buffer, wrong error) (*follower, error) {
	f, h, err := c.begin(allreduce, noRoot, callForm, signature{op, out}, checkOperands(op, in, out, true, true, wrong))
	if err != nil {
		return f, err
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

// Scan combines, at every rank, the operands of the ranks from 0 to this one, in their order, and stores the result in
// out. If in is the zero Buffer at a rank, the rank's operand is what out holds there.
func (c *Comm) Scan(op *Op, in, out Buffer) error {
	return finish(c.scan(blocking, op, in, out, nil))
}

func (c *Comm) scan(callForm form, op *Op, in, out Buffer, wrong error) (*follower, error) {
	return c.prefixes(scan, callForm, op, in, out, wrong)
}

// Exscan is Scan without this rank's own operand: it combines the operands of the lower ranks. At rank 0 it does not
// write to out.
func (c *Comm) Exscan(op *Op, in, out Buffer) error {
	return finish(c.exscan(blocking, op, in, out, nil))
}

func (c *Comm) exscan(callForm form, op *Op, in, out Buffer, wrong error) (*follower, error) {
	return c.prefixes(exscan, callForm, op, in, out, wrong)
}

// prefixes is Scan or Exscan, as kind says.
func (c *Comm) prefixes(kind operationKind, callForm form, op *Op, in, out Buffer, wrong error) (*follower, error) {
	f, h, err := c.begin(kind, noRoot, callForm, signature{op, out}, checkOperands(op, in, out, true, true, wrong))
	if err != nil {
		return f, err
	}
	switch route := c.reducing(h, op, in, out); {
	case route == inMemory:
		f.plan.SharedScan(h.hosts.Members, kind == scan, op, in, out)
	case route == inOrder:
		f.plan.OrderedScan(c.rank, c.Size(), kind == scan, op, in, out)
	case kind == scan:
		f.plan.Scan(c.rank, c.Size(), op, in, out)
	default:
		f.plan.Exscan(c.rank, c.Size(), op, in, out)
	}
	return f, nil
}

// ReduceScatter combines the operands of all ranks, which they give as in, and stores in out of each rank that rank's
// block of the result. It cannot be in place: in is never the zero Blocks.
func (c *Comm) ReduceScatter(op *Op, in Blocks, out Buffer) error {
	return finish(c.reduceScatter(blocking, op, in, out, nil))
}

func (c *Comm) reduceScatter(callForm form, op *Op, in Blocks, out Buffer, wrong error) (*follower, error) {
	if wrong = checkBlocks(&in, c.Size(), wrong); wrong == nil && c != nil {
		wrong = checkOperands(op, in.Block(c.rank), out, true, false, nil)
	}
	f, h, err := c.begin(reduceScatter, noRoot, callForm, signature{op, in.Buffer}, wrong)
	if err != nil {
		return f, err
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

// Gather copies the elements that each rank gives as in to that rank's block of out, at root; other ranks' out is not
// used. If in is the zero Buffer at root, root's elements are already in its block of out.
func (c *Comm) Gather(in Buffer, out Blocks, root int) error {
	return finish(c.gather(blocking, in, out, root, nil))
}

func (c *Comm) gather(callForm form, in Buffer, out Blocks, root int, wrong error) (*follower, error) {
	f, h, err := c.begin(gather, root, callForm, signature{}, c.checkRootBlocks(&out, in, root, wrong))
	if err != nil {
		return f, err
	}
	switch h.route() {
	case inMemory:
		f.plan.SharedGather(h.hosts.Members, root, in, &out)
	default:
		f.plan.Gather(c.rank, c.Size(), root, in, &out)
	}
	return f, nil
}

// Scatter copies each rank's block of in, at root, to out of that rank; other ranks' in is not used. If out is the zero
// Buffer at root, root's block is not copied.
func (c *Comm) Scatter(in Blocks, out Buffer, root int) error {
	return finish(c.scatter(blocking, in, out, root, nil))
}

func (c *Comm) scatter(callForm form, in Blocks, out Buffer, root int, wrong error) (*follower, error) {
	f, h, err := c.begin(scatter, root, callForm, signature{}, c.checkRootBlocks(&in, out, root, wrong))
	if err != nil {
		return f, err
	}
	switch h.route() {
	case inMemory:
		f.plan.SharedScatter(h.hosts.Members, root, &in, out)
	default:
		f.plan.Scatter(c.rank, c.Size(), root, &in, out)
	}
	return f, nil
}

// Allgather puts the elements that each rank gives as in into that rank's block of out, at every rank. If in is the
// zero Buffer at every rank, each rank's elements are taken from its own block of out. Either all ranks give Counts,
// or none does.
func (c *Comm) Allgather(in Buffer, out Blocks) error {
	return finish(c.allgather(blocking, in, out, nil))
}

func (c *Comm) allgather(callForm form, in Buffer, out Blocks, wrong error) (*follower, error) {
	wrong = checkBlocks(&out, c.Size(), wrong)
	f, h, err := c.begin(allgather, noRoot, callForm, signature{buffer: whole(&out, c.Size())}, wrong)
	if err != nil {
		return f, err
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

// Alltoall sends block j of in from each rank i to rank j, which receives it in block i of out. If in is the zero
// Blocks at every rank, the blocks to send lie in out, and the received blocks replace them; then the two blocks
// between a pair of ranks have the same number of elements. Either all ranks give Counts, or none does.
func (c *Comm) Alltoall(in Blocks, out Blocks) error {
	return finish(c.alltoall(blocking, in, out, nil))
}

func (c *Comm) alltoall(callForm form, in, out Blocks, wrong error) (*follower, error) {
	wrong = checkBlocks(&out, c.Size(), wrong)
	if in.Type != nil || in.Types != nil {
		wrong = checkBlocks(&in, c.Size(), wrong)
	}
	f, h, err := c.begin(alltoall, noRoot, callForm, signature{buffer: whole(&out, c.Size())}, wrong)
	if err != nil {
		return f, err
	}
	switch h.exchanging(&in) {
	case inMemory:
		f.plan.SharedAlltoall(h.hosts.Members, &in, &out)
	default:
		f.plan.Alltoall(c.rank, c.Size(), &in, &out)
	}
	return f, nil
}

func (c *Comm) neighborAlltoall(form, Blocks, Blocks) (*follower, error) {
	return nil, fmt.Errorf("mpi: %v, %v: %w: its ranks have no neighbors; those of NewCart and NewGraph have", neighbors, c, ErrComm)
}

func (c *Comm) targets() int { return 0 }

func (c *Comm) isRoot(root int) bool { return c.Rank() == root }

// finish ends the call of a blocking operation: it follows the plan to its end, unless there is an error.
func finish(f *follower, err error) error {
	if err != nil {
		return err
	}
	return f.finish()
}

// startOperation returns the request of an immediate operation, which it starts. With an error and a follower the
// operation ends in its turn; with an error alone it has no turn.
func startOperation(f *follower, err error) *Request {
	r := operationRequest(f, err)
	if f != nil {
		if err := f.runInBackground(); err != nil {
			r.endAtOnce(err)
		}
	}
	return r
}

// operationRequest returns the request of an operation that is not under way.
func operationRequest(f *follower, err error) *Request {
	r := &Request{extrasPtr: &extras{operation: f, err: err}, empty: err != nil}
	if f != nil {
		if r.comm = f.comm; f.persistent {
			runtime.AddCleanup(r, f.comm.forget, f.turn)
		}
		f.completion.Signal(bitDone) // it counts as done until it is started
	}
	return r
}

// The functions below check arguments. Each gets the error that was found before, and returns it; if there is none, it
// returns what it finds.

// checkRoot says why a rank cannot be the root.
func (c *Comm) checkRoot(root int, wrong error) error {
	if wrong == nil && (root < 0 || root >= c.Size()) {
		wrong = fmt.Errorf("%w: root %d of %d", ErrRank, root, c.Size())
	}
	return wrong
}

// checkOperands says why buffers cannot be reduced. needsOut: this rank gets a result in out. mayBeInPlace: in may be
// the zero Buffer.
func checkOperands(op *Op, in, out Buffer, needsOut, mayBeInPlace bool, wrong error) error {
	t := operand(in, out).Type
	switch {
	case wrong != nil:
		return wrong
	case op == nil:
		return fmt.Errorf("%w: no operation", ErrOp)
	case t == nil || in.Type == nil && !mayBeInPlace:
		return fmt.Errorf("%w: no operand", ErrCount)
	case in.Type != nil && needsOut && (in.Count != out.Count || in.Type != out.Type):
		return fmt.Errorf("%w: %d elements of %v are reduced to %d of %v", ErrCount, in.Count, in.Type, out.Count, out.Type)
	}
	return op.Check(t)
}

// checkRootBlocks says why root has no blocks for all ranks, or another rank has no buffer for its own block.
func (c *Comm) checkRootBlocks(blocks *Blocks, own Buffer, root int, wrong error) error {
	switch wrong = c.checkRoot(root, wrong); {
	case c.Rank() == root:
		return checkBlocks(blocks, c.Size(), wrong)
	case wrong == nil && own.Type == nil:
		return fmt.Errorf("%w: no buffer, in place is for root", ErrCount)
	}
	return wrong
}

// divided as Blocks.Each says that equal blocks make up the whole buffer; checkBlocks computes their length.
const divided = math.MinInt

// checkBlocks says why a buffer does not have n blocks. It replaces divided by the length of a block.
func checkBlocks(b *Blocks, n int, wrong error) error {
	switch {
	case wrong != nil || n == 0: // there is no communicator
		return wrong
	case b.Types != nil:
		if len(b.Types) != n || len(b.Bytes) != n || len(b.Counts) != n || slices.Min(b.Counts) < 0 {
			return fmt.Errorf("%w: counts %v, %d displacements, %d datatypes for %d blocks", ErrCount, b.Counts, len(b.Bytes), len(b.Types), n)
		}
		return nil
	case b.Counts == nil:
		if b.Each == divided {
			if b.Each = b.Count / n; b.Each*n != b.Count {
				return fmt.Errorf("%w: %d elements are no equal blocks for %d ranks", ErrCount, b.Count, n)
			}
		}
		if b.Each < 0 || b.Each > b.Count/n {
			return fmt.Errorf("%w: %d blocks of %d elements in %d", ErrCount, n, b.Each, b.Count)
		}
		return nil
	case len(b.Counts) != n || b.Displacements != nil && len(b.Displacements) != n:
		return fmt.Errorf("%w: %d counts, %d displacements for %d blocks", ErrCount, len(b.Counts), len(b.Displacements), n)
	}
	at := 0
	for i, count := range b.Counts {
		if b.Displacements != nil {
			at = b.Displacements[i]
		}
		if count < 0 || at < 0 || at > b.Count-count {
			return fmt.Errorf("%w: block %d has %d elements at %d, of %d", ErrCount, i, count, at, b.Count)
		}
		at += count
	}
	return nil
}

// operand returns the buffer that has this rank's operand of a reduction: in, or out if the reduction is in place.
func operand(in, out Buffer) Buffer {
	if in.Type == nil {
		return out
	}
	return in
}
