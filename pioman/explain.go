package pioman

import (
	"fmt"
	"strings"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/topo"
)

// Explanation describes which threads poll at which points at one moment, the counts of polls, and the parameters.
type Explanation struct {
	Engine  string       `json:"engine"`  // its name
	Hooked  bool         `json:"hooked"`  // to a scheduler; else only Wait and Poll poll
	Pending int          `json:"pending"` // requests
	Points  []Polling    `json:"points"`
	VPs     []PollerInfo `json:"vps"`
	Queues  []QueueInfo  `json:"queues"` // the root first
	Asleep  string       `json:"asleep"` // what blocks in the kernel for all: "nothing", "an idle VP", "the progressor", "a waiter"
	Polls   uint64       `json:"polls"`  // rounds at hooks since the engine was hooked
	Finds   uint64       `json:"finds"`  // rounds of these in which something happened
	Sleeps  uint64       `json:"sleeps"` // in the kernel for all, since the engine was made
	Params  []Setting    `json:"parameters"`
}

// Polling describes a polling point.
type Polling struct {
	Point string `json:"point"`
	Why   string `json:"why"` // what polls there, how often; or why nothing does
}

// PollerInfo describes how a VP polls.
type PollerInfo struct {
	VP    int      `json:"vp"`
	Where string   `json:"where"` // the CPU it is on; empty: unknown
	Why   string   `json:"why"`   // when it polls
	Way   []string `json:"way"`   // the queues that it visits, from the leaf to the root
}

// QueueInfo describes a queue of the tree. A gate of nmad has its tasks in the queue of the lowest item that covers the
// memory of its links.
type QueueInfo struct {
	Name  string `json:"name"`
	VPs   []int  `json:"vps"` // that visit it
	Tasks int    `json:"tasks"`
}

// Setting is a parameter with its value.
type Setting struct {
	Param
	Value string `json:"value"`
	From  string `json:"from"` // default, environment, flag, program
}

// Explain describes the present state of the engine. It allocates, and reads cache lines that pollers
// write: do not call it on hot paths.
func (e *Engine) Explain() Explanation {
	a, tr := e.attached.Load(), e.tree.Load()
	x := Explanation{Engine: e.config.Name, Hooked: a != nil, Pending: e.Pending(), Asleep: e.asleep(a), Sleeps: uint64(e.sleeper.sleeps.Load())}
	for i, name := range pointNames {
		x.Points = append(x.Points, Polling{name, e.whenAt(i, a)})
	}
	if a != nil && len(a.vps) > 0 {
		for vp, pu := range tr.runQueues[0].VPs() {
			v := PollerInfo{VP: vp, Where: label(pu), Why: a.when(vp)}
			for _, n := range tr.visits(vp) {
				v.Way = append(v.Way, n.name())
			}
			x.VPs = append(x.VPs, v)
			x.Polls += uint64(a.vps[vp].polls.Load())
			x.Finds += uint64(a.vps[vp].finds.Load())
		}
	}
	for _, n := range tr.nodes {
		x.Queues = append(x.Queues, QueueInfo{n.name(), n.vps, n.queue.length()})
	}
	for i, row := range ParamTable() {
		x.Params = append(x.Params, Setting{row, table[i].get(&e.params), e.params.origin(i).String()})
	}
	return x
}

// whenAt says what polls at a point, and when.
func (e *Engine) whenAt(point int, a *attachedEngine) string {
	p := &e.params
	switch {
	case p.Points&(1<<point) == 0:
		return "off: the parameter points"
	case 1<<point == AtExplicit:
		return "the caller of Poll, at once"
	case a == nil:
		return fmt.Sprintf("off: not hooked to a scheduler, parameter progress %s; only waiters poll", onOff(p.Progress))
	case a.dedicated != nil:
		return fmt.Sprintf("off: VP %d is dedicated to polling", p.Dedicated)
	case point == idlePoint:
		window := time.Duration(asm.Nanos(max(e.window(), e.ticks.hot))).Round(100 * time.Nanosecond)
		return fmt.Sprintf("idle VPs (%s), once in %v while no waiter sleeps, for %v after an arrival, then they block", idlers(p.AllIdle), p.IdleGap, window)
	case point == timerPoint:
		return fmt.Sprintf("the clock, or a thread that polls for its own messages meanwhile, for VPs that have not polled for %v", p.TimerPeriod)
	}
	return fmt.Sprintf("each VP, at most once in %v", p.Granularity)
}

// when says when a VP polls.
func (a *attachedEngine) when(vp int) string {
	switch {
	case a.dedicated != nil:
		return fmt.Sprintf("VP %d does nothing but poll: the parameter dedicated", a.dedicated.vp)
	case a.packages == nil:
		return "polls when it is idle"
	case a.packages[vp].owner.Load() == int64(vp)+1:
		return "is the poller of its package: it was idle first"
	}
	return "polls if it is the first idle one of its package, else only the queue of its own"
}

// asleep says what blocks in the kernel for all.
func (e *Engine) asleep(a *attachedEngine) string {
	switch {
	case e.sleeper.holder.Load() == 0:
		return "nothing"
	case a == nil:
		return "a waiter"
	case a.progressor.state.Load() == blocking:
		return "the progressor"
	}
	return "an idle VP"
}

// name is the name of the queue's item.
func (n *taskNode) name() string {
	if n.up == nil {
		return "machine"
	}
	return label(n.queue.item)
}

// label names an item of the machine by its kind and number.
func label(it *topo.Item) string {
	switch {
	case it == nil:
		return ""
	case it.OS < 0:
		return it.String()
	}
	return fmt.Sprintf("%v %d", it.Kind, it.OS)
}

// Text returns the explanation as text.
func (ex Explanation) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("engine %s: %d requests pending, %s", ex.Engine, ex.Pending, map[bool]string{true: "hooked to a scheduler", false: "explicit"}[ex.Hooked])
	line("%d polls at hooks, %d found something; %d sleeps in the kernel, there at this moment: %s", ex.Polls, ex.Finds, ex.Sleeps, ex.Asleep)
	line("\npolling points")
	for _, p := range ex.Points {
		line("  %-9s %s", p.Point, p.Why)
	}
	line("\nVPs")
	for _, v := range ex.VPs {
		line("  VP %-3d %-8s %s; visits %s", v.VP, v.Where, v.Why, strings.Join(v.Way, " > "))
	}
	line("\nqueues")
	for _, q := range ex.Queues {
		line("  %-14s %d tasks; VPs %s", q.Name, q.Tasks, strings.Trim(fmt.Sprint(q.VPs), "[]"))
	}
	line("\nparameters")
	for _, s := range ex.Params {
		line("  %-18s %-26s %-26s %-12s %s", s.Name, s.Env, s.Value, s.From, s.Meaning)
	}
	return b.String()
}
