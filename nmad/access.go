package nmad

import (
	"fmt"
	"iter"
	"sync"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/internal/lock"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/tasklet"
)

// Access says which threads may use a domain, and under which lock.
type Access uint8

const (
	// Shared: any thread may use the domain, and each gate has a lock. The job itself is a domain of this kind.
	Shared Access = iota
	// Serialized: any thread may use the domain, and one lock is for all its gates.
	Serialized
	// Fine: any thread may use the domain. One lock guards the lists of what is sent and matched at all gates, and each
	// driver has a lock of its own. So a receive can take a message that has come while another thread is inside the
	// driver. Trahay, Brunet and Denis call this fine-grain locking ("An analysis of the impact of multi-threading on
	// communication performance", 2009).
	Fine
	// Private: only the thread or goroutine that opened the domain, its owner, may use it. Calls of others fail with
	// ErrOwner, except Close and those that only tell something, such as Stats. A message costs no locked instruction. The
	// domain of a thread of marcel is closed at the end of the thread, all others by Close or with the session. Only its
	// owner's calls move it (Explicit): each call that waits, whatever it waits for, moves all private domains of its
	// thread, of all sessions.
	Private
)

// String returns the name in lower case.
func (acc Access) String() string { return name(acc, "shared", "serialized", "fine", "private") }

// Progress says which thread moves a domain on.
type Progress uint8

const (
	// ByAccess: Explicit if the access is Private, else Engine.
	ByAccess Progress = iota
	// Engine: the threads that wait move it, and so do the hooks of the engine of the session once that is enabled.
	Engine
	// Explicit: only calls for the domain move it: those that wait, start, look for or test something. A waiter polls the
	// domain, and then sleeps on its links' descriptors. While no thread is in such a call long messages stand still, and
	// nothing that a peer waits for, such as credit, leaves.
	Explicit
	// Worker: a thread of its own moves it; see DomainConfig.Worker. Other threads leave requests in its queue, and sleep
	// until these are done: Send returns once the message is in the worker's send buffer, or, if that is full, once it was
	// sent. The worker takes in messages that come before their receive at once, within the bounds of Config.Unexpected.
	// If a send fails after it has returned, the next Send at that gate and the monitors tell so. It needs the access
	// Shared.
	Worker
)

// String returns the name in lower case.
func (pr Progress) String() string { return name(pr, "by access", "engine", "explicit", "worker") }

func name[T ~uint8](x T, names ...string) string {
	if int(x) < len(names) {
		return names[x]
	}
	return fmt.Sprint("no such value: ", uint8(x))
}

const (
	// MaxDomains is how many domains of a session may be open at once, the job's included.
	MaxDomains = 64
	// lastDomain is the largest number of a domain.
	lastDomain = 1<<16 - 1
)

// DomainConfig says what a domain is to be like. The zero value is right for most.
type DomainConfig struct {
	// Number is the name of the domain for other processes, 1 to 65535. The gates of Domain.Gate lead to the domain of the
	// same number in each process, so processes whose threads open domains at the same time have to set it. Each number is
	// for one domain of a session, also after that was closed. 0: one above the highest that was used here.
	Number int

	Access   Access
	Progress Progress
	Worker   WorkerConfig // of Progress Worker

	// Eager is the longest message that is sent without asking the receiver, in bytes, at most what the driver takes in a
	// packet; 0: Config.Eager. Progress Explicit with 64 KiB here makes a library whose messages move inside calls only,
	// such as FiTMPI is compared with.
	Eager int

	Offload  Offload         // which core submits sends; of progress Engine
	Tasklets *tasklet.Vector // of OffloadTasklet: those of the scheduler whose threads send
}

// resolved is the configuration with what ByAccess stands for.
func (cfg DomainConfig) resolved() DomainConfig {
	if cfg.Progress == ByAccess {
		cfg.Progress = Engine
		if cfg.Access == Private {
			cfg.Progress = Explicit
		}
	}
	return cfg
}

// domainAccess is what a domain has of its own for its kind of access. The zero value is Shared, moved by the engine of the
// session.
type domainAccess struct {
	lock    *lock.Domain   // nil: each gate has its own
	lists   *lock.Spin     // of what is sent and matched at all gates; nil: it is under the lock of its gate
	ownerID uint64         // asm.GoID of the owner, also if that is a thread of marcel, which stays with its goroutine; 0: all may use it
	owner   *owner         // that thread; nil: all may use it
	engine  *pioman.Engine // nil: that of the session
	worker  *worker        // nil: there is none
	guests  *sync.Map      // of uint64: asm.GoID of the session's own goroutines that run functions of the owner's just now
}

// serialize gives all gates of a domain one lock.
func (x *domainAccess) serialize(gates iter.Seq[*Gate]) {
	x.lock = lock.NewDomain(func() {
		for g := range gates {
			g.tend()
		}
	})
}

// admit lets the caller use the domain while it runs functions of the owner's: a request that the owner's Done starts
// belongs to the owner. leave ends that.
func (x *domainAccess) admit() (leave func()) {
	if x.ownerID == 0 || x.ownerID == asm.GoID() {
		return func() {}
	}
	me := asm.GoID()
	if _, is := x.guests.LoadOrStore(me, struct{}{}); is {
		return func() {}
	}
	return func() { x.guests.Delete(me) }
}

// accessError returns an ErrOwner if the caller may not use the domain; else nil.
func (x *domainAccess) accessError() error {
	if x.ownerID == 0 || x.ownerID == asm.GoID() {
		return nil
	}
	return x.slowAccessError()
}

//go:noinline
func (x *domainAccess) slowAccessError() error {
	if _, is := x.guests.Load(asm.GoID()); is {
		return nil
	}
	return fmt.Errorf("nmad: %w: only the thread that opened a private domain may use it", ErrOwner)
}

// newAccess makes that of a domain with those gates, which the caller opens. shared: other processes use its CPUs.
func newAccess(cfg *DomainConfig, gates iter.Seq[*Gate], shared bool) (x domainAccess, err error) {
	if err := cfg.checkOffload(); err != nil {
		return x, err
	}
	explicit := cfg.resolved().Progress == Explicit
	switch {
	case cfg.Access > Private || cfg.Progress > Worker:
		return x, fmt.Errorf("%w: access %v, progress %v", ErrConfig, cfg.Access, cfg.Progress)
	case cfg.Eager < 0:
		return x, fmt.Errorf("%w: Eager %d: give a number of bytes, or 0 for that of the session", ErrConfig, cfg.Eager)
	case cfg.Access != Shared && cfg.Progress == Worker:
		return x, fmt.Errorf("%w: the worker is the owner of its domain, and any thread may use that: leave Access out", ErrConfig)
	case cfg.Access == Private && !explicit:
		return x, fmt.Errorf("%w: a private domain is moved by its owner alone: leave Progress out, or give Explicit", ErrConfig)
	}
	switch cfg.Access {
	case Fine:
		x.lists = lock.NewLists()
	case Serialized, Private:
		x.serialize(gates)
	}
	switch {
	case cfg.Access == Private:
		x.owner = owners.join(shared)
		x.ownerID, x.engine, x.guests = asm.GoID(), x.owner.engine, &sync.Map{}
		x.lock.Bias()
	case explicit:
		x.engine = pioman.New(pioman.Config{SharedCPUs: shared})
	}
	return x, nil
}
