package nmad

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/internal/consensus"
)

// This file has what a program can do about lost processes. The interface follows ULFM (Bland et al., "Post-failure
// recovery of MPI communication capability", 2013), as far as it fits messages between pairs of processes.

// Err returns nil while the gate works. After that it returns the error of every further request on the gate: a *PeerError
// if the peer is lost, ErrClosed if this session was closed. A gate that has ended never works again. Err is one load from
// memory, and may be called from anywhere.
func (g *Gate) Err() error {
	if g == nil {
		return errNoGate
	}
	if err := g.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Failed returns the ranks that this process has lost: first those that the processes which are left have agreed upon, in
// the agreed order, which is the same everywhere; then those that only this process may know of. A process that has closed
// its session counts as lost. The list only grows, and begins with what Agree has returned. Failed never blocks. After
// Close it returns the same as before.
func (s *Session) Failed() []int {
	if !s.valid() {
		return nil
	}
	ranks := slices.Clone(*s.agreements.failed.Load())
	for rank, g := range s.job.gates.all {
		var lost *PeerError
		if errors.As(g.Err(), &lost) && !slices.Contains(ranks, rank) {
			ranks = append(ranks, rank) // its gate has ended a moment ago
		}
	}
	return ranks
}

// Agreement is the result of Agree.
type Agreement struct {
	Value  uint64 // the bitwise and of the values of all processes that are not in Failed
	Failed []int  // the ranks that are lost, in the order in which that was agreed upon, since the job began
}

// Agree has the processes that are left agree on a value, and on which ranks are lost. It returns the same in all of them,
// also in those that are lost right after it, whatever processes are lost meanwhile: as ULFM's MPI_Comm_agree does. Each
// process gives a value, and gets the bitwise and of all values. So a bit can stand for a question: the bit for "has your
// part succeeded" is 1 if it is 1 in all values.
//
// All processes must call it: the first call of one process belongs to the first calls of the others, and so on, calls of
// Shrink included. It waits until each process that is not lost has called it. A stopped process counts as lost if the job
// has a heartbeat. If ctx ends earlier, Agree returns its cause, and the agreement goes on; the call counts as made. Calls
// of several threads of a process follow one another, in any order. It blocks the calling thread or goroutine only, and
// polls the network meanwhile; like all communication it moves on in other processes when these wait, poll, or have
// enabled the engine's hooks.
//
// The error is ErrExcluded if the others have agreed that this process is lost, because a link broke between it and
// another one; ErrClosed after Close; and ErrConfig if some processes have called Agree, and others Shrink. It takes four
// messages in a row, by way of the lowest rank that is left. If the network falls into parts that do not reach one
// another, each part agrees by itself.
func (s *Session) Agree(ctx context.Context, value uint64) (Agreement, error) {
	x, err := s.reachAgreement(ctx, nil, consensus.CallAgree, value)
	if err != nil {
		return Agreement{}, err
	}
	return Agreement{x.verdict.Value, x.agreed}, nil
}

// Agree is Session.Agree among the processes of the context's group: they have to call it. Its result lists the lost
// processes of the group. It also works in a context that was revoked. The context is one of the job's domain, number 0.
func (c *Context) Agree(ctx context.Context, value uint64) (Agreement, error) {
	if err := c.ofJob(); err != nil {
		return Agreement{}, err
	}
	x, err := c.d.s.reachAgreement(ctx, c, consensus.CallAgree, value)
	if err != nil {
		return Agreement{}, err
	}
	failed := slices.DeleteFunc(x.agreed, func(rank int) bool { return !c.any.Group().Has(rank) })
	return Agreement{x.verdict.Value, failed}, nil
}

// Revoke ends the use of the context at all processes of its group, as ULFM's MPI_Comm_revoke does: what waits there for a
// message ends with ErrRevoked, and so does what is started later, here when Revoke returns, at the others soon after; but
// Agree goes on. One or several processes call it. All living processes hear of it, even if the callers die, and so do
// processes that open the context later. Messages that come in the context later are dropped, so sends that wait for their
// receives end. It does not block. The context is one of the job's domain, number 0.
func (c *Context) Revoke() error {
	if err := c.ofJob(); err != nil {
		return err
	}
	s := c.d.s
	if !s.agreements.post(func() { s.agreements.revoke(c) }) {
		return fmt.Errorf("nmad: revoke context %d: %w", c.number, ErrClosed)
	}
	return nil
}

// ofJob says why the processes of a context cannot agree.
func (c *Context) ofJob() error {
	switch {
	case c == nil || !c.d.valid():
		return errNoSession
	case c.d.Number() != 0:
		return fmt.Errorf("nmad: context %d: %w: it is of the domain %d; agreements are in contexts of the job's", c.number, ErrConfig, c.d.Number())
	}
	return nil
}

// Shrink agrees, as Agree does, on which ranks are lost, and returns the processes that are left,
// as a Group: the same one in all of them. If one of them is lost later, the next Shrink returns a
// smaller one.
//
// Gates and tags are those of the session: a message that was sent before still arrives, so a
// program that begins anew takes other tags.
func (s *Session) Shrink(ctx context.Context) (*Group, error) {
	x, err := s.reachAgreement(ctx, nil, consensus.CallShrink, ^uint64(0))
	if err != nil {
		return nil, err
	}
	g := &Group{s: s}
	for rank := range s.job.gates {
		if slices.Contains(x.agreed, rank) {
			continue
		}
		if rank == s.cfg.Rank {
			g.own = len(g.ranks)
		}
		g.ranks = append(g.ranks, rank)
	}
	return g, nil
}

func (s *Session) reachAgreement(ctx context.Context, of *Context, kind uint8, value uint64) (*agreementCall, error) {
	if !s.valid() {
		return nil, errNoSession
	}
	x := &agreementCall{kind: kind, value: value, done: &Request{}}
	s.agreements.startCall(x, of)
	if err := x.done.WaitContext(ctx); err != nil {
		return nil, during("agree", err)
	}
	if x.verdict.Calls != kind {
		return nil, fmt.Errorf("nmad: %w: some processes call Agree, and others Shrink", ErrConfig)
	}
	return x, nil
}

// Group is a set of processes of a session, numbered from 0 in the order of their ranks there: those that Shrink
// has found to be left. It does not change. Safe for concurrent use.
type Group struct {
	s     *Session
	ranks []int
	own   int
}

// Size returns how many processes the group has.
func (gr *Group) Size() int { return len(gr.ranks) }

// Rank returns the number of this process in the group.
func (gr *Group) Rank() int { return gr.own }

// Ranks returns the ranks in the session, by number in the group.
func (gr *Group) Ranks() []int { return slices.Clone(gr.ranks) }

// Gate returns the gate to a process of the group, by its number there. For a number that does not exist it
// returns a gate on which every request fails with ErrRank.
func (gr *Group) Gate(number int) *Gate {
	if number < 0 || number >= len(gr.ranks) {
		return gr.s.Gate(-1)
	}
	return gr.s.Gate(gr.ranks[number])
}
