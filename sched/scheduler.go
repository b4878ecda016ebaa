package sched

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/direct"
	"github.com/pm2-go/pm2/sched/internal/machine"
	"github.com/pm2-go/pm2/sched/topo"
)

// Config says how a scheduler is to be made. The zero value is a good one.
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
	Warn         func(error)    // is told, on a goroutine of its own, what goes wrong though nobody can be given an error (*LimitError); nil: one line on standard error
	Unbound      bool           // leave OS threads where the kernel puts them; CPUs then only counts
	Topology     *topo.Topology // the machine to schedule for; nil: this one. Its PUs are bound to if the process may use all of them; else it is a simulation
	Policy       Policy         // in which order ready threads of one priority run; the zero value: Fair
	Shared       bool           // other busy processes use the same CPUs: give the CPU to the kernel between polls instead of spinning

	// NoPreemption lets threads that compute keep their VP until they call the scheduler, as
	// GODEBUG=asyncpreemptoff=1 does for the whole program: the clock asks no thread to stop. In
	// the portable mode, where none is stopped, it has no effect.
	NoPreemption bool

	// NoKernelSlices leaves the kernel's time slices alone, which else are short for the
	// OS threads of VPs and of the clock, so that they run soon after they wake (Linux 6.12 and later).
	NoKernelSlices bool

	// Watchdog: Warn is told (*HogError, with name and stack) of each thread that has
	// had no scheduling point for so long while others wanted its VP; 0: of none.
	Watchdog time.Duration
}

// Environment that configures the default scheduler, as a launcher sets it.
const envShared = "PM2_SHARED_CPUS" // not empty: Config.Shared

const (
	defaultIdleSpin = 50 * time.Microsecond
	defaultPollSpin = time.Millisecond

	helpMinNs = 20_000 // between wake-ups of sleeping VPs to share work
	helpMaxNs = 1_000_000
)

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
	linger           int64
	requestAfter     int64
	stealAfter       int64
	helpMin, helpMax int64

	sleeper  atomic.Pointer[Sleeper]
	closing  atomic.Bool // Stop looks whether it may
	stopping atomic.Bool

	observer atomic.Pointer[Observer] // nil: nothing has been asked for yet
	clock    clock
	stopper  stopper
	lwps     lwps
	barred   barred

	lowerProcs func() // takes back what New has added to GOMAXPROCS

	topo      *topo.Topology
	root      *node
	nodes     map[*topo.Item]*node // of the items with VPs
	simulated bool
	forest    Spin                      // of the groups of threads: see Forest
	beckonAt  atomic.Int64              // cycles: not before this time wake a VP to ask planners
	planners  atomic.Pointer[[]Planner] // nil: none. Written under forest

	_            [128]byte
	alert        atomic.Int64  // a request * alertRequest + sleeping VPs * alertSleep + dormant clock * alertDoze: 0 while all are busy
	placed       atomic.Uint32 // threads ready in nodes that have VPs
	_            [116]byte
	helpGap      atomic.Int64 // cycles
	nextVP       atomic.Uint32
	bornOutside  atomic.Uint64
	endedOutside atomic.Uint64 // as goroutines
	watching     atomic.Int32  // LWPs in the Sleeper
	request      request
}

const (
	alertDoze    = 1
	alertSleep   = 1 << 16
	alertRequest = 1 << 40
)

// Sleeper is how an idle process waits in the kernel for what its hooks have
// pending: package pioman has one, on epoll.
type Sleeper interface {
	// Sleep blocks the calling OS thread until something pending arrives or
	// Wake. It returns false at once if it cannot: somebody sleeps here
	// already, or nothing is pending. It is called without a VP and may run
	// what makes threads ready.
	//
	// Whoever wakes the caller sets *order before he calls Wake, which may end
	// the Sleep of somebody else that is in progress: so Sleep looks, once it is its
	// turn, and returns true at once if *order is not 0.
	Sleep(order *atomic.Uint32) bool
	// Wake makes the Sleep in progress return, or else the next one.
	Wake()
}

// ErrAlive says that Stop was given up because threads are still alive.
var ErrAlive = errors.New("sched: threads are still alive")

// ErrStopped says that the scheduler has been stopped.
var ErrStopped = errors.New("sched: the scheduler has been stopped")

// New starts a scheduler: bound OS threads, one per VP to begin with, and a
// timer thread. It raises GOMAXPROCS so that the program's own goroutines keep
// their share; Stop lowers it again.
func New(cfg Config) (*Scheduler, error) {
	if inBubble() {
		return nil, errInBubble
	}
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	if isDirect && !direct.Supported() {
		return nil, errRuntime
	}
	setUp.Do(chooseMode)
	s := &Scheduler{cfg: cfg, nice: nice()}
	s.started = asm.Cycles()
	s.shared = cfg.Shared || os.Getenv(envShared) != ""
	s.preempts = !cfg.NoPreemption && !asyncPreemptOff
	s.slice = asm.ToCycles(int64(cfg.Slice))
	s.period = asm.ToCycles(int64(cfg.Period))
	s.idleSpin, s.pollSpin = asm.ToCycles(int64(cfg.IdleSpin)), asm.ToCycles(int64(cfg.PollSpin))
	s.linger = asm.ToCycles(lingerNs)
	s.requestAfter, s.stealAfter = asm.ToCycles(requestAfter), asm.ToCycles(stealAfter)
	s.helpMin, s.helpMax = asm.ToCycles(helpMinNs), asm.ToCycles(helpMaxNs)
	s.helpGap.Store(s.helpMin)
	s.clock.s = s
	s.forest.ranked(rankForest)
	s.barred.mu.ranked(rankBarred)
	s.stopper.s = s
	t, pus := cfg.arrange()
	for i := range cfg.VPs {
		v := &vp{sched: s, id: i, only: OneVP(i), cpu: cfg.CPUs[i%len(cfg.CPUs)], sifter: newThread(), seed: uint32(i + 1)}
		if cfg.Policy == LIFO {
			v.q.odd = lifoBit
		}
		v.timers.vp = v
		v.timers.mu.ranked(rankTimers)
		v.rest.mu.ranked(rankLeaf)
		v.timers.next.Store(maxAt)
		v.nobody.inside, v.nobody.base = isIn, true
		v.cur = &v.nobody
		v.ghost.vp = v
		v.n.sleeping.begin(s.started)
		s.vps = append(s.vps, v)
		s.full.Set(i)
	}
	s.plant(t, pus)
	s.simulated = cfg.Topology != nil && slices.ContainsFunc(s.vps, func(v *vp) bool { return v.cpu != v.pu.OS })
	s.shared = s.shared || cfg.VPs > len(cfg.CPUs) // they are each other's busy processes
	s.lowerProcs = machine.RaiseProcs(cfg.VPs + 1)
	for _, v := range s.vps {
		s.newLWP(v)
	}
	s.lwps.done.Add(1)
	go s.clock.main()
	return s, nil
}

// complete checks cfg and sets what was left open.
func (cfg *Config) complete() error {
	if err := cfg.adopt(); err != nil {
		return err
	}
	most := math.MaxInt
	if len(cfg.CPUs) == 0 {
		cfg.CPUs = machine.UsableCPUs()
		most = machine.DefaultVPs(len(cfg.CPUs))
	}
	for _, cpu := range cfg.CPUs {
		if cpu < 0 || cpu >= machine.MaxCPU {
			return fmt.Errorf("sched: CPU %d does not exist (0 to %d)", cpu, machine.MaxCPU-1)
		}
	}
	if cfg.VPs == 0 {
		cfg.VPs = min(len(cfg.CPUs), most)
		// Every process with a quota would bind to the first CPUs.
		cfg.Unbound = cfg.Unbound || cfg.VPs < len(cfg.CPUs)
	}
	if cfg.VPs < 0 || cfg.VPs > maxVPs {
		return fmt.Errorf("sched: %d VPs asked for, 1 to %d can be had", cfg.VPs, maxVPs)
	}
	if cfg.Policy > LIFO {
		return fmt.Errorf("sched: there is no Policy %d: choose Fair or LIFO", cfg.Policy)
	}
	setDefault(&cfg.Slice, defaultSlice)
	setDefault(&cfg.Period, defaultPeriod)
	setDefault(&cfg.IdleSpin, defaultIdleSpin)
	setDefault(&cfg.PollSpin, defaultPollSpin)
	setDefault(&cfg.SpareTime, defaultSpareTime)
	if cfg.SpareRunners == 0 {
		cfg.SpareRunners = defaultSpareRunners
	}
	if cfg.MaxLWPs <= 0 {
		cfg.MaxLWPs = max(machine.ThreadBound(), sureLWPs*cfg.VPs)
	}
	if cfg.MaxLWPs < sureLWPs*cfg.VPs {
		return fmt.Errorf("sched: MaxLWPs %d is too small for %d VPs: at least %d", cfg.MaxLWPs, cfg.VPs, sureLWPs*cfg.VPs)
	}
	return nil
}

func setDefault(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

// Hooks returns the scheduler's hook points.
func (s *Scheduler) Hooks() *hooks.Set { return &s.hooks }

// CPU is that of VP number vp.
func (s *Scheduler) CPU(vp int) int { return s.vps[vp].cpu }

// NumVP returns the number of virtual processors.
func (s *Scheduler) NumVP() int { return len(s.vps) }

// Shared tells whether pollers should give the CPU away between polls, because
// another process polls on the same one.
func (s *Scheduler) Shared() bool { return s.shared }

// SetSleeper sets how idle VPs wait for pending work; nil for none. The former
// one may be in use until its Wake.
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

// CurrentVP is the same for the scheduler of the calling thread.
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

// Kick wakes VP number vp, or any that nobody holds if vp < 0 (it sleeps, or its
// thread is in Blocking), so that it fires its idle hooks and looks for work. A
// VP whose thread runs stays as it is, but its timer ticks from now on, even if
// the clock was dozing.
func (s *Scheduler) Kick(vp int) {
	if vp >= 0 {
		s.vps[vp].kick()
		return
	}
	for _, v := range s.vps {
		if v.mode() == free && !v.off.Load() {
			v.kick()
			return
		}
	}
	s.clock.attend()
}

// kick: a VP in user mode fires its idle hooks before it sleeps, and needs no more
// than the clock; one that is held may have fired them for the last time, or belong to
// a thread in an operation, which computes next.
func (v *vp) kick() {
	if v.mode() == user || v.off.Load() {
		v.sched.clock.attend()
		return
	}
	v.rest.kick() // also if called is set: the spare on its way looks at it after it has cleared called
	if v.mode() == free {
		v.call(toClaim, true)
	} else {
		v.sched.clock.attend()
	}
}

// patience is how long, in cycles, an idle VP keeps looking.
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

// Stop enables all VPs, waits until all threads have ended, then ends the scheduler: its OS
// threads and goroutines are gone when it returns, and GOMAXPROCS and affinity
// masks are what they were. If ctx is done first, or if Stop is called from a
// thread of s, it returns an error (ErrAlive or ctx's cause) and s goes on.
func (s *Scheduler) Stop(ctx context.Context) error {
	if c := lookup(); c != nil && c.where().sched == s {
		return errors.New("sched: a scheduler cannot be stopped from one of its threads")
	}
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		if s.stopping.Load() {
			return nil
		}
		for i := range s.vps {
			_ = s.EnableVP(i) // threads may wait for it
		}
		n := s.Alive()
		if n == 0 && s.shut() {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %d of them (%w)", ErrAlive, n, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
	s.SetSleeper(nil)
	s.lwps.stop()
	s.clock.rouse()
	s.stopper.wake()
	s.lwps.done.Wait()
	s.retire()
	s.lowerProcs()
	return nil
}

// shut begins the end, unless a spawn from outside was faster: that counts its
// thread, then looks at closing; shut sets closing, then looks at the count.
func (s *Scheduler) shut() bool {
	if !s.closing.CompareAndSwap(false, true) {
		return false // somebody else stops s
	}
	if s.Alive() == 0 {
		s.stopping.Store(true)
		return true
	}
	s.closing.Store(false)
	return false
}

// admit counts a thread that is spawned from outside. It panics on a scheduler
// that has been stopped, as a send on a closed channel does.
func (s *Scheduler) admit() {
	if !s.admitted() {
		panic(ErrStopped.Error() + " (spawn)")
	}
}

// admitted is admit, false instead of the panic.
func (s *Scheduler) admitted() bool {
	s.bornOutside.Add(1)
	for s.closing.Load() {
		if s.stopping.Load() {
			s.dismiss()
			return false
		}
		giveWay() // it is being decided
	}
	return true
}

// dismiss takes back what admitted has counted: there will be no such thread.
func (s *Scheduler) dismiss() { s.bornOutside.Add(^uint64(0)) }
