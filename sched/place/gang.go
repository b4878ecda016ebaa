package place

import (
	"slices"
	"time"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Gang is a Policy for threads that make progress only together, such as those that meet at barriers all the time
// (Ousterhout, ICDCS 1982: coscheduling). Each bubble directly in the one that it arranges is a gang. The gangs take
// turns: in a time slice the threads of one of them run, on all VPs of the item, and those of the others wait. Threads
// that are directly in the outer bubble run all the time.
//
//	VP 0   a a a a │ b b b b │ c c c c │ a a a a
//	VP 1   a a a a │ b b     │ c c c c │ a a a a      gangs a, b, c
//	VP 2   a a a a │ b b     │ c c c   │ a a a a
//	          slice     slice     slice
//
// A gang without threads is skipped, and the slice of a gang ends with its last thread. The clock
// changes gangs. When the slice of a gang is over its threads stop at their next scheduling point. A
// thread that computes on keeps its VP until its own slice (Config.Slice) is over.
//
// A Gang serves one bubble: make one for each with NewGang. It must not be copied.
type Gang struct {
	_       [0]sched.Spin // go vet reports copies
	slice   time.Duration // how long a turn lasts
	current *Bubble       // the gang whose turn it is
	since   time.Duration // when its turn began, on the clock of Tick; 0: it begins at the next tick
}

// DefaultGangSlice is the time slice of a Gang that was made without one.
const DefaultGangSlice = 20 * time.Millisecond

// NewGang makes a Gang with that time slice, or DefaultGangSlice if it is not positive. It is rounded up to the clock's
// period (Config.Period).
func NewGang(slice time.Duration) *Gang {
	if slice <= 0 {
		slice = DefaultGangSlice
	}
	return &Gang{slice: slice}
}

// gangs lists the bubbles directly in b that have threads.
func gangs(b *Bubble) (all []*Bubble) {
	for _, e := range b.Entities() {
		if x, ok := e.(*Bubble); ok && x.Weight() > 0 {
			all = append(all, x)
		}
	}
	return all
}

// Wake gives the gang whose turn it is the item, and holds the others.
func (g *Gang) Wake(b *Bubble, on *topo.Item) {
	all := gangs(b)
	if len(all) > 0 && !slices.Contains(all, g.current) {
		g.current, g.since = all[0], 0
	}
	plan := []Placement{{b, on}}
	for _, x := range all {
		if x != g.current {
			plan = append(plan, Placement{x, nil})
		}
	}
	b.Arrange(plan)
}

// Idle has nothing to do: the gang's threads wait on one queue.
func (g *Gang) Idle(*Bubble, int) bool { return false }

// Tick ends the slice when its time has come, or no thread is left to use it.
func (g *Gang) Tick(b *Bubble, now time.Duration) bool {
	on := b.Item()
	all := gangs(b)
	if on == nil || len(all) == 0 {
		return false
	}
	i := slices.Index(all, g.current)
	if g.since == 0 {
		g.since = now
	}
	if i < 0 || len(all) > 1 && now-g.since >= g.slice {
		next := all[(i+1)%len(all)]
		plan := []Placement{{next, on}}
		if i >= 0 {
			plan = append(plan, Placement{g.current, nil})
		}
		b.Arrange(plan)
		g.current, g.since = next, now
	}
	return len(all) > 1
}
