package mpi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Session gives a library access to MPI without a world: the library opens a session, asks for named groups of
// processes, and makes communicators of them, independently of the program and of other libraries. A process joins the
// job with its first session, and leaves it with the last one. Any thread may call the methods.
type Session struct {
	job  *job
	once sync.Once
}

// The names of groups that each process knows: all processes of the job, this process alone, and the processes on its
// host.
const (
	SetWorld = "mpi://WORLD"
	SetSelf  = "mpi://SELF"
	SetHost  = "pm2://HOST"
)

// joined is the job that all sessions of this process share.
var joined struct {
	mu   sync.Mutex // guards the fields below
	job  *job       // nil: no session is open
	open int        // how many sessions are open
}

// OpenSession opens a session. The first one of a process joins the job, as Init does, and blocks until all processes
// have joined. A process that a launcher has started can join once, so it does not also call Init or New.
func OpenSession(ctx context.Context) (*Session, error) {
	x := &joined
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open == 0 {
		world, err := start(ctx)
		if err != nil {
			return nil, fmt.Errorf("mpi: open session: %w", err)
		}
		x.job = world.job
	}
	x.open++
	return &Session{job: x.job}, nil
}

// Close ends the session. The last session of a process leaves the job, as Finalize does; then all communicators are
// unusable. Further calls do nothing.
func (s *Session) Close() (err error) {
	s.once.Do(func() {
		x := &joined
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.open--; x.open == 0 {
			err = x.job.world.Finalize()
			x.job = nil
		}
	})
	return err
}

// Sets returns the names of groups that Group knows.
func (s *Session) Sets() []string { return slices.Clone(sets) }

var sets = []string{SetWorld, SetSelf, SetHost}

// Group returns the group of a name, in which capitals do not matter. ErrGroup: there is none.
func (s *Session) Group(set string) (Group, error) { return s.job.world.set(set) }

// set returns the group of processes of c that have a name.
func (c *Comm) set(name string) (Group, error) {
	switch {
	case strings.EqualFold(name, SetWorld):
		return c.group, nil
	case strings.EqualFold(name, SetSelf):
		return c.group.Include(c.rank)
	case strings.EqualFold(name, SetHost):
		var here []int
		for r, p := range c.group.job {
			if c.job.session.HostOf(p) == c.job.session.HostOf(c.job.session.Rank()) {
				here = append(here, r)
			}
		}
		return c.group.Include(here...)
	}
	return Group{}, fmt.Errorf("mpi: group of session: %w: %q, of %q", ErrGroup, name, sets)
}

// Comm returns a communicator of a group. All its processes call it with the same name, which tells the call from
// others at the same time.
func (s *Session) Comm(g Group, name string) (*Comm, error) {
	c, err := s.job.world.createNamed(g, name)
	if err != nil {
		return nil, err
	}
	c.SetName(name)
	return c, nil
}

// Info returns an Info about the group of a name: the key "mpi_size" has its size.
func (s *Session) Info(set string) (*Info, error) {
	g, err := s.Group(set)
	if err != nil {
		return nil, err
	}
	return NewInfo("mpi_size", fmt.Sprint(g.Size())), nil
}
