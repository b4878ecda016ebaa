package mpi

import (
	"context"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
)

// Root is what the root of a collective operation of an intercommunicator gives for the root; the other processes of
// its group give ProcNull, and those of the other group its rank.
const Root = -4

// Intercomm is an intercommunicator: two groups without a process in common. Ranks in messages, and of roots, are
// those of the other group. Its collective operations go from one group to the other one, or both ways; they have the
// rules of those of Comm.
type Intercomm struct {
	local *Comm // of the own group
	joint *Comm // of both, that of the first one first
	first bool  // the own group is that
	sides plan.Sides
}

// Intercomm returns an intercommunicator between the processes of c and those of another communicator, whose groups
// have no process in common. All processes of both call it, with the rank of a leader in their own communicator; the
// two leaders have a communicator in common, peer, give the other one's rank there, and the same tag. peer and remote
// of other processes do not matter.
func (c *Comm) Intercomm(leader int, peer *Comm, remote, tag int) (*Intercomm, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	// What a leader knows of the other group: how many, and which processes of the job. -1: it does not.
	mine := make([]int64, c.job.session.Size()+1)
	theirs := slices.Clone(mine)
	mine[0] = int64(c.Size())
	for i, p := range c.group.job {
		mine[i+1] = int64(p)
	}
	var failed error
	if c.rank == leader {
		if failed = peer.addressed("intercomm", remote, tag); failed == nil {
			_, failed = Sendrecv(peer, mine, remote, tag, theirs, remote, tag)
		}
		if failed != nil {
			theirs[0] = -1
		}
	}
	if err := Bcast(c, theirs, leader); err != nil {
		return nil, err
	}
	if theirs[0] < 0 {
		if failed == nil {
			failed = fmt.Errorf("mpi: intercomm: rank %d, the leader: %w", leader, ErrElsewhere)
		}
		return nil, failed
	}
	var other Group
	for _, p := range theirs[1 : theirs[0]+1] {
		other.job = append(other.job, int(p))
	}
	if c.group.Intersection(other).Size() > 0 {
		return nil, fmt.Errorf("mpi: intercomm: %w: the two have processes in common", ErrGroup)
	}
	return c.joined(other, c.group.job[0] < other.job[0], tag)
}

// joined opens the intercommunicator with another group.
func (c *Comm) joined(other Group, first bool, tag int) (*Intercomm, error) {
	both := other.Union(c.group)
	if first {
		both = c.group.Union(other)
	}
	joint, err := c.job.world.createNamed(both, fmt.Sprint("intercomm", tag, both.job[0]))
	if err != nil {
		return nil, err
	}
	local, err := c.Dup()
	if err != nil {
		joint.Free()
		return nil, err
	}
	x := &Intercomm{local: local, joint: joint, first: first, sides: plan.Sides{Me: c.rank}}
	for r := range both.job {
		if (r < c.Size()) == first && first || !first && r >= other.Size() {
			x.sides.Local = append(x.sides.Local, r)
		} else {
			x.sides.Remote = append(x.sides.Remote, r)
		}
	}
	return x, nil
}

// Rank is this process's in its group.
func (x *Intercomm) Rank() int { return x.sides.Me }

// Size is how many processes the own group has.
func (x *Intercomm) Size() int { return len(x.sides.Local) }

// RemoteSize is how many processes the other group has.
func (x *Intercomm) RemoteSize() int { return len(x.sides.Remote) }

// Group is the own group.
func (x *Intercomm) Group() Group { return x.local.group }

// RemoteGroup is the other group.
func (x *Intercomm) RemoteGroup() Group {
	g, _ := x.joint.group.Include(x.sides.Remote...)
	return g
}

// Local is a communicator of the own group.
func (x *Intercomm) Local() *Comm { return x.local }

// Free is that of Comm.
func (x *Intercomm) Free() {
	x.local.Free()
	x.joint.Free()
}

// Dup is that of Comm. All processes of both groups call it.
func (x *Intercomm) Dup() (*Intercomm, error) {
	joint, err := x.joint.Dup()
	if err != nil {
		return nil, err
	}
	local, err := x.local.Dup()
	if err != nil {
		joint.Free()
		return nil, err
	}
	return &Intercomm{local, joint, x.first, x.sides}, nil
}

// Merge returns a communicator of both groups, first that whose processes give false for high; if both give the same,
// first that with the lowest process of the job.
func (x *Intercomm) Merge(high bool) (*Comm, error) {
	mine := []int8{0}
	if high {
		mine[0] = 1
	}
	all := make([]int8, x.joint.Size())
	if err := Allgather(x.joint, mine, all); err != nil {
		return nil, err
	}
	first, last := x.joint.group.job[:len(x.sides.Local)], x.joint.group.job[len(x.sides.Local):]
	if !x.first {
		first, last = x.joint.group.job[:len(x.sides.Remote)], x.joint.group.job[len(x.sides.Remote):]
	}
	if all[0] > all[len(all)-1] {
		first, last = last, first
	}
	return x.joint.Create(Group{slices.Concat(first, last)})
}

// far is the number in joint of a rank of the other group.
func (x *Intercomm) far(rank int) int {
	if rank < 0 || rank >= len(x.sides.Remote) {
		if rank == ProcNull || rank == AnySource {
			return rank
		}
		return len(x.joint.gates) // none has it: the call says so
	}
	return x.sides.Remote[rank]
}

// near turns a status of joint into one of the other group.
func (x *Intercomm) near(s Status) Status {
	if s.Source >= 0 {
		s.Source = slices.Index(x.sides.Remote, s.Source)
	}
	return s
}

// Send is Comm.Send to a rank of the other group.
func (x *Intercomm) Send(b Buffer, to, tag int) error { return x.joint.Send(b, x.far(to), tag) }

// Isend is Comm.Isend to a rank of the other group.
func (x *Intercomm) Isend(b Buffer, to, tag int) *Request {
	return x.joint.Isend(b, x.far(to), tag)
}

// Recv is Comm.Recv from a rank of the other group.
func (x *Intercomm) Recv(b Buffer, from, tag int) (Status, error) {
	s, err := x.joint.Recv(b, x.far(from), tag)
	return x.near(s), err
}

// Irecv is Comm.Irecv from a rank of the other group. The source of its status is a rank of the joint group; Source
// turns it into one of the other group.
func (x *Intercomm) Irecv(b Buffer, from, tag int) *Request {
	return x.joint.Irecv(b, x.far(from), tag)
}

// Source is the rank in the other group of the source of a status of Irecv.
func (x *Intercomm) Source(s Status) int { return x.near(s).Source }

// Probe is Comm.Probe of messages from a rank of the other group.
func (x *Intercomm) Probe(ctx context.Context, from, tag int) (Status, error) {
	s, err := x.joint.Probe(ctx, x.far(from), tag)
	return x.near(s), err
}

// rootless is the root of operations of an intercommunicator that have none.
const rootless = -5

// operation begins a collective operation, whose plan is made by f: of those with a root with its number in joint,
// and whether it is this process. Other processes of root's group do nothing. wrong is as begin has it.
func (x *Intercomm) operation(what operation, root int, m manner, wrong error, make func(p *plan.Plan, root int, here bool)) (*follower, error) {
	number := noRoot
	switch {
	case root == Root:
		number = x.joint.rank
	case root >= 0 && root < x.RemoteSize():
		number = x.sides.Remote[root]
	case root != ProcNull && root != rootless:
		wrong = fmt.Errorf("%w: root %d of %d", ErrRank, root, x.RemoteSize())
	}
	f, _, err := x.joint.begin(what, noRoot, m, likewise{}, wrong)
	if err == nil && root != ProcNull {
		make(&f.plan, number, root == Root)
	}
	return f, err
}

// Barrier returns when all processes of both groups have called it.
func (x *Intercomm) Barrier() error { return x.joint.Barrier() }

// Ibarrier begins what Barrier does.
func (x *Intercomm) Ibarrier() *Request { return x.joint.Ibarrier() }

// BarrierInit makes Barrier a request that Request.Start starts, again and again.
func (x *Intercomm) BarrierInit() *Request { return x.joint.BarrierInit() }

// Bcast brings b of root to all processes of the other group.
func (x *Intercomm) Bcast(b Buffer, root int) error { return finish(x.bcast(now, b, root)) }

// Ibcast begins what Bcast does.
func (x *Intercomm) Ibcast(b Buffer, root int) *Request {
	return inBackground(x.bcast(later, b, root))
}

// BcastInit makes Bcast a request that Request.Start starts, again and again.
func (x *Intercomm) BcastInit(b Buffer, root int) *Request {
	return persistent(x.bcast(lasting, b, root))
}

func (x *Intercomm) bcast(m manner, b Buffer, root int) (*follower, error) {
	return x.operation(bcast, root, m, nil, func(p *plan.Plan, root int, here bool) { p.InterBcast(&x.sides, root, here, b) })
}

// Gather brings in of each process of the other group to out of root.
func (x *Intercomm) Gather(in Buffer, out Blocks, root int) error {
	return finish(x.gather(now, in, out, root))
}

// Igather begins what Gather does.
func (x *Intercomm) Igather(in Buffer, out Blocks, root int) *Request {
	return inBackground(x.gather(later, in, out, root))
}

// GatherInit makes Gather a request that Request.Start starts, again and again.
func (x *Intercomm) GatherInit(in Buffer, out Blocks, root int) *Request {
	return persistent(x.gather(lasting, in, out, root))
}

func (x *Intercomm) gather(m manner, in Buffer, out Blocks, root int) (*follower, error) {
	var wrong error
	if root == Root {
		wrong = laidOut(&out, x.RemoteSize(), nil)
	}
	return x.operation(gather, root, m, wrong, func(p *plan.Plan, root int, here bool) { p.InterGather(&x.sides, root, here, in, &out) })
}

// Scatter brings the blocks of in of root to out of the processes of the other group.
func (x *Intercomm) Scatter(in Blocks, out Buffer, root int) error {
	return finish(x.scatter(now, in, out, root))
}

// Iscatter begins what Scatter does.
func (x *Intercomm) Iscatter(in Blocks, out Buffer, root int) *Request {
	return inBackground(x.scatter(later, in, out, root))
}

// ScatterInit makes Scatter a request that Request.Start starts, again and again.
func (x *Intercomm) ScatterInit(in Blocks, out Buffer, root int) *Request {
	return persistent(x.scatter(lasting, in, out, root))
}

func (x *Intercomm) scatter(m manner, in Blocks, out Buffer, root int) (*follower, error) {
	var wrong error
	if root == Root {
		wrong = laidOut(&in, x.RemoteSize(), nil)
	}
	return x.operation(scatter, root, m, wrong, func(p *plan.Plan, root int, here bool) { p.InterScatter(&x.sides, root, here, &in, out) })
}

// Allgather brings in of each process to its block of out at all processes of the other group.
func (x *Intercomm) Allgather(in Buffer, out Blocks) error { return finish(x.allgather(now, in, out)) }

// Iallgather begins what Allgather does.
func (x *Intercomm) Iallgather(in Buffer, out Blocks) *Request {
	return inBackground(x.allgather(later, in, out))
}

// AllgatherInit makes Allgather a request that Request.Start starts, again and again.
func (x *Intercomm) AllgatherInit(in Buffer, out Blocks) *Request {
	return persistent(x.allgather(lasting, in, out))
}

func (x *Intercomm) allgather(m manner, in Buffer, out Blocks) (*follower, error) {
	return x.operation(allgather, rootless, m, laidOut(&out, x.RemoteSize(), nil), func(p *plan.Plan, _ int, _ bool) {
		p.InterAlltoall(&x.sides, func(int) Buffer { return in }, &out)
	})
}

// Alltoall brings block j of in of each process to its block of out at process j of the other group.
func (x *Intercomm) Alltoall(in, out Blocks) error { return finish(x.alltoall(now, in, out)) }

// Ialltoall begins what Alltoall does.
func (x *Intercomm) Ialltoall(in, out Blocks) *Request {
	return inBackground(x.alltoall(later, in, out))
}

// AlltoallInit makes Alltoall a request that Request.Start starts, again and again.
func (x *Intercomm) AlltoallInit(in, out Blocks) *Request {
	return persistent(x.alltoall(lasting, in, out))
}

func (x *Intercomm) alltoall(m manner, in, out Blocks) (*follower, error) {
	wrong := laidOut(&out, x.RemoteSize(), laidOut(&in, x.RemoteSize(), nil))
	return x.operation(alltoall, rootless, m, wrong, func(p *plan.Plan, _ int, _ bool) { p.InterAlltoall(&x.sides, in.Block, &out) })
}

// Reduce leaves in of the processes of the other group, combined, in out of root.
func (x *Intercomm) Reduce(op *Op, in, out Buffer, root int) error {
	return finish(x.reduce(now, op, in, out, root))
}

// Ireduce begins what Reduce does.
func (x *Intercomm) Ireduce(op *Op, in, out Buffer, root int) *Request {
	return inBackground(x.reduce(later, op, in, out, root))
}

// ReduceInit makes Reduce a request that Request.Start starts, again and again.
func (x *Intercomm) ReduceInit(op *Op, in, out Buffer, root int) *Request {
	return persistent(x.reduce(lasting, op, in, out, root))
}

func (x *Intercomm) reduce(m manner, op *Op, in, out Buffer, root int) (*follower, error) {
	if root == Root {
		in = out
	}
	var wrong error
	if root != ProcNull {
		wrong = reducible(op, in, out, false, false, nil)
	}
	return x.operation(reduce, root, m, wrong, func(p *plan.Plan, root int, here bool) { p.InterReduce(&x.sides, root, here, op, in, out) })
}

// Allreduce leaves in of the processes of each group, combined, in out of all processes of the other one.
func (x *Intercomm) Allreduce(op *Op, in, out Buffer) error {
	return finish(x.allreduce(now, op, in, out))
}

// Iallreduce begins what Allreduce does.
func (x *Intercomm) Iallreduce(op *Op, in, out Buffer) *Request {
	return inBackground(x.allreduce(later, op, in, out))
}

// AllreduceInit makes Allreduce a request that Request.Start starts, again and again.
func (x *Intercomm) AllreduceInit(op *Op, in, out Buffer) *Request {
	return persistent(x.allreduce(lasting, op, in, out))
}

func (x *Intercomm) allreduce(m manner, op *Op, in, out Buffer) (*follower, error) {
	return x.operation(allreduce, rootless, m, reducible(op, in, out, true, false, nil), func(p *plan.Plan, _ int, _ bool) { p.InterAllreduce(&x.sides, op, in, out) })
}

// ReduceScatter leaves in of the processes of each group, combined, in out of those of the other one, a block each:
// in has a block for each process of the own group, and both groups give as many elements.
func (x *Intercomm) ReduceScatter(op *Op, in Blocks, out Buffer) error {
	return finish(x.reduceScatter(now, op, in, out))
}

func (x *Intercomm) reduceScatter(m manner, op *Op, in Blocks, out Buffer) (*follower, error) {
	wrong := reducible(op, in.Buffer, out, false, false, laidOut(&in, x.Size(), nil))
	return x.operation(reduceScatter, rootless, m, wrong, func(p *plan.Plan, _ int, _ bool) {
		p.InterReduceScatter(&x.sides, op, in.Buffer, &in, out)
	})
}
