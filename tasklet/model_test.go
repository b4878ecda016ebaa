package tasklet

import (
	"testing"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/serial"
	"pgregory.net/rapid"
)

// modeled is what a tasklet should be, kept in plain words.
type modeled struct {
	real     *Tasklet
	wanted   bool // scheduled and not begun
	disabled int
	dead     bool
	running  bool
	queue    int // in which it waits; -1: in none
	home     int // where it was last
	rank     int // 0: of high priority
}

// world is the model of a vector, moved forward in step with the real one by calls
// that are made to it from the outside and from the tasklets' functions.
type world struct {
	t       *rapid.T
	sched   *manual
	vector  *Vector
	all     []*modeled
	ready   [][ranks][]*modeled // by tasklet queue and rank: what the next firing takes, in this order
	fresh   [][ranks][]*modeled // by tasklet queue and rank: what came since it began
	firing  int                 // tasklet queue that is being fired; -1: none
	pops    [ranks]int          // how many it may still take out
	current *modeled            // which runs
	row     []int               // by tasklet queue: how many firings on threads have done so in a row
	helped  []bool              // by tasklet queue: there is a helper
}

// bound is that of the vector.
const bound = 1

// enter puts x at the end of where, if nothing speaks against it.
func (w *world) enter(x *modeled, where [][ranks][]*modeled, queue int) {
	if x.wanted && x.disabled == 0 && !x.dead && !x.running && x.queue < 0 {
		x.queue, x.home = queue, queue
		where[queue][x.rank] = append(where[queue][x.rank], x)
	}
}

func (w *world) adopt(queue int) {
	for rank := range ranks {
		w.ready[queue][rank] = append(w.ready[queue][rank], w.fresh[queue][rank]...)
		w.fresh[queue][rank] = nil
	}
}

func (w *world) sweep(queue int) {
	w.adopt(queue)
	for rank := range ranks {
		var kept []*modeled
		for _, x := range w.ready[queue][rank] {
			if x.dead {
				x.queue = -1
			} else {
				kept = append(kept, x)
			}
		}
		w.ready[queue][rank] = kept
	}
}

// waiting is how many are in a tasklet queue.
func (w *world) waiting(queue int) (n int) {
	for rank := range ranks {
		n += len(w.ready[queue][rank]) + len(w.fresh[queue][rank])
	}
	return n
}

// skip takes out what the firing finds dead or disabled, up to the first one that
// it has to run, which is returned.
func (w *world) skip() *modeled {
	for rank := range ranks {
		for q := &w.ready[w.firing][rank]; w.pops[rank] > 0 && len(*q) > 0; {
			x := (*q)[0]
			*q = (*q)[1:]
			w.pops[rank]--
			x.queue = -1
			if !x.dead && x.disabled == 0 {
				return x
			}
		}
		w.pops[rank] = 0
	}
	return nil
}

func (w *world) pick() *modeled {
	return w.all[rapid.IntRange(0, len(w.all)-1).Draw(w.t, "tasklet")]
}

// move puts the caller on some VP, or on none.
func (w *world) move() { w.sched.vp = rapid.IntRange(-1, w.sched.n-1).Draw(w.t, "current") }

func (w *world) place(x *modeled) int {
	if w.sched.vp >= 0 {
		return w.sched.vp
	}
	return x.home
}

func (w *world) schedule() { w.scheduleThat(w.pick()) }

func (w *world) scheduleThat(x *modeled) {
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
	if x.queue >= 0 && (w.current == nil || x.queue == w.firing) {
		w.sweep(x.queue)
	}
	over := !x.running && x.queue < 0
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
	if (err == nil) != (x.dead && x.queue < 0) {
		w.t.Fatalf("Init says %v: %+v", err, *x)
	}
	if err == nil {
		*x = modeled{real: x.real, queue: -1, home: queueOf(x.real.word.Load()), rank: rank}
	}
}

// body is the function of tasklet x.
func (w *world) body(x *modeled) func() {
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
	queue := rapid.IntRange(0, w.sched.n-1).Draw(w.t, "vp")
	point := hooks.Point(rapid.IntRange(0, int(hooks.NumPoints)-1).Draw(w.t, "point"))
	thread := point != hooks.Idle && point != hooks.Timer
	switch {
	case w.waiting(queue) == 0: // it looks, and takes no turn
	case thread && w.helped[queue]:
		if got := w.sched.set.Fire(point, queue); got != hooks.Busy {
			w.t.Fatalf("%v passes a queue by that the helper has, and says %v", point, got)
		}
		return
	default:
		w.turn(queue)
	}
	verdict := w.sched.set.Fire(point, queue)
	want := hooks.Quiet
	if w.served() {
		want = hooks.Busy
		if w.row[queue] += 1; !thread {
			w.row[queue]--
		} else if w.row[queue] > bound {
			w.row[queue], w.helped[queue] = 0, true
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

// turn begins what the holder of a tasklet queue does.
func (w *world) turn(queue int) {
	w.adopt(queue)
	w.firing = queue
	for rank := range ranks {
		w.pops[rank] = len(w.ready[queue][rank])
	}
}

// served ends it, and tells whether there is more to do.
func (w *world) served() bool {
	queue := w.firing
	if queue < 0 {
		return false
	}
	if due := w.skip(); due != nil {
		w.t.Fatalf("it was due and did not run: %+v", *due)
	}
	w.firing = -1
	more := w.waiting(queue) > 0
	if !more {
		w.row[queue] = 0
	}
	return more
}

// help lets the helper of a tasklet queue run once, as after a Yield.
func (w *world) help() {
	queue := rapid.IntRange(0, w.sched.n-1).Draw(w.t, "vp")
	if !w.helped[queue] {
		return
	}
	w.turn(queue)
	goesOn := w.vector.queues[queue].serveTurn(w.vector)
	more := w.served()
	if goesOn != more || w.vector.queues[queue].helperServes.Load() != more {
		w.t.Fatalf("the helper goes on: %v, want %v", goesOn, more)
	}
	if !more {
		w.helped[queue] = false
		w.sched.spawn = w.sched.spawn[1:]
	}
}

func (w *world) compare() {
	for i, x := range w.all {
		s := x.real.word.Load()
		if s.Has(serial.Queued) != (x.queue >= 0) || s.Has(serial.Running) || s.Has(serial.Killed) != x.dead ||
			s.Has(serial.Scheduled) != x.wanted || rankOf(s) != x.rank || int(s.Holds()) != x.disabled ||
			x.queue >= 0 && queueOf(s) != x.queue {
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
			ready: make([][ranks][]*modeled, vps), fresh: make([][ranks][]*modeled, vps),
			row: make([]int, vps), helped: make([]bool, vps)}
		w.vector = attachWith(t, w.sched, bound)
		for i := range tasklets {
			x := &modeled{queue: -1, home: i % vps, rank: 1}
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
