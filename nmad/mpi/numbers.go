package mpi

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/contexts"
)

// mostComms is how many communicators a process has at a time, those of windows included. nmad bounds it: a
// communicator takes two contexts, whose numbers have 16 bits.
const mostComms = blocks * mostInBlock

// The numbers are in blocks. The processes that make a communicator agree on a number within one block, the first
// with a free one. So an agreement takes few words, also where Shrink agrees bit by bit.
const (
	blocks      = contexts.Communicators / mostInBlock
	mostInBlock = contexts.WindowGroups // so that a mask has as many bits for numbers of grounds
)

// numbers is the supply of the numbers of communicators, one for each two contexts, from contexts.FirstCommunicator
// on. A number is taken while a communicator of this process has it. It is free again when the communicator was freed
// and nothing is under way in it here. Another process may still send in it then. So each use of a number has an age,
// which is in all tags of the communicator: a message of an earlier use fits no receive of a later one.
type numbers struct {
	mu     sync.Mutex
	taken  [blocks]mask
	age    [mostComms]uint16
	freed  []*Comm // whose numbers are still taken
	domain int     // the highest number of a domain that this process has used
}

// Some messages in the context of collective operations have no place in the order of these. Each kind of them has a
// bit in its tags.
const (
	ofChecks = 1 << 60 // calls are compared; and the number of the comparison
	ofIdups  = 1 << 61 // a communicator is made by Idup; and the turn of the call
	ofGroups = 1 << 62 // a communicator is made by its processes alone; and a tag of the user
	ofParts  = 1 << 63 // a part of a partitioned message

	ofWindows = ofGroups | 1<<(ageOfCollectives-1) // a window is freed: no tag of the user is that high
)

// mask has a bit for each number of a block.
type mask [(mostInBlock + 63) / 64]uint64

// well is a bit of the last word of a mask that belongs to no number: it says that the process can make the
// communicator.
const well = 1 << 63

// The bits of an age in tags: of messages of the users, whose tags are below, and of collective operations.
const (
	ageOfMessages    = 32
	ageOfCollectives = 44
)

// free returns the numbers of a block that are not taken.
func (n *numbers) free(block int) mask {
	n.tidy()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.taken[block].others()
}

// others returns the numbers that are not in the mask.
func (m *mask) others() (all mask) {
	for i := range all {
		all[i] = ^m[i]
	}
	all[len(all)-1] &= 1<<(mostInBlock%64) - 1
	return all
}

// has says whether a number of the block has its bit, set gives it one, and clear takes it.
func (m *mask) has(x int) bool { return m[x/64]>>(x%64)&1 != 0 }
func (m *mask) set(x int)      { m[x/64] |= 1 << (x % 64) }
func (m *mask) clear(x int)    { m[x/64] &^= 1 << (x % 64) }

// tidy gives back the numbers of freed communicators in which nothing is under way any more.
func (n *numbers) tidy() {
	n.mu.Lock()
	freed := n.freed
	n.freed = nil
	n.mu.Unlock()
	for _, c := range freed {
		if closed := c.close(); !closed {
			n.retire(c)
		} else if c.number >= 0 {
			n.release(c.number)
		}
	}
}

// retire leaves a communicator that was freed for tidy.
func (n *numbers) retire(c *Comm) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.freed = append(n.freed, c)
}

// claim takes a number, and returns how often it was used before; false: it is taken.
func (n *numbers) claim(number int) (age int, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, x := &n.taken[number/mostInBlock], number%mostInBlock
	if b.has(x) {
		return 0, false
	}
	b.set(x)
	return int(n.age[number]), true
}

func (n *numbers) release(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken[number/mostInBlock].clear(number % mostInBlock)
}

// grow notes the age of the use of a number that begins.
func (n *numbers) grow(number, age int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.age[number] = uint16(age + 1)
}

// pick returns a number of the mask, the first from a place on; -1: the mask is empty.
func (m *mask) pick(from int) int {
	from = (from%mostInBlock + mostInBlock) % mostInBlock
	for i := range mostInBlock {
		if x := (from + i) % mostInBlock; m.has(x) {
			return x
		}
	}
	return -1
}

// common leaves in m the bits that all have which agree. lost says why they could not agree.
func (m *mask) common(together agree) (lost error) {
	words := make([]int64, len(m))
	for i, x := range m {
		words[i] = int64(x)
	}
	if err := together(BAnd, words); err != nil {
		return err
	}
	for i, x := range words {
		m[i] = uint64(x)
	}
	return nil
}

// agree is an Allreduce in place among the processes that are to make a communicator.
type agree func(op *Op, values []int64) error

// all says whether all that agree say yes.
func (together agree) all(yes bool) (bool, error) {
	vote := []int64{0}
	if yes {
		vote[0] = 1
	}
	err := together(Min, vote)
	return err == nil && vote[0] == 1, err
}

// make opens a communicator of the group, under a number that all processes which agree is for have free. Another
// thread may take the number meanwhile; then they try another one. wrong says why this process cannot make it: then
// no process has the communicator, and all can try again.
func (c *Comm) make(g Group, together agree, wrong error) (*Comm, error) {
	n, member := &c.job.numbers, g.Size() > 0
	fails := func(err error) (*Comm, error) { return nil, fmt.Errorf("mpi: new communicator from %v: %w", c, err) }
	for attempt, block := 0, 0; ; attempt++ {
		free := n.free(block)
		free[len(free)-1] |= well
		if wrong != nil {
			free = mask{}
		}
		if err := free.common(together); err != nil {
			return fails(err)
		}
		if wrong == nil && free[len(free)-1]&well == 0 {
			wrong = fmt.Errorf("another process: %w", ErrElsewhere)
		}
		if wrong != nil {
			return fails(wrong)
		}
		// Threads that make communicators from several ones at once begin at several places.
		number := free.pick(c.number*17 + attempt)
		if number < 0 {
			if block++; block < blocks {
				continue
			}
			return fails(fmt.Errorf("%w: a process has %d communicators and windows, or more that were freed while something is under way in them", ErrComm, mostComms))
		}
		number += block * mostInBlock
		age, claimed := 0, true
		if member {
			age, claimed = n.claim(number)
		}
		// A vote: 0: try again; 1: go on; and the age, which is the highest.
		vote := []int64{1, -int64(age)}
		if !claimed {
			vote[0] = 0
		}
		err := together(Min, vote)
		if err == nil && vote[0] == 1 {
			return c.open(g, number, int(-vote[1]), together)
		}
		if member && claimed {
			n.release(number)
		}
		if err != nil {
			return fails(err)
		}
	}
}

// open opens the communicator under a number that all have claimed. A process that cannot tells the others, and none
// has it.
func (c *Comm) open(g Group, number, age int, together agree) (made *Comm, err error) {
	n, member := &c.job.numbers, g.Size() > 0
	if member {
		n.grow(number, age)
		made, err = c.job.open("", g, number, age, nil)
	}
	all, failed := together.all(err == nil)
	switch {
	case err == nil && all:
		return made, nil
	case err == nil && failed == nil:
		err = fmt.Errorf("%w: another process could not open it", ErrComm)
	case err == nil:
		err = failed
	}
	if made != nil {
		made.Free()
	} else if member {
		n.release(number)
	}
	return nil, fmt.Errorf("mpi: new communicator from %v: %w", c, err)
}

// close closes the contexts of a communicator that was freed, or its domain, unless something is under way in it here.
func (c *Comm) close() bool {
	c.mu.Lock()
	busy := len(c.active) > 0
	c.mu.Unlock()
	if busy || c.shared.drain() {
		return false
	}
	if c.own != nil {
		c.job.leave(c.shared)
		_ = c.own.Close()
		return true
	}
	for c.closed < 2 {
		if [...]*nmad.Context{c.messages, c.collective}[c.closed].Close() != nil {
			return false
		}
		c.closed++
	}
	c.job.leave(c.shared)
	return true
}
