package mpi

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
)

// follower follows the plan of a collective operation: it starts messages, waits for them at fences, and computes. The caller does that itself.
type follower struct {
	plan     plan.Plan
	tag      uint64     // of its messages
	messages []*message // of the fence to come, and more to be used again
	open     int        // of these, under way
}

// message is one of a plan.
type message struct {
	request nmad.Request
	step    *plan.Step
}

// begin begins a collective operation, whose plan the caller then makes. The operations of a communicator are told apart by their number, so several may be under way.
func (c *Comm) begin(what string) (*follower, error) {
	f, err := c.takeFollower()
	if err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", what, err)
	}
	return f, nil
}

// finish follows the plan to its end.
func (c *Comm) finish(what string, f *follower) error {
	err := f.follow(c)
	c.giveFollower(f, err)
	if err != nil {
		return fmt.Errorf("mpi: %s, %v: %w", what, c, err)
	}
	return nil
}

func (c *Comm) takeFollower() (f *follower, err error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil, fmt.Errorf("an operation before has failed: %w", c.broken)
	}
	if n := len(c.idle); n > 0 {
		f, c.idle = c.idle[n-1], c.idle[:n-1]
		f.plan.Reset()
	} else {
		f = &follower{}
	}
	c.calls++
	f.tag = c.calls
	return f, nil
}

// giveFollower ends it. After an error the ranks do not agree on where they are any more.
func (c *Comm) giveFollower(f *follower, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.idle = append(c.idle, f)
	} else if c.broken == nil {
		c.broken = err
	}
}

func (f *follower) follow(c *Comm) error {
	for i := range f.plan.Steps {
		s := &f.plan.Steps[i]
		var err error
		switch s.Kind {
		case plan.Send, plan.Receive:
			err = f.start(c, s)
		case plan.Fence:
			err = f.fence()
		case plan.Reduce:
			s.Op.Apply(s.From, s.Into)
		case plan.Copy:
			if n := datatype.Copy(&s.Into, &s.From); n != s.From.Size() || n != s.Into.Size() {
				err = fmt.Errorf("%w: %d bytes go to %d", ErrCount, s.From.Size(), s.Into.Size())
			}
		}
		if err != nil {
			f.giveUp()
			return err
		}
	}
	return nil
}

// start starts a message.
func (f *follower) start(c *Comm, s *plan.Step) (err error) {
	if f.open == len(f.messages) {
		f.messages = append(f.messages, &message{})
	}
	m, peer := f.messages[f.open], c.group.job[s.Peer]
	m.step = s
	if s.Kind == plan.Send {
		if whole, ok := s.From.Dense(); ok {
			err = c.collective.IsendInto(&m.request, peer, f.tag, whole)
		} else {
			err = c.gates[s.Peer].Post(&m.request, &nmad.Op{Kind: nmad.OpSend, Match: c.inOperation(f.tag), Data: &s.From})
		}
	} else {
		if whole, ok := s.Into.Dense(); ok {
			err = c.collective.IrecvInto(&m.request, peer, f.tag, whole)
		} else {
			err = c.gates[s.Peer].Post(&m.request, &nmad.Op{Kind: nmad.OpRecv, Match: c.inOperation(f.tag), Data: &s.Into})
		}
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", s.Peer, err)
	}
	f.open++
	return nil
}

// inOperation is the match of the messages of a collective operation.
func (c *Comm) inOperation(tag uint64) nmad.Match {
	m := nmad.Tag(tag)
	m.Context = c.collective
	return m
}

// fence waits for all messages that were started.
func (f *follower) fence() error {
	for i, m := range f.messages[:f.open] {
		err := m.request.Wait()
		if m.step.Kind == plan.Receive {
			want := m.step.Into.Size()
			if n := int(m.request.Envelope().Size); n != want && (err == nil || errors.Is(err, nmad.ErrTruncated)) {
				err = fmt.Errorf("%w: it sends %d bytes, of which %d are expected", ErrCount, n, want)
			}
		}
		if err != nil {
			f.messages = append(f.messages[:0], f.messages[i+1:f.open]...)
			f.open = len(f.messages)
			return fmt.Errorf("rank %d: %w", m.step.Peer, err)
		}
	}
	f.open = 0
	return nil
}

// giveUp takes back the receives that are under way. Sends that no rank receives end with the session.
func (f *follower) giveUp() {
	for _, m := range f.messages[:f.open] {
		if m.step.Kind == plan.Receive && m.request.Cancel() {
			_ = m.request.Wait()
		}
	}
}
