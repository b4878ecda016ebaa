package pioman

import (
	"fmt"
	"strings"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/topo"
)

// Explanation describes which processor or thread polls what, where, how often and why, at one moment.
// Counts are since the engine was made or hooked; those of different fields may be of slightly
// different moments.
type Explanation struct {
	Engine   string    `json:"engine"`
	Hooked   bool      `json:"hooked"`  // to a scheduler: else only Wait and Poll poll
	Pending  int       `json:"pending"` // requests
	Points   []Polling `json:"points"`
	VPs      []Poller  `json:"vps"`
	Queues   []Place   `json:"queues"`
	Memory   []Near    `json:"memory"` // by node; empty: nothing is known of the machine
	Adaptive Adaptive  `json:"adaptive"`
	Blocking Blocking  `json:"blocking"`
	Params   []Setting `json:"parameters"`
}

// Polling describes a polling point.
type Polling struct {
	Point string `json:"point"`
	On    bool   `json:"on"`
	Why   string `json:"why"` // what polls there, how often; or why nothing does
	Polls uint64 `json:"polls"`
	Finds uint64 `json:"finds"` // polls in which something happened
}

// Poller describes how a virtual processor polls.
type Poller struct {
	VP    int               `json:"vp"`
	Where string            `json:"where"` // the processor it is on; empty: unknown
	Why   string            `json:"why"`   // whether it polls when it is idle
	Way   []string          `json:"way"`   // the queues on its way, from the leaf to the root
	Polls map[string]uint64 `json:"polls"` // by point
	Finds uint64            `json:"finds"`
}

// Place describes a queue of the tree.
type Place struct {
	Name     string `json:"name"`
	Depth    int    `json:"depth"` // 0: the root
	VPs      []int  `json:"vps"`
	Tasks    int    `json:"tasks"`    // in its main list
	One      uint32 `json:"one_of"`   // of so many rounds of a poller below, one comes by here
	Deserted bool   `json:"deserted"` // no processor below polls: the others' surveys visit it
}

// Near says where tasks are polled that ask for the processors of one NUMA node (Task.SetCPUs). The
// gates of nmad whose links lie on that node do so. A task that asks for several nodes is polled from
// the queue that these share; a task that asks for none, from the root's.
type Near struct {
	Node  string `json:"node"`
	CPUs  string `json:"cpus"`
	Queue string `json:"queue"` // its name
	VPs   []int  `json:"vps"`   // that have it on their way
}

// Adaptive is the decision of how long an idle processor polls before it blocks.
type Adaptive struct {
	Window  time.Duration `json:"window_ns"` // chosen
	Choice  string        `json:"choice"`    // in words
	Polled  uint64        `json:"polled"`    // waits, not the shortest ones, that ended while an idle processor polled
	Blocked uint64        `json:"blocked"`   // arrivals that the kernel announced
	Spread  [6]int        `json:"spread"`    // of 256 waits, how many ended within 1/16, 1/8, 1/4, 1/2, 1 BlockingDelay, and later
}

// Blocking describes what sleeps in the kernel, and what the kernel watches.
type Blocking struct {
	Asleep  string `json:"asleep"`  // what blocks in the kernel: "nothing", "an idle VP", "the progressor", "a waiter"
	Sleeps  uint32 `json:"sleeps"`  // so far
	Sources int    `json:"sources"` // descriptors that announce for tasks
	Sent    uint64 `json:"sent"`    // how often the progressor was sent to the kernel
	Stays   uint64 `json:"stays"`   // how often it went back there at once
}

// Setting is a parameter with its value.
type Setting struct {
	Name    string `json:"name"`
	Env     string `json:"env"`
	Value   string `json:"value"`
	From    string `json:"from"` // default, environment, flag, program
	Meaning string `json:"meaning"`
}

// Explain describes the present state of the engine. It allocates, and reads cache lines that pollers
// write: do not call it on hot paths.
func (e *Engine) Explain() Explanation {
	a := e.attached.Load()
	x := Explanation{Engine: e.config.Name, Hooked: a != nil, Pending: e.Pending()}
	x.Points = e.explainPoints(a)
	if a != nil {
		for vp := range a.vps {
			x.VPs = append(x.VPs, e.explainVP(a, vp))
		}
	}
	x.Queues = e.explainQueues()
	x.Memory = e.explainMemory()
	x.Adaptive = e.adapt.explain()
	x.Blocking = e.explainBlocking(a)
	p := e.Params()
	for _, row := range ParamTable() {
		value, by := p.Get(row.Name)
		x.Params = append(x.Params, Setting{row.Name, row.Env, value, by.String(), row.Meaning})
	}
	return x
}

func (e *Engine) explainPoints(a *attachment) []Polling {
	points, p := e.Points(), &e.params
	list := make([]Polling, len(pointNames))
	for i, name := range pointNames {
		x := &list[i]
		x.Point, x.On = name, points&(1<<i) != 0
		switch {
		case !x.On:
			x.Why = "switched off by the parameter points"
		case 1<<i == AtExplicit:
			x.Why = "the caller of Poll, at once"
		case a == nil && !p.Progress:
			x.On, x.Why = false, "switched off by the parameter progress: only waiters poll"
		case a == nil:
			x.On, x.Why = false, "the engine is not hooked to a scheduler: only waiters poll"
		case a.dedicated != nil:
			x.On, x.Why = false, fmt.Sprintf("VP %d is dedicated to polling", p.Dedicated)
		case i == idlePoint:
			x.Why = fmt.Sprintf("idle VPs (%v)%s, for %v after the last arrival, then they block", p.IdleVPs, every(p.IdleGap), asmDuration(max(e.adapt.window(), e.ticks.hot)))
		case i == timerPoint:
			x.Why = fmt.Sprintf("the clock, or a thread that polls for its own messages meanwhile, for VPs that have not polled for %v", p.TimerPeriod)
		default:
			x.Why = fmt.Sprintf("each VP, at most once in %v", p.Granularity)
		}
		if a == nil || i >= len(hookPoints) {
			continue
		}
		for vp := range a.vps {
			x.Polls += uint64(a.vps[vp].polls[i].Load())
			x.Finds += uint64(a.vps[vp].finds[i].Load())
		}
	}
	return list
}

func every(gap time.Duration) string {
	if gap == 0 {
		return " without pause"
	}
	return " every " + gap.String()
}

func asmDuration(cycles int64) time.Duration {
	return time.Duration(asm.Nanos(cycles)).Round(100 * time.Nanosecond)
}

func (e *Engine) explainVP(a *attachment, vp int) Poller {
	s := &a.vps[vp]
	x := Poller{VP: vp, Polls: map[string]uint64{}}
	if l, ok := a.s.(seated); ok {
		if pu := l.PU(vp); pu != nil {
			x.Where = label(pu)
		}
	}
	for i := range hookPoints {
		x.Polls[pointNames[i]] = uint64(s.polls[i].Load())
		x.Finds += uint64(s.finds[i].Load())
	}
	switch {
	case a.dedicated != nil && a.dedicated.vp == vp:
		x.Why = "does nothing but poll: the parameter dedicated"
		x.Polls["dedicated"] = uint64(a.dedicated.polls.Load())
		x.Finds += uint64(a.dedicated.finds.Load())
	case a.dedicated != nil:
		x.Why = fmt.Sprintf("never polls: VP %d does", a.dedicated.vp)
	case a.sockets != nil && a.sockets[vp].by.Load() == int64(vp)+1:
		x.Why = "is the poller of its socket: it was idle first"
	case a.sockets != nil:
		x.Why = "polls if it is the first idle one of its socket"
	case a.elected == nil || a.elected[vp]:
		x.Why = fmt.Sprintf("polls when idle: idle-distribution %v", e.params.IdleVPs)
	default:
		x.Why = fmt.Sprintf("idle, it polls only the queue of its own: idle-distribution %v", e.params.IdleVPs)
	}
	if tr := e.tree.Load(); tr != nil && vp < len(tr.ways) {
		for _, n := range tr.ways[vp] {
			x.Way = append(x.Way, n.name())
		}
	} else {
		x.Way = []string{"machine"}
	}
	return x
}

func (e *Engine) explainQueues() (list []Place) {
	tr := e.tree.Load()
	if tr == nil {
		return []Place{{Name: "machine", Tasks: e.root.length(), One: 1}}
	}
	for _, n := range tr.nodes {
		x := Place{Name: n.name(), VPs: n.vps, Tasks: n.queue.length(), One: 1, Deserted: n.neglected.Load()}
		for up := n; up != nil; up = up.up {
			if up != n {
				x.Depth++
			}
		}
		for at := n; at.children > 0; {
			x.One *= max(at.share.Load(), 1)
			next := tr.firstBelow(at)
			if next == nil {
				break
			}
			at = next
		}
		list = append(list, x)
	}
	return list
}

func (e *Engine) explainMemory() (list []Near) {
	tr := e.tree.Load()
	if tr == nil || tr.topology == nil {
		return nil
	}
	for _, it := range tr.topology.At(topo.NUMA) {
		q := tr.covering(e, it.CPUs)
		for _, n := range tr.nodes {
			if n.queue == q {
				list = append(list, Near{label(it), it.CPUs.String(), n.name(), n.vps})
			}
		}
	}
	return list
}

// firstBelow is one of the nodes below n, nil: none.
func (tr *tree) firstBelow(n *node) *node {
	for _, c := range tr.nodes {
		if c.up == n {
			return c
		}
	}
	return nil
}

// label names an item of the machine by its kind and number.
func label(it *topo.Item) string {
	if it.OS < 0 {
		return it.String()
	}
	return fmt.Sprintf("%v %d", it.Kind, it.OS)
}

func (n *node) name() string {
	if n.up == nil || n.item == nil {
		return "machine"
	}
	return label(n.item)
}

func (p *adaptation) explain() Adaptive {
	window := p.window()
	x := Adaptive{Window: asmDuration(window), Polled: p.polled.Load(), Blocked: p.blocked.Load(), Spread: p.est.Spread()}
	switch {
	case x.Polled+x.Blocked == 0:
		x.Choice = fmt.Sprintf("nothing observed yet: poll for %v, then block", x.Window)
	case window == 0:
		x.Choice = "block at once: waits are long, polling is rarely worth it"
	case window >= p.delay:
		x.Choice = fmt.Sprintf("poll for the whole blocking delay, %v: most waits end before", x.Window)
	default:
		x.Choice = fmt.Sprintf("poll for %v, then block: what does not come by then takes long", x.Window)
	}
	return x
}

func (e *Engine) explainBlocking(a *attachment) Blocking {
	x := Blocking{Asleep: "nothing", Sleeps: e.sleeper.sleeps.Load(), Sources: len(e.sleeper.list())}
	if a != nil {
		x.Sent, x.Stays = a.progressor.sends.Load(), a.progressor.stays.Load()
	}
	switch {
	case e.sleeper.holder.Load() == 0:
	case a == nil:
		x.Asleep = "a waiter"
	case a.progressor.state.Load() == blocking:
		x.Asleep = "the progressor"
	default:
		x.Asleep = "an idle VP"
	}
	return x
}

// Text returns the explanation as text.
func (x Explanation) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("engine %s: %d requests pending, %s", x.Engine, x.Pending, map[bool]string{true: "hooked to a scheduler", false: "explicit"}[x.Hooked])
	line("\npolling points")
	for _, p := range x.Points {
		line("  %-9s %-4s %s", p.Point, map[bool]string{true: "on", false: "off"}[p.On], p.Why)
		if p.Polls > 0 {
			line("  %-14s polled %d times, something happened in %d", "", p.Polls, p.Finds)
		}
	}
	line("\nvirtual processors")
	for _, v := range x.VPs {
		counts := ""
		for _, name := range append(pointNames[:len(hookPoints):len(hookPoints)], "dedicated") {
			if n := v.Polls[name]; n > 0 {
				counts += fmt.Sprintf(" %s %d", name, n)
			}
		}
		if counts == "" {
			counts = " none"
		}
		line("  VP %-3d %-8s %s", v.VP, v.Where, v.Why)
		line("  %-15s visits %s; polls:%s; finds: %d", "", strings.Join(v.Way, " > "), counts, v.Finds)
	}
	line("\nqueues")
	for _, q := range x.Queues {
		rate := "visited in every round of each poller below"
		if q.One > 1 {
			rate = fmt.Sprintf("visited in one of %d rounds of each poller below", q.One)
		}
		if q.Deserted {
			rate = "no VP below polls: visited by the surveys of the others"
		}
		line("  %s%-*s %d tasks; %s", strings.Repeat("  ", q.Depth), max(14-2*q.Depth, 1), q.Name, q.Tasks, rate)
	}
	if len(x.Memory) > 0 {
		line("\nnear which memory")
	}
	for _, m := range x.Memory {
		line("  %-16s what lies there, as the links of a gate may: polled from %s, by the VPs %s", m.Node+" ("+m.CPUs+")", m.Queue, strings.Trim(fmt.Sprint(m.VPs), "[]"))
	}
	line("\npoll or block")
	line("  %s", x.Adaptive.Choice)
	line("  waits that ended by polling %d, by the kernel %d; of the last ones, in shares of 256, by length: %v", x.Adaptive.Polled, x.Adaptive.Blocked, x.Adaptive.Spread)
	k := x.Blocking
	line("\nin the kernel")
	line("  %s sleeps for all; %d sleeps so far", k.Asleep, k.Sleeps)
	line("  %d sources; the progressor was sent %d times and stayed %d times", k.Sources, k.Sent, k.Stays)
	line("\nparameters")
	for _, s := range x.Params {
		line("  %-18s %-26s %-26s %-12s %s", s.Name, s.Env, s.Value, s.From, s.Meaning)
	}
	return b.String()
}
