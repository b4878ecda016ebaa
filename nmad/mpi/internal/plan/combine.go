package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Reduce stores x[0] op x[1] op ... in the buffer out of root, where x[i] is the operand of rank i: its buffer in, or
// its buffer out if in is the zero Buffer. The ranks form a binomial tree. Its top is root if the operation commutes.
// Otherwise the top is rank 0, so that operands are combined in the order of the ranks, and rank 0 sends the result to
// root.
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
	callers := true // acc is the caller's buffer, which must not change
	for ; mask < size && me&mask == 0; mask *= 2 {
		if me|mask >= size {
			continue
		}
		received := spare
		if received.Type == nil {
			received = p.room(acc.Count, acc.Type)
		}
		p.receive((me|mask+top)%size, received)
		p.waitMessages()
		p.reduce(op, acc, received)
		if spare = (datatype.Buffer{}); !callers {
			spare = acc
		}
		acc, callers = received, false
	}
	if me != 0 {
		p.send((me&^mask+top)%size, acc)
		p.waitMessages()
		if rank == root {
			p.receive(top, out)
			p.waitMessages()
		}
		return
	}
	if rank == root {
		p.copy(acc, out)
		return
	}
	p.send(root, acc)
	p.waitMessages()
}

// Allreduce stores the result of Reduce in the buffer out of all ranks. Short operands, and operands of an operation
// that does not commute, are combined by recursive doubling. Of other operands each rank combines a part (recursive
// halving), and all ranks send each other their parts (Rabenseifner, "Optimization of collective reduction operations",
// 2004).
func (p *Plan) Allreduce(rank, size int, op *reduce.Op, in datatype.Buffer, out datatype.Buffer) {
	if in.Type != nil {
		p.copy(in, out)
	}
	if size == 1 || out.Count == 0 {
		return
	}
	received := p.room(out.Count, out.Type)
	doubling := 1 // ranks that take part in the doubling: a power of 2
	for doubling*2 <= size {
		doubling *= 2
	}
	extra := size - doubling
	// The first 2*extra ranks are pairs; the odd ones take part for both.
	if rank < 2*extra && rank%2 == 0 {
		p.send(rank+1, out)
		p.waitMessages()
		p.receive(rank+1, out)
		p.waitMessages()
		return
	}
	me := rank - extra
	if rank < 2*extra {
		me = rank / 2
		p.receive(rank-1, received)
		p.waitMessages()
		p.reduce(op, received, out)
	}
	rankOf := func(me int) int {
		if me < extra {
			return 2*me + 1
		}
		return me + extra
	}
	if op.Commutes() && out.Count >= doubling && out.Size() >= p.table().Halving {
		p.halve(me, doubling, rankOf, op, out, received)
	} else {
		p.double(me, doubling, rankOf, op, out, received)
	}
	if rank < 2*extra {
		p.send(rank-1, out)
		p.waitMessages()
	}
}

// double is recursive doubling among size ranks, a power of 2: each rank exchanges what it has combined with the rank
// at distance 1, 2, 4... The ranks are numbered from 0; rankOf returns the rank of a number. The operand and the result
// are in out; spare is memory of that size.
func (p *Plan) double(me, size int, rankOf func(int) int, op *reduce.Op, out, spare datatype.Buffer) {
	acc := out
	for mask := 1; mask < size; mask *= 2 {
		peer := me ^ mask
		p.receive(rankOf(peer), spare)
		p.send(rankOf(peer), acc)
		p.waitMessages()
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

// halve is recursive halving among size ranks, a power of 2: each rank combines the chunk of its number. Then all ranks
// send each other their chunks. The parameters are those of double.
func (p *Plan) halve(me, size int, rankOf func(int) int, op *reduce.Op, out, spare datatype.Buffer) {
	from, to := 0, size
	for mask := size / 2; mask > 0; mask /= 2 {
		peer, middle := me^mask, (from+to)/2
		keep, give := [2]int{from, middle}, [2]int{middle, to}
		if me&mask != 0 {
			keep, give = give, keep
		}
		here := chunks(spare, keep[0], keep[1], size)
		p.receive(rankOf(peer), here)
		p.send(rankOf(peer), chunks(out, give[0], give[1], size))
		p.waitMessages()
		p.reduce(op, here, chunks(out, keep[0], keep[1], size))
		from, to = keep[0], keep[1]
	}
	for mask := 1; mask < size; mask *= 2 {
		peer := me ^ mask
		first, peerFirst := me&^(mask-1), peer&^(mask-1)
		p.receive(rankOf(peer), chunks(out, peerFirst, peerFirst+mask, size))
		p.send(rankOf(peer), chunks(out, first, first+mask, size))
		p.waitMessages()
	}
}

// ReduceScatter stores block i of x[0] op x[1] op ... in the buffer out of rank i, where x[j] is the buffer in of rank
// j.
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
	block := in.Block(rank)
	acc := p.room(block.Count, block.Type)
	received := p.room(block.Count, block.Type)
	p.copy(block, acc)
	for i := 1; i < size; i++ {
		to, from := (rank+i)%size, (rank-i+size)%size
		p.receive(from, received)
		p.send(to, in.Block(to))
		p.waitMessages()
		p.reduce(op, received, acc)
	}
	p.copy(acc, out)
}

// Scan stores x[0] op ... op x[rank] in the buffer out, where x[i] is the operand of rank i: its buffer in, or its
// buffer out if in is the zero Buffer.
func (p *Plan) Scan(rank, size int, op *reduce.Op, in datatype.Buffer, out datatype.Buffer) {
	if in.Type != nil {
		p.copy(in, out)
	}
	if out.Count == 0 {
		return
	}
	all := p.room(out.Count, out.Type)
	p.copy(out, all)
	p.prefix(rank, size, op, all, func(lower datatype.Buffer) { p.reduce(op, lower, out) })
}

// Exscan stores x[0] op ... op x[rank-1] in the buffer out, where x[i] is an operand as for Scan. At rank 0 it stores
// nothing.
func (p *Plan) Exscan(rank, size int, op *reduce.Op, in datatype.Buffer, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	if out.Count == 0 {
		return
	}
	all := p.room(out.Count, out.Type)
	p.copy(in, all)
	some := false // out has a value
	p.prefix(rank, size, op, all, func(lower datatype.Buffer) {
		if some {
			p.reduce(op, lower, out)
		} else {
			p.copy(lower, out)
		}
		some = true
	})
}

// prefix has each rank exchange all with the rank at distance 1, 2, 4... all has the operand of the rank at first, and
// then what the operands of a growing group of ranks combine to. fromLower is called with what a lower rank has sent.
func (p *Plan) prefix(rank, size int, op *reduce.Op, all datatype.Buffer, fromLower func(lower datatype.Buffer)) {
	received := p.room(all.Count, all.Type)
	for mask := 1; mask < size; mask *= 2 {
		peer := rank ^ mask
		if peer >= size {
			continue
		}
		p.receive(peer, received)
		p.send(peer, all)
		p.waitMessages()
		if peer < rank {
			fromLower(received)
			p.reduce(op, received, all)
		} else {
			p.reduce(op, all, received)
			all, received = received, all
		}
	}
}

// OrderedReduce is Reduce that combines the operands one after the other, from the last rank to the first, at root. So
// its result is that of ranks that share memory, to the last bit.
func (p *Plan) OrderedReduce(rank, size, root int, op *reduce.Op, in, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	if rank != root {
		p.send(root, in)
		p.waitMessages()
		return
	}
	operands := make([]datatype.Buffer, size)
	for i := range operands {
		if operands[i] = in; i != rank {
			operands[i] = p.room(in.Count, in.Type)
			p.receive(i, operands[i])
		}
	}
	p.waitMessages()
	p.combineOrdered(op, operands, out)
}

// combineOrdered combines operands, of which there are some, from the last to the first, and stores the result in out.
func (p *Plan) combineOrdered(op *reduce.Op, operands []datatype.Buffer, out datatype.Buffer) {
	last := len(operands) - 1
	acc := p.room(out.Count, out.Type)
	p.copy(operands[last], acc)
	for i := last - 1; i >= 0; i-- {
		p.reduce(op, operands[i], acc)
	}
	p.copy(acc, out)
}

// OrderedAllreduce is Allreduce in the order of OrderedReduce.
func (p *Plan) OrderedAllreduce(rank, size int, op *reduce.Op, in, out datatype.Buffer) {
	p.OrderedReduce(rank, size, 0, op, in, out)
	p.Bcast(rank, size, 0, out)
}

// OrderedReduceScatter is ReduceScatter in the order of OrderedReduce.
func (p *Plan) OrderedReduceScatter(rank, size int, op *reduce.Op, in *datatype.Blocks, out datatype.Buffer) {
	blocks := *in
	blocks.Buffer = p.room(in.Count, in.Type)
	p.OrderedReduce(rank, size, 0, op, in.Buffer, blocks.Buffer)
	p.Scatter(rank, size, 0, &blocks, out)
}

// OrderedScan is Scan in the order of OrderedReduce, or Exscan if inclusive is false. Each rank sends its operand to
// all higher ranks.
func (p *Plan) OrderedScan(rank, size int, inclusive bool, op *reduce.Op, in, out datatype.Buffer) {
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
	p.waitMessages()
	if inclusive {
		operands = append(operands, in)
	}
	if len(operands) > 0 {
		p.combineOrdered(op, operands, out)
	}
}
