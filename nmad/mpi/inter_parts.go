package mpi

// Split returns an intercommunicator of the processes of both groups that give the same color, each group in the order
// of their keys. It returns nil where the color is Undefined, or no process of the remote group gives it. All processes
// of both groups call it.
func (x *Intercomm) Split(color, key int) (*Intercomm, error) {
	const offset = 1 << 40 // larger than keys of MPI: it keeps the first group first
	if x.first {
		key -= offset
	} else {
		key += offset
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
	return intercommOf(local, joint, x.first), nil
}

// Create returns an intercommunicator of some processes of both groups: all processes of a group pass the processes
// that are to be in it. It returns nil at processes that are not among them, and at all processes if one group passes
// none. All processes of both groups call it.
func (x *Intercomm) Create(g Group) (*Intercomm, error) {
	color, key := Undefined, 0
	if r := g.rankOf(x.joint.job.session.Rank()); r != Undefined {
		color, key = 0, r
	}
	return x.Split(color, key)
}
