package mpi

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// Comm is a communicator: a group of processes, and a name space for messages among them. Messages of one communicator are never received in another one. Any number of
// threads and goroutines may use it at once; but collective operations are to be called in the same order at all its processes, so threads that share a communicator
// do not call these at once.
type Comm struct {
	job        *job
	group      Group
	rank       int
	name       string
	number     int           // of its first context
	messages   *nmad.Context // of the users
	collective *nmad.Context
	gates      []*nmad.Gate // by rank
	place      []int32      // the rank of each process of the job; Undefined: it is no member

	freed  atomic.Bool
	calls  uint64 // collective operations so far: their tags; under mu
	mu     sync.Mutex
	idle   []*follower       // to be used again; under mu
	active []*follower       // operations under way; under mu
	shared *shared           // nil: none; under mu, constant once looked
	looked bool              // the ranks have made shared, if they can; under mu
	broken error             // why collective operations fail; under mu
	drops  bool              // what comes for them is dropped; under mu
	values map[attribute]any // what libraries keep here; under mu
}

// Rank is this process's, from 0 to Size-1.
func (c *Comm) Rank() int { return c.rank }

// Size is how many processes the communicator has.
func (c *Comm) Size() int { return c.group.Size() }

// Group returns its processes.
func (c *Comm) Group() Group { return c.group }

// Name returns what SetName has set; "world" and "self" have these names from the start.
func (c *Comm) Name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name
}

// SetName sets a name for people.
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

// Compare says how alike two communicators are.
func (c *Comm) Compare(other *Comm) Comparison {
	if c == other {
		return Identical
	}
	return max(Congruent, c.group.Compare(other.group))
}

// Free ends the use of the communicator here: later calls fail with ErrComm, and requests that are under way go on. Values of a Key end. It does not block, and not all processes need call it.
func (c *Comm) Free() {
	if !c.freed.Swap(true) {
		for _, k := range c.attributes() {
			k.end(c)
		}
	}
}

// Dup returns a communicator of the same processes whose messages are kept apart, and with the values of those Keys that are copied. All processes of c call it.
func (c *Comm) Dup() (*Comm, error) {
	made, err := c.Create(c.group)
	if err != nil {
		return nil, err
	}
	for _, k := range c.attributes() {
		k.inherit(c, made)
	}
	return made, nil
}

// Split returns a communicator of those processes that give the same color, in the order of their keys, and of their ranks where these are equal; nil for those whose
// color is Undefined. All processes of c call it.
func (c *Comm) Split(color, key int) (*Comm, error) {
	mine, all := [2]int64{int64(color), int64(key)}, make([][2]int64, c.Size())
	if err := Allgather(c, [][2]int64{mine}, all); err != nil {
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
	return c.make(g)
}

// SplitByHost is Split of those processes that are on one host. All processes of c call it.
func (c *Comm) SplitByHost(key int) (*Comm, error) {
	type name [64]byte // a longer one is told apart by its beginning
	var own name
	copy(own[:], c.job.session.Host())
	all := make([]name, c.Size())
	if err := Allgather(c, []name{own}, all); err != nil {
		return nil, fmt.Errorf("mpi: split of %v by host: %w", c, err)
	}
	return c.Split(slices.Index(all, own), key)
}

// Create returns a communicator of some processes of c, in the order of the group; nil for those that are not among them. All processes of c call it, those that are to be in one
// communicator with the same group; groups that differ have no process in common.
func (c *Comm) Create(g Group) (*Comm, error) {
	for _, p := range g.job {
		if c.group.place(p) == Undefined {
			return nil, fmt.Errorf("mpi: create from %v: %w: it has no process %d of the job", c, ErrGroup, p)
		}
	}
	if c.group.Size() > 0 && g.place(c.job.session.Rank()) == Undefined {
		g = Group{}
	}
	return c.make(g)
}

// make opens a communicator of the group, under a number that all processes of c agree upon: the highest of their lowest free ones, if all of them can have that. Another thread may
// have taken it for another communicator meanwhile; then they try the next one.
func (c *Comm) make(g Group) (made *Comm, err error) {
	for {
		number := []int64{int64(c.job.least())}
		if err := Allreduce(c, Max, nil, number); err != nil {
			return nil, fmt.Errorf("mpi: new communicator from %v: %w", c, err)
		}
		if number[0]+1 > lastContext {
			return nil, fmt.Errorf("mpi: new communicator from %v: %w: no numbers are left for more", c, ErrComm)
		}
		// 0: try again; 1: it cannot be opened here; 2: it is open.
		state := []int32{0}
		if c.job.claim(int(number[0])) {
			if state[0] = 2; g.Size() > 0 {
				if made, err = c.job.open("", g, int(number[0])); err != nil {
					state[0] = 1
				}
			}
		}
		if err := Allreduce(c, Min, nil, state); err != nil {
			return nil, fmt.Errorf("mpi: new communicator from %v: %w", c, err)
		}
		switch {
		case state[0] == 2:
			return made, nil
		case err != nil:
			return nil, err
		case state[0] == 1:
			return nil, fmt.Errorf("mpi: new communicator from %v: %w: another process could not open it", c, ErrComm)
		}
	}
}

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

// check says why there can be no message to or from a rank.
func (c *Comm) check(what string, rank int) error {
	if err := c.usable(); err != nil {
		return err
	}
	if rank < 0 || rank >= len(c.gates) {
		return fmt.Errorf("mpi: %s: %w: %d of %d", what, ErrRank, rank, len(c.gates))
	}
	return nil
}
