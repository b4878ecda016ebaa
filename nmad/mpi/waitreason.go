package mpi

import (
	"fmt"

	"github.com/pm2-go/pm2/pioman"
)

// This file describes what threads wait for in this package, for nmad.WriteWaits.

// waitsForOperation is the kind of reason of a wait for an immediate operation. The words of a reason are the kind of
// the operation, its turn, and the number of the communicator.
var waitsForOperation = pioman.NewReasonKind(func(words [4]uint64) string {
	return fmt.Sprintf("%v, collective operation %d of %s", operationKind(words[0]), words[1], numbered(int(int64(words[2]))))
})

// reason says what a thread that waits for the end of the operation waits for.
func (f *follower) reason() pioman.Reason {
	return pioman.Reason{Kind: waitsForOperation, Words: [4]uint64{uint64(f.kind), f.turn, uint64(int64(f.comm.number))}}
}

// numbered names a communicator by its number.
func numbered(number int) string {
	switch number {
	case 0:
		return `communicator "world"`
	case 1:
		return `communicator "self"`
	}
	return fmt.Sprintf("communicator %d", number)
}

// called names the communicator in a text. It does not wait for mu: the thread that holds mu may be the one that is
// described.
func (c *Comm) called() string {
	if c.mu.TryLock() {
		defer c.mu.Unlock()
		if c.name != "" {
			return fmt.Sprintf("communicator %q", c.name)
		}
	}
	return numbered(c.number)
}

// describe gives nmad the functions that name messages of the communicator by their tags.
func (c *Comm) describe() {
	const users = 1<<(ageOfMessages-1) - 1 // bits of a tag of the user
	c.messages.Describe(func(tag, mask uint64) string {
		if mask&users == 0 {
			return "any tag of " + c.called()
		}
		return fmt.Sprintf("tag %d of %s", tag&users, c.called())
	})
	c.collective.Describe(func(tag, _ uint64) string {
		switch {
		case tag&ofChecks != 0:
			return "to compare a collective call of " + c.called()
		case tag&ofWindows == ofWindows:
			return "to free the window of " + c.called()
		case tag&(ofIdups|ofGroups) != 0:
			return "to make a communicator from " + c.called()
		case tag&ofParts != 0:
			return "a part of a message of " + c.called()
		}
		turn := tag & (1<<ageOfCollectives - 1)
		return c.operation(turn) + " of " + c.called()
	})
}

// operation names the collective operation of a turn in a text. Turn 0 stands for the operation in which a rank sleeps
// until another rank wakes it (shared).
func (c *Comm) operation(turn uint64) string {
	if c.mu.TryLock() {
		defer c.mu.Unlock()
		for _, f := range c.active {
			if f.turn == turn || turn == 0 {
				return fmt.Sprintf("%v, collective operation %d", f.kind, f.turn)
			}
		}
	}
	if turn == 0 {
		return "a collective operation"
	}
	return fmt.Sprintf("collective operation %d", turn)
}
