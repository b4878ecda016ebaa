package plan

import "github.com/pm2-go/pm2/nmad/mpi/datatype"

// Barrier lets no rank go on before all ranks have begun it: in round k each rank sends an empty message to the rank
// 2^k further on (dissemination: Hensgen, Finkel and Manber, 1988).
func (p *Plan) Barrier(rank, size int) {
	for k := 1; k < size; k *= 2 {
		p.receive((rank-k+size)%size, empty)
		p.send((rank+k)%size, empty)
		p.waitMessages()
	}
}

var empty = datatype.Buffer{Type: datatype.Of(datatype.Byte)}

// Bcast copies b of root to b of all other ranks, by a binomial tree, or in parts if b is long.
func (p *Plan) Bcast(rank, size, root int, b datatype.Buffer) {
	if size >= fewRanks && b.Size() >= p.table().PartedBcast {
		p.partedBcast(rank, size, root, b)
		return
	}
	me, mask := (rank-root+size)%size, 1
	for ; mask < size; mask *= 2 {
		if me&mask != 0 {
			p.receive((me-mask+root)%size, b)
			p.waitMessages()
			break
		}
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if me+mask < size {
			p.send((me+mask+root)%size, b)
		}
	}
	p.waitMessages()
}

// Gather copies the buffer in of each rank to that rank's block of the buffer out of root. If root passes the zero
// Buffer as in, its block is already in place.
func (p *Plan) Gather(rank, size, root int, in datatype.Buffer, out *datatype.Blocks) {
	if rank != root {
		p.send(root, in)
		p.waitMessages()
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
	p.waitMessages()
}

// Scatter copies each rank's block of the buffer in of root to the buffer out of that rank. If root passes the zero
// Buffer as out, its block is not copied.
func (p *Plan) Scatter(rank, size, root int, in *datatype.Blocks, out datatype.Buffer) {
	if rank != root {
		p.receive(root, out)
		p.waitMessages()
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
	p.waitMessages()
}

// Allgather copies the buffer in of each rank to that rank's block of the buffer out of all ranks. If in is the zero
// Buffer, each rank's block is already in place. Each rank sends the next rank the block that it has received from the
// previous one (a ring); short blocks go in fewer rounds.
func (p *Plan) Allgather(rank, size int, in datatype.Buffer, out *datatype.Blocks) {
	if size > 2 && equal(out) && out.Each*out.Type.Size()*size <= p.table().ShortGather {
		p.bruckAllgather(rank, size, in, out)
		return
	}
	if in.Type != nil {
		p.copy(in, out.Block(rank))
	}
	next, previous := (rank+1)%size, (rank-1+size)%size
	for i := range size - 1 {
		p.receive(previous, out.Block((rank-i-1+size)%size))
		p.send(next, out.Block((rank-i+size)%size))
		p.waitMessages()
	}
}

// Alltoall copies block j of the buffer in of rank i to block i of the buffer out of rank j, for all i and j. If in is
// the zero Blocks, the blocks to send are in out, where the received blocks replace them.
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
	p.waitMessages()
}

// alltoallInPlace exchanges blocks with one rank after the other, each by way of other memory. In round k a rank
// exchanges with the rank that added to it is k, modulo size.
func (p *Plan) alltoallInPlace(rank, size int, b *datatype.Blocks) {
	for k := range size {
		peer := (k - rank + size) % size
		if peer == rank {
			continue
		}
		block := b.Block(peer)
		received := p.room(block.Count, block.Type)
		p.receive(peer, received)
		p.send(peer, block)
		p.waitMessages()
		p.copy(received, block)
	}
}

// Neighbors exchanges block i with neighbor i on a grid: all has, for each dimension, the ranks of the neighbor
// before and of the neighbor behind; none stands for no neighbor. Where both neighbors of a dimension are the same
// rank, the block for the neighbor behind is sent first: there it is the block from the neighbor before, which is
// received first.
func (p *Plan) Neighbors(all []int, none int, in, out *datatype.Blocks) {
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
	p.waitMessages()
}
