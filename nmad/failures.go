package nmad

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/internal/consensus"
)

// This file has what a program uses to go on after processes were lost. The interface follows ULFM (Bland et al.,
// "Post-failure recovery of MPI communication capability", 2013), as far as it fits messages between pairs of
// processes.

// Err returns nil while the gate works. Afterwards it returns the error with which every further request at the gate
// fails: a *PeerError if the peer is lost, ErrClosed if this session was closed. A gate that has ended never works
// again. Err is one load from memory, and may be called from anywhere.
func (g *Gate) Err() error {
	if g == nil {
		return errNoGate
	}
	if err := g.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Failed returns the ranks that this process has lost: first those that the remaining processes have agreed upon, in
// the agreed order, which is the same in all processes; then those that only this process may know of. A process that
// has closed its session counts as lost. The list only grows, and begins with what Agree has returned. Failed never
// blocks. After Close it returns the same as before.
func (s *Session) Failed() []int {
	if !s.valid() {
		return nil
	}
	ranks := slices.Clone(*s.agreements.failed.Load())
	for rank, g := range s.job.gates.all {
		var lost *PeerError
		if errors.As(g.Err(), &lost) && !slices.Contains(ranks, rank) {
			ranks = append(ranks, rank) // its gate has just ended, and agreements has not handled that yet
		}
	}
	return ranks
}

// Agreement is the result of Agree.
type Agreement struct {
	Value  uint64 // the bitwise and of the values of all processes that are not in Failed
	Failed []int  // all ranks that were lost since the job began, in the agreed order
}

// Agree makes the remaining processes agree on a value, and on which ranks are lost, as ULFM's MPI_Comm_agree does. It
// returns the same in all processes, also in those that are lost right afterwards, whichever processes are lost
// meanwhile. Each process gives a value, and gets the bitwise and of all values. So a bit can stand for a question: the
// bit for "has your part succeeded" is 1 in the result if it is 1 in all values.
//
// All processes must call Agree: the n-th call of one process belongs to the n-th calls of the others, calls of Shrink
// included. Agree waits until each process that is not lost has called it. A stopped process counts as lost if the job
// has a heartbeat. If ctx is done earlier, Agree returns the cause of ctx, and the agreement goes on; the call counts
// as made. Calls of several threads of a process run one after the other, in any order. Agree blocks the calling thread
// or goroutine only, and polls the network meanwhile. In other processes the agreement moves when they wait, poll, or
// have enabled the engine's hooks, like all communication.
//
// Agree fails with ErrExcluded if the others have agreed that this process is lost, because a link between it and
// another one has broken; with ErrClosed after Close; and with ErrConfig if some processes have called Agree and others
// Shrink. It takes four messages in a row, by way of the lowest rank that is left. If the network falls into parts that
// cannot reach one another, each part agrees by itself.
func (s *Session) Agree(ctx context.Context, value uint64) (Agreement, error) {
	x, err := s.reachAgreement(ctx, nil, consensus.CallAgree, value)
	if err != nil {
		return Agreement{}, err
	}
	return Agreement{x.verdict.Value, x.agreed}, nil
}

// Agree is Session.Agree among the processes of the context's group, which all must call it. Its result lists the lost
// processes of the group. It also works in a context that was revoked. The context must belong to domain 0.
func (c *Context) Agree(ctx context.Context, value uint64) (Agreement, error) {
	if err := c.ofJob(); err != nil {
		return Agreement{}, err
	}
	x, err := c.domain.session.reachAgreement(ctx, c, consensus.CallAgree, value)
	if err != nil {
		return Agreement{}, err
	}
	failed := slices.DeleteFunc(x.agreed, func(rank int) bool { return !c.anyList.Group().Has(rank) })
	return Agreement{x.verdict.Value, failed}, nil
}

// Revoke ends the use of the context in all processes of its group, as ULFM's MPI_Comm_revoke does: receives and probes
// in the context end with ErrRevoked, and so does every operation that is started later, in this process from the
// return of Revoke on, in the others soon after. Agree still works. One or several processes may call Revoke. All
// living processes hear of it, even if the callers die, and so do processes that open the context later. Messages that
// come in the context later are dropped, so that sends which wait for their receives end. Revoke does not block. It
// fails with ErrClosed after Close. The context must belong to domain 0.
func (c *Context) Revoke() error {
	if err := c.ofJob(); err != nil {
		return err
	}
	s := c.domain.session
	if !s.agreements.post(func() { s.agreements.revoke(c) }) {
		return fmt.Errorf("nmad: revoke context %d: %w", c.number, ErrClosed)
	}
	return nil
}

// ofJob fails if the context cannot be used for agreements, because it does not belong to domain 0.
func (c *Context) ofJob() error {
	switch {
	case c == nil || !c.domain.valid():
		return errNoSession
	case c.domain.Number() != 0:
		return fmt.Errorf("nmad: context %d: %w: it is of the domain %d; agreements are in contexts of the job's", c.number, ErrConfig, c.domain.Number())
	}
	return nil
}

// Shrink agrees, as Agree does, on which ranks are lost, and returns the remaining processes as a Group, the same one
// in all of them. If one of them is lost later, the next Shrink returns a smaller Group. Errors and blocking are those
// of Agree.
//
// The gates of a Group are those of the session: messages that were sent before still arrive, so a program that starts
// over uses other tags.
func (s *Session) Shrink(ctx context.Context) (*Group, error) {
	x, err := s.reachAgreement(ctx, nil, consensus.CallShrink, ^uint64(0))
	if err != nil {
		return nil, err
	}
	g := &Group{session: s}
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

// reachAgreement makes a call of Agree or Shrink (kind), and waits for its end.
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

// Group is a set of processes of a session, numbered from 0 in the order of their ranks. Shrink makes it. It does not
// change. Safe for concurrent use.
type Group struct {
	session *Session
	ranks   []int // ranks in the session, by number in the group
	own     int   // number of this process in the group
}

// Size returns how many processes the group has.
func (gr *Group) Size() int { return len(gr.ranks) }

// Rank returns the number of this process in the group.
func (gr *Group) Rank() int { return gr.own }

// Ranks returns the ranks in the session, by number in the group.
func (gr *Group) Ranks() []int { return slices.Clone(gr.ranks) }

// Gate returns the gate to a process of the group, by its number in the group. For a number that does not exist it
// returns a gate on which everything fails with ErrRank.
func (gr *Group) Gate(number int) *Gate {
	if number < 0 || number >= len(gr.ranks) {
		return gr.session.Gate(-1)
	}
	return gr.session.Gate(gr.ranks[number])
}
