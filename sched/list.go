package sched

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
)

// ThreadState says what a thread is doing.
type ThreadState uint8

// The states of a thread.
const (
	StateSeed      ThreadState = iota // it has not begun
	StateReady                        // it is in a run queue
	StateRunning                      // it has a VP
	StateBlocked                      // it waits for something: see ThreadInfo.In
	StateAway                         // it runs without a VP: in Blocking, or after its VP was taken
	StateSuspended                    // until Resume
	StateBarred                       // it is ready, but the VPs on which it may run are disabled
)

var threadStateNames = [...]string{"seed", "ready", "running", "blocked", "away", "suspended", "barred"}

// String is the name of the state, such as "blocked".
func (state ThreadState) String() string {
	if int(state) >= len(threadStateNames) {
		return fmt.Sprintf("ThreadState(%d)", uint8(state))
	}
	return threadStateNames[state]
}

// MarshalText is String, for JSON.
func (state ThreadState) MarshalText() ([]byte, error) { return []byte(state.String()), nil }

// UnmarshalText sets the state to the one that MarshalText has written.
func (state *ThreadState) UnmarshalText(name []byte) error {
	return parseName(state, threadStateNames[:], name)
}

// parseName sets x to the index of name in names; it returns an error if the name is not there.
func parseName[T ~uint8](x *T, names []string, name []byte) error {
	i := slices.Index(names, string(name))
	if i < 0 {
		return fmt.Errorf("sched: no %T is called %.20q", *x, name)
	}
	*x = T(i)
	return nil
}

// ThreadInfo describes one thread in a list of threads.
type ThreadInfo struct {
	Thread Thread      `json:"-"`
	ID     uint64      `json:"id"` // Thread.ID
	Name   string      `json:"name,omitempty"`
	State  ThreadState `json:"state"`
	In     Kind        `json:"in,omitzero"` // what the thread waits for; InOther: not known
	VP     int         `json:"vp"`          // the index of the VP on which the thread is, or was last

	// On is the address of the wait queue in which the thread is blocked: the same for all threads that wait for
	// the same object. It is 0 if the thread stands in no queue (Sleep), in several (Select), or in one of its
	// own (marcel's Futex). For a join the queue lies in the other thread's descriptor.
	On uintptr `json:"on,omitempty"`

	Work ThreadWork `json:"work,omitzero"` // zero unless threads are counted: see observe.CountThreads
}

// Threads lists the threads of s that live, by number, without stopping them. Each was in the stated state at some
// moment during the call. A thread that begins or ends meanwhile may be in the list or not, and a thread on its way
// between two VPs may be missing. The call costs running threads nothing. It finds threads that have begun by their
// runners, and seeds in the run queues, each of which it borrows for a moment, as a thief does.
func (s *Scheduler) Threads() []ThreadInfo {
	var all []ThreadInfo
	for _, c := range registered.all() {
		all = s.onCo(all, c)
	}
	var seeds []Thread
	for _, v := range s.vps {
		seeds = v.seeds(seeds)
	}
	for _, n := range s.nodes {
		seeds = n.seeds(seeds)
	}
	for _, h := range seeds {
		all = append(all, ThreadInfo{Thread: h, State: StateSeed, VP: h.thread.vpHint().id})
	}
	all = s.markBarred(all)
	slices.SortStableFunc(all, func(a, b ThreadInfo) int { return cmp.Compare(a.Thread.id, b.Thread.id) })
	all = slices.CompactFunc(all, func(a, b ThreadInfo) bool { return a.Thread.id == b.Thread.id }) // moved meanwhile
	for i := range all {
		all[i].ID, all[i].Name = all[i].Thread.ID(), all[i].Thread.Name()
	}
	return all
}

// markBarred marks the threads in all that are barred, and adds the barred threads that have not
// begun: these are in no queue.
func (s *Scheduler) markBarred(all []ThreadInfo) []ThreadInfo {
	for _, h := range s.barred.threads() {
		i := ThreadInfo{Thread: h, State: StateBarred, VP: h.thread.vpHint().id}
		if at := slices.IndexFunc(all, func(o ThreadInfo) bool { return o.Thread == h }); at < 0 {
			all = append(all, i)
		} else if all[at].State == StateReady {
			all[at] = i
		}
	}
	return all
}

// threads returns the handles of the threads that are barred now.
func (bd *barred) threads() []Thread {
	for room := 0; ; {
		all := make([]Thread, 0, room) // not under the lock
		c := Visit()
		bd.mu.Lock()
		fits := len(bd.waiting) <= cap(all)
		if fits {
			for _, t := range bd.waiting {
				all = append(all, Thread{t, t.id})
			}
		}
		room = len(bd.waiting) + 16
		bd.mu.Unlock()
		c.Leave()
		if fits {
			return all
		}
	}
}

// onCo adds the thread that runs on c to all, if it is one of s. All reads are racy. Descriptors and cos stay in
// memory, so what onCo finds is a thread, but perhaps one that has just ended.
//
//go:norace
func (s *Scheduler) onCo(all []ThreadInfo, c *co) []ThreadInfo {
	t := c.cur
	if t == nil {
		return all
	}
	raceSawBirth()
	i := ThreadInfo{Thread: Thread{t, t.id}, VP: t.vp.id}
	if t.vp.sched != s || i.Thread.id == 0 { // it is just ending
		return all
	}
	if i.State, i.In = t.state(c); i.State == StateBlocked {
		i.On = t.queueAddress(i.In)
	}
	if n, o := c.notes.Load(), s.observer.Load(); n != nil && o != nil {
		i.Work = (*o).Work(n, i.Thread.id)
	}
	if c.cur != t || i.Thread.id != t.id {
		return all // it has ended
	}
	return append(all, i)
}

// state returns the state of t, which runs on c, and the kind of its wait.
//
//go:norace
func (t *thread) state(c *co) (ThreadState, Kind) {
	if c.inBlocking && atomic.LoadUint32(&c.resumeAs) == ordinary || !t.parked() { // a thread that enters Blocking looks parked for a moment
		if c.l.vp.current() != c {
			return StateAway, 0
		}
		return StateRunning, 0
	}
	if x := t.extras.Load(); x != nil && x.suspendWaiter.queue != nil {
		return StateSuspended, 0
	}
	b := t.currentWaitHint()
	if t.waiter.kind == InJoin && atomic.LoadUint32(&c.resumeAs) == ordinary {
		return StateBlocked, InJoin
	}
	if t.waiter.queue == nil && (b == nil || b.Claimed()) {
		return StateReady, 0
	}
	return StateBlocked, t.waiter.kind
}

// queueAddress returns the address of the wait queue in which t stands; 0 if t stands in none, in several, or in one of
// its own. k is the kind of the wait.
//
//go:norace
func (t *thread) queueAddress(k Kind) uintptr {
	q := t.waiter.queue
	if b := t.currentWaitHint(); b != nil {
		q = b.first.queue
	}
	switch k {
	case InSleep, InSelect, InFutex:
		return 0
	}
	return reflect.ValueOf(q).Pointer()
}

// borrowTries bounds the wait for a VP that is held.
const borrowTries = 1 << 12

// seeds adds the threads in v's queue that have not begun to all. It borrows v for a moment.
func (v *vp) seeds(all []Thread) []Thread {
	for tries, room := 0, 0; tries < borrowTries; tries++ {
		if room < v.queueLen() {
			room = 2*v.queueLen() + 16
		}
		all = slices.Grow(all, room) // not while the VP is borrowed: its threads would wait
		old, ok := v.borrow()
		if !ok {
			spinPause(tries)
			continue
		}
		if v.inbox.Load() != nil {
			v.collect()
		}
		fits := v.q.total() <= cap(all)-len(all)
		if fits {
			all = v.q.seeds(all)
		} else {
			room = v.q.total() + 16
		}
		v.giveBack(old)
		if fits {
			break
		}
	}
	return all
}

// seeds adds the threads in n's queue that have not begun to all, under n's lock.
func (n *queueNode) seeds(all []Thread) []Thread {
	for {
		all = slices.Grow(all, int(n.count.Load())+16)
		c := Visit()
		n.mu.Lock()
		fits := n.queue.total() <= cap(all)-len(all)
		if fits {
			all = n.queue.seeds(all)
		}
		n.mu.Unlock()
		c.Leave()
		if fits {
			return all
		}
	}
}

// seeds adds the threads of q that have not begun.
func (q *queue) seeds(all []Thread) []Thread {
	for r := range rank(ranks) {
		if r != defaultRank && q.others == nil {
			continue
		}
		o := q.of(r)
		for i := o.head; i != o.tail; i++ {
			if t := *o.at(i); t.co == nil {
				all = append(all, Thread{t, t.id})
			}
		}
	}
	return all
}
