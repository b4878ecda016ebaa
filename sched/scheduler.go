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
	// VPs is the number of virtual processors. 0: one per PU of Topology; without a Topology one per CPU of CPUs;
	// without CPUs one per CPU that the process may use, or as many as the quota of its cgroup keeps busy, which are
	// then Unbound.
	VPs int

	// CPUs are the CPUs to bind to, VP i to CPUs[i mod len]. nil: those that the process may use.
	CPUs []int

	Slice  time.Duration // how long a thread may keep its VP while others are ready; 0: 5 ms
	Period time.Duration // between two ticks of the clock, which fire the Timer hooks; 0: 1 ms

	IdleSpin time.Duration // how long an idle VP with nothing pending looks for work before it sleeps; 0: 50 us
	PollSpin time.Duration // the same while hooks answer Waiting (Busy keeps the VP awake); 0: 1 ms

	// MaxLWPs bounds the OS threads of the scheduler, at least 2 for each VP. 0: 4096, or fewer if the limits of the
	// user, the cgroup or the system leave fewer. See LimitError.
	MaxLWPs int

	SpareTime time.Duration // after so long an OS thread that is not needed ends, but for two per VP; 0: 2 s

	// SpareRunners is how many idle runners a VP keeps for its next threads even if it does not need them. Of more,
	// those end by and by that it has not needed for SpareTime. 0: 256; below 0: the VP keeps all.
	SpareRunners int

	// Warn is called, on a goroutine of its own, with what goes wrong where no caller can get an error (*LimitError,
	// *WatchdogError). nil: the scheduler writes one line to standard error.
	Warn func(error)

	Unbound bool // the kernel places the OS threads; of CPUs only the number counts

	// Topology is the machine to schedule for; nil: this one. The scheduler binds to its PUs if the process may use all
	// of them; else it simulates that machine on the CPUs of this one.
	Topology *topo.Topology

	Policy Policy // in which order ready threads of one priority run; the zero value: Fair

	// SharedCPUs says that other busy processes use the same CPUs: pollers then give the CPU to the kernel between two
	// looks instead of spinning.
	SharedCPUs bool

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

// Scheduler runs threads on virtual processors. New makes one; a process may have several. Any thread or goroutine may
// call its methods; hooks may call those that do not block.
type Scheduler struct {
	cfg    Config // with the defaults filled in
	vps    []*vp
	allVPs VPSet // all of them
	hooks  hooks.Set
	nice   int32 // of the process
	slice  int64 // cycles

	startedAt        int64 // cycles
	shared           bool  // Config.SharedCPUs, or what makes it so: the environment, more VPs than CPUs
	preempts         bool  // the clock asks threads that compute past their slice to stop
	idleSpin         int64 // cycles: Config.IdleSpin
	pollSpin         int64 // cycles: Config.PollSpin
	period           int64 // cycles: Config.Period
	spinTime         int64 // cycles: spinNs
	requestAfter     int64 // cycles: the constant of that name
	stealAfter       int64 // cycles: the constant of that name
	helpMin, helpMax int64

	sleeper  atomic.Pointer[Sleeper] // nil: idle LWPs sleep in futexes
	closing  atomic.Bool             // Stop looks whether threads are alive, or has found none
	stopping atomic.Bool             // Stop has found no thread alive: the scheduler ends

	observer atomic.Pointer[Observer] // nil: no trace and no counting was asked for yet
	clock    clock
	stopper  stopper
	lwps     lwps
	barred   barred

	lowerProcs func() // lowers GOMAXPROCS by what New has added

	topo         *topo.Topology            // nil: not known
	root         *queueNode                // the queue of the whole machine
	nodes        map[*topo.Item]*queueNode // the queues of the items that have VPs
	bubbleLock   Spin                      // the lock of all bubbles: see BubbleLock
	kickNearbyAt atomic.Int64              // cycles: before this time kickNearby wakes no VP
	planners     atomic.Pointer[[]Planner] // nil: none. Written under bubbleLock

	_              [128]byte
	wants          atomic.Int64  // the sum of what asks for something, see below; 0: all VPs are busy, and the clock is awake
	placed         atomic.Uint32 // ready threads in nodes that have VPs
	_              [116]byte
	helpGap        atomic.Int64  // cycles: between two wakes of sleeping VPs by one VP
	nextVP         atomic.Uint32 // threads spawned from outside go to the VPs in turn
	spawnedOutside atomic.Uint64 // threads spawned from outside
	endedOutside   atomic.Uint64 // threads that have ended as goroutines
	inSleeper      atomic.Int32  // LWPs in the Sleeper
	request        workRequest
}

// The summands of Scheduler.wants.
const (
	wantsClock  = 1       // the clock is asleep
	wantsVP     = 1 << 16 // for each VP that is asleep
	wantsThread = 1 << 40 // a VP requests a thread
)

// Sleeper is where the LWP of an idle VP sleeps until the kernel announces something for which the hooks wait. Package
// pioman has one, on epoll. Of several idle VPs one sleeps here, the others in futexes.
type Sleeper interface {
	// Sleep blocks the calling OS thread until something pending arrives, or until Wake, and then returns true. It
	// returns false at once if another LWP sleeps here already, or if nothing is pending. An LWP without a VP calls it.
	// Sleep may run code that makes threads ready.
	//
	// A waker of the caller sets *order before it calls Wake. Wake may end the Sleep of another LWP instead. So Sleep
	// looks at *order before it blocks, and returns true at once if that is not 0.
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

// SharedCPUs reports whether pollers should give the CPU away between polls, because other busy processes, or other
// VPs, use the same CPUs.
func (s *Scheduler) SharedCPUs() bool { return s.shared || shareCalled.Load() }

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

// CurrentVP returns the index of the VP of s that the calling thread or hook holds; -1 on a plain goroutine, and on a
// thread that has given its VP away (Blocking) or has lost it.
func (s *Scheduler) CurrentVP() int {
	if c := lookup(); c != nil && c.vpHint().sched == s {
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

// holding returns the index of the VP that c holds; -1: it holds none.
func (c *co) holding() int {
	if v := c.vpHint(); v.current() == c {
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

// Stopping reports whether Stop has ended s, or is about to.
func (s *Scheduler) Stopping() bool { return s.stopping.Load() }

// Alive returns the number of threads that have not ended.
func (s *Scheduler) Alive() int {
	var born, ended uint64
	for _, v := range s.vps { // first what ended: it never exceeds what was born later
		ended += atomic.LoadUint64(&v.ended)
	}
	ended += s.endedOutside.Load()
	born = s.spawnedOutside.Load()
	for _, v := range s.vps {
		born += atomic.LoadUint64(&v.spawned)
	}
	return int(born - ended)
}

// admit counts a thread that is spawned from outside. It panics on a scheduler that has been stopped, as a send on a
// closed channel does.
func (s *Scheduler) admit() {
	if !s.admitted() {
		panic(ErrStopped.Error() + " (spawn)")
	}
}

// admitted is admit that returns false instead of the panic.
func (s *Scheduler) admitted() bool {
	s.spawnedOutside.Add(1)
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
func (s *Scheduler) dismiss() { s.spawnedOutside.Add(^uint64(0)) }

// Idle reports whether VP number vp has nothing to do, and if so, whether it is awake. The idle loop of a VP that is
// awake looks for work and fires the idle hooks; a VP that sleeps has to be kicked first. A VP that is disabled, or
// whose thread is in Blocking, is not idle. The answer is a hint: a VP that is between two threads may look idle. Any
// thread, goroutine or hook may call Idle; it costs three loads.
func (s *Scheduler) Idle(vp int) (idle, awake bool) {
	v := s.vps[vp]
	switch v.mode() {
	case vpFree:
		return !v.disabled.Load() && v.numBlocking.Load() == 0 && !v.hasOwn(), false
	case vpHeld:
		idle = !v.disabled.Load() && !v.hasOwn()
		return idle, idle
	}
	return false, false
}
