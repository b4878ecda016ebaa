package mpi

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/contexts"
)

// maxComms is how many communicators a process has at a time, those of windows included. nmad bounds it: a
// communicator takes two contexts, whose numbers have 16 bits.
const maxComms = blocks * blockSize

// The numbers are in blocks. The processes that make a communicator agree on a number within one block, the first that
// has a free number. So an agreement takes few words, also in Shrink, which agrees bit by bit.
const (
	blocks    = contexts.Communicators / blockSize
	blockSize = contexts.WindowGroups // a mask also has a bit for each number of a windowGroup
)

// numbers is the supply of the numbers of communicators. A number stands for two contexts, from
// contexts.FirstCommunicator on. It is taken while a communicator of this process has it, and free again when the
// communicator was freed and nothing is under way in it here. Another process may still send in it then. So each use of
// a number has an age, which is in all tags of the communicator: a message of an earlier use fits no receive of a later
// one.
type numbers struct {
	mu     sync.Mutex // guards the fields below
	taken  [blocks]mask
	age    [maxComms]uint16
	freed  []*Comm // freed communicators whose numbers are still taken
	domain int     // the highest number of a domain that this process has used
}

// Some messages in the context of collective operations have no place in the order of these. Each kind of them has a
// bit in its tags.
const (
	ofChecks = 1 << 60 // calls are compared; the tag has the turn of the operation
	ofIdups  = 1 << 61 // Idup makes a communicator; the tag has the turn of the call
	ofGroups = 1 << 62 // CreateGroup makes a communicator; the tag has that of the program
	ofParts  = 1 << 63 // a part of a partitioned message

	ofWindows = ofGroups | 1<<(ageOfCollectives-1) // a window is freed; no tag of the program is so high
)

// mask has a bit for each number of a block.
type mask [(blockSize + 63) / 64]uint64

// canMake is a bit of the last word of a mask that belongs to no number. In an agreement a process sets it if it can
// make the communicator.
const canMake = 1 << 63

// The lowest bit of an age in the tags of the program's messages, whose own tags are below, and of collective
// operations.
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

// others returns the numbers of a block that are not in the mask.
func (m *mask) others() (all mask) {
	for i := range all {
		all[i] = ^m[i]
	}
	all[len(all)-1] &= 1<<(blockSize%64) - 1
	return all
}

// has reports whether a number of the block is in the mask, set adds it, and clear removes it.
func (m *mask) has(x int) bool { return m[x/64]>>(x%64)&1 != 0 }
func (m *mask) set(x int)      { m[x/64] |= 1 << (x % 64) }
func (m *mask) clear(x int)    { m[x/64] &^= 1 << (x % 64) }

// tidy frees the numbers of freed communicators in which nothing is under way any more.
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

// retire adds a communicator that was freed to those that tidy looks at.
func (n *numbers) retire(c *Comm) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.freed = append(n.freed, c)
}

// claim takes a number, and returns how often it was used before. It reports false if the number is taken.
func (n *numbers) claim(number int) (age int, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, x := &n.taken[number/blockSize], number%blockSize
	if b.has(x) {
		return 0, false
	}
	b.set(x)
	return int(n.age[number]), true
}

// release makes a number free again.
func (n *numbers) release(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken[number/blockSize].clear(number % blockSize)
}

// grow sets the age of a number for the use after the one that begins, whose age is given.
func (n *numbers) grow(number, age int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.age[number] = uint16(age + 1)
}

// pick returns the first number of the mask from a number on, cyclically; -1: the mask is empty.
func (m *mask) pick(from int) int {
	from = (from%blockSize + blockSize) % blockSize
	for i := range blockSize {
		if x := (from + i) % blockSize; m.has(x) {
			return x
		}
	}
	return -1
}

// intersect leaves in m the bits that all processes of an agreement have. The error says why they could not agree.
func (m *mask) intersect(all agree) error {
	words := make([]int64, len(m))
	for i, x := range m {
		words[i] = int64(x)
	}
	if err := all(BAnd, words); err != nil {
		return err
	}
	for i, x := range words {
		m[i] = uint64(x)
	}
	return nil
}

// agree is an Allreduce in place among the processes that make a communicator.
type agree func(op *Op, values []int64) error

// all reports whether all processes of the agreement say yes.
func (ag agree) all(yes bool) (bool, error) {
	vote := []int64{0}
	if yes {
		vote[0] = 1
	}
	err := ag(Min, vote)
	return err == nil && vote[0] == 1, err
}

// make opens a communicator of the group, under a number that is free at all processes of the agreement. If another
// thread takes the number meanwhile they try another one. wrong says why this process cannot make it: then no process
// gets the communicator, and all can try again.
func (c *Comm) make(g Group, ag agree, wrong error) (*Comm, error) {
	n, member := &c.job.numbers, g.Size() > 0
	fails := func(err error) (*Comm, error) { return nil, fmt.Errorf("mpi: new communicator from %v: %w", c, err) }
	for attempt, block := 0, 0; ; attempt++ {
		free := n.free(block)
		free[len(free)-1] |= canMake
		if wrong != nil {
			free = mask{}
		}
		if err := free.intersect(ag); err != nil {
			return fails(err)
		}
		if wrong == nil && free[len(free)-1]&canMake == 0 {
			wrong = fmt.Errorf("another process: %w", ErrElsewhere)
		}
		if wrong != nil {
			return fails(wrong)
		}
		// Threads that make communicators from different ones at the same time begin at different numbers.
		number := free.pick(c.number*17 + attempt)
		if number < 0 {
			if block++; block < blocks {
				continue
			}
			return fails(fmt.Errorf("%w: a process has %d communicators and windows, or more that were freed while something is under way in them", ErrComm, maxComms))
		}
		number += block * blockSize
		age, claimed := 0, true
		if member {
			age, claimed = n.claim(number)
		}
		// The vote has 1 to go on, or 0 to try again; and minus the age: its minimum is the highest age.
		vote := []int64{1, -int64(age)}
		if !claimed {
			vote[0] = 0
		}
		err := ag(Min, vote)
		if err == nil && vote[0] == 1 {
			return c.open(g, number, int(-vote[1]), ag)
		}
		if member && claimed {
			n.release(number)
		}
		if err != nil {
			return fails(err)
		}
	}
}

// open opens the communicator under a number that all processes have claimed. If one cannot, it tells the others, and
// no process gets the communicator.
func (c *Comm) open(g Group, number, age int, ag agree) (made *Comm, err error) {
	n, member := &c.job.numbers, g.Size() > 0
	if member {
		n.grow(number, age)
		made, err = c.job.open("", g, number, age, nil)
	}
	all, failed := ag.all(err == nil)
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

// close closes the contexts of a communicator that was freed, or its domain. It reports false if something is under way
// in the communicator here; then the caller tries again later. Only tidy calls it.
func (c *Comm) close() bool {
	c.mu.Lock()
	busy := len(c.active) > 0
	c.mu.Unlock()
	if busy || c.shared.drain() {
		return false
	}
	if c.ownDomain != nil {
		c.job.leave(c.shared)
		_ = c.ownDomain.Close()
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
