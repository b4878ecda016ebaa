package mpi

import (
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
)

// How a collective operation ends that has failed at one rank, because a process has died, or counts differ. The other ranks may wait for that rank, or for ranks that wait for it. So
//
//	a rank at which operation n fails      sends a refusal with the tag n to all others, once for n and for each other operation that is under way there
//	a receive of n that gets a refusal     fails, so n fails at that rank, too
//	a rank that calls a later operation    sends refusals for that one, and returns why the first one has failed
//	of an operation in shared memory       the refusal comes in place of the message that wakes a sleeper
//	a rank with no operation under way     receives, and drops, whatever comes for operations of the communicator: sends to it end
//
// Messages of one rank with one tag come in their order, so a refusal is taken for the message that will not come. Plans do not wait in circles; so the waits lead to a rank that has
// refused, or has died, and all of them end. A refusal that finds no receive stays with the messages that have none, until that rank drops it.

// refusal is the message that stands for one that will not come. No rank sends it for anything else: it is looked at where as many bytes are expected, too.
const refusal = "nmad/mpi: no message: this collective operation has failed at the sender."

// isRefusal says whether a refusal has come in place of a message, into that buffer.
func isRefusal(b *Buffer) bool {
	n := min(b.Size(), len(refusal))
	here := make([]byte, n)
	b.Pack(0, here)
	return string(here) == refusal[:n]
}

// fails ends an operation that has failed: the ranks do not agree on where they are any more, so all further ones of the communicator fail.
func (c *Comm) fails(f *follower, err error) error { return c.told(c.failed(f, err)) }

func (c *Comm) failed(f *follower, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err = fmt.Errorf("mpi: %s, communicator %d, rank %d of %d: %w", f.what, c.number, c.rank, len(c.gates), err)
	if c.broken == nil {
		c.broken = err
		for _, x := range c.active {
			tag := x.tag
			c.aloud(tag)
		}
		c.aloud(c.wake)
	}
	c.leave(f)
	return err
}

// succeeds ends an operation that is done.
func (c *Comm) succeeds(f *follower, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if again {
		c.idle = append(c.idle, f)
	}
	c.leave(f)
}

// leave takes an operation out of those under way. Under mu.
func (c *Comm) leave(f *follower) {
	if i := slices.Index(c.active, f); i >= 0 {
		c.active = slices.Delete(c.active, i, i+1)
	}
	if c.broken != nil && len(c.active) == 0 && !c.drops {
		c.drops = true
		go c.collective.Drop()
	}
}

// aloud is refuse, from wherever: in a goroutine of its own, unless one thread alone may use the domain.
func (c *Comm) aloud(tag uint64) {
	if c.private {
		c.refuse(tag)
		return
	}
	c.job.aside(func() { c.refuse(tag) })
}

// refuse tells all others that this rank will not take part in an operation any more.
func (c *Comm) refuse(tag uint64) {
	for rank, p := range c.group.job {
		if rank != c.rank {
			_ = c.collective.IsendInto(&nmad.Request{}, p, tag, []byte(refusal)) // one that has died need not know
		}
	}
}
