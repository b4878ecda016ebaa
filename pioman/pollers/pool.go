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
	// Shared says that other processes poll on our CPUs too: a waiter then yields to the
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

func (c *Config) complete() error {
	if len(c.CPUs) == 0 {
		cpus, _ := topo.Usable()
		for cpu := range cpus.All() {
			c.CPUs = append(c.CPUs, cpu)
		}
	}
	for _, cpu := range c.CPUs {
		if cpu < 0 || cpu >= topo.MaxCPUs {
			return fmt.Errorf("%w: CPU %d: give 0 to %d", ErrConfig, cpu, topo.MaxCPUs-1)
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

// Shared tells whether a waiter that spins should yield to the kernel between polls.
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
