package sched

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// lwps is the register of a scheduler's OS threads. See README.md for when one is
// made and ended, and when its id may be used again.
type lwps struct {
	mu            sync.Mutex
	all           atomic.Pointer[[]*lwpSlot] // by id-1; replaced as it grows
	freeIDs       []uint32                   // ids of LWPs that have ended
	alive         atomic.Int32               // alive, under mu; peak too
	peak          atomic.Int32
	shortages     atomic.Uint64 // times one was wanted and not to be had
	done          sync.WaitGroup
	stopped       bool
	limitReported bool // LimitError has been told, and LWPs have not ended since
}

// lwpSlot has the LWP of one id; nil: none at the moment.
type lwpSlot = atomic.Pointer[lwp]

// retryLWP is how long a VP that needs an LWP beyond the limit waits before it asks again.
const retryLWP = time.Millisecond

// LimitError says that Config.MaxLWPs OS threads are in use, by threads that block
// or compute, and a VP has work but no OS thread. It waits until one of them
// comes back to the scheduler; if what they wait for is that work, for ever. Told
// to Config.Warn, once, and again after LWPs have ended meanwhile.
type LimitError struct {
	VP   int // the first that had to wait
	LWPs int // in use
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("sched: VP %d waits for an OS thread: all %d are in use by threads that block or compute; raise Config.MaxLWPs", e.VP, e.LWPs)
}

func (ls *lwps) slots() []*lwpSlot {
	if p := ls.all.Load(); p != nil {
		return *p
	}
	return nil
}

// list returns the LWPs that are alive.
func (ls *lwps) list() (alive []*lwp) {
	for _, p := range ls.slots() {
		if l := p.Load(); l != nil {
			alive = append(alive, l)
		}
	}
	return alive
}

// newLWP makes an OS thread for v; called tells that it is on its way. At the
// limit it says so, and a VP without an LWP asks again until one comes back.
func (s *Scheduler) newLWP(v *vp) {
	if inBubble() { // and so would the LWP be: the clock is to see to it
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

// pinLWP makes the LWP of a pinned thread; a LimitError if there are too many.
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

// add makes an LWP, for v. Under mu.
func (ls *lwps) add(v *vp) *lwp {
	l := &lwp{id: ls.newID(), vp: v}
	l.coID = coIDOf(l.id)
	ls.slots()[l.id-1].Store(l)
	ls.peak.Store(max(ls.peak.Load(), ls.alive.Add(1)))
	ls.done.Add(1)
	return l
}

// reserved counts what v must leave to the others. Under mu.
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
	old := ls.slots()
	all := append(old[:len(old):len(old)], new(lwpSlot))
	ls.all.Store(&all)
	return uint32(len(all))
}

// remove takes l, which is about to end, out; it does not touch a word any more.
func (ls *lwps) remove(l *lwp) {
	ls.mu.Lock()
	id := l.id
	ls.slots()[id-1].Store(nil)
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
