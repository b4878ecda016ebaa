package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pm2-go/pm2/internal/test/caller"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// kind is a kind of fault; package faults lists them.
type kind string

const (
	none   kind = "none"
	kill   kind = "kill"
	pause  kind = "pause"
	stop   kind = "stop"
	freeze kind = "freeze"
	load   kind = "load"
	drag   kind = "drag"
	cut    kind = "cut"
	flap   kind = "flap"
	outage kind = "outage"
	unplug kind = "unplug"
	memory kind = "memory"
	cgroup kind = "cgroup"
	files  kind = "files"
	hoard  kind = "hoard"
)

var kinds = []kind{none, kill, pause, stop, freeze, load, drag, cut, flap, outage, unplug, memory, cgroup, files, hoard}

// apart says that the victim is on a host of its own.
func (k kind) apart() bool { return k == flap || k == outage || k == unplug }

// harmless says that no rank may be lost.
func (k kind) harmless() bool {
	return k == none || k == pause || k == load || k == drag || k == flap
}

// deadly says that the victim never ends by itself.
func (k kind) deadly() bool { return k == kill || k == freeze || k == unplug }

// loses says that the others lose the victim, whatever they do, if they have a session at all. While the job starts
// there is no heartbeat.
func (p *plan) loses() bool {
	return p.Kind.deadly() || !p.Early && (p.Kind == stop || p.Kind == outage)
}

// plan is all that is decided about a round. The ranks get it as JSON.
type plan struct {
	Seed    uint64
	Kind    kind
	Instead kind // what was drawn, if this machine does not allow it; else empty

	Size, Victim int
	Driver       string
	Link         string
	Strategy     string
	Copy         string       // PM2_SHM_COPY
	Ways         []caller.Way // by rank: what calls, and what makes the progress
	Eager        int
	Unexpected   int

	Heartbeat, Linger, Timeout time.Duration

	Streams     int // of messages, from each rank to each
	Messages    int // in a stream
	Biggest     int // message, in bytes
	Pace        time.Duration
	Domains     [][]int       // beside the job; of each its kind by rank: domainKinds
	Collectives bool          // all ranks take part in collective operations, too
	OneSided    bool          // they reach into each other's memory, too
	Active      bool          // they send each other active messages, and call each other, too
	Window      int           // of active messages
	Medium      int           // longest body of an active message, in bytes
	Flood       int           // active messages that no answer is awaited for, from each caller to each rank
	Accesses    []nmad.Access // by rank: of its own domain of active messages
	Barrier     bool          // the survivors wait for each other before they close
	Rude        bool          // they close while requests that have to do with the victim are under way

	Early  bool          // the fault comes while the job starts
	Moment time.Duration // when the fault comes, after the start or after all have joined
	For    time.Duration // how long it lasts; 0: to the end
	Faults string        // PM2_FAULTS
	Loads  int
	Bytes  uint64    // memory: by how much it may grow
	Spaces [2]string // of net, of the survivors and of the victim: files; empty: all share that of the test
	Addrs  [2]string // there
}

// patientTCP is more than TCP may say nothing after its device was down for a moment: Linux may take a second to see on
// the other side that it is up again, and what was lost TCP sends again after 0.2 s, 0.6 s, 1.4 s, 3 s.
const patientTCP = 5 * time.Second

// newPlan draws a round. wanted, if not empty, is its kind.
func newPlan(seed uint64, wanted kind, heartbeat time.Duration, m *machine) *plan {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := &plan{Seed: seed, Heartbeat: heartbeat, Linger: nmad.DefaultLinger, Timeout: 8 * time.Second}
	p.Kind = kinds[rng.IntN(len(kinds))]
	if wanted != "" {
		p.Kind = wanted
	}
	p.Size = 2 + min(rng.IntN(7), rng.IntN(7))
	if p.Kind == unplug || p.Kind == outage || p.Kind == flap {
		p.Size = max(p.Size, 2+rng.IntN(3))
	}
	p.Victim = rng.IntN(p.Size)
	p.Link = []string{nmad.LinkLazy, nmad.LinkLazy, nmad.LinkAll}[rng.IntN(3)]
	if p.Size == 2 && rng.IntN(2) == 0 {
		p.Link = ""
	}
	p.Copy = []string{"auto", "two", "single"}[rng.IntN(3)]
	ways := caller.Ways()
	for range p.Size {
		p.Ways = append(p.Ways, ways[rng.IntN(len(ways))])
	}
	p.Eager = []int{0, 0, 1, 100, 4 << 10}[rng.IntN(5)]
	p.Unexpected = []int{2 << 10, 64 << 10, nmad.DefaultUnexpected}[rng.IntN(3)]
	p.Streams = 1 + rng.IntN(2)
	if p.Size > 4 {
		p.Streams = 1
	}
	p.Messages = 8 + 60/(p.Size*p.Streams)
	p.Biggest = 64 << 10 << (2 * rng.IntN(4)) // to 4 MiB
	p.Pace = time.Duration(5+rng.IntN(25)) * time.Millisecond
	p.Barrier, p.Rude = rng.IntN(2) == 0, rng.IntN(3) == 0
	p.Moment = time.Duration(rng.Int64N(int64(p.Pace) * int64(p.Messages)))
	p.drawDomains(rand.New(rand.NewPCG(seed, 7)))
	p.Collectives = rand.New(rand.NewPCG(seed, 8)).IntN(2) == 0
	p.drawThemes(*wantedTheme)
	early := rng.IntN(8) == 0
	long := heartbeat*2 + time.Duration(rng.Int64N(int64(heartbeat)))
	brief := heartbeat/20 + time.Duration(rng.Int64N(int64(heartbeat)*2/5))
	passes := rng.IntN(2) == 0

	rails := []string{"shm", "tcp", "unix", "auto", "tcp,tcp", "shm,tcp"}[rng.IntN(6)]
	far := []string{"tcp", "auto", "tcp,tcp"}[rng.IntN(3)]
	one := []string{"shm", "tcp", "unix"}[rng.IntN(3)]
	if *wantedNet != "" {
		rails, far = *wantedNet, *wantedNet
		one, _, _ = strings.Cut(*wantedNet, ",")
	}
	p.Driver = rails
	p.Strategy = strategy.Names()[rng.IntN(len(strategy.Names()))]
	if rng.IntN(2) == 0 {
		p.Strategy = ""
	}

	switch {
	case p.Kind.apart() && m.noHosts != nil:
		p.Instead, p.Kind = p.Kind, cut
	case p.Kind == cgroup && m.noGroups != nil:
		p.Instead, p.Kind = p.Kind, memory
	}
	switch p.Kind {
	case kill, freeze:
		p.Early = early
	case pause:
		p.For = brief
	case stop:
		p.For, p.Early = long, early
	case load:
		p.Loads = 1 + rng.IntN(3)
	case drag:
		p.Driver = "fault:" + one
		p.Faults = fmt.Sprintf("seed=%d rank=%d refuse=%.2f short=%.2f delay=%.3f:%dus stall=%.3f:%dus", seed, p.Victim,
			rng.Float64()/2, rng.Float64()/2, rng.Float64()/20, 100+rng.IntN(5000), rng.Float64()/50, 100+rng.IntN(2000))
	case cut:
		p.Driver = "fault:" + one
		where, at := []string{"send", "recv"}[rng.IntN(2)], 1+rng.IntN(2*p.Messages)
		if rng.IntN(2) == 0 {
			where, at = []string{"push", "pull"}[rng.IntN(2)], 1+rng.IntN(2*p.Biggest)
		}
		p.Faults = fmt.Sprintf("seed=%d rank=%d cut=%s:%d", seed, p.Victim, where, at)
	case flap:
		p.Driver, p.For = far, brief/2
		p.Link = nmad.LinkAll                      // a link is not made over a network that is down: it is tried for a tenth of a second
		p.Heartbeat = max(p.Heartbeat, patientTCP) // else the kernel's pauses alone are a silence
	case outage:
		p.Driver, p.For = far, long
	case unplug:
		p.Driver = far
	case memory, cgroup:
		p.Bytes = uint64(rng.IntN(1 << 20 << (2 * rng.IntN(4)))) // to 64 MiB
		if rng.IntN(2) == 0 {
			p.Moment = 0 // links that are to be made need memory
		}
	case files, hoard:
		if passes {
			p.For = heartbeat + time.Duration(rng.Int64N(int64(2*time.Second)))
		}
		p.Link = nmad.LinkLazy // links that are to be made need descriptors
		p.Moment /= 2
		if rng.IntN(2) == 0 {
			p.Moment = 0
		}
	}
	return p
}

// member says that the victim takes part in what comes after the fault.
func (p *plan) member() bool { return p.Kind.harmless() }

// others are the ranks that exchange messages after the fault, but for one.
func (p *plan) others(own int) (all []int) {
	for rank := range p.Size {
		if rank != own && (rank != p.Victim || p.member()) {
			all = append(all, rank)
		}
	}
	return all
}

// String describes the round in one line.
func (p *plan) String() string {
	var ways []string
	for _, w := range p.Ways {
		ways = append(ways, w.String())
	}
	words := []string{fmt.Sprintf("seed %d: %s of rank %d of %d over %s, %s", p.Seed, p.Kind, p.Victim, p.Size, p.Driver, strings.Join(ways, " "))}
	if p.Instead != "" {
		words = append(words, "instead of "+string(p.Instead))
	}
	when := "after"
	if p.Early {
		when = "early, after"
	}
	words = append(words, fmt.Sprintf("%s %v", when, p.Moment.Round(time.Millisecond)))
	if p.For > 0 {
		words = append(words, fmt.Sprintf("for %v", p.For.Round(time.Millisecond)))
	}
	for i, of := range p.Domains {
		var kinds []string
		for _, k := range of {
			kinds = append(kinds, domainKinds[k].name)
		}
		words = append(words, fmt.Sprintf("domain %d of %s", 1+i, strings.Join(kinds, ", ")))
	}
	for _, w := range []struct {
		name string
		is   bool
	}{{"collectives", p.Collectives}, {"one-sided", p.OneSided}, {"active", p.Active}, {"barrier", p.Barrier}, {"rude", p.Rude}, {"link " + p.Link, p.Link != ""}, {"strategy " + p.Strategy, p.Strategy != ""}, {p.Faults, p.Faults != ""}} {
		if w.is {
			words = append(words, w.name)
		}
	}
	return strings.Join(words, ", ")
}
