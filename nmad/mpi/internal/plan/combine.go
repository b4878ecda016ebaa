package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Reduce leaves in[0] op in[1] op ... of all ranks in out at root. If in is the zero Buffer the operand lies in out.
// The ranks form a binomial tree. Its root is root if the operation commutes. Otherwise it is rank 0, where the
// operands stand in the order of the ranks, and rank 0 sends the result on.
func (p *Plan) Reduce(rank, size, root int, op *reduce.Op, in datatype.Buffer, out datatype.Buffer) {
	if b := in; op.Commutes() && size >= fewRanks {
		if b.Type == nil {
			b = out
		}
		if b.Size() >= p.table().PartedReduce && b.Count >= size {
			p.partedReduce(rank, size, root, op, in, out)
			return
		}
	}
	top := root
	if !op.Commutes() {
		top = 0
	}
	me, mask := (rank-top+size)%size, 1
	var acc, spare datatype.Buffer
	if rank == root && in.Type == nil {
		acc = p.room(out.Count, out.Type)
		p.copy(out, acc)
	} else {
		acc = in
	}
	mine := true // acc is the caller's, which is not to change
	for ; mask < size && me&mask == 0; mask *= 2 {
		if me|mask >= size {
			continue
		}
		came := spare
		if came.Type == nil {
			came = p.room(acc.Count, acc.Type)
		}
		p.receive((me|mask+top)%size, came)
		p.fence()
		p.reduce(op, acc, came)
		if spare = (datatype.Buffer{}); !mine {
			spare = acc
		}
		acc, mine = came, false
	}
	if me != 0 {
		p.send((me&^mask+top)%size, acc)
		p.fence()
		if rank == root {
			p.receive(top, out)
			p.fence()
		}
		return
	}
	if rank == root {
		p.copy(acc, out)
		return
	}
	p.send(root, acc)
	p.fence()
}

// Allreduce leaves in[0] op in[1] op ... of all ranks in out at all. If in is the zero Buffer the operand lies in
// out. Short operands, and those whose operation does not commute, go by recursive doubling. Of others each rank
// reduces a part (recursive halving), and all give each other their parts (Rabenseifner, "Optimization of collective
// reduction operations", 2004).
func (p *Plan) Allreduce(rank, size int, op *reduce.Op, in datatype.Buffer, out datatype.Buffer) {
	if in.Type != nil {
		p.copy(in, out)
	}
	if size == 1 || out.Count == 0 {
		return
	}
	came := p.room(out.Count, out.Type)
	most := 1 // ranks that take part in the doubling: a power of 2
	for most*2 <= size {
		most *= 2
	}
	extra := size - most
	// The first 2*extra ranks are pairs; the odd ones take part for both.
	if rank < 2*extra && rank%2 == 0 {
		p.send(rank+1, out)
		p.fence()
		p.receive(rank+1, out)
		p.fence()
		return
	}
	me := rank - extra
	if rank < 2*extra {
		me = rank / 2
		p.receive(rank-1, came)
		p.fence()
		p.reduce(op, came, out)
	}
	real := func(me int) int {
		if me < extra {
			return 2*me + 1
		}
		return me + extra
	}
	if op.Commutes() && out.Count >= most && out.Size() >= p.table().Halving {
		p.halve(me, most, real, op, out, came)
	} else {
		p.double(me, most, real, op, out, came)
	}
	if rank < 2*extra {
		p.send(rank-1, out)
		p.fence()
	}
}

// double has each of size ranks, a power of 2, exchange all that it has with the rank at distance 1, 2, 4...
func (p *Plan) double(me, size int, real func(int) int, op *reduce.Op, out, came datatype.Buffer) {
	acc, spare := out, came
	for mask := 1; mask < size; mask *= 2 {
		peer := me ^ mask
		p.receive(real(peer), spare)
		p.send(real(peer), acc)
		p.fence()
		if peer < me || op.Commutes() {
			p.reduce(op, spare, acc)
		} else {
			p.reduce(op, acc, spare)
			acc, spare = spare, acc
		}
	}
	if acc.Base != out.Base {
		p.copy(acc, out)
	}
}

// halve has each of size ranks, a power of 2, reduce the chunk of its number. Then all ranks give each other their
// chunks.
func (p *Plan) halve(me, size int, real func(int) int, op *reduce.Op, out, came datatype.Buffer) {
	from, to := 0, size
	for mask := size / 2; mask > 0; mask /= 2 {
		peer, middle := me^mask, (from+to)/2
		keep, give := [2]int{from, middle}, [2]int{middle, to}
		if me&mask != 0 {
			keep, give = give, keep
		}
		here := chunks(came, keep[0], keep[1], size)
		p.receive(real(peer), here)
		p.send(real(peer), chunks(out, give[0], give[1], size))
		p.fence()
		p.reduce(op, here, chunks(out, keep[0], keep[1], size))
		from, to = keep[0], keep[1]
	}
	for mask := 1; mask < size; mask *= 2 {
		peer := me ^ mask
		mine, theirs := me&^(mask-1), peer&^(mask-1)
		p.receive(real(peer), chunks(out, theirs, theirs+mask, size))
		p.send(real(peer), chunks(out, mine, mine+mask, size))
		p.fence()
	}
}

// ReduceScatter leaves block i of in[0] op in[1] op ... in out at rank i.
func (p *Plan) ReduceScatter(rank, size int, op *reduce.Op, in *datatype.Blocks, out datatype.Buffer) {
	if !op.Commutes() {
		whole := in.Buffer
		result := p.room(whole.Count, whole.Type)
		p.Reduce(rank, size, 0, op, whole, result)
		blocks := *in
		blocks.Buffer = result
		p.Scatter(rank, size, 0, &blocks, out)
		return
	}
	mine := in.Block(rank)
	acc := p.room(mine.Count, mine.Type)
	came := p.room(mine.Count, mine.Type)
	p.copy(mine, acc)
	for i := 1; i < size; i++ {
		to, from := (rank+i)%size, (rank-i+size)%size
		p.receive(from, came)
		p.send(to, in.Block(to))
		p.fence()
		p.reduce(op, came, acc)
	}
	p.copy(acc, out)
}

// Scan leaves in[0] op ... op in[rank] in out. in is the zero Buffer where it lies in out.
func (p *Plan) Scan(rank, size int, op *reduce.Op, in datatype.Buffer, out datatype.Buffer) {
	if in.Type != nil {
		p.copy(in, out)
	}
	if out.Count == 0 {
		return
	}
	all := p.room(out.Count, out.Type) // of the ranks that me has heard of
	p.copy(out, all)
	p.prefix(rank, size, op, all, func(came datatype.Buffer) { p.reduce(op, came, out) })
}

// Exscan leaves in[0] op ... op in[rank-1] in out, and nothing at rank 0. in is the zero Buffer where it lies in out.
func (p *Plan) Exscan(rank, size int, op *reduce.Op, in datatype.Buffer, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	if out.Count == 0 {
		return
	}
	all := p.room(out.Count, out.Type)
	p.copy(in, all)
	some := false
	p.prefix(rank, size, op, all, func(came datatype.Buffer) {
		if some {
			p.reduce(op, came, out)
		} else {
			p.copy(came, out)
		}
		some = true
	})
}

// prefix has each rank exchange all with the rank at distance 1, 2, 4...: all combines what the rank and those that
// it has heard of give. lower is called with what comes from a lower rank.
func (p *Plan) prefix(rank, size int, op *reduce.Op, all datatype.Buffer, lower func(came datatype.Buffer)) {
	came := p.room(all.Count, all.Type)
	for mask := 1; mask < size; mask *= 2 {
		peer := rank ^ mask
		if peer >= size {
			continue
		}
		p.receive(peer, came)
		p.send(peer, all)
		p.fence()
		if peer < rank {
			lower(came)
			p.reduce(op, came, all)
		} else {
			p.reduce(op, all, came)
			all, came = came, all
		}
	}
}

// OrderedReduce is Reduce that combines the operands one after the other, from the last rank to the first. So its
// result is that of ranks that share memory, to the last bit. root gathers the operands.
func (p *Plan) OrderedReduce(rank, size, root int, op *reduce.Op, in, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	if rank != root {
		p.send(root, in)
		p.fence()
		return
	}
	operands := make([]datatype.Buffer, size)
	for i := range operands {
		if operands[i] = in; i != rank {
			operands[i] = p.room(in.Count, in.Type)
			p.receive(i, operands[i])
		}
	}
	p.fence()
	acc := p.room(in.Count, in.Type)
	p.copy(operands[size-1], acc)
	for i := size - 2; i >= 0; i-- {
		p.reduce(op, operands[i], acc)
	}
	p.copy(acc, out)
}

// OrderedAllreduce is Allreduce in the manner of OrderedReduce.
func (p *Plan) OrderedAllreduce(rank, size int, op *reduce.Op, in, out datatype.Buffer) {
	p.OrderedReduce(rank, size, 0, op, in, out)
	p.Bcast(rank, size, 0, out)
}

// OrderedReduceScatter is ReduceScatter in the manner of OrderedReduce.
func (p *Plan) OrderedReduceScatter(rank, size int, op *reduce.Op, in *datatype.Blocks, out datatype.Buffer) {
	blocks := *in
	blocks.Buffer = p.room(in.Count, in.Type)
	p.OrderedReduce(rank, size, 0, op, in.Buffer, blocks.Buffer)
	p.Scatter(rank, size, 0, &blocks, out)
}

// OrderedScan is Scan in the manner of OrderedReduce, or Exscan without own. Each rank sends its operand to the ranks
// behind it.
func (p *Plan) OrderedScan(rank, size int, own bool, op *reduce.Op, in, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	operands := make([]datatype.Buffer, rank, rank+1)
	for i := range operands {
		operands[i] = p.room(in.Count, in.Type)
		p.receive(i, operands[i])
	}
	for i := rank + 1; i < size; i++ {
		p.send(i, in)
	}
	p.fence()
	if own {
		operands = append(operands, in)
	}
	if len(operands) == 0 {
		return
	}
	last := len(operands) - 1
	acc := p.room(in.Count, in.Type)
	p.copy(operands[last], acc)
	for i := last - 1; i >= 0; i-- {
		p.reduce(op, operands[i], acc)
	}
	p.copy(acc, out)
}
