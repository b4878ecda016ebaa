package tasklet

import (
	"testing"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/serial"
	"pgregory.net/rapid"
)

// modelled is what a tasklet should be, kept in plain words.
type modelled struct {
	real     *Tasklet
	wanted   bool // scheduled and not begun
	disabled int
	dead     bool
	running  bool
	lane     int // in which it waits; -1: in none
	home     int // where it was last
	rank     int // 0: of high priority
}

// world is the model of a vector, moved forward in step with the real one by calls
// that are made to it from the outside and from the tasklets' functions.
type world struct {
	t       *rapid.T
	sched   *manual
	vector  *Vector
	all     []*modelled
	ready   [][ranks][]*modelled // by lane and rank: what the next firing takes, in this order
	fresh   [][ranks][]*modelled // by lane and rank: what came since it began
	firing  int                  // lane that is being fired; -1: none
	pops    [ranks]int           // how many it may still take out
	current *modelled            // which runs
	row     []int                // by lane: how many firings on threads have done so in a row
	helped  []bool               // by lane: there is a helper
}

// bound is that of the vector.
const bound = 1

// enter puts x at the end of where, if nothing speaks against it.
func (w *world) enter(x *modelled, where [][ranks][]*modelled, lane int) {
	if x.wanted && x.disabled == 0 && !x.dead && !x.running && x.lane < 0 {
		x.lane, x.home = lane, lane
		where[lane][x.rank] = append(where[lane][x.rank], x)
	}
}

func (w *world) adopt(lane int) {
	for rank := range ranks {
		w.ready[lane][rank] = append(w.ready[lane][rank], w.fresh[lane][rank]...)
		w.fresh[lane][rank] = nil
	}
}

func (w *world) sweep(lane int) {
	w.adopt(lane)
	for rank := range ranks {
		var kept []*modelled
		for _, x := range w.ready[lane][rank] {
			if x.dead {
				x.lane = -1
			} else {
				kept = append(kept, x)
			}
		}
		w.ready[lane][rank] = kept
	}
}

// waiting is how many are in a lane.
func (w *world) waiting(lane int) (n int) {
	for rank := range ranks {
		n += len(w.ready[lane][rank]) + len(w.fresh[lane][rank])
	}
	return n
}

// skip takes out what the firing finds dead or disabled, up to the first one that
// it has to run, which is returned.
func (w *world) skip() *modelled {
	for rank := range ranks {
		for q := &w.ready[w.firing][rank]; w.pops[rank] > 0 && len(*q) > 0; {
			x := (*q)[0]
			*q = (*q)[1:]
			w.pops[rank]--
			x.lane = -1
			if !x.dead && x.disabled == 0 {
				return x
			}
		}
		w.pops[rank] = 0
	}
	return nil
}

func (w *world) pick() *modelled {
	return w.all[rapid.IntRange(0, len(w.all)-1).Draw(w.t, "tasklet")]
}

// move puts the caller on some VP, or on none.
func (w *world) move() { w.sched.vp = rapid.IntRange(-1, w.sched.n-1).Draw(w.t, "current") }

func (w *world) place(x *modelled) int {
	if w.sched.vp >= 0 {
		return w.sched.vp
	}
	return x.home
}

func (w *world) schedule() { w.scheduleThat(w.pick()) }

func (w *world) scheduleThat(x *modelled) {
	w.move()
	if got := x.real.Schedule(); got != (!x.dead && !x.wanted) {
		w.t.Fatalf("Schedule says %v: %+v", got, *x)
	}
	if x.dead {
		return
	}
	x.wanted = true
	w.enter(x, w.fresh, w.place(x))
}

func (w *world) scheduleOn() {
	w.move()
	x, vp := w.pick(), rapid.IntRange(-1, w.sched.n).Draw(w.t, "on")
	valid := vp >= 0 && vp < w.sched.n
	if got := x.real.ScheduleOn(vp); got != (valid && !x.dead && !x.wanted) {
		w.t.Fatalf("ScheduleOn(%d) says %v: %+v", vp, got, *x)
	}
	if !valid || x.dead {
		return
	}
	x.wanted = true
	w.enter(x, w.fresh, vp)
}

func (w *world) disable() {
	x := w.pick()
	if got := x.real.Disable(); got == x.running {
		w.t.Fatalf("Disable says %v: %+v", got, *x)
	}
	x.disabled++
}

func (w *world) enable() {
	w.move()
	x := w.pick()
	if got := x.real.Enable(); got != (x.disabled > 0) {
		w.t.Fatalf("Enable says %v: %+v", got, *x)
	}
	if x.disabled > 0 {
		x.disabled--
		w.enter(x, w.fresh, w.place(x))
	}
}

func (w *world) kill() {
	x := w.pick()
	x.dead, x.wanted = true, false
	if x.lane >= 0 && (w.current == nil || x.lane == w.firing) {
		w.sweep(x.lane)
	}
	over := !x.running && x.lane < 0
	if got := x.real.Kill(); got != over {
		w.t.Fatalf("Kill says %v: %+v", got, *x)
	}
}

func (w *world) init() {
	x := w.pick()
	rank := rapid.IntRange(0, ranks-1).Draw(w.t, "rank")
	var err error
	if rank == 0 {
		err = x.real.InitHigh(w.vector, w.body(x))
	} else {
		err = x.real.Init(w.vector, w.body(x))
	}
	if (err == nil) != (x.dead && x.lane < 0) {
		w.t.Fatalf("Init says %v: %+v", err, *x)
	}
	if err == nil {
		*x = modelled{real: x.real, lane: -1, home: laneOf(x.real.word.Load()), rank: rank}
	}
}

// body is the function of tasklet x.
func (w *world) body(x *modelled) func() {
	return func() {
		if w.firing < 0 || w.current != nil {
			w.t.Fatalf("it runs outside of a firing, or inside of another one: %+v", *x)
		}
		if due := w.skip(); due != x {
			w.t.Fatalf("it runs before its time: %+v; due: %+v", *x, due)
		}
		x.running, x.wanted, w.current = true, false, x
		x.home = w.firing
		if rapid.Bool().Draw(w.t, "again") {
			w.scheduleThat(x)
		}
		for range rapid.IntRange(0, 3).Draw(w.t, "inner steps") {
			rapid.SampledFrom([]func(){w.schedule, w.scheduleOn, w.disable, w.enable, w.kill}).Draw(w.t, "inner step")()
		}
		x.running, w.current = false, nil
		w.enter(x, w.ready, w.firing)
	}
}

func (w *world) fire() {
	lane := rapid.IntRange(0, w.sched.n-1).Draw(w.t, "vp")
	point := hooks.Point(rapid.IntRange(0, int(hooks.NumPoints)-1).Draw(w.t, "point"))
	thread := point != hooks.Idle && point != hooks.Timer
	switch {
	case w.waiting(lane) == 0: // it looks, and takes no turn
	case thread && w.helped[lane]:
		if got := w.sched.set.Fire(point, lane); got != hooks.Busy {
			w.t.Fatalf("%v passes a lane by that the helper has, and says %v", point, got)
		}
		return
	default:
		w.turn(lane)
	}
	verdict := w.sched.set.Fire(point, lane)
	want := hooks.Quiet
	if w.served() {
		want = hooks.Busy
		if w.row[lane] += 1; !thread {
			w.row[lane]--
		} else if w.row[lane] > bound {
			w.row[lane], w.helped[lane] = 0, true
		}
	}
	if verdict != want {
		w.t.Fatalf("%v, want %v", verdict, want)
	}
	helpers := 0
	for _, helped := range w.helped {
		if helped {
			helpers++
		}
	}
	if len(w.sched.spawn) != helpers {
		w.t.Fatalf("%d helpers, want %d", len(w.sched.spawn), helpers)
	}
}

// turn begins what the holder of a lane does.
func (w *world) turn(lane int) {
	w.adopt(lane)
	w.firing = lane
	for rank := range ranks {
		w.pops[rank] = len(w.ready[lane][rank])
	}
}

// served ends it, and tells whether there is more to do.
func (w *world) served() bool {
	lane := w.firing
	if lane < 0 {
		return false
	}
	if due := w.skip(); due != nil {
		w.t.Fatalf("it was due and did not run: %+v", *due)
	}
	w.firing = -1
	more := w.waiting(lane) > 0
	if !more {
		w.row[lane] = 0
	}
	return more
}

// help lets the helper of a lane run once, as after a Yield.
func (w *world) help() {
	lane := rapid.IntRange(0, w.sched.n-1).Draw(w.t, "vp")
	if !w.helped[lane] {
		return
	}
	w.turn(lane)
	goesOn := w.vector.lanes[lane].serveTurn(w.vector)
	more := w.served()
	if goesOn != more || w.vector.lanes[lane].helperServes.Load() != more {
		w.t.Fatalf("the helper goes on: %v, want %v", goesOn, more)
	}
	if !more {
		w.helped[lane] = false
		w.sched.spawn = w.sched.spawn[1:]
	}
}

func (w *world) compare() {
	for i, x := range w.all {
		s := x.real.word.Load()
		if s.Has(serial.Queued) != (x.lane >= 0) || s.Has(serial.Running) || s.Has(serial.Killed) != x.dead ||
			s.Has(serial.Scheduled) != x.wanted || rankOf(s) != x.rank || int(s.Holds()) != x.disabled ||
			x.lane >= 0 && laneOf(s) != x.lane {
			w.t.Fatalf("tasklet %d: state %#x, model %+v", i, uint64(s), *x)
		}
	}
}

// Random histories of everything that one can do to a few tasklets from outside, on
// VPs, and from within their own functions, against the model.
func TestTaskletsFollowTheirModel(t *testing.T) {
	const vps, tasklets = 2, 4 // fewer tasklets than any firing's limit
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, sched: &manual{n: vps, vp: -1}, firing: -1,
			ready: make([][ranks][]*modelled, vps), fresh: make([][ranks][]*modelled, vps),
			row: make([]int, vps), helped: make([]bool, vps)}
		w.vector = attachWith(t, w.sched, bound)
		for i := range tasklets {
			x := &modelled{lane: -1, home: i % vps, rank: 1}
			x.real = New(w.vector, w.body(x))
			w.all = append(w.all, x)
		}
		step := func(f func()) func(*rapid.T) { return func(*rapid.T) { f() } }
		t.Repeat(map[string]func(*rapid.T){
			"schedule":   step(w.schedule),
			"scheduleOn": step(w.scheduleOn),
			"disable":    step(w.disable),
			"enable":     step(w.enable),
			"kill":       step(w.kill),
			"init":       step(w.init),
			"fire":       step(w.fire),
			"fire again": step(w.fire), // twice as likely
			"help":       step(w.help),
			"":           step(w.compare),
		})
	})
}
