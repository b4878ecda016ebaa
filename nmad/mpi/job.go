package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/contexts"
	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
	"github.com/pm2-go/pm2/nmad/mpi/internal/segment"
	"github.com/pm2-go/pm2/pioman"
)

// job is what all communicators of a session share.
type job struct {
	session *nmad.Session
	numbers numbers
	table   *plan.Table // that operations go by; nil: plan.Default; written by New and Tune, while no operation is under way

	openSegment func(locator []byte, members, me int) (*segment.Segment, error) // segment.Open, except in tests

	inOrder bool   // reductions combine the operands from the last rank to the first (EnvOrder)
	checks  bool   // the ranks compare their collective calls (EnvCheck)
	stop    func() // ends progress in the background; nil: the program has begun it, and ends it
	self    *Comm
	world   *Comm                 // of all processes, from which communicators between groups are made
	hostOf  func(process int) int // for tests, in place of nmad.Session.HostOf; nil: none; below 0: no ranks share memory

	mu           sync.Mutex // guards the fields below
	windowGroups windowGroups
	segments     map[*segment.Segment]bool // that are mapped
	refusers     int                       // how many goroutines send refusals
	refused      *sync.Cond                // of mu: refusers is 0
}

// goRefuse calls f, which sends refusals, in a goroutine: the caller may hold locks. Finalize waits until f has
// returned.
func (j *job) goRefuse(f func()) {
	j.mu.Lock()
	j.refusers++
	j.mu.Unlock()
	go func() {
		f()
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.refusers--; j.refusers == 0 {
			j.refused.Broadcast()
		}
	}()
}

// vacate unmaps all memory that is shared with other processes.
func (j *job) vacate() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for s := range j.segments {
		s.Vacate()
	}
	j.segments = nil
}

// leave unmaps the memory of one communicator; nil: it has none.
func (j *job) leave(h *shared) {
	if h == nil || h.segment == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.segments[h.segment] {
		delete(j.segments, h.segment)
		h.segment.Vacate()
	}
}

// allRefused waits until all goroutines that send refusals have returned.
func (j *job) allRefused() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.refusers > 0 {
		j.refused.Wait()
	}
}

// EnvOrder is the environment variable that has all reductions combine their operands in one order, from the last
// rank to the first, if it is "ranks" in all processes of a job. The results are then the same to the last bit,
// wherever the processes are, and whether the caller waits or not. Otherwise they are the same for the same number
// and placement of processes, and form of call. It costs messages, and time at one rank, unless all are on one host.
const EnvOrder = "PM2_MPI_ORDER"

// Init joins the job that the environment describes (of a launcher of nmad, or of any process manager that nmad knows;
// without one a job of one process), lets messages progress in the background (pioman.Enable), and returns the
// communicator of all processes. It blocks until all processes have joined. Finalize leaves the job.
func Init(ctx context.Context) (world *Comm, err error) {
	if world, err = start(ctx); err != nil {
		return nil, fmt.Errorf("mpi: init: %w", err)
	}
	return world, nil
}

// start joins the job, and lets messages progress in the background.
func start(ctx context.Context) (world *Comm, err error) {
	stop, err := pioman.Enable()
	if err != nil {
		return nil, err
	}
	session, err := nmad.Join(ctx)
	if err == nil {
		if world, err = New(session); err != nil {
			err = errors.Join(err, session.Close())
		}
	}
	if err != nil {
		stop()
		return nil, err
	}
	world.job.stop = stop
	return world, nil
}

// SessionOf returns the session that carries a communicator; nil of a nil one. It has the memory of buffered sends
// (Attach), counters (Stats) and a monitor. Comm.Finalize closes it.
func SessionOf(c *Comm) *nmad.Session {
	if c == nil || c.job == nil {
		return nil
	}
	return c.job.session
}

// New returns the communicator of all processes of a session that the program has opened itself. The package uses the
// contexts 2 to 16001 of domain 0 of the session, and for windows 20000 to 24999. All processes of the job call it,
// once for a session. It does not block.
func New(session *nmad.Session) (world *Comm, err error) {
	if session == nil {
		return nil, fmt.Errorf("mpi: %w: no session", ErrComm)
	}
	table, err := loadTable()
	if err != nil {
		return nil, err
	}
	j := &job{session: session, table: table, checks: checking(), inOrder: os.Getenv(EnvOrder) == "ranks", openSegment: segment.Open}
	j.refused = sync.NewCond(&j.mu)
	var all Group
	for rank := range session.Size() {
		all.job = append(all.job, rank)
	}
	own, err := all.Include(session.Rank())
	if err != nil {
		return nil, err // the session was closed
	}
	j.numbers.taken[0].set(0)
	j.numbers.taken[0].set(1)
	if world, err = j.open("world", all, 0, 0, nil); err == nil {
		j.world = world
		j.self, err = j.open("self", own, 1, 0, nil)
	}
	return world, err
}

// Finalize leaves the job: it waits, at most for nmad.Config.Linger, until the messages that were sent have left. All
// communicators of the job are unusable afterwards. Each process calls it once, on any of them.
func (c *Comm) Finalize() error {
	c.job.allRefused()
	err := c.job.session.Close()
	c.job.vacate()
	if c.job.stop != nil {
		c.job.stop()
	}
	return err
}

// Main is a whole program: it calls Init, f, and Finalize, and exits with status 1 and a line to standard error if one
// of them fails. If f fails it also ends the other processes (Abort).
func Main(f func(world *Comm) error) {
	world, err := Init(context.Background())
	if err == nil {
		if err = f(world); err != nil {
			world.Abort(1, err.Error())
		}
		err = world.Finalize()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Abort ends this process with an exit status, and all others of the job, as far as the launcher can, and writes why to
// standard error. It does not return.
func (c *Comm) Abort(status int, why string) { c.job.session.Abort(status, why) }

// Self returns the communicator of this process alone.
func (c *Comm) Self() *Comm { return c.job.self }

// open opens a communicator under a number, which was used age times before. own is the domain that it has for itself;
// nil: its messages are in domain 0.
func (j *job) open(name string, g Group, number, age int, own *nmad.Domain) (*Comm, error) {
	c := &Comm{job: j, group: g, name: name, rank: g.rankOf(j.session.Rank()), number: number, domain: own, ownDomain: own}
	c.tags, c.collectiveTags = uint64(age)<<ageOfMessages, uint64(age)<<ageOfCollectives
	first := contexts.FirstCommunicator + contexts.PerCommunicator*number
	if own == nil {
		all := j.session.Domains()
		if len(all) == 0 {
			return nil, fmt.Errorf("mpi: open a communicator: %w", nmad.ErrClosed)
		}
		c.domain = all[0]
	} else {
		first = contexts.FirstCommunicator
	}
	var err error
	if c.messages, err = c.domain.OpenContext(first, g.job...); err == nil {
		if c.collective, err = c.domain.OpenContext(first+1, g.job...); err != nil {
			_ = c.messages.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: open a communicator: %w", err)
	}
	c.describe()
	c.reach()
	return c, nil
}

// reach sets the gates to the processes of the group, and their ranks.
func (c *Comm) reach() {
	c.gates = make([]*nmad.Gate, c.Size())
	c.rankOf = make([]int32, c.job.session.Size())
	for p := range c.rankOf {
		c.rankOf[p] = Undefined
	}
	for rank, p := range c.group.job {
		c.gates[rank] = c.domain.Gate(p)
		c.rankOf[p] = int32(rank)
	}
}
