package mpi

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// Comm is a communicator: a group of processes, and a name space for messages among them. Messages of one
// communicator are never received in another one. Any number of threads and goroutines may use it at once. Collective
// operations are the exception: all its processes call them in the same order, so threads that share a communicator
// do not call these at once.
type Comm struct {
	job            *job
	group          Group
	rank           int
	number         int           // see numbers; of a communicator with a domain of its own: minus the number of that
	domain         *nmad.Domain  // carries its messages
	ownDomain      *nmad.Domain  // the domain, if no other communicator has it; nil: the domain is the job's
	private        bool          // the domain belongs to one thread
	closed         int           // how many of its two contexts numbers.tidy has closed
	tags           uint64        // the bits that all tags of the program's messages have
	collectiveTags uint64        // the bits that all tags of collective operations have; as a tag, of wake-up messages (shared)
	messages       *nmad.Context // of the program's messages
	collective     *nmad.Context // of collective operations
	gates          []*nmad.Gate  // by rank
	rankOf         []int32       // by process of the job; Undefined: the process is no member

	freed atomic.Bool // set by Free, read by every call

	mu           sync.Mutex // guards the fields below
	name         string
	turns        uint64                    // how many collective operations have begun or were made: the turn of the last one
	refused      uint64                    // if broken: the turn of the last operation that this rank has refused (failure.go)
	idle         []*follower               // for operations to come
	active       []*follower               // operations under way
	kept         map[uint64]bool           // turns of persistent operations that the program may start
	lost         []int                     // processes that Agree has found lost
	acknowledged []int                     // lost processes that the program has acknowledged
	pairs        map[partitionedKey]uint64 // how many partitioned messages were made
	info         *Info
	shared       *shared            // memory of the ranks of this host; nil: none; constant once sharedKnown
	sharedKnown  bool               // the ranks have tried to make shared
	notShared    string             // why there is no shared
	broken       error              // why collective operations fail; nil: none has failed
	handler      func(*Comm, error) // of the program, for errors; or nil
	drops        bool               // messages that come for collective operations are dropped
	values       map[anyKey]any     // what libraries keep under their Keys
}

// Rank returns the rank of this process, from 0 to Size-1; Undefined of a nil communicator.
func (c *Comm) Rank() int {
	if c == nil {
		return Undefined
	}
	return c.rank
}

// Size returns how many processes the communicator has.
func (c *Comm) Size() int {
	if c == nil {
		return 0
	}
	return c.group.Size()
}

// Group returns its processes.
func (c *Comm) Group() Group { return c.group }

// Name returns what SetName has set; "world" and "self" have these names from the start.
func (c *Comm) Name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name
}

// SetName sets the name that String and error texts have.
func (c *Comm) SetName(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.name = name
}

// String describes the communicator for people.
func (c *Comm) String() string {
	if name := c.Name(); name != "" {
		return fmt.Sprintf("communicator %q, rank %d of %d", name, c.rank, c.Size())
	}
	return fmt.Sprintf("communicator %d, rank %d of %d", c.number, c.rank, c.Size())
}

// Free ends the use of the communicator here. Later calls fail with ErrComm; requests that are under way go on;
// values of a Key end. It does not block. The number of the communicator is free again when all processes have called
// Free and nothing is under way in it. A process has at most 8,000 communicators and windows at a time.
func (c *Comm) Free() {
	if !c.freed.Swap(true) {
		for _, k := range c.attributes() {
			k.end(c)
		}
		c.job.numbers.retire(c)
		c.job.numbers.tidy()
	}
}

// Dup returns a communicator of the same processes whose messages are kept apart. It has the values of those Keys that
// are copied, and the hints of c, or the given ones. All processes of c call it, with the same KeyDomain: "private"
// promises that one thread, the caller, uses the new communicator, and calls now and then. Other keys are kept, and do
// nothing.
func (c *Comm) Dup(hints ...*Info) (made *Comm, err error) {
	if len(hints) == 0 {
		return c.dup(nil)
	}
	if access, own := hints[0].Get(KeyDomain); own {
		made, err = c.dupWithDomain(access)
	} else {
		made, err = c.dup(nil)
	}
	if err == nil {
		made.SetInfo(hints[0])
	}
	return made, err
}

// dup is Dup. wrong, if it is not nil, says why this process cannot take part.
func (c *Comm) dup(wrong error) (*Comm, error) {
	made, err := c.create(c.group, wrong)
	if err != nil {
		return nil, err
	}
	c.endow(made)
	return made, nil
}

// endow gives a communicator made from c the values, the error handler and the hints that it inherits.
func (c *Comm) endow(made *Comm) {
	for _, k := range c.attributes() {
		k.inherit(c, made)
	}
	c.mu.Lock()
	f, hints := c.handler, c.info.Dup()
	c.mu.Unlock()
	made.mu.Lock()
	defer made.mu.Unlock()
	made.handler, made.info = f, hints
}

// Split returns a communicator of the processes that give the same color, in the order of their keys, and of their
// ranks where keys are equal. It returns nil where the color is Undefined. All processes of c call it.
func (c *Comm) Split(color, key int) (*Comm, error) { return c.split(color, key, nil) }

// split is Split. wrong, if it is not nil, says why this process cannot take part.
func (c *Comm) split(color, key int, wrong error) (*Comm, error) {
	choice, all := [2]int64{int64(color), int64(key)}, make([][2]int64, c.Size())
	if err := Allgather(c, [][2]int64{choice}, all); err != nil {
		return nil, fmt.Errorf("mpi: split of %v: %w", c, err)
	}
	type member struct{ rank, key int }
	var members []member
	for rank, x := range all {
		if x[0] == int64(color) {
			members = append(members, member{rank, int(x[1])})
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	var g Group
	if color != Undefined {
		for _, m := range members {
			g.job = append(g.job, c.group.job[m.rank])
		}
	}
	return c.make(g, c.agree, wrong)
}

// SplitByHost splits c by hosts, as the processes of the job have told each other (nmad.Session.HostOf). key is as in
// Split. All processes of c call it.
func (c *Comm) SplitByHost(key int) (*Comm, error) {
	return c.Split(c.job.session.HostOf(c.job.session.Rank()), key)
}

// Create returns a communicator of the processes of g, in their order, and nil at processes that are not in g. All
// processes of c call it. Processes that are to be in one communicator give the same group; different groups have no
// process in common.
func (c *Comm) Create(g Group) (*Comm, error) { return c.create(g, nil) }

// create is Create. wrong, if it is not nil, says why this process cannot take part.
func (c *Comm) create(g Group, wrong error) (*Comm, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	for _, p := range g.job {
		if c.group.rankOf(p) == Undefined {
			wrong = fmt.Errorf("%w: it has no process %d of the job", ErrGroup, p)
		}
	}
	if c.group.Size() > 0 && g.rankOf(c.job.session.Rank()) == Undefined {
		g = Group{}
	}
	return c.make(g, c.agree, wrong)
}

// agree is an Allreduce among the processes of c.
func (c *Comm) agree(op *Op, values []int64) error { return Allreduce(c, op, nil, values) }

// usable says why c cannot be used; nil: it can.
func (c *Comm) usable() error {
	if c == nil {
		return fmt.Errorf("mpi: %w: there is none", ErrComm)
	}
	if c.freed.Load() {
		return fmt.Errorf("mpi: %w: it was freed", ErrComm)
	}
	return nil
}

// checkRank says why there can be no message to or from a rank; nil: there can.
func (c *Comm) checkRank(what string, rank int) error {
	if err := c.usable(); err != nil {
		return err
	}
	if rank < 0 || rank >= len(c.gates) {
		return fmt.Errorf("mpi: %s: %w: %d of %d", what, ErrRank, rank, len(c.gates))
	}
	return nil
}
