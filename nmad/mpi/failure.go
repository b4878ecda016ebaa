package mpi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
)

// How a collective operation ends that has failed at one rank, because an argument is wrong there, a process has
// died, or counts differ. The other ranks may wait for that rank, or for ranks that wait for it. So
//
//	a rank at which operation n fails      sends a refusal with the tag n to all others, one for each other operation that is under way there, or persistent, and one for the operation after its last
//	a receive of n that gets a refusal     fails, so n fails at that rank, too
//	a rank that calls a later operation    returns why the first one has failed, and sends refusals for the one after that
//	of an operation in shared memory       the refusal comes in place of the message that wakes a sleeper
//	a rank with no operation under way     receives, and drops, whatever comes for operations of the communicator: sends to it end; after a refusal of n it refuses what it has not up to n, after another message up to n + 1
//
// Messages of one rank with one tag come in their order, so a refusal is taken for the message that will not come.
// Plans do not wait in circles; so the waits lead to a rank that has refused, or has died, and all of them end. A
// rank that has only sent in n does not know that n has failed, and may be through with later operations, too. These
// bring what it sends, or what those send that wait, to the ranks that have failed, so their refusals stay ahead of
// it; those that only stay ahead lead to no more of them. A refusal that finds no receive stays with the messages
// that have none, until that rank drops it.

// refusal is the message that stands for one that will not come. No rank sends it for anything else: it is looked at
// where as many bytes are expected, too.
const refusal = "nmad/mpi: no message: this collective operation has failed at the sender."

// isRefusal says whether a refusal has come in place of a message, into that buffer.
func isRefusal(b *Buffer) bool {
	n := min(b.Size(), len(refusal))
	here := make([]byte, n)
	b.Pack(0, here)
	return string(here) == refusal[:n]
}

// because says of which operation, where, an error is.
func (f *follower) because(err error) error {
	return fmt.Errorf("mpi: %v, %v: %w", f.what, f.comm, err)
}

// fails ends an operation that has failed: the ranks do not agree on where they are any more, so all further ones of
// the communicator fail.
func (c *Comm) fails(f *follower, err error) error {
	var tags []uint64
	c.mu.Lock()
	if c.broken == nil {
		c.broken, c.refused = fmt.Errorf("%v has failed before: %w", f.what, err), c.calls
		tags = append(tags, c.collectiveTags)
		for _, x := range c.active {
			if !x.lasts || !c.kept[x.turn] {
				tags = append(tags, x.tag)
			}
		}
		for turn := range c.kept {
			tags = append(tags, c.collectiveTags|turn)
		}
	} else if f.tag&(ofIdups|ofGroups) != 0 { // it goes on after a failure, and is refused by itself
		tags = append(tags, f.tag)
	}
	tags = c.ahead(tags, c.calls+1)
	c.leave(f)
	c.mu.Unlock()
	c.aloud(tags)
	return c.handled(f.because(err))
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
		go func() {
			for rank := range c.gates {
				c.drop(rank, &nmad.Request{}, make([]byte, len(refusal)), 0)
			}
		}()
	}
}

// drop receives, and forgets, what a rank sends for operations that all processes call: sends to this one end. It
// refuses what this rank has not up to a turn, and what that rank may have come to. head is for the beginning of each
// message.
func (c *Comm) drop(rank int, r *nmad.Request, head []byte, turn uint64) {
	op := nmad.Op{Kind: nmad.OpRecv, Buf: head, Done: func(r *nmad.Request) {
		if _, err := r.Test(); err != nil && !errors.Is(err, ErrTruncated) {
			return
		}
		turn := r.Tag()&^ofChecks ^ c.collectiveTags
		if r.Size() != uint64(len(refusal)) || string(head) != refusal {
			turn++
		}
		c.drop(rank, r, head, turn)
	}}
	op.Match = nmad.Match{Mask: ofGroups | ofParts, Context: c.collective}
	_ = c.gates[rank].Post(r, &op) // of one that has ended nothing comes
	c.mu.Lock()
	tags := c.ahead(c.ahead(nil, turn), c.shared.reached(rank)+1)
	c.mu.Unlock()
	c.aloud(tags)
}

// mostAhead bounds how many operations a rank refuses because of one message.
const mostAhead = 1 << 16

// ahead adds the tags of operations up to a turn that this rank has not refused. Under mu.
func (c *Comm) ahead(tags []uint64, turn uint64) []uint64 {
	if turn-c.refused > mostAhead {
		return tags // it has, or that is no turn
	}
	for c.refused < turn {
		c.refused++
		tags = append(tags, c.collectiveTags|c.refused)
		if c.job.checks {
			tags = append(tags, c.collectiveTags|ofChecks|c.refused)
		}
	}
	return tags
}

// aloud tells all others that this rank will not take part in operations any more: in a goroutine of its own, unless
// one thread alone may use the domain.
func (c *Comm) aloud(tags []uint64) {
	refuse := func() {
		for _, tag := range tags {
			for rank, p := range c.group.job {
				if rank != c.rank {
					_ = c.collective.IsendInto(&nmad.Request{}, p, tag, []byte(refusal)) // one that has died need not know
				}
			}
		}
	}
	if c.private {
		refuse()
	} else if len(tags) > 0 {
		c.job.aside(refuse)
	}
}
