package mpi

import (
	"context"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
)

// Failures has the calls by which a program deals with processes of a communicator that are lost, as in ULFM (Bland et al.,
// "Post-failure recovery of MPI communication capability", 2013). An operation that needs a process that is lost fails.
// A program that is to go on without it revokes the communicator, so that no process waits in it any more, and shrinks
// it. That is for communicators without a domain of their own.
type Failures struct{ c *Comm }

// Failures returns the calls with which the program goes on after processes are lost.
func (c *Comm) Failures() Failures { return Failures{c} }

// Revoke ends the use of the communicator at all its processes: calls and requests there fail with ErrRevoked from
// then on, but for Agree, Shrink, Failed and Free. Any process may call it, and several may. It does not block.
func (fs Failures) Revoke() error {
	c := fs.c
	if err := c.recoverable("revoke"); err != nil {
		return err
	}
	if err := c.messages.Revoke(); err != nil {
		return err
	}
	return c.collective.Revoke()
}

// Revoked says whether the communicator was revoked, as far as this process has heard.
func (fs Failures) Revoked() bool { return fs.c.messages.Revoked() || fs.c.collective.Revoked() }

// Agree has the processes that are left agree on the bitwise and of their flags, and returns it. It fails with
// nmad.ErrPeerLost, and the same flags, if a process is lost that this one has not acknowledged (Acknowledge); all
// that live return the same flags whatever process dies meanwhile. It works in a communicator that was revoked, or in
// which an operation has failed. It waits until all processes that are left have called it, or ctx is done.
func (fs Failures) Agree(ctx context.Context, flags uint64) (uint64, error) {
	c := fs.c
	if err := c.recoverable("agree"); err != nil {
		return 0, err
	}
	a, err := c.collective.Agree(ctx, flags)
	if err != nil {
		return 0, c.explainWait(ctx, "agree", err)
	}
	c.mu.Lock()
	known := slices.Clone(c.acknowledged)
	c.lost = a.Failed
	c.mu.Unlock()
	for _, p := range a.Failed {
		if !slices.Contains(known, p) {
			return a.Value, c.explain("agree", fmt.Errorf("rank %d: %w", c.rankOf[p], nmad.ErrPeerLost))
		}
	}
	return a.Value, nil
}

// Shrink returns a communicator of those processes that are left, in their order. All of these call it. It works in a
// communicator that was revoked, too. Processes that die meanwhile are left out, or the calls to come fail.
func (fs Failures) Shrink(ctx context.Context) (*Comm, error) {
	c := fs.c
	if err := c.recoverable("shrink"); err != nil {
		return nil, err
	}
	for {
		a, err := c.collective.Agree(ctx, ^uint64(0))
		if err != nil {
			return nil, c.explainWait(ctx, "shrink", err)
		}
		var left Group
		for _, p := range c.group.job {
			if !slices.Contains(a.Failed, p) {
				left.job = append(left.job, p)
			}
		}
		made, err := c.withoutFailed(ctx, left)
		if made != nil || err != nil {
			return made, err
		}
	}
}

// withoutFailed makes a communicator of the processes that are left. It is make with agreements in place of
// reductions. It returns nil if one of them has died meanwhile, or if all the numbers that it tried are taken.
func (c *Comm) withoutFailed(ctx context.Context, left Group) (*Comm, error) {
	var lost error
	died := func(a nmad.Agreement) bool {
		return slices.ContainsFunc(a.Failed, func(p int) bool { return left.rankOf(p) != Undefined })
	}
	over := false
	and := func(v uint64) uint64 {
		if lost != nil {
			return 0
		}
		a, err := c.collective.Agree(ctx, v)
		if err != nil {
			lost = err
			return 0
		}
		over = over || died(a)
		return a.Value
	}
	reduce := func(op *Op, values []int64) error {
		for i, v := range values {
			if op == Min && i == 1 { // minus an age
				values[i] = -int64(highest(uint16(-v), and))
				continue
			}
			values[i] = int64(and(uint64(v))) // a mask; or 0 or 1, of which the least is asked for
		}
		return lost
	}
	made, err := c.make(left, reduce, nil)
	switch {
	case lost != nil:
		return nil, c.explainWait(ctx, "shrink", lost)
	case over:
		if made != nil {
			made.Free()
		}
		return nil, nil
	}
	return made, err
}

// highest returns the highest value that a process has, found bit by bit from the top. A process that lacks a bit
// which another one has is out of the race, and no longer votes.
func highest(v uint16, and func(uint64) uint64) (h uint16) {
	in := true
	for bit := 15; bit >= 0; bit-- {
		has := in && v>>bit&1 != 0
		vote := uint64(1)
		if has {
			vote = 0
		}
		if and(vote) == 0 { // some process has the bit
			h |= 1 << bit
			in = has
		}
	}
	return h
}

// Failed returns the processes of the communicator that are lost, as far as this one knows; first those that Agree has
// found, in an
// order that is the same everywhere.
func (fs Failures) Failed() (g Group) {
	c := fs.c
	c.mu.Lock()
	g.job = slices.Clone(c.lost)
	c.mu.Unlock()
	for _, p := range c.job.session.Failed() {
		if c.group.rankOf(p) != Undefined && !slices.Contains(g.job, p) {
			g.job = append(g.job, p)
		}
	}
	return g
}

// Acknowledge notes that the program knows of the processes in Failed, which it returns: Agree does not fail for
// these any more.
func (fs Failures) Acknowledge() Group {
	c := fs.c
	g := fs.Failed()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acknowledged = g.job
	return g
}

// recoverable returns why the processes of c cannot agree; nil: they can.
func (c *Comm) recoverable(what string) error {
	if c != nil && c.own != nil {
		return fmt.Errorf("mpi: %s: %w: it has a domain of its own", what, ErrComm)
	}
	return c.usable()
}
