package tasklet

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/serial"
)

// Errors of Init.
var (
	ErrVector = errors.New("tasklet: no vector")
	ErrFunc   = errors.New("tasklet: no function")
	ErrInUse  = errors.New("tasklet: in use")
)

// Tasklet is a function that runs soon after it was scheduled, never twice at once. It has 32 bytes
// and may be embedded; it must not be copied after Init. Threads, goroutines, hooks and tasklets may
// call its methods at the same time. On a tasklet that was never initialized they do nothing.
type Tasklet struct {
	word serial.Word // state, rank and tasklet queue: any thread writes it, by compare-and-swap
	next *Tasklet    // the next one in a list of the tasklet queue; before the push the pusher writes it, then the tasklet queue's holder
	fn   func()      // constant after Init
	in   *Vector     // constant after Init
}

// New returns a tasklet of vector v that calls fn. Without a vector or a function it returns a tasklet
// that never runs: its Schedule returns false. Use Init to get the reason.
func New(v *Vector, fn func()) *Tasklet {
	t := new(Tasklet)
	_ = t.Init(v, fn)
	return t
}

// Init prepares a tasklet that is embedded in another object. Init may be called again after Kill. No
// other method may be called at the same time.
func (t *Tasklet) Init(v *Vector, fn func()) error { return t.init(v, fn, 0) }

// InitHigh is Init for a tasklet of high priority. Those run before the normal ones of the same VP, which get at least
// a quarter of each firing.
func (t *Tasklet) InitHigh(v *Vector, fn func()) error { return t.init(v, fn, high) }

func (t *Tasklet) init(v *Vector, fn func(), priority serial.State) error {
	s := t.word.Load()
	switch {
	case v == nil || v.queues == nil:
		return fmt.Errorf("init: %w: get one from Attach", ErrVector)
	case fn == nil:
		return fmt.Errorf("init: %w", ErrFunc)
	case t.in != nil && !(s.Has(serial.Killed) && s.Over()):
		return fmt.Errorf("init: %w: kill it first", ErrInUse)
	}
	t.fn, t.in = fn, v
	t.word.Set(inQueue(priority, v.nextHome()))
	return nil
}

// Schedule makes the tasklet run at least once from now on, on the caller's VP, or, from a plain goroutine, on one that
// is woken for it. It returns true if this call has scheduled the tasklet, and false if it was scheduled already and
// has not begun, or is killed, or its vector is detached. It never blocks; about 30 ns, and about 5 if it was scheduled
// already.
func (t *Tasklet) Schedule() bool {
	if t.in == nil || t.in.closed.Load() {
		return false
	}
	if s := t.word.Load(); s.Has(serial.Scheduled) && t.word.Swap(s, s) { // the write matters: see README.md
		return false
	}
	return t.schedule(t.in.current())
}

// ScheduleOn is Schedule for VP vp, wherever the caller runs. It also returns false if there is no such VP.
func (t *Tasklet) ScheduleOn(vp int) bool {
	if t.in == nil || t.in.closed.Load() || vp < 0 || vp >= len(t.in.queues) {
		return false
	}
	return t.schedule(vp)
}

// schedule is Schedule in the tasklet queue of VP vp; below 0: in the tasklet queue where the tasklet was last.
func (t *Tasklet) schedule(vp int) bool {
	for {
		s := t.word.Load()
		if s.Has(serial.Killed) {
			return false
		}
		next, push := s.Schedule()
		if push {
			next = inQueue(next, home(s, vp))
		}
		if !t.word.Swap(s, next) {
			continue
		}
		if push {
			t.in.push(t, next)
		}
		return !s.Has(serial.Scheduled)
	}
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
		s := t.word.Load()
		next, ok := s.Hold()
		if !ok {
			return false
		}
		if t.word.Swap(s, next) {
			break
		}
	}
	return t.await(func(s serial.State) bool { return !s.Has(serial.Running) })
}

// Enable takes back one Disable. The last Enable lets the tasklet run if it was scheduled meanwhile.
// Enable returns false, and does nothing, if the tasklet was not disabled. It never blocks.
func (t *Tasklet) Enable() bool {
	if t.in == nil {
		return false
	}
	vp := t.in.current()
	for {
		s := t.word.Load()
		next, push, ok := s.Release()
		if !ok {
			return false
		}
		if push {
			next = inQueue(next, home(s, vp))
		}
		if t.word.Swap(s, next) {
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
	t.word.Change(serial.State.Kill)
	return t.await(serial.State.Over)
}

// await waits until done is true of the state, and returns true. Called from a tasklet of the vector it does not wait,
// and returns what done says.
func (t *Tasklet) await(done func(serial.State) bool) bool {
	for i := 0; ; i++ {
		s := t.word.Load()
		if done(s) {
			return true
		}
		l := t.in.ownQueue()
		// A killed tasklet may lie in the tasklet queue of a VP that sleeps, or whose vector is detached: the caller
		// takes it out.
		if s.Has(serial.Killed) && s.Has(serial.Queued) {
			if at := &t.in.queues[queueOf(s)]; at == l {
				l.sweep(false) // the caller, a tasklet of this tasklet queue, holds it
			} else if l == nil {
				at.trySweep(false)
			}
		}
		if s = t.word.Load(); done(s) || l != nil {
			return done(s)
		}
		pause(i)
	}
}

// begin takes the tasklet out of the queued state, and reports whether its function is to be called. The
// holder of the tasklet queue calls it.
func (t *Tasklet) begin() bool {
	for {
		s := t.word.Load()
		next, run := s.Begin()
		if t.word.Swap(s, next) {
			return run
		}
	}
}

// end notes the end of a run, and reports whether the tasklet goes back into the tasklet queue. The holder of the
// tasklet queue calls it.
func (t *Tasklet) end(queue int) bool {
	for {
		s := t.word.Load()
		next, push := s.End()
		if push {
			next = inQueue(next, queue)
		}
		if t.word.Swap(s, next) {
			return push
		}
	}
}

// What a tasklet keeps beside its state, in the same word.
const (
	high                    = serial.User // goes before those without; constant after Init
	queueShift              = 8
	queueLimit              = 1 << 24 // tasklet queues are numbered below
	queueMask  serial.State = (queueLimit - 1) << queueShift
)

// queueOf returns the tasklet queue in which a tasklet is, or was last.
func queueOf(s serial.State) int { return int(s & queueMask >> queueShift) }

// inQueue returns s with another tasklet queue.
func inQueue(s serial.State, queue int) serial.State {
	return s&^queueMask | serial.State(queue)<<queueShift&queueMask
}

// rankOf returns the index of a tasklet's lists in its tasklet queue: 0 goes first.
func rankOf(s serial.State) int {
	if s.Has(high) {
		return 0
	}
	return 1
}

// home returns the tasklet queue for a tasklet that is scheduled on VP vp; below 0, on none: the tasklet queue where it
// was last.
func home(s serial.State, vp int) int {
	if vp < 0 {
		return queueOf(s)
	}
	return vp
}

// pause is the i-th pause of a loop that waits for the end of a tasklet. The first pauses spin, for a microsecond or
// two in all, because tasklets are that short; the next let other goroutines run, because the tasklet may need the
// caller's VP; the others sleep, up to 1 ms, because the tasklet may have lost its own VP.
func pause(i int) {
	const spins, yields = 64, 64
	switch {
	case i < spins:
		asm.Pause()
	case i < spins+yields:
		runtime.Gosched()
	default:
		time.Sleep(min(time.Millisecond, 20*time.Microsecond<<min(i-spins-yields, 10)))
	}
}

// push puts t into the tasklet queue that its state s names, and kicks the VP if it may sleep.
func (v *Vector) push(t *Tasklet, s serial.State) {
	queue := queueOf(s)
	if v.queues[queue].push(t, rankOf(s)) {
		v.remind(queue)
	}
}
