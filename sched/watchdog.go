package sched

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"time"
)

// WatchdogError names a thread that computes, or blocks without Blocking, for longer than Config.Watchdog, while other
// threads wait for its VP, or after the scheduler has taken the VP from it to run them. The scheduler passes the error
// to Config.Warn, once for each such period.
type WatchdogError struct {
	Thread Thread        // the thread; the zero Thread if it had left the VP when the watchdog looked
	VP     int           // the number of the VP that the thread holds, or has lost
	For    time.Duration // how long the thread has had no scheduling point, at least
	Stack  []byte        // the stack of the thread a moment later; nil: not known
}

func (e *WatchdogError) Error() string {
	return fmt.Sprintf("sched: %v keeps VP %d, for which others wait: no scheduling point for %v (where it may block, say Blocking; where it computes, Yield now and then)\n\n%s", e.Thread, e.VP, e.For, e.Stack)
}

// runWatchdog looks at each VP, and reports a thread that keeps its VP too long. The clock calls it once a period, if
// Config.Watchdog is set.
func (s *Scheduler) runWatchdog(now int64) {
	limit := int64(s.cfg.Watchdog)
	for _, v := range s.vps {
		if w := &v.watch; v.mode() == vpUser && !w.reported && now-w.since >= limit && w.tick == v.ticks() && v.hasWork() {
			w.reported = true
			s.reportStuck(v, now-w.since)
		}
	}
}

// reportStuck reports the thread that runs on v. A goroutine reads the stack and makes the report, because reading the
// stack stops the world.
func (s *Scheduler) reportStuck(v *vp, ns int64) {
	e := &WatchdogError{VP: v.id, For: time.Duration(ns).Round(time.Microsecond)}
	h, id := v.runningThread()
	e.Thread = h
	go func() {
		if id != 0 {
			if e.Stack = stackOf(id); h.Ended() {
				e.Stack = nil // another thread's by now
			}
		}
		s.warn(e)
	}()
}

// runningThread returns the thread that runs on v, and the number of its goroutine, 0 if that is not known: a hint.
//
//go:norace
func (v *vp) runningThread() (h Thread, goroutine uint64) {
	c := v.cur
	raceSawBirth()
	if t := c.cur; t != nil && !c.base {
		h = Thread{t, t.id}
	}
	if n := c.notes.Load(); n != nil {
		goroutine = n.goroutine
	}
	return h, goroutine
}

// stackOf returns the stack trace of the goroutine with that number; nil if it has ended. It stops the world.
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

// warn gives err to Config.Warn, or writes it to standard error, on a goroutine of its own: for errors that no caller
// gets. It does not wait, so the caller may hold a VP.
func (s *Scheduler) warn(err error) {
	go func() {
		if s.cfg.Warn != nil {
			s.cfg.Warn(err)
		} else {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
}
