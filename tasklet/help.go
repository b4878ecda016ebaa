package tasklet

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// A thread that switches, yields or enters the library is held up by each tasklet
// that runs there. If work is left again and again, which is so if tasklets schedule
// themselves or one another, the lane goes to a helper: a thread of its processor,
// which the scheduler gives its turns like any other one (in Linux: ksoftirqd).
//
//	                 a firing on a thread leaves work, for the (bound+1)-th
//	                 time in a row, and hands over
//	hooks serve  ------------------------------------------------------> helper serves
//	  row 0..bound                                                          handed
//	     ^                                                                    |
//	     `------------- the helper, with the lock, finds no more work <-------'
//
//   - row and the transitions belong to the holder of the lane. Row counts firings on
//     threads only, for the others delay no thread; it begins again when the lane is left empty.
//   - handed: firings on threads pass the lane by. Idle and timer firings go on: they
//     are what the promise not to lose a wake-up rests on, and they bound the delay
//     on a processor whose thread computes.
//   - Only the helper clears handed; so there is never a second one. What is pushed
//     between its last look and that finds the hooks again, like any other push.
//   - It is a thread, made for each time, so that none is left over for which the
//     scheduler's Stop would wait. Only firings on threads make it: as long as that
//     thread lives the scheduler cannot have been stopped.

// helperLimit is how many tasklets the helper runs before it yields.
const helperLimit = 32

const (
	onThread server = iota // a firing at the cost of a thread that wants to go on
	aside                  // one at an idle processor, or on the clock
	helper
)

// restarted counts, and tells whether the lane is to be handed over, which is then
// done but for the help; or it is taken back from the helper. For the holder of the lane.
func (l *lane) restarted(v *Vector, by server, more bool) (hand bool) {
	if !more {
		l.row = 0
		if by == helper {
			l.handed.Store(false)
		}
		return false
	}
	if by != onThread {
		return false
	}
	l.row++
	if l.row <= v.bound || l.handed.Load() || v.closed.Load() {
		return false
	}
	l.row = 0
	l.handed.Store(true)
	return true
}

// help makes the helper of a lane that is handed.
func (l *lane) help(v *Vector) {
	v.sched.Spawn(sched.Attr{Name: "tasklet helper", VPs: sched.OneVP(l.index), Detached: true}, func() { l.assist(v) })
}

// assist is the helper.
func (l *lane) assist(v *Vector) {
	mine := true
	defer func() {
		if mine { // the vector is detached, or a tasklet panics or exits
			l.handed.Store(false)
		}
	}()
	for !v.closed.Load() {
		if mine = l.pass(v); !mine {
			return
		}
		sched.Yield()
	}
}

// pass runs some tasklets and tells whether the lane is still the helper's.
func (l *lane) pass(v *Vector) bool {
	seen := l.lock.word.Load()
	return !l.lock.take(seen, asm.G()) || l.run(v, seen, helperLimit, helper)
}
