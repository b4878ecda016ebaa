package sched

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"time"
)

// HogError names a thread that computes, or blocks without Blocking, for longer than
// Config.Watchdog, though other threads wait for its VP or have had to be given it by
// force. Told to Config.Warn, once for each time that it happens.
type HogError struct {
	Thread Thread        // which; the zero Thread if it was gone when it was looked for
	VP     int           // whose VP it held, or holds
	For    time.Duration // at least so long without a scheduling point
	Lost   bool          // the VP was taken from it meanwhile
	Stack  []byte        // where it is, a moment later; nil if that is not known
}

func (e *HogError) Error() string {
	what := "keeps VP %d, for which others wait"
	if e.Lost {
		what = "has lost VP %d to others and goes on without it"
	}
	return fmt.Sprintf("marcel: %v "+what+": no scheduling point for %v (where it may block, say Blocking; where it computes, Yield now and then)\n\n%s", e.Thread, e.VP, e.For, e.Stack)
}

// lookForHogs is the watchdog's round. On the timer thread, if there is a watchdog.
func (s *Scheduler) lookForHogs(now int64) {
	limit := int64(s.cfg.Watchdog)
	for _, v := range s.vps {
		x := v.word.load()
		if w := &v.watch; modeOf(x) == user && !w.told && now-w.since >= limit && w.tick == v.ticks() && v.hasWork() {
			w.told = true
			if l := s.lwps.get(lwpOf(x)); l != nil {
				s.accuse(l, now-w.since, false)
			}
		}
	}
	for _, l := range s.lwps.list() {
		if at := l.lostAt.Load(); at > 0 && at != l.told && now-at >= limit {
			l.told = at
			s.accuse(l, now-at, true)
		}
	}
}

// accuse tells of the thread that l runs. Its stack is looked for by a goroutine:
// that stops the world.
func (s *Scheduler) accuse(l *lwp, ns int64, lost bool) {
	e := &HogError{VP: l.whereabouts().id, For: time.Duration(ns).Round(time.Microsecond), Lost: lost}
	h, id := l.runs()
	e.Thread = h
	go func() {
		if id != 0 {
			if e.Stack = stackOf(id); h.Ended() {
				e.Stack = nil // somebody else's by now
			}
		}
		s.warn(e)
	}()
}

// whereabouts is the VP of l, where l is a pinned thread's the last one it had: a hint.
//
//go:norace
func (l *lwp) whereabouts() *vp { return l.vp }

// runs finds the thread that l runs, and the number of its goroutine, by a look at
// all coroutines; a hint.
//
//go:norace
func (l *lwp) runs() (h Thread, goroutine uint64) {
	t := gTab.Load()
	for i := range t.e {
		if t.e[i].g.Load() <= grave {
			continue
		}
		if c := t.e[i].c; c != nil && c.l == l && !c.base && (c.s == nil || c.s.guest != c) {
			if x := c.cur; x != nil {
				sawBirth()
				if n := c.notes.Load(); n != nil {
					goroutine = n.goroutine
				}
				return Thread{x, x.gen}, goroutine
			}
		}
	}
	return
}

// number is the calling goroutine's, as stack traces have it.
func number() uint64 {
	var b [64]byte
	f := bytes.Fields(b[:runtime.Stack(b[:], false)])
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseUint(string(f[1]), 10, 64)
	return n
}

// stackOf is the stack trace of a goroutine; nil if it is not there.
func stackOf(goroutine uint64) []byte {
	for size := 1 << 16; size <= 1<<26; size *= 4 {
		b := make([]byte, size)
		n := runtime.Stack(b, true)
		head := fmt.Appendf([]byte{'\n'}, "goroutine %d ", goroutine)
		if i := bytes.Index(b[:n], head); i >= 0 {
			b = b[i+1 : n]
			if j := bytes.Index(b, []byte("\n\n")); j >= 0 {
				return b[: j+1 : j+1]
			}
			if n < size {
				return b
			}
		} else if n < size {
			return nil
		}
	}
	return nil
}
