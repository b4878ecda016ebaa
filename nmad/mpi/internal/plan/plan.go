package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Kind is what a Step does.
type Kind uint8

// Send and Receive start a message. Fence waits for all that were started. Reduce computes Into = From op Into. Copy copies From to Into.
const (
	Send Kind = iota
	Receive
	Fence
	Reduce
	Copy
)

// Step is one of a Plan.
type Step struct {
	Kind Kind
	Peer int             // Send, Receive: a rank of the group
	From datatype.Buffer // Send, Reduce, Copy
	Into datatype.Buffer // Receive, Reduce, Copy
	Op   *reduce.Op      // Reduce
}

// Plan is the steps of one rank. The zero value is empty. A Plan that is made anew after Reset allocates nothing that it had before.
type Plan struct {
	Steps  []Step
	memory [][]uint64 // of values in between
	used   int        // of memory
	open   bool       // something was started since the last fence
}

// Reset empties the plan.
func (p *Plan) Reset() {
	clear(p.Steps)
	p.Steps, p.used, p.open = p.Steps[:0], 0, false
}

func (p *Plan) send(to int, b datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Send, Peer: to, From: b})
	p.open = true
}

func (p *Plan) receive(from int, b datatype.Buffer) {
	p.Steps = append(p.Steps, Step{Kind: Receive, Peer: from, Into: b})
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
