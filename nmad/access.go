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

// Access says which threads may use a domain, and by which locks.
type Access uint8

const (
	// Shared: any thread may use the domain, and each gate has a lock. The job itself is a domain of this kind.
	Shared Access = iota
	// Serialized: any thread may use the domain, and all its gates share one lock.
	Serialized
	// Fine: any thread may use the domain. One lock guards the lists of what is sent and matched at all gates, and each
	// driver has a lock of its own. So a receive can take a message that has come while another thread is inside the
	// driver. Trahay, Brunet and Denis call this fine-grain locking ("An analysis of the impact of multi-threading on
	// communication performance", 2009).
	Fine
	// Private: only the thread or goroutine that opened the domain, its owner, may use it. Calls of other threads fail
	// with ErrOwner, except Close, and calls that only return information, such as Stats. A message costs no locked
	// instruction. The domain of a thread of marcel is closed at the end of the thread; others are closed by Close, or
	// with the session. Only its owner's calls move it (Explicit): each call that waits, whatever it waits for, moves
	// all private domains of its thread, of all sessions.
	Private
)

// String returns the name in lower case.
func (acc Access) String() string { return name(acc, "shared", "serialized", "fine", "private") }

// Progress says which thread moves the messages of a domain.
type Progress uint8

const (
	// ByAccess: Explicit if the access is Private, else Engine.
	ByAccess Progress = iota
	// Engine: the threads that wait move it, and so do the hooks of the engine of the session once that is enabled.
	Engine
	// Explicit: only calls of the program for the domain move it: calls that start a request, wait, probe or test. A
	// waiter polls the domain, and then sleeps on the descriptors of its links. While no thread is in such a call, long
	// messages stand still, and nothing leaves that a peer waits for, such as credit.
	Explicit
	// Worker: a thread of its own moves it; see DomainConfig.Worker. Other threads leave requests in its queue, and
	// sleep until these are done. Send returns when the message is in the worker's send buffer, or, if the buffer is
	// full, when the message was sent. If a send fails after Send has returned, the next Send at that gate returns the
	// error, and monitors get it. The worker receives messages at once, also before their receive is posted, within the
	// bounds of Config.Unexpected. It needs the access Shared.
	Worker
)

// String returns the name in lower case.
func (pr Progress) String() string { return name(pr, "by access", "engine", "explicit", "worker") }

// name returns the name of a value, whose names are listed in order.
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

// DomainConfig configures a domain. The zero value is right for most domains.
type DomainConfig struct {
	// Number identifies the domain to other processes: 1 to 65535, or 0 for one more than the highest number that was
	// used in this session. The gates of Domain.Gate lead to the domain of the same number in each process, so
	// processes whose threads open domains at the same time have to set it. A session uses each number once, also after
	// its domain was closed.
	Number int

	Access   Access
	Progress Progress
	Worker   WorkerConfig // of Progress Worker

	// Eager is the longest message that is sent without asking the receiver, in bytes, at most what the driver takes in
	// a packet; 0: Config.Eager. Progress Explicit with 64 KiB here behaves like a library whose messages move inside
	// calls only, which is what FiTMPI is compared with.
	Eager int

	Offload  Offload         // which core submits sends; for Progress Engine only
	Tasklets *tasklet.Vector // with OffloadTasklet: the vector of the scheduler whose threads send
}

// resolved returns the configuration with ByAccess replaced by the Progress that it stands for.
func (cfg DomainConfig) resolved() DomainConfig {
	if cfg.Progress == ByAccess {
		cfg.Progress = Engine
		if cfg.Access == Private {
			cfg.Progress = Explicit
		}
	}
	return cfg
}

// domainAccess is the part of a domain that depends on its Access and Progress. The zero value is for Shared and
// Engine. It is constant once the domain is open.
type domainAccess struct {
	lock    *lock.Domain   // the lock of all gates; nil if each gate has its own
	lists   *lock.Spin     // the lock of the lists of all gates; nil if the lock of each gate guards its lists. See lock.Gate
	ownerID uint64         // of a private domain: asm.GoID of the owner (a thread of marcel stays on its goroutine); else 0
	owner   *owner         // of a private domain: its owner; else nil
	engine  *pioman.Engine // the domain's own engine; nil if the session's engine moves it
	worker  *worker        // nil if there is none
	guests  *sync.Map      // of a private domain: the keys are the asm.GoID of other goroutines that admit has let in
}

// serialize gives all gates of a domain one lock.
func (x *domainAccess) serialize(gates iter.Seq[*Gate]) {
	x.lock = lock.NewDomain(func() {
		for g := range gates {
			g.tend()
		}
	})
}

// admit lets the caller, a goroutine of the session, use a private domain while it runs a function of the owner, such
// as Operation.Done, which may start requests. leave ends that.
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

// accessError returns ErrOwner if the caller may not use the domain; else nil.
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

// newAccess makes the domainAccess of a domain with these gates, which the caller opens; of a worker, startWorker makes
// it. shared reports whether other processes use this process's CPUs. It fails with ErrConfig.
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
