package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Kind is what a Step does.
type Kind uint8

// The kinds of steps. Those from Publish on are for members that share memory (package segment).
const (
	Send         Kind = iota // starts a message
	Receive                  // starts to receive a message
	WaitMessages             // waits for all messages that were started
	Reduce                   // computes Into = From op Into
	Copy                     // copies From to Into
	Publish                  // publishes a piece
	Take                     // copies a piece to Into
	Fold                     // computes Into = piece of Peer op Into
	Merge                    // computes Into = piece of Peer op piece of Other
	Release                  // lets the publishers of all pieces up to a number use their slots again: this member has read them
)

// Step is a step of a Plan. A comment names the kinds of steps that have the field.
type Step struct {
	Kind Kind
	Peer int             // Send, Receive: a rank of the group; Take, Fold, Merge: the member that publishes; Publish: the member that reads, or Everyone
	From datatype.Buffer // Send, Reduce, Copy, Publish
	Into datatype.Buffer // Receive, Reduce, Copy, Take, Fold, Merge
	Op   *reduce.Op      // Reduce, Fold, Merge
	Piece
}

// Piece names a piece that a member publishes, and the part of it that another member reads. Sizes are in bytes.
type Piece struct {
	Number int
	Size   int // of the piece
	At     int // Publish: where the piece begins in the data of From; Take: where the part begins in the data of Into
	Skip   int // Take, Fold, Merge: how much of the piece lies before the part
	Bytes  int // Take: the size of the part
	Other  int // Merge: the second member, whose piece has the same number
}

// Everyone stands for all members, as it does in package segment.
const Everyone = -1

// Plan is the steps of one rank. The zero value is empty. Its methods append the steps of an operation. One thread at a
// time uses it. A Plan that is used again after Reset uses the memory again that it had before.
type Plan struct {
	Table  *Table // from how many bytes on operations take other routes; nil: Default
	Steps  []Step
	Shares bool // there are steps for members that share memory

	memory [][]uint64 // of intermediate values
	used   int        // how many elements of memory this plan uses
	open   bool       // a message was started since the last wait step
	ranks  []int      // by number in the group among which messages are planned: its rank; nil: numbers are ranks
	base   int        // is added to the numbers of pieces
}

// Reset empties the plan.
func (p *Plan) Reset() {
	clear(p.Steps)
	p.Steps, p.used, p.open, p.Shares, p.ranks, p.base = p.Steps[:0], 0, false, false, nil, 0
}

// Among plans operations among some ranks only, until Reset: their parameters rank, size and root then count these
// ranks.
func (p *Plan) Among(ranks []int) { p.ranks = ranks }

// rank returns the rank of a member of the group among which messages are planned, by its number there.
func (p *Plan) rank(i int) int {
	if p.ranks != nil {
		return p.ranks[i]
	}
	return i
}

// send, receive, waitMessages, reduce and copy append a step of that kind. Ranks are those of the group among which
// messages are planned. waitMessages appends nothing if no message was started since the last wait step.
func (p *Plan) send(to int, b datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Send, Peer: p.rank(to), From: b})
	p.open = true
}

func (p *Plan) receive(from int, b datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Receive, Peer: p.rank(from), Into: b})
	p.open = true
}

func (p *Plan) waitMessages() {
	if p.open {
		p.Steps = append(p.Steps, Step{Kind: WaitMessages})
		p.open = false
	}
}

func (p *Plan) reduce(op *reduce.Op, from, into datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Reduce, From: from, Into: into, Op: op})
}

func (p *Plan) copy(from, into datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Copy, From: from, Into: into})
}

// room returns memory for count elements of t, until the next Reset.
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
