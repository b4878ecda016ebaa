package mpi

// Split returns an intercommunicator of those processes of both groups that give the same color, each group in the
// order of their keys; nil for those whose color is Undefined, or is not there in the other group. All processes of
// both groups call it.
func (x *Intercomm) Split(color, key int) (*Intercomm, error) {
	const apart = 1 << 40 // more than keys of MPI are
	if x.first {
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
	return intercommOf(local, joint, x.first), nil
}

// Create returns an intercommunicator of some processes of both groups: those of a group that all processes of that
// side give. nil for those that are not among them, and for all if one side has none. All processes of both groups
// call it.
func (x *Intercomm) Create(g Group) (*Intercomm, error) {
	color, key := Undefined, 0
	if r := g.rankOf(x.joint.job.session.Rank()); r != Undefined {
		color, key = 0, r
	}
	return x.Split(color, key)
}
