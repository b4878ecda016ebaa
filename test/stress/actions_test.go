package stress

import (
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// An action is what a thread or goroutine of the soak does in one step. It always ends, and
// accounts for what it has made or used.
type action struct {
	name   string
	weight int
	do     func(w *round, r *rand.Rand)
}

// actions are all of them, of which those are done that -actions asks for.
var actions = []action{
	{"yield", 400, func(*round, *rand.Rand) { marcel.Yield() }},
	{"guard", 400, (*round).enter},
	{"units", 300, (*round).useUnits},
	{"store", 300, func(w *round, r *rand.Rand) { w.store[r.IntN(len(w.store))].pass(w, r) }},
	{"post", 300, func(w *round, r *rand.Rand) { w.post[r.IntN(len(w.post))].pass(w, r) }},
	{"swap", 200, func(w *round, r *rand.Rand) { w.swap.meet(w, r) }},
	{"stream", 60, (*round).stream},
	{"select", 100, (*round).selects},
	{"barrier", 60, (*round).barriers},
	{"latch", 60, (*round).latches},
	{"once", 60, (*round).onces},
	{"futex", 60, (*round).futex},
	{"children", 150, (*round).children},
	{"inline", 80, (*round).inline},
	{"detached", 80, (*round).detached},
	{"ends", 80, (*round).ends},
	{"cancel", 100, (*round).cancels},
	{"cancel message", 60, (*round).cancelsMessages},
	{"last calls", 50, (*round).lastCalls},
	{"keys", 50, (*round).keys},
	{"suspend", 60, (*round).suspends},
	{"move", 60, (*round).moves},
	{"yield to", 60, (*round).yieldsTo},
	{"firm", 30, (*round).firm},
	{"stack", 60, func(_ *round, r *rand.Rand) { deepen(20+r.IntN(200), r.Uint64()) }},
	{"bubble", 40, (*round).bubbles},
	{"sleep", 60, (*round).sleeps},
	{"timer", 80, (*round).timers},
	{"function", 60, (*round).functions},
	{"ticker", 30, (*round).ticks},
	{"blocking", 80, (*round).blocks},
	{"silent", 30, (*round).silent},
	{"computes long", 4, func(_ *round, r *rand.Rand) { burn(upTo(r, 8*time.Millisecond)) }},
	{"waits in Go", 60, (*round).waitsInGo},
	{"locks", 30, (*round).locks},
	{"marks", 20, (*round).marks},
	{"forks", 30, (*round).forks},
	{"computes", 4, (*round).computes},
	{"allocates", 20, (*round).allocates},
	{"collect", 2, func(w *round, _ *rand.Rand) { w.collect() }},
	{"process", 1, (*round).process},
}

// asked returns the actions that -actions asks for.
func asked(name *regexp.Regexp) (some []action) {
	for _, d := range actions {
		if name.MatchString(d.name) {
			some = append(some, d)
		}
	}
	return some
}

// someAction takes one at random, by weight.
func someAction(of []action, r *rand.Rand) action {
	sum := 0
	for _, d := range of {
		sum += d.weight
	}
	k := r.IntN(sum)
	for _, d := range of {
		if k -= d.weight; k < 0 {
			return d
		}
	}
	panic("the weights do not add up")
}

// deepen grows the stack, which is to be what it was after switches at its end.
//
//go:noinline
func deepen(n int, mark uint64) uint64 {
	var frame [8]uint64
	for i := range frame {
		frame[i] = mark + uint64(i)
	}
	p := &frame[3]
	if n == 0 {
		marcel.Yield()
	} else if got := deepen(n-1, mark+1); got != mark+1+3 {
		panic("a frame of a thread's stack changed")
	}
	return *p
}
