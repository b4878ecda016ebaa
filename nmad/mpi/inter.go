package mpi

import (
	"context"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
)

// Root is the root argument of the root of a collective operation on an intercommunicator. The other processes of its
// group pass ProcNull, and the processes of the remote group pass its rank.
const Root = -4

// Intercomm is an intercommunicator: two groups without a process in common, the local group, which has this process,
// and the remote one. The ranks of messages and of roots are those of the remote group. Collective operations bring
// data from one group to the other, or both ways; they have the rules of those of Comm.
type Intercomm struct {
	local  *Comm // of the local group
	joint  *Comm // of both groups, one behind the other
	remote *Comm // carries the messages: its ranks are those of the remote group, its contexts those of joint
	first  bool  // the local group comes first in joint
	sides  plan.Sides
}

// NewIntercomm returns an intercommunicator between the processes of c and those of another communicator, which have no
// process in common. All processes of both call it, with the rank of a leader in their own communicator, and the same
// tag. The two leaders have the communicator peer in common, and pass each other's rank there as remote; the arguments
// peer and remote of other processes are not used.
func NewIntercomm(c *Comm, leader int, peer *Comm, remote, tag int) (*Intercomm, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	// A group as the leaders send it: how many processes it has, or -1 if the leader has failed, and their ranks in the
	// job.
	sent := make([]int64, c.job.session.Size()+1)
	received := slices.Clone(sent)
	sent[0] = int64(c.Size())
	for i, p := range c.group.job {
		sent[i+1] = int64(p)
	}
	var failed error
	if c.rank == leader {
		if failed = peer.checkPeer("intercomm", remote, tag); failed == nil {
			_, _, failed = Sendrecv(peer, sent, remote, tag, received, remote, tag)
		}
		if failed == nil {
			failed = checkSentGroup(received)
		}
		if failed != nil {
			received[0] = -1
		}
	}
	if err := Bcast(c, received, leader); err != nil {
		return nil, err
	}
	if received[0] < 0 {
		if failed == nil {
			failed = fmt.Errorf("mpi: intercomm: rank %d, the leader: %w", leader, ErrElsewhere)
		}
		return nil, failed
	}
	var other Group
	for _, p := range received[1 : received[0]+1] {
		other.job = append(other.job, int(p))
	}
	if c.group.Intersection(other).Size() > 0 {
		return nil, fmt.Errorf("mpi: intercomm: %w: the two have processes in common", ErrGroup)
	}
	return c.joined(other, c.group.job[0] < other.job[0], tag)
}

// checkSentGroup refuses what another leader has sent in place of a group: a message of the program with the same tag
// may have been taken for it.
func checkSentGroup(received []int64) error {
	n, ranks := received[0], received[1:]
	if n >= 1 && n <= int64(len(ranks)) {
		ranks = slices.Sorted(slices.Values(ranks[:n]))
		if ranks[0] >= 0 && ranks[n-1] < int64(len(received))-1 && len(slices.Compact(ranks)) == int(n) {
			return nil
		}
	}
	return fmt.Errorf("mpi: intercomm: %w: what the other leader has sent, %d first, is no group of the job: no other message may have this tag", ErrGroup, n)
}

// joined opens the intercommunicator of the group of c and another one. first: the group of c comes first.
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
	return intercommOf(local, joint, first), nil
}

// intercommOf returns the intercommunicator that has these communicators of the local group and of both groups.
func intercommOf(local, joint *Comm, first bool) *Intercomm {
	x := &Intercomm{local: local, joint: joint, first: first, sides: plan.Sides{Me: local.rank}}
	own, other := local.Size(), joint.Size()-local.Size()
	for r := range joint.Size() {
		if first && r < own || !first && r >= other {
			x.sides.Local = append(x.sides.Local, r)
		} else {
			x.sides.Remote = append(x.sides.Remote, r)
		}
	}
	g, _ := joint.group.Include(x.sides.Remote...)
	x.remote = &Comm{job: joint.job, group: g, rank: local.rank, number: joint.number, domain: joint.domain, private: joint.private, tags: joint.tags, collectiveTags: joint.collectiveTags, messages: joint.messages, collective: joint.collective}
	x.remote.reach()
	return x
}

// Rank returns the rank of this process in the local group.
func (x *Intercomm) Rank() int { return x.sides.Me }

// Size returns how many processes the local group has.
func (x *Intercomm) Size() int { return len(x.sides.Local) }

// RemoteSize returns how many processes the remote group has.
func (x *Intercomm) RemoteSize() int { return len(x.sides.Remote) }

// Group returns the local group.
func (x *Intercomm) Group() Group { return x.local.group }

// RemoteGroup returns the remote group.
func (x *Intercomm) RemoteGroup() Group { return x.remote.group }

// Local returns a communicator of the local group.
func (x *Intercomm) Local() *Comm { return x.local }

// Free is Comm.Free.
func (x *Intercomm) Free() {
	x.remote.freed.Store(true)
	x.local.Free()
	x.joint.Free()
}

// Dup is Comm.Dup. All processes of both groups call it.
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
	return intercommOf(local, joint, x.first), nil
}

// idup is Idup. A goroutine waits until both communicators are made.
func (x *Intercomm) idup(made **Intercomm) *Request {
	var joint, local *Comm
	both := []*Request{x.joint.idup(&joint), x.local.idup(&local)}
	r := NewRequest(nil)
	r.comm = x.joint
	go func() {
		_, err := WaitAll(both...)
		if err == nil {
			*made = intercommOf(local, joint, x.first)
		}
		r.Complete(noStatus, err)
	}()
	return r
}

// Merge returns a communicator of both groups; all processes of both call it. The processes of a group give the same
// high. The group that gives false comes first; if both give the same, the group whose rank 0 has the lower rank in the
// job.
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

// Send is Comm.Send to a rank of the remote group. The methods below are those of Comm in the same way.
func (x *Intercomm) Send(b Buffer, to, tag int) error { return x.remote.Send(b, to, tag) }

// Ssend is Comm.Ssend.
func (x *Intercomm) Ssend(b Buffer, to, tag int) error { return x.remote.Ssend(b, to, tag) }

// Bsend is Comm.Bsend.
func (x *Intercomm) Bsend(b Buffer, to, tag int) error { return x.remote.Bsend(b, to, tag) }

// Recv is Comm.Recv.
func (x *Intercomm) Recv(b Buffer, from, tag int) (Status, error) { return x.remote.Recv(b, from, tag) }

// Sendrecv is Comm.Sendrecv.
func (x *Intercomm) Sendrecv(out Buffer, to, sendTag int, in Buffer, from, receiveTag int) (Status, error) {
	return x.remote.Sendrecv(out, to, sendTag, in, from, receiveTag)
}

// Probe is Comm.Probe.
func (x *Intercomm) Probe(ctx context.Context, from, tag int) (Status, error) {
	return x.remote.Probe(ctx, from, tag)
}

// Mprobe is Comm.Mprobe.
func (x *Intercomm) Mprobe(ctx context.Context, from, tag int) (*Message, error) {
	return x.remote.Mprobe(ctx, from, tag)
}

// Immediate is Comm.Immediate.
func (x *Intercomm) Immediate() Immediate { return Immediate{view{x.remote, x, immediate}} }

// Persistent is Comm.Persistent.
func (x *Intercomm) Persistent() Persistent { return Persistent{view{x.remote, x, persistent}} }

// beginRooted begins a collective operation that has a root. make makes its plan: it gets the rank of root in joint,
// and whether root is this process. The plan of other processes in root's group is empty. wrong is as in Comm.begin.
func (x *Intercomm) beginRooted(kind operationKind, root int, callForm form, wrong error, make func(p *plan.Plan, root int, here bool)) (*follower, error) {
	number := noRoot
	switch {
	case root == Root:
		number = x.joint.rank
	case root >= 0 && root < x.RemoteSize():
		number = x.sides.Remote[root]
	case root != ProcNull:
		wrong = fmt.Errorf("%w: root %d of %d", ErrRank, root, x.RemoteSize())
	}
	return x.beginRootless(kind, callForm, wrong, func(p *plan.Plan) {
		if root != ProcNull {
			make(p, number, root == Root)
		}
	})
}

// beginRootless begins a collective operation that has no root. make makes its plan.
func (x *Intercomm) beginRootless(kind operationKind, callForm form, wrong error, make func(p *plan.Plan)) (*follower, error) {
	f, _, err := x.joint.begin(kind, noRoot, callForm, signature{}, wrong)
	if err == nil {
		make(&f.plan)
	}
	return f, err
}

// Barrier returns when all processes of both groups have called it.
func (x *Intercomm) Barrier() error { return x.joint.Barrier() }

func (x *Intercomm) barrier(callForm form) (*follower, error) { return x.joint.barrier(callForm) }

// Bcast copies the elements of b at root to b at every process of the remote group.
func (x *Intercomm) Bcast(b Buffer, root int) error { return finish(x.bcast(blocking, b, root, nil)) }

func (x *Intercomm) bcast(callForm form, b Buffer, root int, wrong error) (*follower, error) {
	return x.beginRooted(bcast, root, callForm, wrong, func(p *plan.Plan, root int, here bool) { p.InterBcast(&x.sides, root, here, b) })
}

// Gather copies the elements that each process of the remote group gives as in to its block of out at root.
func (x *Intercomm) Gather(in Buffer, out Blocks, root int) error {
	return finish(x.gather(blocking, in, out, root, nil))
}

func (x *Intercomm) gather(callForm form, in Buffer, out Blocks, root int, wrong error) (*follower, error) {
	if root == Root {
		wrong = checkBlocks(&out, x.RemoteSize(), wrong)
	}
	return x.beginRooted(gather, root, callForm, wrong, func(p *plan.Plan, root int, here bool) { p.InterGather(&x.sides, root, here, in, &out) })
}

// Scatter copies from in, at root, the block of each process of the remote group to out of that process.
func (x *Intercomm) Scatter(in Blocks, out Buffer, root int) error {
	return finish(x.scatter(blocking, in, out, root, nil))
}

func (x *Intercomm) scatter(callForm form, in Blocks, out Buffer, root int, wrong error) (*follower, error) {
	if root == Root {
		wrong = checkBlocks(&in, x.RemoteSize(), wrong)
	}
	return x.beginRooted(scatter, root, callForm, wrong, func(p *plan.Plan, root int, here bool) { p.InterScatter(&x.sides, root, here, &in, out) })
}

// Allgather puts the elements that each process gives as in into its block of out, at every process of the remote
// group.
func (x *Intercomm) Allgather(in Buffer, out Blocks) error {
	return finish(x.allgather(blocking, in, out, nil))
}

func (x *Intercomm) allgather(callForm form, in Buffer, out Blocks, wrong error) (*follower, error) {
	return x.beginRootless(allgather, callForm, checkBlocks(&out, x.RemoteSize(), wrong), func(p *plan.Plan) {
		p.InterAlltoall(&x.sides, func(int) Buffer { return in }, &out)
	})
}

// Alltoall sends block j of in from each process i to process j of the remote group, which receives it in block i of
// out.
func (x *Intercomm) Alltoall(in, out Blocks) error { return finish(x.alltoall(blocking, in, out, nil)) }

func (x *Intercomm) alltoall(callForm form, in, out Blocks, wrong error) (*follower, error) {
	wrong = checkBlocks(&out, x.RemoteSize(), checkBlocks(&in, x.RemoteSize(), wrong))
	return x.beginRootless(alltoall, callForm, wrong, func(p *plan.Plan) { p.InterAlltoall(&x.sides, in.Block, &out) })
}

// Reduce combines the operands that the processes of the remote group give as in, and stores the result in out at root.
func (x *Intercomm) Reduce(op *Op, in, out Buffer, root int) error {
	return finish(x.reduce(blocking, op, in, out, root, nil))
}

func (x *Intercomm) reduce(callForm form, op *Op, in, out Buffer, root int, wrong error) (*follower, error) {
	if root == Root {
		in = out
	}
	if root != ProcNull {
		wrong = checkOperands(op, in, out, false, false, wrong)
	}
	return x.beginRooted(reduce, root, callForm, wrong, func(p *plan.Plan, root int, here bool) { p.InterReduce(&x.sides, root, here, op, in, out) })
}

// Allreduce combines the operands that the processes of each group give as in, and stores the result in out at every
// process of the remote group.
func (x *Intercomm) Allreduce(op *Op, in, out Buffer) error {
	return finish(x.allreduce(blocking, op, in, out, nil))
}

func (x *Intercomm) allreduce(callForm form, op *Op, in, out Buffer, wrong error) (*follower, error) {
	return x.beginRootless(allreduce, callForm, checkOperands(op, in, out, true, false, wrong), func(p *plan.Plan) { p.InterAllreduce(&x.sides, op, in, out) })
}

// ReduceScatter combines the operands that the processes of each group give as in, and stores the result in out of the
// processes of the other group, a block each. in has a block for each process of the local group, and both groups give
// the same number of elements.
func (x *Intercomm) ReduceScatter(op *Op, in Blocks, out Buffer) error {
	return finish(x.reduceScatter(blocking, op, in, out, nil))
}

func (x *Intercomm) reduceScatter(callForm form, op *Op, in Blocks, out Buffer, wrong error) (*follower, error) {
	wrong = checkOperands(op, in.Buffer, out, false, false, checkBlocks(&in, x.Size(), wrong))
	return x.beginRootless(reduceScatter, callForm, wrong, func(p *plan.Plan) {
		p.InterReduceScatter(&x.sides, op, in.Buffer, &in, out)
	})
}

func (x *Intercomm) scan(form, *Op, Buffer, Buffer, error) (*follower, error) { return x.lacks(scan) }

func (x *Intercomm) exscan(form, *Op, Buffer, Buffer, error) (*follower, error) {
	return x.lacks(exscan)
}

func (x *Intercomm) neighborAlltoall(form, Blocks, Blocks) (*follower, error) {
	return x.lacks(neighbors)
}

func (x *Intercomm) targets() int { return 0 }

func (x *Intercomm) isRoot(root int) bool { return root == Root }

// lacks returns the error of an operation that MPI does not define for intercommunicators.
func (x *Intercomm) lacks(kind operationKind) (*follower, error) {
	return nil, fmt.Errorf("mpi: %v: %w: it is an intercommunicator", kind, ErrComm)
}
