package nmad

import (
	"fmt"
	"iter"
	"sync"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/tasklet"
)

// Access says which threads may use a domain, and under which lock.
type Access uint8

const (
	// Shared: any thread, a lock for each gate. What the job itself has.
	Shared Access = iota
	// Serialized: any thread, one lock for the domain.
	Serialized
	// Fine: any thread, as Trahay, Brunet and Denis draw fine-grain locking ("An analysis of the impact of multi-threading on communication performance", 2009): the lists of
	// what is sent and matched at all gates are under one lock, each driver is under one of its own. A receive whose message has come takes it though another thread is inside the driver.
	Fine
	// Private: the thread or goroutine that opened the domain, and no other one: calls of others fail with ErrOwner, except Close and those that
	// only tell something, such as Stats. No locked instruction is on the way of a message. The domain of a thread of marcel is closed at the end of the thread, all others
	// by Close or with the session. It is moved by its owner's calls alone (Explicit): each of them that waits, whatever it waits for, moves all private domains of its thread, of all sessions.
	Private
)

// String returns the name in lower case.
func (acc Access) String() string { return name(acc, "shared", "serialized", "fine", "private") }

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
	// Number is what other processes know the domain by, 1 to 65535. The gates of Domain.Gate lead to the domain of the same number of
	// each process, so processes whose threads open domains at the same time give it. Each number is for one domain of a session: it is not
	// used again when that was closed. 0: one above the highest that was used here.
	Number int

	Access   Access
	Progress Progress
	Worker   WorkerConfig // of Progress Worker

	// Eager is the longest message that is sent without asking the receiver, in bytes, at most what the driver takes in a packet; 0: Config.Eager. A library as FiTMPI
	// compares itself with, where messages move inside calls only, is Progress Explicit with 64 KiB here.
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

// access is what a domain has of its own for its kind of access. The zero value is Shared, moved by the engine of the session.
type access struct {
	lock   *domainLock    // nil: each gate has its own
	lists  *spinlock      // of what is sent and matched at all gates; nil: it is under the lock of its gate
	owner  uint64         // asm.GoID of the owner, also if that is a thread of marcel, which stays with its goroutine; 0: all may use it
	own    *owner         // that thread; nil: all may use it
	engine *pioman.Engine // nil: that of the session
	worker *worker        // nil: there is none
	guests *sync.Map      // of uint64: asm.GoID of the session's own goroutines that run functions of the owner's just now
}

// serialize gives all gates of a domain one lock.
func (x *access) serialize(gates iter.Seq[*Gate]) { x.lock = &domainLock{gates: gates} }

// refine gives the lists of all gates a lock of their own.
func (x *access) refine() {
	l := &struct {
		_ [pad]byte
		spinlock
		_ [pad]byte
	}{}
	x.lists = &l.spinlock
}

// admit has the caller use the domain while it runs functions of the owner's: a request that its Done starts belongs to the owner. leave
// ends that.
func (x *access) admit() (leave func()) {
	if x.owner == 0 || x.owner == asm.GoID() {
		return func() {}
	}
	me := asm.GoID()
	if _, is := x.guests.LoadOrStore(me, struct{}{}); is {
		return func() {}
	}
	return func() { x.guests.Delete(me) }
}

// forbids says what keeps the caller from using the domain: nil, or an ErrOwner.
func (x *access) forbids() error {
	if x.owner == 0 || x.owner == asm.GoID() {
		return nil
	}
	return x.forbidsOther()
}

//go:noinline
func (x *access) forbidsOther() error {
	if _, is := x.guests.Load(asm.GoID()); is {
		return nil
	}
	return fmt.Errorf("nmad: %w: only the thread that opened a private domain may use it", ErrOwner)
}
