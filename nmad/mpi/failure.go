package mpi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
)

// This file ends a collective operation that has failed at one rank: an argument is wrong there, a process has died, or
// counts differ. The other ranks may wait for that rank, or for ranks that wait for it. So it sends refusals, messages
// that say "no message will come":
//
//	a rank at which operation n fails      sends all others a refusal with the tag of n, one for each other operation
//	                                       that is under way there or persistent, and one for the operation after its last
//	a receive of n that gets a refusal     fails, so n fails at that rank, too
//	a rank that calls a later operation    returns why the first one has failed, and refuses the one after that
//	an operation in shared memory          gets the refusal in place of the message that wakes a sleeper
//	a rank with no operation under way     receives and drops all that comes for operations of the communicator, so that
//	                                       sends to it end. After a refusal of n it refuses its operations up to n, after
//	                                       any other message of n those up to n + 1
//
// The messages of one rank with one tag come in order, so a receiver takes a refusal for the message that will not come.
// Plans do not wait in circles: every chain of waits leads to a rank that has refused or died, so all waits end.
//
// A rank that has only sent in n does not know that n has failed, and may be through with later operations as well. Its
// messages, or those of ranks that wait for it, reach the ranks that have failed; these answer by refusals, which stay
// one operation ahead of it. A refusal of n is answered up to n only, so refusals do not answer each other without end.
// One that finds no receive stays among the unexpected messages until that rank drops it.

// refusal is the message that says that another one will not come. No rank sends this text for anything else, so a
// receiver looks for it also where it expects as many bytes.
const refusal = "nmad/mpi: no message: this collective operation has failed at the sender."

// isRefusal says whether a refusal has come in place of a message, into that buffer.
func isRefusal(b *Buffer) bool {
	n := min(b.Size(), len(refusal))
	here := make([]byte, n)
	b.Pack(0, here)
	return string(here) == refusal[:n]
}

// because adds to an error the operation and the communicator that it belongs to.
func (f *follower) because(err error) error {
	return fmt.Errorf("mpi: %v, %v: %w", f.what, f.comm, err)
}

// fails ends an operation that has failed. The ranks do not agree any more on the operation that they are at, so all
// later ones of the communicator fail.
func (c *Comm) fails(f *follower, err error) error {
	var tags []uint64
	c.mu.Lock()
	if c.broken == nil {
		c.broken, c.refused = fmt.Errorf("%v has failed before: %w", f.what, err), c.turns
		tags = append(tags, c.collectiveTags)
		for _, x := range c.active {
			if !x.lasts || !c.kept[x.turn] {
				tags = append(tags, x.tag)
			}
		}
		for turn := range c.kept {
			tags = append(tags, c.collectiveTags|turn)
		}
	} else if f.tag&(ofIdups|ofGroups) != 0 { // such an operation may begin after the failure: it has a refusal of its own
		tags = append(tags, f.tag)
	}
	tags = c.ahead(tags, c.turns+1)
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

// leave removes an operation from those under way. The caller holds mu.
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

// drop receives and forgets what a rank sends for operations that all processes call, so that its sends end. It
// refuses what this rank has not refused yet, up to turn, and the operation after the last one that the other rank
// has written of in shared memory. head is the buffer for the beginning of each message.
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

// ahead adds the tags of the operations up to a turn that this rank has not refused yet. The caller holds mu.
func (c *Comm) ahead(tags []uint64, turn uint64) []uint64 {
	if turn-c.refused > mostAhead {
		return tags // all are refused already, or the number is nonsense
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

// aloud tells all other ranks that this one will not take part in the operations with these tags. A goroutine sends,
// since the caller may hold locks; only where one thread alone may use the domain does the caller send itself.
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
