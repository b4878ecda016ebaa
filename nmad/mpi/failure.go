package mpi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
)

// This file ends a collective operation that has failed at one rank: an argument is wrong there, a process has died, or
// counts differ. The other ranks may wait for that rank, or for ranks that wait for it. So the rank sends refusals,
// messages that say "no message will come":
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
// The messages of one rank with one tag come in order, so a receiver takes a refusal for the message that will not
// come. Plans do not wait in circles: every chain of waits leads to a rank that has refused or died, so all waits end.
//
// A rank that has only sent in n does not know that n has failed, and may have done later operations as well. Its
// messages, or those of ranks that wait for it, reach the ranks at which n has failed; these answer by refusals, which
// stay one operation ahead of it. A refusal of n is answered up to n only, so refusals do not answer each other without
// end. A refusal that finds no receive stays among the unexpected messages until its receiver drops it.

// refusal is the message that says that no other message will come. No rank sends this text for anything else, so a
// receiver looks for it also where it expects a message of as many bytes.
const refusal = "nmad/mpi: no message: this collective operation has failed at the sender."

// isRefusal reports whether a refusal was received into the buffer, in place of a message.
func isRefusal(b *Buffer) bool {
	n := min(b.Size(), len(refusal))
	here := make([]byte, n)
	b.Pack(0, here)
	return string(here) == refusal[:n]
}

// because returns an error with the operation and the communicator that it belongs to.
func (f *follower) because(err error) error {
	return fmt.Errorf("mpi: %v, %v: %w", f.kind, f.comm, err)
}

// fails ends an operation that has failed, sends refusals, and tells the error handler. From then on the ranks do not
// agree on the operation that they are at, so all later operations of the communicator fail.
func (c *Comm) fails(f *follower, err error) error {
	var tags []uint64
	c.mu.Lock()
	if c.broken == nil {
		c.broken, c.refused = fmt.Errorf("%v has failed before: %w", f.kind, err), c.turns
		tags = append(tags, c.collectiveTags)
		for _, x := range c.active {
			if !x.persistent || !c.kept[x.turn] {
				tags = append(tags, x.tag)
			}
		}
		for turn := range c.kept {
			tags = append(tags, c.collectiveTags|turn)
		}
	} else if f.tag&(ofIdups|ofGroups) != 0 { // such an operation may begin after the failure, and is refused by itself
		tags = append(tags, f.tag)
	}
	tags = c.addRefusals(tags, c.turns+1)
	c.leave(f)
	c.mu.Unlock()
	c.sendRefusals(tags)
	return c.handled(f.because(err))
}

// succeeds ends an operation that is done. reusable: no request refers to f.
func (c *Comm) succeeds(f *follower, reusable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reusable {
		c.idle = append(c.idle, f)
	}
	c.leave(f)
}

// leave removes an operation from those under way. After the last one of a broken communicator it begins to drop
// messages. The caller holds mu.
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

// drop receives and forgets what a rank sends for collective operations, so that its sends end. It refuses the
// operations up to turn, and the one after the last for which the other rank has written in shared memory, unless this
// rank has refused them already. r is the request of the receive, head the buffer for the beginning of each message.
func (c *Comm) drop(rank int, r *nmad.Request, head []byte, turn uint64) {
	op := nmad.Operation{Kind: nmad.KindRecv, Buf: head, Done: func(r *nmad.Request) {
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
	_ = c.gates[rank].Post(r, &op) // from a gate that has ended nothing comes
	c.mu.Lock()
	tags := c.addRefusals(c.addRefusals(nil, turn), c.shared.reached(rank)+1)
	c.mu.Unlock()
	c.sendRefusals(tags)
}

// maxRefusals bounds how many operations a rank refuses because of one message.
const maxRefusals = 1 << 16

// addRefusals appends the tags of the operations up to a turn that this rank has not refused yet, and counts them as
// refused; the caller then sends the refusals. The caller holds mu.
func (c *Comm) addRefusals(tags []uint64, turn uint64) []uint64 {
	if turn-c.refused > maxRefusals {
		return tags // all are refused already, or no rank can have come so far
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

// sendRefusals tells all other ranks that this one will not take part in the operations with these tags. A goroutine
// sends, since the caller may hold locks. In a private domain, which belongs to one thread, the caller sends.
func (c *Comm) sendRefusals(tags []uint64) {
	send := func() {
		for _, tag := range tags {
			for rank, p := range c.group.job {
				if rank != c.rank {
					_ = c.collective.IsendInto(&nmad.Request{}, p, tag, []byte(refusal)) // a process that has died need not know
				}
			}
		}
	}
	if c.private {
		send()
	} else if len(tags) > 0 {
		c.job.goRefuse(send)
	}
}
