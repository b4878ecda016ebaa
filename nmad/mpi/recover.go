package mpi

import (
	"context"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
)

// Failures has the calls with which a program goes on after processes of a communicator are lost, as in ULFM (Bland et
// al., "Post-failure recovery of MPI communication capability", 2013). An operation that needs a lost process fails. A
// program that goes on without the process revokes the communicator, so that no process waits in it any more, and
// shrinks it. Communicators with a domain of their own lack these calls (ErrComm). Any thread may call them.
type Failures struct{ comm *Comm }

// Failures returns the calls with which the program goes on after processes are lost.
func (c *Comm) Failures() Failures { return Failures{c} }

// Revoke ends the use of the communicator at all its processes: from then on calls and requests on it fail with
// ErrRevoked, except Agree, Shrink, Failed and Free. Any process may call it, and several may. It does not block.
func (fs Failures) Revoke() error {
	c := fs.comm
	if err := c.recoverable("revoke"); err != nil {
		return err
	}
	if err := c.messages.Revoke(); err != nil {
		return err
	}
	return c.collective.Revoke()
}

// Revoked reports whether the communicator was revoked, as far as this process knows.
func (fs Failures) Revoked() bool { return fs.comm.messages.Revoked() || fs.comm.collective.Revoked() }

// Agree returns the bitwise and of the flags of all processes that are left; all of them call it, and get the same
// result, whatever process dies meanwhile. If a process is lost that this one has not acknowledged (Acknowledge), it
// also returns nmad.ErrPeerLost. It works on a communicator that was revoked, or on which an operation has failed. It
// waits until all processes that are left have called it, or until ctx is done.
func (fs Failures) Agree(ctx context.Context, flags uint64) (uint64, error) {
	c := fs.comm
	if err := c.recoverable("agree"); err != nil {
		return 0, err
	}
	a, err := c.collective.Agree(ctx, flags)
	if err != nil {
		return 0, c.wrapWaitError(ctx, "agree", err)
	}
	c.mu.Lock()
	known := slices.Clone(c.acknowledged)
	c.lost = a.Failed
	c.mu.Unlock()
	for _, p := range a.Failed {
		if !slices.Contains(known, p) {
			return a.Value, c.wrapError("agree", fmt.Errorf("rank %d: %w", c.rankOf[p], nmad.ErrPeerLost))
		}
	}
	return a.Value, nil
}

// Shrink returns a communicator of the processes that are left, in their order; all of them call it. It also works on a
// communicator that was revoked. If a process dies meanwhile, the new communicator lacks it, or has it as a lost
// process. It waits until all processes that are left have called it, or until ctx is done.
func (fs Failures) Shrink(ctx context.Context) (*Comm, error) {
	c := fs.comm
	if err := c.recoverable("shrink"); err != nil {
		return nil, err
	}
	for {
		a, err := c.collective.Agree(ctx, ^uint64(0))
		if err != nil {
			return nil, c.wrapWaitError(ctx, "shrink", err)
		}
		var survivors Group
		for _, p := range c.group.job {
			if !slices.Contains(a.Failed, p) {
				survivors.job = append(survivors.job, p)
			}
		}
		made, err := c.withoutFailed(ctx, survivors)
		if made != nil || err != nil {
			return made, err
		}
	}
}

// withoutFailed makes a communicator of the processes that are left. It is make with agreements in place of reductions.
// It returns nil if one of these processes has died meanwhile, or if all numbers that it has tried are taken.
func (c *Comm) withoutFailed(ctx context.Context, survivors Group) (*Comm, error) {
	var lost error
	died := func(a nmad.Agreement) bool {
		return slices.ContainsFunc(a.Failed, func(p int) bool { return survivors.rankOf(p) != Undefined })
	}
	someDied := false
	and := func(v uint64) uint64 {
		if lost != nil {
			return 0
		}
		a, err := c.collective.Agree(ctx, v)
		if err != nil {
			lost = err
			return 0
		}
		someDied = someDied || died(a)
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
	made, err := c.make(survivors, reduce, nil)
	switch {
	case lost != nil:
		return nil, c.wrapWaitError(ctx, "shrink", lost)
	case someDied:
		if made != nil {
			made.Free()
		}
		return nil, nil
	}
	return made, err
}

// highest returns the highest value that a process has. and is an agreement; it finds one bit, from the top on. A
// process that lacks a bit which another process has cannot have the highest value, and votes for no further bit.
func highest(v uint16, and func(uint64) uint64) (h uint16) {
	candidate := true
	for bit := 15; bit >= 0; bit-- {
		has := candidate && v>>bit&1 != 0
		vote := uint64(1)
		if has {
			vote = 0
		}
		if and(vote) == 0 { // some process has the bit
			h |= 1 << bit
			candidate = has
		}
	}
	return h
}

// Failed returns the lost processes of the communicator, as far as this one knows. First come those that Agree has
// found, in an order that is the same at all processes.
func (fs Failures) Failed() (g Group) {
	c := fs.comm
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

// Acknowledge says that the program knows of the processes in Failed, which it returns: Agree does not fail because of
// these any more.
func (fs Failures) Acknowledge() Group {
	c := fs.comm
	g := fs.Failed()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acknowledged = g.job
	return g
}

// recoverable returns why the processes of c cannot agree; nil: they can.
func (c *Comm) recoverable(what string) error {
	if c != nil && c.ownDomain != nil {
		return fmt.Errorf("mpi: %s: %w: it has a domain of its own", what, ErrComm)
	}
	return c.usable()
}
