package pollers

import (
	"os"
	"slices"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

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

// Fits tells whether the pool is what Start would make of cfg; which function is Warn does not matter.
func (p *Pool) Fits(cfg Config) bool {
	if cfg.complete() != nil {
		return false
	}
	is := p.cfg
	return slices.Equal(is.CPUs, cfg.CPUs) && is.Active == cfg.Active && is.Ordinary == cfg.Ordinary && is.Shared == cfg.Shared &&
		is.Burst == cfg.Burst && is.Tick == cfg.Tick && is.Linger == cfg.Linger
}

// Stop ends all threads and returns when they have ended, as far as Go can tell: the kernel
// takes some microseconds more. All hooks must have been unregistered before. Again: no effect.
// On CPUs that are busy, where the kernel does not let a thread out of SCHED_IDLE
// without privilege, it may take a second.
func (p *Pool) Stop() {
	p.once.Do(func() {
		p.stopping.Store(true)
		for _, x := range p.all {
			x.rouse()
			x.endSentinel()
		}
		p.clock.wake()
		p.ended.Wait()
		p.lower()
	})
}

// PU is where a poller is; nil: unknown.
func (p *Pool) PU(vp int) *topo.Item {
	if t := p.Topology(); t != nil && vp >= 0 && vp < len(p.all) {
		return t.CPU(p.all[vp].cpu)
	}
	return nil
}

// Kick sees to it that a poller polls soon. Of a poller that calls it itself (vp) it sees
// to it that the clock ticks.
func (p *Pool) Kick(vp int) {
	if vp >= 0 {
		p.clock.rouse()
		return
	}
	if int(p.running.Load()) >= p.cfg.Active {
		return
	}
	if !p.wakeOne() {
		p.clock.rouse() // all starve, or are on their way
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

// Stats counts what a pool has done. Values of different fields may be of slightly
// different moments.
type Stats struct {
	Bursts  uint64 // bursts of polling
	Wakes   uint64 // pollers woken out of their sleep
	Starved uint64 // times that a poller got no turn for a tick of the clock
	Ticks   uint64 // of the clock
	Naps    uint64 // sleeps in the Sleeper
}

// Stats returns what was counted so far.
func (p *Pool) Stats() Stats {
	s := Stats{Ticks: p.clock.ticks.Load()}
	for _, x := range p.all {
		s.Bursts += x.bursts.Load()
		s.Wakes += x.wakes.Load()
		s.Starved += x.starvations.Load()
		s.Naps += x.naps.Load()
	}
	return s
}
