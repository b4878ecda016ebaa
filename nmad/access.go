package nmad

import (
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// Access says which threads may use a domain, and under which lock.
type Access uint8

const (
	// Shared: any thread, a lock for each gate. What the job itself has.
	Shared Access = iota
	// Serialized: any thread, one lock for the domain.
	Serialized
	// Private: the thread or goroutine that opened the domain, and no other one: calls of others fail with ErrOwner, except Close and those that
	// only tell something, such as Stats. No locked instruction is on the way of a message. The domain of a thread of marcel is closed at the end of the thread, all others
	// by Close or with the session. It is moved by its owner's calls alone (Explicit).
	Private
)

// String returns the name in lower case.
func (a Access) String() string { return name(a, "shared", "serialized", "private") }

// Progress says which thread moves a domain on.
type Progress uint8

const (
	// ByAccess: Explicit if the access is Private, else Engine.
	ByAccess Progress = iota
	// Engine: what waits, and the hooks of the engine of the session, once it is enabled.
	Engine
	// Explicit: calls for the domain alone: those that wait, start, look for or test something. A waiter polls the domain, and then sleeps on its links' descriptors.
	// While no thread is in such a call long messages stand still, and what a peer waits for, such as credit, does not leave.
	Explicit
	// Worker: a thread of its own, DomainConfig.Worker. Other threads leave requests in its queue, and sleep until these are done: Send returns once the
	// message is in the worker's send buffer, or, if that is full, was sent. Messages that come before their receive are taken in at once, within the bounds of
	// Config.Unexpected. How a send has ended that had returned before, the next Send at that gate tells, and monitors. For Shared.
	Worker
)

// String returns the name in lower case.
func (p Progress) String() string { return name(p, "by access", "engine", "explicit", "worker") }

func name[T ~uint8](x T, names ...string) string {
	if int(x) < len(names) {
		return names[x]
	}
	return fmt.Sprint("no such value: ", uint8(x))
}

// access is what a domain has of its own for its kind of access. The zero value is Shared, moved by the engine of the session.
type access struct {
	kind   Access
	lock   *domainLock    // nil: each gate has its own
	owner  uint64         // asm.GoID of the owner, also if that is a thread of marcel, which stays with its goroutine; 0: all may use it
	engine *pioman.Engine // nil: that of the session
	worker *worker        // nil: there is none
}

// newAccess makes that of a domain that the caller opens.
func newAccess(d *Domain, cfg *DomainConfig) (x access, err error) {
	explicit := cfg.Progress == Explicit || cfg.Progress == ByAccess && cfg.Access == Private
	switch {
	case cfg.Access > Private || cfg.Progress > Worker:
		return x, fmt.Errorf("%w: access %v, progress %v", ErrConfig, cfg.Access, cfg.Progress)
	case cfg.Access != Shared && cfg.Progress == Worker:
		return x, fmt.Errorf("%w: the worker is the owner of its domain, and any thread may use that: leave Access out", ErrConfig)
	case cfg.Access == Private && !explicit:
		return x, fmt.Errorf("%w: a private domain is moved by its owner alone: leave Progress out, or give Explicit", ErrConfig)
	}
	x.kind = cfg.Access
	if cfg.Access != Shared {
		x.serialize(d)
	}
	if explicit {
		x.engine = pioman.New(pioman.Config{Shared: d.s.cfg.Shared})
	}
	if cfg.Access == Private {
		x.owner = asm.GoID()
		x.lock.bias()
	}
	return x, nil
}

// serialize gives all gates of the domain one lock.
func (x *access) serialize(d *Domain) { x.lock = &domainLock{d: d} }

// forbids says what keeps the caller from using the domain: nil, or an ErrOwner.
func (x *access) forbids() error {
	if x.owner == 0 || x.owner == asm.GoID() {
		return nil
	}
	return fmt.Errorf("nmad: %w: only the thread that opened a private domain may use it", ErrOwner)
}

// closers close the private domains of threads of marcel when these end.
var closers = marcel.NewKey(func(all []*Domain) {
	for _, d := range all {
		_ = d.Close() // its error is that of sends that were given up: their requests have it
	}
})

// closeWithThread has the domain closed at the end of the calling thread, if that is one of marcel.
func (d *Domain) closeWithThread() error {
	if d.access.owner == 0 || !marcel.OnThread() {
		return nil
	}
	all, _ := closers.Get()
	return closers.Set(append(all, d))
}
