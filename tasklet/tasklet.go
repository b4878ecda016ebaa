package tasklet

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// Errors of Init.
var (
	ErrVector = errors.New("tasklet: no vector")
	ErrFunc   = errors.New("tasklet: no function")
	ErrInUse  = errors.New("tasklet: in use")
)

// Tasklet is a function that runs soon after it was scheduled, never twice at once. It has 32 bytes
// and may be embedded; it must not be copied after Init. Threads, goroutines, hooks and tasklets may
// call its methods at the same time. On a tasklet that was never initialised they do nothing.
type Tasklet struct {
	word atomic.Uint64 // its state: all threads write it, by compare-and-swap only
	next *Tasklet      // in a lane; belongs to the pusher before, to the lane after the push
	fn   func()        // constant after Init
	in   *Vector       // constant after Init
}

// New returns a tasklet of vector v that calls fn. Without a vector or a function it returns a tasklet
// that never runs: its Schedule returns false. Use Init to get the reason.
func New(v *Vector, fn func()) *Tasklet {
	return made(v, fn, 0)
}

// NewHigh is New for a tasklet of high priority. Those run before the normal ones of the same
// processor, which get at least a quarter of each firing.
func NewHigh(v *Vector, fn func()) *Tasklet {
	return made(v, fn, high)
}

func made(v *Vector, fn func(), priority state) *Tasklet {
	t := new(Tasklet)
	if t.init(v, fn, priority) != nil {
		t.word.Store(uint64(killed))
	}
	return t
}

// Init prepares a tasklet that is embedded in another object. Init may be called again after Kill. No
// other method may be called at the same time.
func (t *Tasklet) Init(v *Vector, fn func()) error { return t.init(v, fn, 0) }

// InitHigh is Init for high priority: see NewHigh.
func (t *Tasklet) InitHigh(v *Vector, fn func()) error { return t.init(v, fn, high) }

func (t *Tasklet) init(v *Vector, fn func(), priority state) error {
	s := t.load()
	switch {
	case v == nil || v.lanes == nil:
		return fmt.Errorf("init: %w: get one from Attach", ErrVector)
	case fn == nil:
		return fmt.Errorf("init: %w", ErrFunc)
	case t.in != nil && !(s.has(killed) && s.over()):
		return fmt.Errorf("init: %w: kill it first", ErrInUse)
	}
	t.fn, t.in = fn, v
	t.word.Store(uint64(priority.in(v.nextHome())))
	return nil
}

// Schedule makes the tasklet run at least once from now on, on the caller's virtual processor, or,
// from a plain goroutine, on one that is woken for it. It returns true if this call has scheduled the
// tasklet, and false if it was scheduled already and has not begun, or is killed, or its vector is
// detached. It never blocks; about 30 ns, and about 5 if it was scheduled already.
func (t *Tasklet) Schedule() bool {
	if t.in == nil || t.in.closed.Load() {
		return t.refused()
	}
	if s := t.load(); s.has(scheduled) && t.swap(s, s) { // the write matters: see README.md
		return false
	}
	from := t.in.current()
	return t.schedule(from, from)
}

// ScheduleOn is Schedule for virtual processor vp, wherever the caller runs. It also returns false if
// there is no such processor.
func (t *Tasklet) ScheduleOn(vp int) bool {
	if t.in == nil || t.in.closed.Load() || vp < 0 || vp >= len(t.in.lanes) {
		return t.refused()
	}
	return t.schedule(vp, t.in.current())
}

// schedule for the lane of processor vp, or at home if there is none, by a caller on
// processor from.
func (t *Tasklet) schedule(vp, from int) bool {
	for {
		s := t.load()
		if s.has(killed) {
			return t.refused()
		}
		next, push := s.schedule(home(s, vp))
		if !t.swap(s, next) {
			continue
		}
		fresh := !s.has(scheduled)
		if fresh {
			t.in.lanes[next.lane()].count(from)
		}
		if push {
			t.in.push(t, next)
		}
		return fresh
	}
}

// refused counts what Schedule does not take.
func (t *Tasklet) refused() bool {
	if t.in != nil {
		t.in.refused.Add(1)
	}
	return false
}

// Disable keeps the tasklet from beginning until Enable has been called as often. If the tasklet runs,
// Disable waits for the end of that run, except in a tasklet of the same vector, where two could wait
// for each other. Disable returns true if the tasklet does not run on return: always, outside of
// tasklets. (More than 4 billion disables at once are refused with false.)
func (t *Tasklet) Disable() bool {
	if t.in == nil {
		return true
	}
	for {
		s := t.load()
		next, ok := s.disable()
		if !ok {
			return false
		}
		if t.swap(s, next) {
			break
		}
	}
	return t.await(func(s state) bool { return !s.has(running) })
}

// Enable takes back one Disable. The last Enable lets the tasklet run if it was scheduled meanwhile.
// Enable returns false, and does nothing, if the tasklet was not disabled. It never blocks.
func (t *Tasklet) Enable() bool {
	if t.in == nil {
		return false
	}
	vp := t.in.current()
	for {
		s := t.load()
		next, push, ok := s.enable(home(s, vp))
		if !ok {
			return false
		}
		if t.swap(s, next) {
			if push {
				t.in.push(t, next)
			}
			return true
		}
	}
}

// Kill ends the tasklet: it never begins again, and if it is scheduled that is dropped. If the tasklet
// runs, Kill waits for the end of that run, first spinning, then letting others run, then sleeping up
// to 1 ms at a time. In a tasklet of the same vector, itself included, Kill does not wait, because two
// could wait for each other. Kill returns true if on return the tasklet does not run, and Init may be
// called: always true outside of tasklets. It may be called any number of times.
func (t *Tasklet) Kill() bool {
	if t.in == nil {
		return true
	}
	t.change(state.kill)
	return t.await(state.over)
}

// await waits until the state is as it should be; in a tasklet it looks only once.
func (t *Tasklet) await(done func(state) bool) bool {
	var p patience
	for !done(t.load()) {
		if l := t.in.mine(); l != nil {
			if s := t.load(); s.has(killed) && s.lane() == l.index {
				l.sweep(false) // we hold it
			}
			return done(t.load())
		}
		// A killed one may sit in the lane of a processor that sleeps, or that has
		// been detached: take it out ourselves.
		if s := t.load(); s.has(killed) && s.has(queued) && t.in.lanes[s.lane()].visit(false) {
			continue
		}
		p.pause()
	}
	return true
}

// begin takes the tasklet out of the queued state, and tells whether its function is to be called. The
// holder of the lane calls it.
func (t *Tasklet) begin() bool {
	for {
		s := t.load()
		next, run := s.begin()
		if t.swap(s, next) {
			return run
		}
	}
}

// end notes the end of a run, and tells whether the tasklet goes back into the lane. The holder of the
// lane calls it.
func (t *Tasklet) end(lane int) bool {
	for {
		s := t.load()
		next, push := s.end(lane)
		if t.swap(s, next) {
			return push
		}
	}
}

// fail is end for a function that did not return.
func (t *Tasklet) fail(lane int) {
	t.change(func(s state) state {
		next, _ := s.kill().end(lane)
		return next
	})
}

// drop lets go of one that was taken out of its lane.
func (t *Tasklet) drop() {
	t.change(state.drop)
}

// change takes a step that is always possible.
func (t *Tasklet) change(step func(state) state) {
	for {
		if s := t.load(); t.swap(s, step(s)) {
			return
		}
	}
}

func (t *Tasklet) load() state { return state(t.word.Load()) }

func (t *Tasklet) swap(from, to state) bool {
	return t.word.CompareAndSwap(uint64(from), uint64(to))
}

// home is the lane for a tasklet that is scheduled on processor vp, or, below 0,
// on none.
func home(s state, vp int) int {
	if vp < 0 {
		return s.lane()
	}
	return vp
}

// patience waits for something short that happens elsewhere, politely: it spins
// for about a microsecond or two, because tasklets are that short; then lets
// other goroutines run, because the one we wait for may need our processor;
// then sleeps, longer and longer, up to 1 ms, because it may have lost its own.
// The zero value is ready.
type patience struct{ tries int }

const (
	spins  = 64
	yields = 64
)

func (p *patience) pause() {
	switch {
	case p.tries < spins:
		asm.Pause()
	case p.tries < spins+yields:
		runtime.Gosched()
	default:
		time.Sleep(min(time.Millisecond, 20*time.Microsecond<<min(p.tries-spins-yields, 10)))
	}
	p.tries++
}
