package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// partedBcast is Bcast in two parts: root scatters b, and all give each other their parts, around a ring (van de
// Geijn's algorithm: Barnett et al., "Interprocessor collective communication library", 1994).
func (p *Plan) partedBcast(rank, size, root int, b datatype.Buffer) {
	me := (rank - root + size) % size
	real := func(i int) int { return (i + root) % size }
	whole := b
	b = p.bytes(b, rank == root)
	part := func(from, to int) datatype.Buffer { return chunks(b, from, to, size) }
	// A binomial tree: a rank that has the parts from its own on, up to behind, sends the upper half of them to the
	// one that begins there.
	mask := 1
	for ; mask < size && me&mask == 0; mask *= 2 {
	}
	behind := min(me+mask, size)
	if me == 0 {
		behind = size
	} else {
		p.receive(real(me-mask), part(me, behind))
		p.fence()
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if me+mask < behind {
			p.send(real(me+mask), part(me+mask, behind))
			behind = me + mask
		}
	}
	p.fence()
	next, last := real((me+1)%size), real((me-1+size)%size)
	for i := range size - 1 {
		came, goes := (me-i-1+size)%size, (me-i+size)%size
		p.receive(last, part(came, came+1))
		p.send(next, part(goes, goes+1))
		p.fence()
	}
	if _, dense := whole.Dense(); !dense && me != 0 {
		p.copy(b, whole)
	}
}

// bytes returns a buffer as bytes in their order, so that ranks whose datatypes differ cut it alike. It is the buffer
// itself if that is dense, else other memory, to which the buffer is copied if it is full.
func (p *Plan) bytes(b datatype.Buffer, full bool) datatype.Buffer {
	kind := datatype.Of(datatype.Byte)
	if _, dense := b.Dense(); dense {
		return datatype.Buffer{Base: b.First(), Count: b.Size(), Type: kind}
	}
	x := p.room(b.Size(), kind)
	if full {
		p.copy(b, x)
	}
	return x
}

// partedReduce is Reduce for an operation that commutes. Each rank combines one part of all operands, around a ring,
// and root gathers the parts.
func (p *Plan) partedReduce(rank, size, root int, op *reduce.Op, in, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	part := func(b datatype.Buffer, i int) datatype.Buffer {
		i = (i + size) % size
		return chunks(b, i, i+1, size)
	}
	acc := p.room(in.Count, in.Type)
	came := p.room(in.Count/size+1, in.Type)
	p.copy(in, acc)
	for i := range size - 1 {
		goes, here := part(acc, rank-i), part(acc, rank-i-1)
		in := came.Part(0, here.Count)
		p.receive((rank-1+size)%size, in)
		p.send((rank+1)%size, goes)
		p.fence()
		p.reduce(op, in, here)
	}
	if rank != root {
		p.send(root, part(acc, rank+1))
		p.fence()
		return
	}
	for i := range size {
		if i != rank {
			p.receive(i, part(out, i+1))
		}
	}
	p.copy(part(acc, rank+1), part(out, rank+1))
	p.fence()
}

// bruckAllgather is Allgather of equal blocks in as many rounds as size has bits. In each round a rank gives all that
// it has to the rank at a distance (Bruck et al., "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", 1997).
func (p *Plan) bruckAllgather(rank, size int, in datatype.Buffer, out *datatype.Blocks) {
	each := out.Each
	if in.Type == nil {
		in = out.Block(rank)
	}
	all := p.room(size*each, out.Type) // this rank's block first, then those behind it
	p.copy(in, all.Part(0, each))
	for have := 1; have < size; have *= 2 {
		n := min(have, size-have)
		p.receive((rank+have)%size, all.Part(have*each, n*each))
		p.send((rank-have+size)%size, all.Part(0, n*each))
		p.fence()
	}
	p.copy(all.Part(0, (size-rank)*each), out.Part(rank*each, (size-rank)*each))
	p.copy(all.Part((size-rank)*each, rank*each), out.Part(0, rank*each))
}

// bruckAlltoall is Alltoall of equal blocks in as many rounds as size has bits. A block goes to the rank at its
// distance by steps, one for each bit of the distance (Bruck et al., 1997).
func (p *Plan) bruckAlltoall(rank, size int, in, out *datatype.Blocks) {
	each := in.Each
	held := p.room(size*each, in.Type) // by distance
	block := func(i int) datatype.Buffer { return held.Part(i*each, each) }
	for i := range size {
		p.copy(in.Block((rank+i)%size), block(i))
	}
	packed, came := p.room((size+1)/2*each, in.Type), p.room((size+1)/2*each, in.Type)
	for bit := 1; bit < size; bit *= 2 {
		n := 0
		for i := range size {
			if i&bit != 0 {
				p.copy(block(i), packed.Part(n*each, each))
				n++
			}
		}
		p.receive((rank-bit+size)%size, came.Part(0, n*each))
		p.send((rank+bit)%size, packed.Part(0, n*each))
		p.fence()
		n = 0
		for i := range size {
			if i&bit != 0 {
				p.copy(came.Part(n*each, each), block(i))
				n++
			}
		}
	}
	for i := range size {
		p.copy(block(i), out.Block((rank-i+size)%size))
	}
}

// equal says that blocks are of one size, and of one datatype.
func equal(b *datatype.Blocks) bool { return b.Counts == nil && b.Types == nil }
