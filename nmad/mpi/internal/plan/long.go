package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// partedBcast is Bcast in two phases: root scatters b, and all ranks send each other their parts around a ring (van de
// Geijn's algorithm: Barnett et al., "Interprocessor collective communication library", 1994).
func (p *Plan) partedBcast(rank, size, root int, b datatype.Buffer) {
	me := (rank - root + size) % size
	rankOf := func(i int) int { return (i + root) % size }
	whole := b
	b = p.bytes(b, rank == root)
	part := func(from, to int) datatype.Buffer { return chunks(b, from, to, size) }
	// A binomial tree: a rank that has the parts from its own on up to behind, which is not included, sends the upper
	// half of them to the rank of the first part in that half.
	mask := 1
	for ; mask < size && me&mask == 0; mask *= 2 {
	}
	behind := min(me+mask, size)
	if me == 0 {
		behind = size
	} else {
		p.receive(rankOf(me-mask), part(me, behind))
		p.waitMessages()
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if me+mask < behind {
			p.send(rankOf(me+mask), part(me+mask, behind))
			behind = me + mask
		}
	}
	p.waitMessages()
	next, previous := rankOf((me+1)%size), rankOf((me-1+size)%size)
	for i := range size - 1 {
		received, sent := (me-i-1+size)%size, (me-i+size)%size
		p.receive(previous, part(received, received+1))
		p.send(next, part(sent, sent+1))
		p.waitMessages()
	}
	if _, dense := whole.Dense(); !dense && me != 0 {
		p.copy(b, whole)
	}
}

// bytes returns the data of a buffer as bytes, so that ranks with different datatypes cut it at the same places. The
// bytes are the memory of the buffer if its data has no gaps, else other memory, to which a step copies the data if
// filled says that the buffer has any.
func (p *Plan) bytes(b datatype.Buffer, filled bool) datatype.Buffer {
	kind := datatype.Of(datatype.Byte)
	if _, dense := b.Dense(); dense {
		return datatype.Buffer{Base: b.First(), Count: b.Size(), Type: kind}
	}
	x := p.room(b.Size(), kind)
	if filled {
		p.copy(b, x)
	}
	return x
}

// partedReduce is Reduce for an operation that commutes: each part is combined around a ring, so that each rank gets
// one part of the result, and root gathers the parts.
func (p *Plan) partedReduce(rank, size, root int, op *reduce.Op, in, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	part := func(b datatype.Buffer, i int) datatype.Buffer {
		i = (i + size) % size
		return chunks(b, i, i+1, size)
	}
	acc := p.room(in.Count, in.Type)
	received := p.room(in.Count/size+1, in.Type)
	p.copy(in, acc)
	for i := range size - 1 {
		sent, here := part(acc, rank-i), part(acc, rank-i-1)
		operand := received.Part(0, here.Count)
		p.receive((rank-1+size)%size, operand)
		p.send((rank+1)%size, sent)
		p.waitMessages()
		p.reduce(op, operand, here)
	}
	if rank != root {
		p.send(root, part(acc, rank+1))
		p.waitMessages()
		return
	}
	for i := range size {
		if i != rank {
			p.receive(i, part(out, i+1))
		}
	}
	p.copy(part(acc, rank+1), part(out, rank+1))
	p.waitMessages()
}

// bruckAllgather is Allgather of equal blocks in as many rounds as size has bits. In each round a rank sends all blocks
// that it has to the rank at distance 1, 2, 4... (Bruck et al., "Efficient algorithms for all-to-all communications in
// multiport message-passing systems", 1997).
func (p *Plan) bruckAllgather(rank, size int, in datatype.Buffer, out *datatype.Blocks) {
	each := out.Each
	if in.Type == nil {
		in = out.Block(rank)
	}
	all := p.room(size*each, out.Type) // the block of this rank first, then those of the next ranks
	p.copy(in, all.Part(0, each))
	for have := 1; have < size; have *= 2 {
		n := min(have, size-have)
		p.receive((rank+have)%size, all.Part(have*each, n*each))
		p.send((rank-have+size)%size, all.Part(0, n*each))
		p.waitMessages()
	}
	p.copy(all.Part(0, (size-rank)*each), out.Part(rank*each, (size-rank)*each))
	p.copy(all.Part((size-rank)*each, rank*each), out.Part(0, rank*each))
}

// bruckAlltoall is Alltoall of equal blocks in as many rounds as size has bits. A block travels to its receiver by a
// step for each bit that the distance between the ranks has (Bruck et al., 1997).
func (p *Plan) bruckAlltoall(rank, size int, in, out *datatype.Blocks) {
	each := in.Each
	held := p.room(size*each, in.Type) // blocks by the distance that they travel
	block := func(i int) datatype.Buffer { return held.Part(i*each, each) }
	for i := range size {
		p.copy(in.Block((rank+i)%size), block(i))
	}
	packed, received := p.room((size+1)/2*each, in.Type), p.room((size+1)/2*each, in.Type)
	for bit := 1; bit < size; bit *= 2 {
		n := 0
		for i := range size {
			if i&bit != 0 {
				p.copy(block(i), packed.Part(n*each, each))
				n++
			}
		}
		p.receive((rank-bit+size)%size, received.Part(0, n*each))
		p.send((rank+bit)%size, packed.Part(0, n*each))
		p.waitMessages()
		n = 0
		for i := range size {
			if i&bit != 0 {
				p.copy(received.Part(n*each, each), block(i))
				n++
			}
		}
	}
	for i := range size {
		p.copy(block(i), out.Block((rank-i+size)%size))
	}
}

// equal reports whether all blocks have one size and one datatype.
func equal(b *datatype.Blocks) bool { return b.Counts == nil && b.Types == nil }
