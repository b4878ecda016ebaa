package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Sides are the two groups of an intercommunicator as one of its processes sees them: the local group, which has it,
// and the remote one. The processes of both are numbered together.
type Sides struct {
	Me            int   // the rank of this process in the local group
	Local, Remote []int // the numbers of the processes, by rank
}

// local plans messages within the local group.
func (p *Plan) local(s *Sides, messages func()) {
	p.ranks = s.Local
	messages()
	p.ranks = nil
}

// InterBcast copies b of root in one group to b of all processes of the other group. root is its number, and here says
// whether it is this process; so in the plans below. Other processes of root's group make no plan.
func (p *Plan) InterBcast(s *Sides, root int, here bool, b datatype.Buffer) {
	group, me := append([]int{root}, s.Remote...), 0
	if !here {
		group, me = append([]int{root}, s.Local...), s.Me+1
	}
	p.ranks = group
	p.Bcast(me, len(group), 0, b)
	p.ranks = nil
}

// InterGather copies the buffer in of each process of one group to its block of the buffer out of root in the other
// group.
func (p *Plan) InterGather(s *Sides, root int, here bool, in datatype.Buffer, out *datatype.Blocks) {
	if !here {
		p.send(root, in)
		p.waitMessages()
		return
	}
	for i, peer := range s.Remote {
		p.receive(peer, out.Block(i))
	}
	p.waitMessages()
}

// InterScatter copies each block of the buffer in of root in one group to the buffer out of a process of the other
// group.
func (p *Plan) InterScatter(s *Sides, root int, here bool, in *datatype.Blocks, out datatype.Buffer) {
	if !here {
		p.receive(root, out)
		p.waitMessages()
		return
	}
	for i, peer := range s.Remote {
		p.send(peer, in.Block(i))
	}
	p.waitMessages()
}

// InterAlltoall copies block(i), for each rank i of the remote group, to the block of this process in the buffer out of
// that rank. In an allgather block returns the same buffer for all ranks.
func (p *Plan) InterAlltoall(s *Sides, block func(to int) datatype.Buffer, out *datatype.Blocks) {
	for i, peer := range s.Remote {
		p.receive(peer, out.Block(i))
	}
	for i, peer := range s.Remote {
		p.send(peer, block(i))
	}
	p.waitMessages()
}

// InterReduce combines the operands of one group, and stores the result in the buffer out of root in the other group.
func (p *Plan) InterReduce(s *Sides, root int, here bool, op *reduce.Op, in, out datatype.Buffer) {
	if here {
		p.receive(s.Remote[0], out)
		p.waitMessages()
		return
	}
	sum := in
	if s.Me == 0 {
		sum = p.room(in.Count, in.Type)
	}
	p.local(s, func() { p.Reduce(s.Me, len(s.Local), 0, op, in, sum) })
	if s.Me == 0 {
		p.send(root, sum)
		p.waitMessages()
	}
}

// InterAllreduce combines the operands of each group, and stores the result in the buffer out of all processes of the
// other group.
func (p *Plan) InterAllreduce(s *Sides, op *reduce.Op, in, out datatype.Buffer) {
	p.exchangeSums(s, op, in, out)
	p.local(s, func() { p.Bcast(s.Me, len(s.Local), 0, out) })
}

// exchangeSums combines the operands of each group, and stores the result in the buffer out of the first process of the
// other group.
func (p *Plan) exchangeSums(s *Sides, op *reduce.Op, in, out datatype.Buffer) {
	sum := in
	if s.Me == 0 {
		sum = p.room(in.Count, in.Type)
	}
	p.local(s, func() { p.Reduce(s.Me, len(s.Local), 0, op, in, sum) })
	if s.Me == 0 {
		p.receive(s.Remote[0], out)
		p.send(s.Remote[0], sum)
		p.waitMessages()
	}
}

// InterReduceScatter combines the operands of each group, and stores a block of the result in the buffer out of each
// process of the other group. blocks has the lengths of the blocks of the local group. The operands of both groups have
// equally many elements.
func (p *Plan) InterReduceScatter(s *Sides, op *reduce.Op, in datatype.Buffer, blocks *datatype.Blocks, out datatype.Buffer) {
	result := *blocks
	if s.Me == 0 {
		result.Buffer = p.room(in.Count, in.Type)
	}
	p.exchangeSums(s, op, in, result.Buffer)
	p.local(s, func() { p.Scatter(s.Me, len(s.Local), 0, &result, out) })
}

// Exchange receives block i of the buffer out from rank from[i], and sends block i of the buffer in to rank to[i].
// Messages between two ranks are in the order of their blocks.
func (p *Plan) Exchange(from, to []int, in, out *datatype.Blocks) {
	for i, rank := range from {
		p.receive(rank, out.Block(i))
	}
	for i, rank := range to {
		p.send(rank, in.Block(i))
	}
	p.waitMessages()
}
