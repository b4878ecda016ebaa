package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Members are the processes of one host that share memory, as one of them sees them. In their plans data goes in
// pieces: a member publishes the next piece while others read. Each member that gets the result of a reduction combines
// the operands from the highest member to the lowest, so all members have the same result, to the last bit.
type Members struct {
	Me, Size int  // the number of this member, and how many there are
	Piece    int  // the length of the longest piece, in bytes
	Slots    int  // how many pieces a member may have published that their readers have not read
	InOrder  bool // operands are combined from the last member to the first also where there are more than flat
}

// flat is up to how many members each member reads from all others. More members form a tree.
const flat = 8

// publish publishes size bytes of the data of b, from byte at on, for a member or Everyone.
func (p *Plan) publish(number, reader int, b datatype.Buffer, at, size int) {
	p.Steps = append(p.Steps, Step{Kind: Publish, Peer: reader, From: b, Piece: Piece{Number: p.base + number, At: at, Size: size}})
}

// take copies a whole piece of a member to the data of b, from byte at on.
func (p *Plan) take(member, number int, b datatype.Buffer, at, size int) {
	p.Steps = append(p.Steps, Step{Kind: Take, Peer: member, Into: b, Piece: Piece{Number: p.base + number, At: at, Size: size, Bytes: size}})
}

// fold combines the part of a piece behind skip, which is as long as into, with into.
func (p *Plan) fold(op *reduce.Op, member, number, size, skip int, into datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Fold, Peer: member, Into: into, Op: op, Piece: Piece{Number: p.base + number, Size: size, Skip: skip}})
}

// release lets the others use the slots of the pieces up to a number again: this member has read them.
func (p *Plan) release(number int) {
	p.Steps = append(p.Steps, Step{Kind: Release, Piece: Piece{Number: p.base + number}})
}

// releaseIfAwaited is release where all members read the pieces in the order of their numbers. It omits the step for
// the first pieces: no writer waits for these before the end of the operation, which releases all pieces.
func (p *Plan) releaseIfAwaited(m Members, number int) {
	if number >= m.Slots/2 {
		p.release(number)
	}
}

// count returns in how many pieces size bytes go.
func (m Members) count(size int) int { return (size + m.Piece - 1) / m.Piece }

// size returns the length of piece i of all bytes.
func (m Members) size(i, all int) int { return min(m.Piece, all-i*m.Piece) }

// SharedBarrier is Barrier: all members publish an empty piece. In a tree members publish to their leaders, which tell
// them when all members have come.
func (p *Plan) SharedBarrier(m Members) {
	p.Shares = true
	if m.Size <= flat {
		p.publish(0, Everyone, empty, 0, 0)
		for i := range m.Size {
			if i != m.Me {
				p.take(i, 0, empty, 0, 0)
			}
		}
		return
	}
	p.GatherIn(m)
	p.LetGo(m)
}

// GatherIn is the first half of a barrier: member 0 leaves it when all members have entered it.
func (p *Plan) GatherIn(m Members) {
	p.Shares = true
	p.climb(m, func(child int) { p.take(child, 0, empty, 0, 0) }, func(leader int) { p.publish(0, leader, empty, 0, 0) })
}

// LetGo is the second half: a member leaves it when member 0 has entered it.
func (p *Plan) LetGo(m Members) {
	p.Shares = true
	p.descend(m, func(leader int) { p.take(leader, 1, empty, 0, 0) }, func() { p.publish(1, Everyone, empty, 0, 0) })
}

// climb visits the neighbors of this member in a tree, from the leaves up. Of each flat members that follow each other
// the first one leads the others; of each flat leaders the first one leads the others, and so on. climb calls fromChild
// for each child, level by level, and last toLeader, except at member 0.
func (p *Plan) climb(m Members, fromChild func(child int), toLeader func(leader int)) {
	for span := 1; span < m.Size; span *= flat {
		if place := m.Me / span % flat; place != 0 {
			toLeader(m.Me - place*span)
			return
		}
		for i := 1; i < flat && m.Me+i*span < m.Size; i++ {
			fromChild(m.Me + i*span)
		}
	}
}

// descend goes down that tree: it calls fromLeader first, except at member 0, and then toChildren once, if this member
// leads others.
func (p *Plan) descend(m Members, fromLeader func(leader int), toChildren func()) {
	leads := false
	for span := 1; span < m.Size; span *= flat {
		if place := m.Me / span % flat; place != 0 {
			fromLeader(m.Me - place*span)
			break
		}
		leads = leads || m.Me+span < m.Size
	}
	if leads {
		toChildren()
	}
}

// SharedBcast is Bcast: root publishes, the others read.
func (p *Plan) SharedBcast(m Members, root int, b datatype.Buffer) {
	p.Shares = true
	all := b.Size()
	for i := range m.count(all) {
		if m.Me == root {
			p.publish(i, Everyone, b, i*m.Piece, m.size(i, all))
			continue
		}
		p.take(root, i, b, i*m.Piece, m.size(i, all))
		p.releaseIfAwaited(m, i)
	}
	if all == 0 { // an empty piece, so that members find counts that differ also where one is 0
		if m.Me == root {
			p.publish(0, Everyone, b, 0, 0)
		} else {
			p.take(root, 0, b, 0, 0)
		}
	}
}

// Folds reports whether members can combine elements of a datatype in shared memory.
func (m Members) Folds(t *datatype.Type) bool {
	return t.Dense() && t.Size() <= m.Piece && t.Size() > 0
}

// elements returns how many elements of a datatype fit into a piece.
func (m Members) elements(t *datatype.Type) int { return m.Piece / t.Size() }

// combine combines pieces of the members up to behind, which is not included, and stores the result in into. It takes
// the part of each piece behind skip that is as long as into.
func (p *Plan) combine(op *reduce.Op, behind, number, size, skip int, into datatype.Buffer) {
	last := Step{Kind: Take, Peer: behind - 1, Into: into, Op: op, Piece: Piece{Number: p.base + number, Size: size, Skip: skip, Bytes: into.Size()}}
	next := behind - 2
	if next >= 0 {
		last.Kind, last.Peer, last.Other = Merge, next, behind-1
		next--
	}
	p.Steps = append(p.Steps, last)
	for ; next >= 0; next-- {
		p.fold(op, next, number, size, skip, into)
	}
}

// SharedReduce is Reduce, or Allreduce if root is Everyone. Each member that wants the result reads all operands; of
// long data each member combines a part, and publishes it; of short data of many members leaders combine in a tree.
func (p *Plan) SharedReduce(m Members, root int, op *reduce.Op, in, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	p.Shares = true
	t := in.Type
	per := m.elements(t)
	pieces := (in.Count + per - 1) / per
	wants := root == Everyone || root == m.Me
	part := func(i int) (first, n int) { return i * per, min(per, in.Count-i*per) }
	switch {
	case in.Count == 0:
		p.publish(0, root, empty, 0, 0)
		for i := range m.Size {
			if wants && i != m.Me {
				p.take(i, 0, empty, 0, 0)
			}
		}
	case m.Size > 2 && in.Size() >= p.table().SharedParts:
		p.parts(m, root, op, in, out, pieces, part)
	case m.Size > flat && !m.InOrder:
		p.tree(m, root, op, in, out, pieces, part)
	default:
		publish := func(i int) {
			if i < pieces {
				first, n := part(i)
				p.publish(i, root, in, first*t.Size(), n*t.Size())
			}
		}
		publish(0)
		for i := range pieces {
			publish(i + 1)
			if wants {
				first, n := part(i)
				p.combine(op, m.Size, i, n*t.Size(), 0, out.Part(first, n))
				p.releaseIfAwaited(m, i)
			}
		}
	}
}

// parts lets each member combine a part of each piece, and publish the result. Pieces with even numbers are operands,
// pieces with odd numbers results.
func (p *Plan) parts(m Members, root int, op *reduce.Op, in, out datatype.Buffer, pieces int, piece func(int) (first, n int)) {
	t := in.Type
	wants := root == Everyone || root == m.Me
	acc := p.room((m.elements(t)+m.Size-1)/m.Size, t)
	publish := func(i int) {
		if i < pieces {
			first, n := piece(i)
			p.publish(2*i, Everyone, in, first*t.Size(), n*t.Size())
		}
	}
	publish(0)
	for i := range pieces {
		first, n := piece(i)
		own, behind := m.Me*n/m.Size, (m.Me+1)*n/m.Size
		sum := acc.Part(0, behind-own)
		if behind > own {
			p.combine(op, m.Size, 2*i, n*t.Size(), own*t.Size(), sum)
		}
		p.publish(2*i+1, root, sum, 0, sum.Size())
		p.releaseIfAwaited(m, 2*i)
		publish(i + 1)
		if !wants {
			continue
		}
		for j := range m.Size {
			from, to := j*n/m.Size, (j+1)*n/m.Size
			p.take(j, 2*i+1, out, (first+from)*t.Size(), (to-from)*t.Size())
		}
		p.releaseIfAwaited(m, 2*i+1)
	}
}

// tree lets leaders combine the operands of the members that they lead. Pieces with even numbers are operands for a
// leader, pieces with odd numbers results.
func (p *Plan) tree(m Members, root int, op *reduce.Op, in, out datatype.Buffer, pieces int, piece func(int) (first, n int)) {
	t := in.Type
	acc := p.room(min(in.Count, m.elements(t)), t)
	for i := range pieces {
		first, n := piece(i)
		here, size := acc.Part(0, n), n*t.Size()
		sum := false // here has a value
		p.up(m, op, 2*i, size, in.Part(first, n), here, &sum)
		p.releaseIfAwaited(m, 2*i)
		value := here
		if !sum {
			value = in.Part(first, n)
		}
		switch {
		case root == Everyone:
			into := out.Part(first, n)
			if m.Me == 0 {
				p.copy(value, into)
			}
			p.descend(m, func(leader int) { p.take(leader, 2*i+1, into, 0, size) }, func() { p.publish(2*i+1, Everyone, into, 0, size) })
		case m.Me == 0 && root == 0:
			p.copy(value, out.Part(first, n))
		case m.Me == 0:
			p.publish(2*i+1, root, value, 0, size)
		case m.Me == root:
			p.take(0, 2*i+1, out.Part(first, n), 0, size)
		}
		p.releaseIfAwaited(m, 2*i+1)
	}
}

// up combines own with the operands of the children, and publishes the result for the leader. If there are children it
// stores the result in here, and sets sum.
func (p *Plan) up(m Members, op *reduce.Op, number, size int, own, here datatype.Buffer, sum *bool) {
	var children []int
	p.climb(m, func(child int) { children = append(children, child) }, func(leader int) {
		*sum = p.gatherUp(op, children, number, size, own, here)
		value := here
		if !*sum {
			value = own
		}
		p.publish(number, leader, value, 0, size)
	})
	if m.Me == 0 {
		*sum = p.gatherUp(op, children, number, size, own, here)
	}
}

// gatherUp combines own with the operands of the children, which follow in the order of members, and stores the result
// in here. It reports whether there are children.
func (p *Plan) gatherUp(op *reduce.Op, children []int, number, size int, own, here datatype.Buffer) bool {
	if len(children) == 0 {
		return false
	}
	last := len(children) - 1
	p.take(children[last], number, here, 0, size)
	for i := last - 1; i >= 0; i-- {
		p.fold(op, children[i], number, size, 0, here)
	}
	p.reduce(op, own, here)
	return true
}

// SharedScan is Scan, or Exscan if inclusive is false: each member reads the operands of the lower members.
func (p *Plan) SharedScan(m Members, inclusive bool, op *reduce.Op, in, out datatype.Buffer) {
	p.Shares = true
	if in.Type == nil {
		in = out
	}
	t := in.Type
	per, behind := m.elements(t), m.Me
	if inclusive {
		behind++
	}
	pieces := (in.Count + per - 1) / per
	for i := range pieces {
		first, n := i*per, min(per, in.Count-i*per)
		p.publish(i, Everyone, in, first*t.Size(), n*t.Size())
		if behind > 0 {
			p.combine(op, behind, i, n*t.Size(), 0, out.Part(first, n))
		}
		p.releaseIfAwaited(m, i)
	}
}

// SharedReduceScatter is ReduceScatter. Piece i of the block for member j has the number i*Size + j.
func (p *Plan) SharedReduceScatter(m Members, op *reduce.Op, in *datatype.Blocks, out datatype.Buffer) {
	p.Shares = true
	t := in.Type
	per, pieces := m.elements(t), 0
	for j := range m.Size {
		b := in.Block(j)
		pieces = max(pieces, (b.Count+per-1)/per)
	}
	for i := range pieces {
		for j := range m.Size {
			b := in.Block(j)
			first := i * per
			if first >= b.Count {
				continue
			}
			n := min(per, b.Count-first)
			p.publish(i*m.Size+j, j, b, first*t.Size(), n*t.Size())
			if j == m.Me {
				p.combine(op, m.Size, i*m.Size+j, n*t.Size(), 0, out.Part(first, n))
				p.release(i*m.Size + j)
			}
		}
	}
}

// SharedGather is Gather: the members publish their blocks, and root reads them.
func (p *Plan) SharedGather(m Members, root int, in datatype.Buffer, out *datatype.Blocks) {
	p.Shares = true
	if m.Me != root {
		all := in.Size()
		p.publish(0, root, in, 0, m.size(0, all)) // also of an empty block
		for i := 1; i < m.count(all); i++ {
			p.publish(i, root, in, i*m.Piece, m.size(i, all))
		}
		return
	}
	p.collect(m, out)
	if in.Type != nil {
		p.copy(in, out.Block(root))
	}
}

// collect reads the blocks that all other members publish.
func (p *Plan) collect(m Members, out *datatype.Blocks) {
	for i, more := 0, true; more; i++ {
		more = false
		for j := range m.Size {
			b := out.Block(j)
			all := b.Size()
			if j != m.Me && (i == 0 || i < m.count(all)) {
				p.take(j, i, b, i*m.Piece, m.size(i, all))
			}
			more = more || j != m.Me && i+1 < m.count(all)
		}
		p.releaseIfAwaited(m, i)
	}
}

// SharedAllgather is Allgather: the members publish their blocks, and read those of the others.
func (p *Plan) SharedAllgather(m Members, in datatype.Buffer, out *datatype.Blocks) {
	p.Shares = true
	block := out.Block(m.Me)
	keep := func(int) {} // copies a piece of in to out, just after it was published, when it is in the cache
	switch {
	case in.Type == nil:
		in = block
	case in.Type == block.Type && in.Count == block.Count && in.Type.Size() > 0 && m.Piece%in.Type.Size() == 0:
		each := m.Piece / in.Type.Size()
		keep = func(i int) {
			if n := min(each, in.Count-i*each); n > 0 {
				p.copy(in.Part(i*each, n), block.Part(i*each, n))
			}
		}
	default:
		p.copy(in, block)
	}
	pieces, all := 1, in.Size()
	for j := range m.Size {
		b := out.Block(j)
		pieces = max(pieces, m.count(b.Size()))
	}
	publish := func(i int) {
		if i == 0 || i < m.count(all) {
			p.publish(i, Everyone, in, i*m.Piece, m.size(i, all))
			keep(i)
		}
	}
	publish(0)
	for i := range pieces {
		publish(i + 1)
		for j := 1; j < m.Size; j++ {
			from := (m.Me + j) % m.Size
			if b := out.Block(from); i == 0 || i < m.count(b.Size()) {
				p.take(from, i, b, i*m.Piece, m.size(i, b.Size()))
			}
		}
		p.releaseIfAwaited(m, i)
	}
}

// SharedScatter is Scatter: root publishes the blocks, and each member reads its own. Piece i for member j has the
// number i*Size + j.
func (p *Plan) SharedScatter(m Members, root int, in *datatype.Blocks, out datatype.Buffer) {
	p.Shares = true
	if m.Me == root {
		p.hand(m, in)
		if out.Type != nil {
			p.copy(in.Block(root), out)
		}
		return
	}
	all := out.Size()
	for i := range max(m.count(all), 1) {
		p.take(root, i*m.Size+m.Me, out, i*m.Piece, m.size(i, all))
		p.release(i*m.Size + m.Me)
	}
}

// hand publishes the blocks for all other members.
func (p *Plan) hand(m Members, in *datatype.Blocks) {
	for i, more := 0, true; more; i++ {
		more = false
		for j := range m.Size {
			b := in.Block(j)
			all := b.Size()
			if j != m.Me && (i == 0 || i < m.count(all)) {
				p.publish(i*m.Size+j, j, b, i*m.Piece, m.size(i, all))
			}
			more = more || j != m.Me && i+1 < m.count(all)
		}
	}
}

// SharedAlltoall is Alltoall that is not in place. If all blocks are equal and fit together into a piece, a member
// publishes them in one. Else piece i for the member at distance j has the number i*Size + j, and all members go
// through the distances in the same order.
func (p *Plan) SharedAlltoall(m Members, in, out *datatype.Blocks) {
	p.Shares = true
	p.copy(in.Block(m.Me), out.Block(m.Me))
	if in.Types == nil && in.Counts == nil && out.Types == nil && out.Counts == nil && in.Each*in.Type.Size()*m.Size <= m.Piece {
		one := in.Each * in.Type.Size()
		p.publish(0, Everyone, in.Part(0, in.Each*m.Size), 0, one*m.Size)
		for j := 1; j < m.Size; j++ {
			from := (m.Me + j) % m.Size
			p.Steps = append(p.Steps, Step{Kind: Take, Peer: from, Into: out.Block(from), Piece: Piece{Number: p.base, Size: one * m.Size, Skip: m.Me * one, Bytes: one}})
		}
		return
	}
	pieces := 1
	for j := range m.Size {
		to, from := in.Block(j), out.Block(j)
		pieces = max(pieces, m.count(to.Size()), m.count(from.Size()))
	}
	for i := range pieces {
		for first := 1; first < m.Size; first += m.Slots / 2 {
			behind := min(first+m.Slots/2, m.Size)
			for j := first; j < behind; j++ {
				to := (m.Me + j) % m.Size
				if b := in.Block(to); i == 0 || i < m.count(b.Size()) {
					p.publish(i*m.Size+j, to, b, i*m.Piece, m.size(i, b.Size()))
				}
			}
			for j := first; j < behind; j++ {
				from := (m.Me - j + m.Size) % m.Size
				if b := out.Block(from); i == 0 || i < m.count(b.Size()) {
					p.take(from, i*m.Size+j, b, i*m.Piece, m.size(i, b.Size()))
				}
			}
			p.release(i*m.Size + behind - 1)
		}
	}
}
