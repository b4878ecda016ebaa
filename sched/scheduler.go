package sched

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/topo"
)

// Config configures a scheduler. The zero value is a good default.
type Config struct {
	VPs          int            // virtual processors; 0: one per PU of Topology, or without one, per CPU of CPUs; without either, no more than the CPU quota of the process's cgroup keeps busy, and then Unbound
	CPUs         []int          // CPUs to bind to, VP i to CPUs[i mod len]; nil: those that the process may use
	Slice        time.Duration  // how long a thread may keep its VP while others are ready; 0: 5 ms
	Period       time.Duration  // of the timer hook; 0: 1 ms
	IdleSpin     time.Duration  // how long an idle VP with nothing pending looks for work before it sleeps; 0: 50 us
	PollSpin     time.Duration  // the same while hooks answer Waiting (Busy keeps it awake); 0: 1 ms
	MaxLWPs      int            // OS threads at most, at least 2 for each VP; 0: 4096, or fewer if the limits of the user, the cgroup or the system leave fewer. See LimitError
	SpareTime    time.Duration  // after so long an OS thread that is not needed ends, but for two per VP; 0: 2 s
	SpareRunners int            // idle runners that a VP keeps for its next threads, unused; of more, those that it has not needed for SpareTime end by and by; 0: 256; below 0: all are kept
	Warn         func(error)    // is told, on a goroutine of its own, what goes wrong where no caller can be given an error (*LimitError); nil: one line on standard error
	Unbound      bool           // leave OS threads where the kernel puts them; CPUs then only counts
	Topology     *topo.Topology // the machine to schedule for; nil: this one. Its PUs are bound to if the process may use all of them; else it is a simulation
	Policy       Policy         // in which order ready threads of one priority run; the zero value: Fair
	SharedCPUs   bool           // other busy processes use the same CPUs: give the CPU to the kernel between polls instead of spinning

	// NoPreemption lets threads that compute keep their VP until they call the scheduler, as
	// GODEBUG=asyncpreemptoff=1 does for the whole program: the clock asks no thread to stop. In
	// the portable mode, where none is stopped, it has no effect.
	NoPreemption bool

	// NoKernelSlices leaves the kernel's time slices as they are. Without it the OS threads of VPs and of the clock
	// get short slices, so that they run soon after they wake (Linux 6.12 and later).
	NoKernelSlices bool

	// Watchdog is after how long without a scheduling point, while others want its VP, a thread is
	// reported to Warn (*WatchdogError, with name and stack); 0: never.
	Watchdog time.Duration
}

// Scheduler runs threads on virtual processors. Several can live in one
// process. All methods may be called from threads and goroutines.
type Scheduler struct {
	cfg   Config
	vps   []*vp
	full  VPSet // all of them
	hooks hooks.Set
	nice  int32
	slice int64 // cycles

	started          int64 // cycles
	shared           bool
	preempts         bool  // threads that compute are asked to stop
	idleSpin         int64 // cycles
	pollSpin         int64
	period           int64 // of the clock
	spinTime         int64
	requestAfter     int64
	stealAfter       int64
	helpMin, helpMax int64

	sleeper  atomic.Pointer[Sleeper]
	closing  atomic.Bool // Stop looks whether threads are alive
	stopping atomic.Bool

	observer atomic.Pointer[Observer] // nil: nothing has been asked for yet
	clock    clock
	stopper  stopper
	lwps     lwps
	barred   barred

	lowerProcs func() // lowers GOMAXPROCS by what New has added

	topo     *topo.Topology
	root     *queueNode
	nodes    map[*topo.Item]*queueNode // of the items with VPs
	forest   Spin                      // of the groups of threads: see Forest
	nearbyAt atomic.Int64              // cycles: not before this time wake a VP to ask planners
	planners atomic.Pointer[[]Planner] // nil: none. Written under forest

	_            [128]byte
	wants        atomic.Int64  // wantsClock while the clock sleeps, wantsVP for each VP that does, wantsThread while one requests: 0 while all are busy
	placed       atomic.Uint32 // threads ready in nodes that have VPs
	_            [116]byte
	helpGap      atomic.Int64 // cycles
	nextVP       atomic.Uint32
	bornOutside  atomic.Uint64
	endedOutside atomic.Uint64 // as goroutines
	inSleeper    atomic.Int32  // LWPs in the Sleeper
	request      workRequest
}

const (
	wantsClock  = 1
	wantsVP     = 1 << 16
	wantsThread = 1 << 40
)

// Sleeper lets an idle VP's LWP wait in the kernel for what its hooks have
// pending. Package pioman has one, on epoll.
type Sleeper interface {
	// Sleep blocks the calling OS thread until something pending arrives, or until
	// Wake. It returns false at once if another LWP sleeps here
	// already, or if nothing is pending. It is called without a VP. It may run
	// code that makes threads ready.
	//
	// A waker of the caller sets *order before it calls Wake. Wake may end
	// the Sleep of another LWP instead. So before Sleep blocks it looks at *order, and
	// returns true at once if that is not 0.
	Sleep(order *atomic.Uint32) bool
	// Wake makes the Sleep in progress return, or if there is none, the next one.
	Wake()
}

// ErrStopped says that the scheduler has been stopped.
var ErrStopped = errors.New("sched: the scheduler has been stopped")

// Hooks returns the scheduler's hook points.
func (s *Scheduler) Hooks() *hooks.Set { return &s.hooks }

// CPU returns the CPU of VP number vp.
func (s *Scheduler) CPU(vp int) int { return s.vps[vp].cpu }

// NumVP returns the number of virtual processors.
func (s *Scheduler) NumVP() int { return len(s.vps) }

// SharedCPUs tells whether pollers should give the CPU away between polls, because
// other busy processes, or other VPs, use the same CPUs.
func (s *Scheduler) SharedCPUs() bool { return s.shared || told.Load() }

// SetSleeper sets the Sleeper in which idle VPs wait for pending work; nil: none. It wakes the former
// Sleeper, in which an LWP may still be until then.
func (s *Scheduler) SetSleeper(sl Sleeper) {
	old := s.sleeper.Load()
	if sl == nil {
		s.sleeper.Store(nil)
	} else {
		s.sleeper.Store(&sl)
	}
	if old != nil {
		(*old).Wake()
	}
}

// CurrentVP returns the index of the VP of s that the caller, a thread or a hook,
// holds; -1 on a plain goroutine, and on a thread whose VP has been given away
// (Blocking) or taken.
func (s *Scheduler) CurrentVP() int {
	if c := lookup(); c != nil && c.where().sched == s {
		return c.holding()
	}
	return -1
}

// CurrentVP returns the index of the VP that the calling thread or hook holds, of whichever scheduler; -1 as for
// Scheduler.CurrentVP.
func CurrentVP() int {
	if c := lookup(); c != nil {
		return c.holding()
	}
	return -1
}

func (c *co) holding() int {
	if v := c.where(); v.current() == c {
		return v.id
	}
	return -1
}

// patience returns how long, in cycles, an idle VP looks for work before it sleeps.
func (s *Scheduler) patience(verdict hooks.Verdict) int64 {
	if verdict == hooks.Quiet {
		return s.idleSpin
	}
	return max(s.idleSpin, s.pollSpin)
}

// Stopping tells whether s has been stopped, or is about to be.
func (s *Scheduler) Stopping() bool { return s.stopping.Load() }

// Alive returns the number of threads that have not ended.
func (s *Scheduler) Alive() int {
	var born, ended uint64
	for _, v := range s.vps { // first what ended: it never exceeds what was born later
		ended += atomic.LoadUint64(&v.ended)
	}
	ended += s.endedOutside.Load()
	born = s.bornOutside.Load()
	for _, v := range s.vps {
		born += atomic.LoadUint64(&v.born)
	}
	return int(born - ended)
}

// admit counts a thread that is spawned from outside. It panics on a scheduler
// that has been stopped, as a send on a closed channel does.
func (s *Scheduler) admit() {
	if !s.admitted() {
		panic(ErrStopped.Error() + " (spawn)")
	}
}

// admitted is admit that returns false instead of the panic.
func (s *Scheduler) admitted() bool {
	s.bornOutside.Add(1)
	for s.closing.Load() {
		if s.stopping.Load() {
			s.dismiss()
			return false
		}
		giveWay() // Stop is about to decide
	}
	return true
}

// dismiss undoes admitted: the thread is not spawned.
func (s *Scheduler) dismiss() { s.bornOutside.Add(^uint64(0)) }

// Idle tells whether VP number vp has nothing to do, and if so, whether it is awake. The idle loop of a VP that is
// awake looks for work and fires the idle hooks; a VP that sleeps
// has to be kicked first. A VP that is disabled, or whose thread is in Blocking,
// is not idle. The answer is a hint: a VP that is between two threads may be
// taken for an idle one. Any thread, goroutine or hook may call Idle; it costs three loads.
func (s *Scheduler) Idle(vp int) (idle, awake bool) {
	v := s.vps[vp]
	switch v.mode() {
	case free:
		return !v.off.Load() && v.away.Load() == 0 && !v.hasOwn(), false
	case held:
		idle = !v.off.Load() && !v.hasOwn()
		return idle, idle
	}
	return false, false
}
