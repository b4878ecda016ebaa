package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Sides are the two groups of an intercommunicator as one of its processes sees them. Their processes are numbered
// together.
type Sides struct {
	Me            int   // in the own group
	Local, Remote []int // numbers of the processes, by rank
}

// local plans messages within the own group.
func (p *Plan) local(s *Sides, messages func()) {
	p.ranks = s.Local
	messages()
	p.ranks = nil
}

// InterBcast brings b of a process to all of the other group: root is that process's number, if it is this one or in
// the other group.
func (p *Plan) InterBcast(s *Sides, root int, here bool, b datatype.Buffer) {
	group, me := append([]int{root}, s.Remote...), 0
	if !here {
		group, me = append([]int{root}, s.Local...), s.Me+1
	}
	p.ranks = group
	p.Bcast(me, len(group), 0, b)
	p.ranks = nil
}

// InterGather brings in of each process of one group to out of root in the other one.
func (p *Plan) InterGather(s *Sides, root int, here bool, in datatype.Buffer, out *datatype.Blocks) {
	if !here {
		p.send(root, in)
		p.fence()
		return
	}
	for i, peer := range s.Remote {
		p.receive(peer, out.Block(i))
	}
	p.fence()
}

// InterScatter brings the blocks of root in one group to out of each process of the other one.
func (p *Plan) InterScatter(s *Sides, root int, here bool, in *datatype.Blocks, out datatype.Buffer) {
	if !here {
		p.receive(root, out)
		p.fence()
		return
	}
	for i, peer := range s.Remote {
		p.send(peer, in.Block(i))
	}
	p.fence()
}

// InterAlltoall brings what in gives for a process of the other group there, to the block of this one. In an
// allgather in gives all the same.
func (p *Plan) InterAlltoall(s *Sides, in func(to int) datatype.Buffer, out *datatype.Blocks) {
	for i, peer := range s.Remote {
		p.receive(peer, out.Block(i))
	}
	for i, peer := range s.Remote {
		p.send(peer, in(i))
	}
	p.fence()
}

// InterReduce leaves what one group has, combined, in out of root in the other one.
func (p *Plan) InterReduce(s *Sides, root int, here bool, op *reduce.Op, in, out datatype.Buffer) {
	if here {
		p.receive(s.Remote[0], out)
		p.fence()
		return
	}
	sum := in
	if s.Me == 0 {
		sum = p.room(in.Count, in.Type)
	}
	p.local(s, func() { p.Reduce(s.Me, len(s.Local), 0, op, in, sum) })
	if s.Me == 0 {
		p.send(root, sum)
		p.fence()
	}
}

// InterAllreduce leaves what each group has, combined, in out of all processes of the other one.
func (p *Plan) InterAllreduce(s *Sides, op *reduce.Op, in, out datatype.Buffer) {
	p.exchangeSums(s, op, in, out)
	p.local(s, func() { p.Bcast(s.Me, len(s.Local), 0, out) })
}

// exchangeSums leaves what the other group has, combined, in out at the first process of each.
func (p *Plan) exchangeSums(s *Sides, op *reduce.Op, in, out datatype.Buffer) {
	sum := in
	if s.Me == 0 {
		sum = p.room(in.Count, in.Type)
	}
	p.local(s, func() { p.Reduce(s.Me, len(s.Local), 0, op, in, sum) })
	if s.Me == 0 {
		p.receive(s.Remote[0], out)
		p.send(s.Remote[0], sum)
		p.fence()
	}
}

// InterReduceScatter leaves what each group has, combined, in blocks at the processes of the other one. Both groups
// give as many elements.
func (p *Plan) InterReduceScatter(s *Sides, op *reduce.Op, in datatype.Buffer, blocks *datatype.Blocks, out datatype.Buffer) {
	came := *blocks
	if s.Me == 0 {
		came.Buffer = p.room(in.Count, in.Type)
	}
	p.exchangeSums(s, op, in, came.Buffer)
	p.local(s, func() { p.Scatter(s.Me, len(s.Local), 0, &came, out) })
}

// Exchange receives a block from each of some processes, and sends one to each of some others. Messages between two
// of them come in the order of their blocks.
func (p *Plan) Exchange(from, to []int, in, out *datatype.Blocks) {
	for i, rank := range from {
		p.receive(rank, out.Block(i))
	}
	for i, rank := range to {
		p.send(rank, in.Block(i))
	}
	p.fence()
}
