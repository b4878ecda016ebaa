package mpi

// What a program does with an intercommunicator by means of its own, and the intercommunicators that are made of one.

// Messages is the communicator that has the messages between the two groups: what the methods of Intercomm lack, such
// as Ssend, Iprobe and SendInit, is done there, with ranks by Far, and statuses by Source.
func (x *Intercomm) Messages() *Comm { return x.joint }

// Far is the rank in Messages of a rank of the other group. AnySource and ProcNull stay; a rank that is not there
// becomes one that Messages has not either.
func (x *Intercomm) Far(rank int) int { return x.far(rank) }

// Split returns an intercommunicator of those processes of both groups that give the same color, each group in the
// order of their keys; nil for those whose color is Undefined, or is not there in the other group. All processes of
// both groups call it.
func (x *Intercomm) Split(color, key int) (*Intercomm, error) {
	const apart = 1 << 40 // more than keys of MPI are
	if x.isFirst() {
		key -= apart
	} else {
		key += apart
	}
	joint, err := x.joint.Split(color, key)
	if err != nil {
		return nil, err
	}
	local, err := x.local.Split(color, key)
	if err != nil || joint == nil {
		if joint != nil {
			joint.Free()
		}
		return nil, err
	}
	if local.Size() == joint.Size() {
		local.Free()
		joint.Free()
		return nil, nil
	}
	return x.between(local, joint), nil
}

// Create returns an intercommunicator of some processes of both groups: those of a group that all processes of that
// side give. nil for those that are not among them, and for all if one side has none. All processes of both groups
// call it.
func (x *Intercomm) Create(g Group) (*Intercomm, error) {
	color, key := Undefined, 0
	if r := g.place(x.joint.job.session.Rank()); r != Undefined {
		color, key = 0, r
	}
	return x.Split(color, key)
}

// isFirst says that the own group has the first ranks of joint.
func (x *Intercomm) isFirst() bool { return len(x.sides.Local) > 0 && x.sides.Local[0] == 0 }

// between is the intercommunicator of a part of the own group, and that of both groups.
func (x *Intercomm) between(local, joint *Comm) *Intercomm {
	made := &Intercomm{local: local, joint: joint, first: x.first}
	made.sides.Me = local.rank
	own := local.Size()
	for r := range joint.Size() {
		if (r < own) == x.isFirst() && x.isFirst() || !x.isFirst() && r >= joint.Size()-own {
			made.sides.Local = append(made.sides.Local, r)
		} else {
			made.sides.Remote = append(made.sides.Remote, r)
		}
	}
	return made
}

// With is the same intercommunicator with other communicators of the own group and of both, as Dup, or Idup, makes
// them of Local and Messages.
func (x *Intercomm) With(local, joint *Comm) *Intercomm {
	return &Intercomm{local, joint, x.first, x.sides}
}

// IreduceScatter begins what ReduceScatter does.
func (x *Intercomm) IreduceScatter(op *Op, in Blocks, out Buffer) *Request {
	return inBackground(x.reduceScatter(later, op, in, out))
}

// ReduceScatterInit makes ReduceScatter a request that Request.Start starts, again and again.
func (x *Intercomm) ReduceScatterInit(op *Op, in Blocks, out Buffer) *Request {
	return persistent(x.reduceScatter(lasting, op, in, out))
}
