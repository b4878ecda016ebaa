package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Kind is what a Step does.
type Kind uint8

// Send and Receive start a message. Fence waits for all that were started. Reduce computes Into = From op Into. Copy
// copies From to Into. The others are for members that share memory (package segment): Put publishes a piece, Take
// copies one to Into, Fold computes Into = piece op Into, Merge Into = piece op the piece of Other, Took says that
// all pieces up to a number have been read.
const (
	Send Kind = iota
	Receive
	Fence
	Reduce
	Copy
	Put
	Take
	Fold
	Merge
	Took
)

// Step is a step of a Plan.
type Step struct {
	Kind Kind
	Peer int             // Send, Receive: a rank of the group; Take, Fold, Merge: the member that publishes; Put: that which reads, or Everyone
	From datatype.Buffer // Send, Reduce, Copy, Put
	Into datatype.Buffer // Receive, Reduce, Copy, Take, Fold, Merge
	Op   *reduce.Op      // Reduce, Fold, Merge
	Piece
}

// Piece is a piece that a member publishes.
type Piece struct {
	Number int
	Size   int // in bytes
	At     int // Put: where it begins in the data of From, in bytes; Take: where in those of Into its part belongs
	Skip   int // Take, Fold, Merge: bytes of the piece before the part that is read
	Bytes  int // Take: of that part
	Other  int // Merge: a member, whose piece has that number, too
}

// Everyone stands for all members.
const Everyone = -1

// Plan is the steps of one rank. The zero value is empty. A Plan that is made anew after Reset allocates nothing that
// it had before.
type Plan struct {
	Table  *Table // where it goes one way or another; nil: Default
	Steps  []Step
	memory [][]uint64 // of values in between
	used   int        // of memory
	open   bool       // something was started since the last fence
	Shares bool       // it has steps for members that share memory
	ranks  []int      // of the group for which messages are planned; nil: its numbers are ranks
	base   int        // of the numbers of pieces
}

// Reset empties the plan.
func (p *Plan) Reset() {
	clear(p.Steps)
	p.Steps, p.used, p.open, p.Shares, p.ranks, p.base = p.Steps[:0], 0, false, false, nil, 0
}

// Among has messages go among some ranks only, until Reset.
func (p *Plan) Among(ranks []int) { p.ranks = ranks }

// rank is that of a process of the group for which messages are planned.
func (p *Plan) rank(i int) int {
	if p.ranks != nil {
		return p.ranks[i]
	}
	return i
}

func (p *Plan) send(to int, b datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Send, Peer: p.rank(to), From: b})
	p.open = true
}

func (p *Plan) receive(from int, b datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Receive, Peer: p.rank(from), Into: b})
	p.open = true
}

func (p *Plan) fence() {
	if p.open {
		p.Steps = append(p.Steps, Step{Kind: Fence})
		p.open = false
	}
}

func (p *Plan) reduce(op *reduce.Op, from, into datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Reduce, From: from, Into: into, Op: op})
}

func (p *Plan) copy(from, into datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Copy, From: from, Into: into})
}

// room gives memory for count elements of t until the next Reset.
func (p *Plan) room(count int, t *datatype.Type) datatype.Buffer {
	n := datatype.Words(count, t)
	if p.used == len(p.memory) {
		p.memory = append(p.memory, nil)
	}
	m := &p.memory[p.used]
	p.used++
	if len(*m) < n {
		*m = make([]uint64, n)
	}
	return datatype.Within(*m, count, t)
}
