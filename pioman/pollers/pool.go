package pollers

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Config says which pollers there are. The zero value is fine.
type Config struct {
	CPUs   []int // one poller on each. Default: all that the process may use
	Active int   // pollers that poll at the same time. Default: 1 per package
	// Ordinary does without SCHED_IDLE: pollers yield, and sleep when the CPU is wanted.
	Ordinary bool
	// Shared says that other processes poll on our CPUs too: who waits then yields to the
	// kernel between polls. The variable PM2_SHARED_CPUS says the same.
	Shared bool
	Burst  time.Duration // longest that a poller polls before it asks for a turn. Default: 50 us
	Tick   time.Duration // period of the clock. Default: 1 ms
	Linger time.Duration // how long a poller goes on when hooks are Waiting. Default: 1 ms
	// Warn is told what the kernel forbids, once. Default: a line on standard error.
	Warn func(error)
}

const (
	defaultBurst  = 50 * time.Microsecond
	defaultTick   = time.Millisecond
	defaultLinger = time.Millisecond
	quietLinger   = 20 * time.Microsecond // how long a poller goes on when nothing is pending: the next request is often near
	envShared     = "PM2_SHARED_CPUS"
)

// ErrConfig is what Start says of a Config that cannot be.
var ErrConfig = errors.New("pollers: wrong configuration")

// Pool is a number of poller threads: a scheduler, as far as a progress engine
// can see, whose virtual processors never have anything to run. Made by Start. Safe
// for concurrent use.
type Pool struct {
	cfg     Config
	hooks   hooks.Set
	sleeper atomic.Pointer[sched.Sleeper]
	all     []*poller
	known   []atomic.Uintptr // asm.G of each poller's goroutine, 0: none at the moment; each its poller's to write
	ticks   struct{ burst, linger, quiet int64 }
	shared  bool
	lower   func() // gives GOMAXPROCS back

	stopping atomic.Bool
	ended    sync.WaitGroup
	once     sync.Once
	warned   sync.Once

	_       [128]byte
	running atomic.Int32 // pollers that are awake; written at every change of a state

	_     [124]byte
	clock clock
}

// Start makes a pool. Its pollers sleep until there is something to poll. Stop it when done.
func Start(cfg Config) (*Pool, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	p := &Pool{cfg: cfg, known: make([]atomic.Uintptr, len(cfg.CPUs))}
	p.shared = cfg.Shared || os.Getenv(envShared) != ""
	p.ticks.burst = asm.ToCycles(int64(cfg.Burst))
	p.ticks.linger = asm.ToCycles(int64(cfg.Linger))
	p.ticks.quiet = asm.ToCycles(int64(quietLinger))
	p.lower = sched.RaiseProcs(min(cfg.Active, len(cfg.CPUs)) + 1)
	p.clock.pool = p
	for i, cpu := range cfg.CPUs {
		p.all = append(p.all, &poller{pool: p, id: i, cpu: cpu})
	}
	p.ended.Add(len(p.all) + 1)
	for _, x := range p.all {
		go x.main()
	}
	go p.clock.main()
	return p, nil
}

func (c *Config) complete() error {
	if len(c.CPUs) == 0 {
		cpus, _ := topo.Usable()
		for cpu := range cpus.All() {
			c.CPUs = append(c.CPUs, cpu)
		}
	}
	for _, cpu := range c.CPUs {
		if cpu < 0 || cpu >= maxCPU {
			return fmt.Errorf("%w: CPU %d: give 0 to %d", ErrConfig, cpu, maxCPU-1)
		}
	}
	if c.Active < 0 || c.Burst < 0 || c.Tick < 0 || c.Linger < 0 {
		return fmt.Errorf("%w: Active, Burst, Tick and Linger must not be below 0", ErrConfig)
	}
	if c.Active == 0 {
		c.Active = 1
		if t, err := machine(); err == nil {
			c.Active = max(len(t.At(topo.Package)), 1)
		}
	}
	for _, d := range []struct {
		is  *time.Duration
		def time.Duration
	}{{&c.Burst, defaultBurst}, {&c.Tick, defaultTick}, {&c.Linger, defaultLinger}} {
		if *d.is == 0 {
			*d.is = d.def
		}
	}
	return nil
}

// Stop ends all threads and returns when they have ended, as far as Go can tell: the kernel
// takes some microseconds more. Whoever hooked something must have unhooked it. Again: no effect.
// On CPUs that are busy, where the kernel does not let a thread out of SCHED_IDLE
// without privilege, it may take a second.
func (p *Pool) Stop() {
	p.once.Do(func() {
		p.stopping.Store(true)
		for _, x := range p.all {
			x.rouse()
			x.endSentinel()
		}
		p.clock.rouse()
		p.ended.Wait()
		p.lower()
	})
}

// Hooks returns the hook points: Idle and Timer are fired, the others never.
func (p *Pool) Hooks() *hooks.Set { return &p.hooks }

// NumVP returns the number of pollers.
func (p *Pool) NumVP() int { return len(p.all) }

// CPUs returns the CPU of each poller.
func (p *Pool) CPUs() []int { return append([]int(nil), p.cfg.CPUs...) }

// CurrentVP returns which poller the caller is; -1: none.
func (p *Pool) CurrentVP() int {
	g := asm.G()
	for i := range p.known {
		if p.known[i].Load() == g {
			return i
		}
	}
	return -1
}

// HandOver lets goroutines run that the calling poller has made ready; an engine calls it then. The
// poller gives its P away, and comes back when the Go scheduler has another one for it,
// some ten microseconds later.
func (p *Pool) HandOver() { runtime.Gosched() }

// Shared tells whether who spins should yield to the kernel between polls.
func (p *Pool) Shared() bool { return p.shared }

// SetSleeper sets how pollers wait for what is pending; nil: for none.
func (p *Pool) SetSleeper(s sched.Sleeper) {
	var old *sched.Sleeper
	if s == nil {
		old = p.sleeper.Swap(nil)
	} else {
		old = p.sleeper.Swap(&s)
	}
	if old != nil {
		(*old).Wake()
	}
}

// Topology is the machine; nil: it could not be found out.
func (p *Pool) Topology() *topo.Topology {
	t, err := machine()
	if err != nil {
		return nil
	}
	return t
}

var machine = sync.OnceValues(topo.Discover)

// PU is where a poller is; nil: unknown.
func (p *Pool) PU(vp int) *topo.Item {
	if t := p.Topology(); t != nil && vp >= 0 && vp < len(p.all) {
		return t.CPU(p.all[vp].cpu)
	}
	return nil
}

// Kick sees to it that somebody polls soon. Of a poller that calls it itself (vp) it sees
// to it that the clock ticks.
func (p *Pool) Kick(vp int) {
	if vp >= 0 {
		p.clock.ensure()
		return
	}
	if int(p.running.Load()) >= p.cfg.Active {
		return
	}
	if !p.wakeOne() {
		p.clock.ensure() // all starve, or are on their way
	}
}

// wakeOne wakes a poller that sleeps, the same one each time unless that has starved
// since; false: none sleeps.
func (p *Pool) wakeOne() bool {
	first := int(p.clock.next.Load())
	for i := range p.all {
		x := p.all[(first+i)%len(p.all)]
		if x.rouse() {
			return true
		}
	}
	return false
}

// warn tells once what the kernel forbids.
func (p *Pool) warn(err error) {
	p.warned.Do(func() {
		if p.cfg.Warn != nil {
			p.cfg.Warn(err)
		} else {
			fmt.Fprintln(os.Stderr, err)
		}
	})
}

// Stats counts what a pool has done. Values of different fields may be of slightly
// different moments.
type Stats struct {
	Turns   uint64 // bursts of polling
	Wakes   uint64 // pollers woken out of their sleep
	Starved uint64 // times that a poller got no turn for a tick of the clock
	Ticks   uint64 // of the clock
	Naps    uint64 // sleeps in the Sleeper
}

// Stats returns what was counted so far.
func (p *Pool) Stats() Stats {
	s := Stats{Ticks: p.clock.ticks.Load()}
	for _, x := range p.all {
		s.Turns += x.turns.Load()
		s.Wakes += x.wakes.Load()
		s.Starved += x.starvations.Load()
		s.Naps += x.naps.Load()
	}
	return s
}
