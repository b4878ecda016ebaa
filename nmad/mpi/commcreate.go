package mpi

import "fmt"

// CreateGroup is Create that only the processes of the group call, all with the same group and tag. A process that is
// not in the group gets ErrGroup. Several threads may call it at once with different tags. A wrong tag or group is an
// error at the caller only.
func (c *Comm) CreateGroup(g Group, tag int) (*Comm, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	if err := checkTag("create group", c.rank, tag); err != nil {
		return nil, err
	}
	ranks := make([]int, g.Size())
	for i := range ranks {
		if ranks[i] = c.group.rankOf(g.job[i]); ranks[i] == Undefined {
			return nil, fmt.Errorf("mpi: create group from %v: %w: it has no process %d of the job", c, ErrGroup, g.job[i])
		}
	}
	if g.rankOf(c.job.session.Rank()) == Undefined {
		return nil, fmt.Errorf("mpi: create group from %v: %w: the calling process is not in it; CreateGroup is for the members of the group only, Create is called by all", c, ErrGroup)
	}
	return c.make(g, c.agreeAmong(ranks, ofGroups|uint64(tag)<<12), nil)
}

// agreeAmong returns an Allreduce among some ranks that has no place in the order of operations: its tags, which are
// counted from tag on, keep its messages apart.
func (c *Comm) agreeAmong(ranks []int, tag uint64) agree {
	me := 0
	for i, r := range ranks {
		if r == c.rank {
			me = i
		}
	}
	return func(op *Op, values []int64) error {
		b, err := On(values)
		if err != nil {
			return err
		}
		f := &follower{comm: c, kind: allreduce, root: noRoot, tag: c.collectiveTags | tag}
		tag++
		f.plan.Among(ranks)
		f.plan.Allreduce(me, len(ranks), op, Buffer{}, b)
		c.mu.Lock()
		c.active = append(c.active, f)
		c.mu.Unlock()
		return f.finish()
	}
}

// Idup begins a Dup of a Comm or an Intercomm, which goes on while the program computes. It stores the result in made
// before the request is done. It is a collective operation: all processes call it in the same order as the others.
func Idup[C *Comm | *Intercomm](c C, made *C) *Request {
	if x, ok := any(c).(*Intercomm); ok {
		return x.idup(any(made).(**Intercomm))
	}
	return any(c).(*Comm).idup(any(made).(**Comm))
}

// idup is Idup. A goroutine makes the communicator.
func (c *Comm) idup(made **Comm) *Request {
	if err := c.usable(); err != nil {
		return (&Request{}).endAtOnce(err)
	}
	f := &follower{comm: c, kind: idup}
	c.mu.Lock()
	err := f.activate()
	c.mu.Unlock()
	if err != nil {
		return (&Request{}).endAtOnce(c.fails(f, err))
	}
	ranks := make([]int, c.Size())
	for i := range ranks {
		ranks[i] = i
	}
	// The first reduction has the tag of the turn, so a rank at which an earlier operation has failed refuses it.
	first, others := c.agreeAmong(ranks, f.turn), c.agreeAmong(ranks, ofIdups|f.turn<<8)
	agree := func(op *Op, values []int64) error {
		current := first
		first = others
		return current(op, values)
	}
	x := NewRequest(nil)
	x.comm = c
	go func() {
		d, err := c.make(c.group, agree, nil)
		c.succeeds(f, false)
		if err == nil {
			c.endow(d)
			*made = d
		}
		x.Complete(noStatus, err)
	}()
	return x
}

// createNamed returns a communicator of a group of processes of the job. All of them call it with the same name, which
// keeps the call apart from others at the same time.
func (c *Comm) createNamed(g Group, name string) (*Comm, error) {
	return c.CreateGroup(g, tagOf(name))
}

// tagOf returns the tag that stands for a name.
func tagOf(name string) int { return int(hashOf(name) & MaxTag) }
