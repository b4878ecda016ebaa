package plan

import "github.com/pm2-go/pm2/nmad/mpi/datatype"

// Barrier lets no rank go on before all have come: in round k each tells the one 2^k further on (dissemination:
// Hensgen, Finkel and Manber, 1988).
func (p *Plan) Barrier(rank, size int) {
	for k := 1; k < size; k *= 2 {
		p.receive((rank-k+size)%size, empty)
		p.send((rank+k)%size, empty)
		p.fence()
	}
}

var empty = datatype.Buffer{Type: datatype.Of(datatype.Byte)}

// Bcast brings b of root to all, by a binomial tree, or in parts if it is long.
func (p *Plan) Bcast(rank, size, root int, b datatype.Buffer) {
	if size >= fewRanks && b.Size() >= p.table().PartedBcast {
		p.partedBcast(rank, size, root, b)
		return
	}
	me, mask := (rank-root+size)%size, 1
	for ; mask < size; mask *= 2 {
		if me&mask != 0 {
			p.receive((me-mask+root)%size, b)
			p.fence()
			break
		}
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if me+mask < size {
			p.send((me+mask+root)%size, b)
		}
	}
	p.fence()
}

// Gather brings in of each rank to the block of that rank in out, at root. Without in (the zero Buffer) the block of
// root is where it belongs.
func (p *Plan) Gather(rank, size, root int, in datatype.Buffer, out *datatype.Blocks) {
	if rank != root {
		p.send(root, in)
		p.fence()
		return
	}
	for i := range size {
		if i != rank {
			p.receive(i, out.Block(i))
		}
	}
	if in.Type != nil {
		p.copy(in, out.Block(rank))
	}
	p.fence()
}

// Scatter brings the block of each rank in in, at root, to out of that rank. Without out (the zero Buffer) the block
// of root stays where it is.
func (p *Plan) Scatter(rank, size, root int, in *datatype.Blocks, out datatype.Buffer) {
	if rank != root {
		p.receive(root, out)
		p.fence()
		return
	}
	for i := range size {
		if i != rank {
			p.send(i, in.Block(i))
		}
	}
	if out.Type != nil {
		p.copy(in.Block(rank), out)
	}
	p.fence()
}

// Allgather brings in of each rank to the block of that rank in out, at all. Without in (the zero Buffer) the block
// of each rank is where it belongs. Each rank gives the rank behind it what has come from the one before (a ring);
// short blocks go in fewer rounds.
func (p *Plan) Allgather(rank, size int, in datatype.Buffer, out *datatype.Blocks) {
	if size > 2 && equal(out) && out.Each*out.Type.Size()*size <= p.table().ShortGather {
		p.bruckAllgather(rank, size, in, out)
		return
	}
	if in.Type != nil {
		p.copy(in, out.Block(rank))
	}
	next, last := (rank+1)%size, (rank-1+size)%size
	for i := range size - 1 {
		p.receive(last, out.Block((rank-i-1+size)%size))
		p.send(next, out.Block((rank-i+size)%size))
		p.fence()
	}
}

// Alltoall brings block j of in of rank i to block i of out of rank j. Without in (the zero Blocks) the blocks of out
// are sent, and replaced.
func (p *Plan) Alltoall(rank, size int, in, out *datatype.Blocks) {
	if in.Type == nil && in.Types == nil {
		p.alltoallInPlace(rank, size, out)
		return
	}
	if size >= manyRanks && equal(in) && equal(out) && in.Each*in.Type.Size() <= p.table().ShortBlock {
		p.bruckAlltoall(rank, size, in, out)
		return
	}
	for i := 1; i < size; i++ {
		p.receive((rank-i+size)%size, out.Block((rank-i+size)%size))
	}
	for i := 1; i < size; i++ {
		p.send((rank+i)%size, in.Block((rank+i)%size))
	}
	p.copy(in.Block(rank), out.Block(rank))
	p.fence()
}

// alltoallInPlace exchanges blocks with one rank after the other, by way of memory of its own: the pairs of round k
// are those whose ranks add up to k.
func (p *Plan) alltoallInPlace(rank, size int, b *datatype.Blocks) {
	for k := range size {
		peer := (k - rank + size) % size
		if peer == rank {
			continue
		}
		mine := b.Block(peer)
		came := p.room(mine.Count, mine.Type)
		p.receive(peer, came)
		p.send(peer, mine)
		p.fence()
		p.copy(came, mine)
	}
}

// Neighbours exchanges blocks with the neighbours on a grid, which stand in pairs: the one before and the one behind
// in each dimension; none: there is no neighbour. Blocks have their numbers. Where both of a pair are the same rank,
// what goes to the one behind is sent first, since there it comes from the one before, whose receive is first.
func (p *Plan) Neighbours(all []int, none int, in, out *datatype.Blocks) {
	for i, rank := range all {
		if rank != none {
			p.receive(rank, out.Block(i))
		}
	}
	for i := 0; i < len(all); i += 2 {
		for _, j := range []int{i + 1, i} {
			if all[j] != none {
				p.send(all[j], in.Block(j))
			}
		}
	}
	p.fence()
}
