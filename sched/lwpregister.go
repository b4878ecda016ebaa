package sched

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// lwps is the register of a scheduler's LWPs. README.md, section 9, says when an LWP is made and ended, and when its id
// may be used again.
type lwps struct {
	mu            sync.Mutex                  // guards the fields below, except that all, alive, peak and shortages are read without it
	all           atomic.Pointer[[]*lwpEntry] // by id-1; a longer list replaces it when it is full
	freeIDs       []uint32                    // ids of LWPs that have ended
	alive         atomic.Int32                // LWPs that are alive
	peak          atomic.Int32                // the most that have been alive at once
	shortages     atomic.Uint64               // how often Config.MaxLWPs has refused one
	done          sync.WaitGroup              // counts the LWPs, the clock and the stopper, for Stop
	stopped       bool                        // Stop has ordered all LWPs to end
	limitReported bool                        // a LimitError was reported, and no LWP has ended since
}

// lwpEntry has the LWP of one id; nil: none at the moment.
type lwpEntry = atomic.Pointer[lwp]

// retryLWP is how long a VP that needs an LWP beyond the limit waits before it asks again.
const retryLWP = time.Millisecond

// LimitError says that Config.MaxLWPs OS threads are in use, by threads that block or compute, and that a VP has work
// but no OS thread. The VP waits until one of these threads comes back to the scheduler: for ever if they wait for that
// work. The scheduler passes the error to Config.Warn once, and again after an LWP has ended meanwhile. Join of a
// pinned thread returns it, too.
type LimitError struct {
	VP   int // the first VP that had to wait; -1: a pinned thread
	LWPs int // how many are in use
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("sched: VP %d waits for an OS thread: all %d are in use by threads that block or compute; raise Config.MaxLWPs", e.VP, e.LWPs)
}

// entries returns the entries of all ids so far.
func (ls *lwps) entries() []*lwpEntry {
	if p := ls.all.Load(); p != nil {
		return *p
	}
	return nil
}

// list returns the LWPs that are alive.
func (ls *lwps) list() (alive []*lwp) {
	for _, p := range ls.entries() {
		if l := p.Load(); l != nil {
			alive = append(alive, l)
		}
	}
	return alive
}

// newLWP starts an LWP for v. The caller has set v's waking bit (beginWaking), which the LWP clears when it arrives. At
// Config.MaxLWPs it starts none, and after retryLWP looks whether v still needs one.
func (s *Scheduler) newLWP(v *vp) {
	if inSynctest() { // the LWP would belong to the test; the clock, which does not, will wake v
		v.idle.arrive()
		s.clock.wake(moved)
		return
	}
	r := &s.lwps
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	if n := int(r.alive.Load()); n+s.reserved(v) >= s.cfg.MaxLWPs {
		r.shortages.Add(1)
		if !r.limitReported {
			r.limitReported = true
			s.warn(&LimitError{v.id, n})
		}
		time.AfterFunc(retryLWP, func() { v.idle.arrive(); v.wakeIfDue(false) })
		return
	}
	v.numLWPs++
	go r.add(v).main()
}

// pinLWP makes the LWP of a pinned thread, or returns a *LimitError.
func (s *Scheduler) pinLWP() (*lwp, error) {
	r := &s.lwps
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := int(r.alive.Load()); n+s.reserved(nil) >= s.cfg.MaxLWPs {
		r.shortages.Add(1)
		return nil, &LimitError{-1, n}
	}
	return r.add(s.vps[0]), nil
}

// add registers a new LWP for v. Under mu.
func (ls *lwps) add(v *vp) *lwp {
	l := &lwp{id: ls.newID(), vp: v}
	l.coID = coIDOf(l.id)
	ls.entries()[l.id-1].Store(l)
	ls.peak.Store(max(ls.peak.Load(), ls.alive.Add(1)))
	ls.done.Add(1)
	return l
}

// reserved returns how many LWPs other VPs than v may still claim of those reserved for them (sureLWPs). Under lwps.mu.
func (s *Scheduler) reserved(v *vp) (n int) {
	for _, o := range s.vps {
		if o != v {
			n += max(0, sureLWPs-o.numLWPs)
		}
	}
	return n
}

// newID takes the id of an LWP that has ended, or the next one. Under mu.
func (ls *lwps) newID() uint32 {
	if n := len(ls.freeIDs) - 1; n >= 0 {
		id := ls.freeIDs[n]
		ls.freeIDs = ls.freeIDs[:n]
		return id
	}
	old := ls.entries()
	all := append(old[:len(old):len(old)], new(lwpEntry))
	ls.all.Store(&all)
	return uint32(len(all))
}

// remove unregisters l, which is about to end and writes no VP's word any more.
func (ls *lwps) remove(l *lwp) {
	ls.mu.Lock()
	id := l.id
	ls.entries()[id-1].Store(nil)
	ls.freeIDs = append(ls.freeIDs, id)
	if l.base != nil {
		l.vp.numLWPs--
	}
	ls.alive.Add(-1)
	ls.limitReported = false
	ls.mu.Unlock()
}

// stop gives every LWP the order to end.
func (ls *lwps) stop() {
	ls.mu.Lock()
	ls.stopped = true
	ls.mu.Unlock()
	for _, l := range ls.list() {
		l.wakeWith(toStop)
	}
}
