package mpi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Session is a way into MPI without a world: a library opens one, asks for the groups of processes that have a name,
// and makes communicators of them, whatever the program and other libraries do. All sessions of a process share its
// place in the job, which it joins with the first one, and leaves with the last one.
type Session struct {
	job  *job
	once sync.Once
}

// The names of groups that each process knows: all processes of the job, this one alone, and those on its host.
const (
	SetWorld = "mpi://WORLD"
	SetSelf  = "mpi://SELF"
	SetHost  = "pm2://HOST"
)

// joined is what the sessions of this process share.
var joined struct {
	mu   sync.Mutex
	job  *job
	open int
}

// OpenSession opens a session. The first one of a process joins the job, as Init does, and blocks until all processes
// are there; so a program has sessions, or calls Init, or New, and not both in a process that a launcher has started.
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

// Close ends the session. The last one of a process leaves the job, as Finalize does; communicators that were made in
// it are unusable then.
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

// Group returns the processes that have a name.
func (s *Session) Group(set string) (Group, error) { return s.job.world.set(set) }

// set is the processes of c that have a name. As in addresses, capitals do not matter.
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

// Comm returns a communicator of a group. All its processes call it, with the same name, which tells it from others
// that are made at once.
func (s *Session) Comm(g Group, name string) (*Comm, error) {
	c, err := s.job.world.createNamed(g, name)
	if err != nil {
		return nil, err
	}
	c.SetName(name)
	return c, nil
}

// Info returns what is known of a group by its name: its size, under the key "mpi_size".
func (s *Session) Info(set string) (*Info, error) {
	g, err := s.Group(set)
	if err != nil {
		return nil, err
	}
	return NewInfo("mpi_size", fmt.Sprint(g.Size())), nil
}
