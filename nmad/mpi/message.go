package mpi

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// Message is a message that Mprobe has found and taken: only a receive that is started by its methods gets it, whatever
// other threads receive. Its methods may be called by any thread.
type Message struct {
	Status
	comm    *Comm
	claimed *nmad.Message // nil: it is from no process
	used    atomic.Bool   // a receive was started
}

// iprobe reports whether a message is there that a receive would take, and what it is.
func (c *Comm) iprobe(from, tag int) (Status, bool, error) {
	if from == ProcNull {
		return noStatus, true, c.usable()
	}
	m, err := c.match("probe", from, tag)
	if err != nil {
		return Status{}, false, err
	}
	var e nmad.Envelope
	var there bool
	if from == AnySource {
		e, there = c.domain.Iprobe(m)
	} else {
		e, there = c.gates[from].Iprobe(m)
	}
	if !there {
		return Status{}, false, nil
	}
	return c.status(e), true, nil
}

// improbe is iprobe that takes the message which it finds. nil: there is none.
func (c *Comm) improbe(from, tag int) (*Message, error) {
	if from == ProcNull {
		return &Message{Status: noStatus, comm: c}, c.usable()
	}
	m, err := c.match("mprobe", from, tag)
	if err != nil {
		return nil, err
	}
	var x *nmad.Message
	if from == AnySource {
		x = c.domain.Claim(m)
	} else {
		x = c.gates[from].Claim(m)
	}
	if x == nil {
		return nil, nil
	}
	return &Message{Status: c.status(x.Envelope), comm: c, claimed: x}, nil
}

// Mprobe is Probe that takes the message which it finds.
func (c *Comm) Mprobe(ctx context.Context, from, tag int) (*Message, error) {
	for {
		if _, err := c.Probe(ctx, from, tag); err != nil {
			return nil, err
		}
		if m, err := c.improbe(from, tag); m != nil || err != nil { // nil: another thread has taken it
			return m, err
		}
	}
}

// Irecv starts to receive the message into b. A message can be received once: ErrRequest after that.
func (ms *Message) Irecv(b Buffer) *Request {
	r := &Request{comm: ms.comm}
	if ms.used.Swap(true) {
		return r.endAtOnce(fmt.Errorf("mpi: imrecv: %w: the message was received before", ErrRequest))
	}
	if ms.claimed == nil {
		return r.endAtOnce(nil)
	}
	op := nmad.Operation{Kind: nmad.KindRecv}
	r.begin(ms.comm, b, &op)
	r.makeExtras().matched = ms.claimed.Start(&op)
	return r
}

// Recv receives the message into b.
func (ms *Message) Recv(b Buffer) (Status, error) { return ms.Irecv(b).Wait() }
