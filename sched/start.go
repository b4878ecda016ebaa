package sched

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/sched/direct"
	"github.com/pm2-go/pm2/sched/internal/machine"
	"github.com/pm2-go/pm2/sched/topo"
)

// New starts a scheduler: bound OS threads, one per VP to begin with, and a clock. It raises GOMAXPROCS so that the
// program's own goroutines keep their share; Stop lowers it again.
func New(cfg Config) (*Scheduler, error) {
	if inSynctest() {
		return nil, errInSynctest
	}
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	shared, err := setting.Shared()
	if err != nil {
		return nil, fmt.Errorf("sched: %w", err)
	}
	if isDirect && !direct.Supported() {
		return nil, errRuntime
	}
	setUp.Do(chooseMode)
	s := &Scheduler{cfg: cfg, nice: nice()}
	s.startedAt = asm.Cycles()
	s.shared = cfg.SharedCPUs || shared
	s.preempts = !cfg.NoPreemption && !asyncPreemptOff
	s.slice = asm.ToCycles(int64(cfg.Slice))
	s.period = asm.ToCycles(int64(cfg.Period))
	s.idleSpin, s.pollSpin = asm.ToCycles(int64(cfg.IdleSpin)), asm.ToCycles(int64(cfg.PollSpin))
	s.spinTime = asm.ToCycles(spinNs)
	s.requestAfter, s.stealAfter = asm.ToCycles(requestAfter), asm.ToCycles(stealAfter)
	s.helpMin, s.helpMax = asm.ToCycles(helpMinNs), asm.ToCycles(helpMaxNs)
	s.helpGap.Store(s.helpMin)
	s.clock.sched = s
	s.bubbleLock.ranked(rankBubbles)
	s.barred.mu.ranked(rankBarred)
	s.stopper.sched = s
	t, pus := cfg.arrange()
	for i := range cfg.VPs {
		v := &vp{sched: s, id: i, self: OneVP(i), cpu: cfg.CPUs[i%len(cfg.CPUs)], sortRequest: newThread(), randomState: uint32(i + 1)}
		if cfg.Policy == LIFO {
			v.q.nonDefault = lifoBit
		}
		v.timers.vp = v
		v.timers.mu.ranked(rankTimers)
		v.idle.mu.ranked(rankLeaf)
		v.timers.next.Store(maxAt)
		v.vacant.inside, v.vacant.base = isIn, true
		v.cur = &v.vacant
		v.outsideLWP.vp = v
		v.counts.sleeping.begin(s.startedAt)
		s.vps = append(s.vps, v)
		s.allVPs.Set(i)
	}
	s.buildTree(t, pus)
	s.shared = s.shared || cfg.VPs > len(cfg.CPUs) // they are each other's busy processes
	s.lowerProcs = machine.RaiseProcs(cfg.VPs + 1)
	for _, v := range s.vps {
		s.newLWP(v)
	}
	s.lwps.done.Add(1)
	go s.clock.main()
	return s, nil
}

// complete replaces the zero fields of cfg by their defaults, and returns an error if a field has no valid value.
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
		if cpu < 0 || cpu >= topo.MaxCPUs {
			return fmt.Errorf("sched: CPU %d does not exist (0 to %d)", cpu, topo.MaxCPUs-1)
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

// setDefault sets *d to def unless it is positive.
func setDefault(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

const (
	defaultIdleSpin = 50 * time.Microsecond
	defaultPollSpin = time.Millisecond

	helpMinNs = 20_000 // bounds of Scheduler.helpGap, in ns
	helpMaxNs = 1_000_000
)

// ErrAlive says that Stop was given up because threads are still alive.
var ErrAlive = errors.New("sched: threads are still alive")

// Stop enables all VPs, waits until all threads have ended, then ends the scheduler: its OS threads and goroutines are
// gone when it returns, and GOMAXPROCS and affinity masks are what they were. If ctx is done first, or if Stop is
// called from a thread of s, it returns an error (ErrAlive or ctx's cause) and s goes on.
func (s *Scheduler) Stop(ctx context.Context) error {
	if c := lookup(); c != nil && c.vpHint().sched == s {
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
	s.clock.wake(moved)
	s.stopper.wake()
	s.lwps.done.Wait()
	s.retire()
	s.lowerProcs()
	return nil
}

// shut sets stopping, unless threads are alive or another goroutine stops s; it reports whether it did. A spawn from
// outside counts its thread, then looks at closing; shut sets closing, then looks at the count: one of them sees the
// other.
func (s *Scheduler) shut() bool {
	if !s.closing.CompareAndSwap(false, true) {
		return false // another goroutine stops s
	}
	if s.Alive() == 0 {
		s.stopping.Store(true)
		return true
	}
	s.closing.Store(false)
	return false
}

// setUp guards chooseMode, which the first New calls.
var setUp sync.Once

// chooseMode finds out whether the kernel has membarrier. If this is the portable mode, and the program was not built
// with the tag portable, it says so on standard error.
func chooseMode() {
	fenced = !hasMembarrier()
	if !isDirect && !direct.Chosen {
		fmt.Fprintf(os.Stderr, "sched: portable mode on %s %s/%s: the Go scheduler switches threads, on OS threads that are not bound to CPUs; "+
			"the direct switch is for Go 1.26 and 1.27 on linux/amd64, and on linux/arm64 without cgo\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
}

// errRuntime is returned where threads cannot be switched though the release of Go is known.
var errRuntime = errors.New("sched: this Go runtime keeps things elsewhere than the release that it says it is: build with -tags portable")
