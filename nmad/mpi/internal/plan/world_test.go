package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// world follows the plans of all ranks of a group, in an order that is drawn. A message is read some time between its
// send and the wait step behind, and written some time between its receive and the wait step behind: a plan that
// touches memory in between is found out.
type world struct {
	plans []*Plan
	next  []int               // step, by rank
	sends map[[2]int][]*Step  // by sender and receiver: started, and not read
	recvs map[[2]int][]*Step  // started, and not written
	wire  map[[2]int][][]byte // read, and not written
	rand  *rand.Rand

	members  [][]int // the ranks that share memory with a rank; nil: all
	slots    int     // of a member that shares memory
	shelves  []shelf // by member
	released []int   // the piece up to which a member has read all that is for it
	moved    int     // messages
}

// shelf is what a member has published.
type shelf map[int]*published // by slot

type published struct {
	number, reader int
	data           []uint64 // aligned, as pieces are
	size           int
}

// peer is the rank of a member.
func (w *world) peer(rank, member int) int {
	if w.members == nil || member == Everyone {
		return member
	}
	return w.members[rank][member]
}

// blocked says whether a slot has what another member is still to read.
func (w *world) blocked(rank, number int) bool {
	have := w.shelves[rank][number%w.slots]
	if have == nil {
		return false
	}
	for m := range w.plans {
		if w.members != nil && !slices.Contains(w.members[rank], m) {
			continue
		}
		if m != rank && (have.reader == Everyone || have.reader == m) && w.released[m] < have.number {
			return true
		}
	}
	return false
}

// piece is what a step reads of a member, if it is there.
func (w *world) piece(s *Step, member int) *published {
	have := w.shelves[member][s.Number%w.slots]
	if have == nil || have.number != s.Number {
		return nil
	}
	return have
}

// share does a step of members that share memory.
func (w *world) share(rank int, s *Step) {
	switch s.Kind {
	case Publish:
		x := &published{s.Number, w.peer(rank, s.Peer), make([]uint64, s.Size/8+1), s.Size}
		if n := s.From.Pack(s.At, bytesOf(x.data)[:s.Size]); n != s.Size {
			panic(fmt.Sprintf("rank %d publishes %d bytes of %d", rank, n, s.Size))
		}
		w.shelves[rank][s.Number%w.slots] = x
	case Take, Fold, Merge:
		x := w.piece(s, w.peer(rank, s.Peer))
		if x.size != s.Size || x.reader != Everyone && x.reader != rank {
			panic(fmt.Sprintf("rank %d reads %d bytes of rank %d, which publishes %d for %d", rank, s.Size, s.Peer, x.size, x.reader))
		}
		part := func(x *published) datatype.Buffer {
			return datatype.Buffer{Base: datatype.Add(datatype.AddressOf(x.data), s.Skip), Count: s.Into.Count, Type: s.Into.Type}
		}
		if s.Kind == Fold {
			s.Op.Apply(part(x), s.Into)
		} else if s.Kind == Merge {
			s.Op.Combine(part(x), part(w.piece(s, w.peer(rank, s.Other))), s.Into)
		} else if n := s.Into.Unpack(s.At, bytesOf(x.data)[s.Skip:s.Skip+s.Bytes]); n != s.Bytes {
			panic(fmt.Sprintf("rank %d takes %d bytes of %d", rank, n, s.Bytes))
		}
	case Release:
		w.released[rank] = s.Number
	}
}

func bytesOf(words []uint64) []byte {
	return datatype.Slice[byte](datatype.AddressOf(words), 8*len(words))
}

func newWorld(seed uint64, plans []*Plan) *world {
	w := &world{
		plans: plans, next: make([]int, len(plans)), rand: rand.New(rand.NewPCG(seed, 1)),
		sends: map[[2]int][]*Step{}, recvs: map[[2]int][]*Step{}, wire: map[[2]int][][]byte{},
		slots: 4, released: make([]int, len(plans)),
	}
	for i := range plans {
		w.released[i] = -1
		w.shelves = append(w.shelves, shelf{})
	}
	return w
}

// run follows all plans to their end.
func (w *world) run() error {
	for {
		var can []func()
		for rank := range w.plans {
			if step := w.step(rank); step != nil {
				can = append(can, step)
			}
		}
		for pair, all := range w.sends {
			if len(all) > 0 {
				can = append(can, func() { w.read(pair) })
			}
		}
		for pair, all := range w.recvs {
			if len(all) > 0 && len(w.wire[pair]) > 0 {
				can = append(can, func() { w.write(pair) })
			}
		}
		if len(can) == 0 {
			break
		}
		can[w.rand.IntN(len(can))]()
	}
	for rank, p := range w.plans {
		if w.next[rank] < len(p.Steps) {
			return fmt.Errorf("rank %d waits for ever at step %d of %d", rank, w.next[rank], len(p.Steps))
		}
	}
	for pair, all := range w.wire {
		if len(all) > 0 {
			return fmt.Errorf("%d messages from %d to %d come to no receive", len(all), pair[0], pair[1])
		}
	}
	return nil
}

// step is the next one of a rank, if it can be done now.
func (w *world) step(rank int) func() {
	p := w.plans[rank]
	if w.next[rank] == len(p.Steps) {
		return nil
	}
	s := &p.Steps[w.next[rank]]
	if s.Kind == WaitMessages {
		for pair, all := range w.sends {
			if pair[0] == rank && len(all) > 0 {
				return nil
			}
		}
		for pair, all := range w.recvs {
			if pair[1] == rank && len(all) > 0 {
				return nil
			}
		}
	}
	if s.Kind == Publish && w.blocked(rank, s.Number) || (s.Kind == Take || s.Kind == Fold || s.Kind == Merge) && w.piece(s, w.peer(rank, s.Peer)) == nil || s.Kind == Merge && w.piece(s, w.peer(rank, s.Other)) == nil {
		return nil
	}
	return func() {
		w.next[rank]++
		if s.Kind >= Publish {
			w.share(rank, s)
			if w.next[rank] == len(p.Steps) {
				w.released[rank] = 1 << 30
			}
			return
		}
		switch s.Kind {
		case Send:
			w.sends[[2]int{rank, s.Peer}] = append(w.sends[[2]int{rank, s.Peer}], s)
		case Receive:
			w.recvs[[2]int{s.Peer, rank}] = append(w.recvs[[2]int{s.Peer, rank}], s)
		case Reduce:
			s.Op.Apply(s.From, s.Into)
		case Copy:
			datatype.Copy(&s.Into, &s.From)
		}
	}
}

func (w *world) read(pair [2]int) {
	s := w.sends[pair][0]
	w.sends[pair] = w.sends[pair][1:]
	b := make([]byte, s.From.Size())
	s.From.Pack(0, b)
	w.wire[pair] = append(w.wire[pair], b)
	w.moved++
}

func (w *world) write(pair [2]int) {
	s, b := w.recvs[pair][0], w.wire[pair][0]
	w.recvs[pair], w.wire[pair] = w.recvs[pair][1:], w.wire[pair][1:]
	if len(b) != s.Into.Size() {
		panic(fmt.Sprintf("%d bytes from %d to %d, where %d are received", len(b), pair[0], pair[1], s.Into.Size()))
	}
	s.Into.Unpack(0, b)
}
