package place

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Bubble is a group of threads and of other bubbles that are to be scheduled together, because they share data, or have
// to run at the same time. Bubbles nest; a [Policy] maps the tree of bubbles onto the tree of the machine.
//
//	bubbles:    ( ((t t)(t t)) ((t t)(t t)) )      spread over "numa:2 core:2 pu:1"
//
//	machine:    ┌───────── NUMA 0 ────────┐ ┌───────── NUMA 1 ────────┐
//	            │ core 0       core 1     │ │ core 2       core 3     │
//	            │ (t t)        (t t)      │ │ (t t)        (t t)      │
//	            └─────────────────────────┘ └─────────────────────────┘
//
// A bubble is filled (Attr.Bubble, Insert), then woken; until then its threads do not run. From then on each of them
// waits, when it is ready, on the run queue of the item on which the policy has placed it, and only VPs below that item
// run it; thieves leave it alone. A thread that is inserted later waits on the queue of its bubble's item. A thread
// that runs when it is placed elsewhere, or held, goes there at its next scheduling point.
//
// A thread does not pass its bubble on to those it spawns with Spawn: that costs nothing. Use Attr.Bubble with Of the
// spawning thread.
//
// All methods may be called from threads, goroutines and hooks, and do not block, except Join and, for as long as
// another call arranges the same bubble, Wake.
//
// The idea and the policies are Marcel's (Thibault, Namyst, Wacrenier, Euro-Par 2007,
// https://doi.org/10.1007/978-3-540-74466-5_6; Broquedis et al., ForestGOMP, IJPP 2010,
// https://doi.org/10.1007/s10766-010-0136-3).
type Bubble struct {
	sched  *sched.Scheduler
	policy Policy       // nil: the policy of the bubble that contains it arranges it
	hold   *sched.Queue // where its threads wait while they are not to run
	busy   atomic.Bool  // a method of its policy is being called

	// Under the lock of the bubbles.
	parent    *Bubble
	bubbles   []*Bubble
	threads   []*bubbleThread
	alive     int             // threads in it, at all depths
	at        *sched.Queue    // where it is placed: hold, or the queue of an item
	awake     bool            // Wake or Place was called, for it or for a bubble that contains it
	closed    bool            // after Close
	isPlanner bool            // it is among the planners of its scheduler
	joiners   sched.WaitQueue // in Join
}

// bubbleThread is what a bubble keeps of one of its threads: its sched.Member.
type bubbleThread struct {
	thread sched.Thread
	sched  *sched.Scheduler
	in     atomic.Pointer[Bubble] // the bubble; nil: the thread was removed, or has ended. Written under the lock of the bubbles
	index  int                    // in the threads of that bubble; under the same lock
}

var (
	// ErrBubbleClosed: nothing can be put into a bubble after its Close.
	ErrBubbleClosed = errors.New("marcel: the bubble has been closed")
	// ErrInBubble: the thread or bubble is in a bubble already, or the bubble would contain itself.
	ErrInBubble = errors.New("marcel: it is in a bubble already")
	// ErrNotInBubble: the thread or bubble is not in that bubble.
	ErrNotInBubble = errors.New("marcel: it is not in that bubble")
	// ErrForeign: the thread or bubble belongs to another scheduler.
	ErrForeign = errors.New("marcel: it belongs to another scheduler")
	// ErrNoBubble: the bubble is nil, or was not made by NewBubble.
	ErrNoBubble = errors.New("marcel: no such bubble")
)

// isMade reports whether NewBubble has made b: only then b has a scheduler.
func (b *Bubble) isMade() bool { return b != nil && b.sched != nil }

// usable tells why b cannot be placed on the machine.
func (b *Bubble) usable() error {
	switch {
	case !b.isMade():
		return ErrNoBubble
	case b.sched.Stopping():
		return sched.ErrStopped
	}
	return nil
}

// visit begins an operation that must not block, and locks the bubbles of its scheduler. A bubble that NewBubble has
// not made panics here, while nothing is held.
func (b *Bubble) visit() *sched.Co {
	if !b.isMade() {
		panic(ErrNoBubble.Error())
	}
	c := sched.Visit()
	b.sched.BubbleLock().Lock()
	return c
}

// leave ends what visit began.
func (b *Bubble) leave(c *sched.Co) {
	b.sched.BubbleLock().Unlock()
	c.Leave()
}

// NewBubble makes an empty bubble that has not been woken, for threads of s. Policy nil stands for the policy of the
// bubble it will be in; a bubble without either is kept together on the item on which it is woken.
func NewBubble(s *sched.Scheduler, policy Policy) *Bubble {
	b := &Bubble{sched: s, policy: policy, hold: s.NewHold()}
	b.at = b.hold
	return b
}

// Of returns the bubble that a thread is in; nil if none, or it has ended.
func Of(h sched.Thread) *Bubble {
	if m, ok := h.Member().(*bubbleThread); ok {
		return m.in.Load()
	}
	return nil
}

// Insert puts a thread into b. Errors: ErrNoThread if it has ended, ErrInBubble, ErrForeign, ErrBubbleClosed,
// ErrNoBubble.
func (b *Bubble) Insert(h sched.Thread) error {
	if !b.isMade() {
		return ErrNoBubble
	}
	if !h.PrepareEnroll() {
		return sched.ErrNoThread
	}
	c := b.visit()
	err := b.insert(h)
	b.sched.BubbleLock().Unlock()
	if err == nil {
		h.Sort(c)
	}
	c.Leave()
	return err
}

// Adopt implements sched.Bubble. A nil b is no bubble.
func (b *Bubble) Adopt(h sched.Thread) error {
	if b == nil {
		return nil
	}
	if !b.isMade() {
		return ErrNoBubble
	}
	b.sched.BubbleLock().Lock()
	defer b.sched.BubbleLock().Unlock()
	return b.insert(h)
}

// insert puts h into b. Under the lock of the bubbles.
func (b *Bubble) insert(h sched.Thread) error {
	switch {
	case b.closed:
		return ErrBubbleClosed
	case Of(h) != nil:
		return ErrInBubble
	case h.Scheduler() != b.sched:
		return ErrForeign
	}
	m := &bubbleThread{thread: h, sched: b.sched, index: len(b.threads)}
	m.in.Store(b)
	if !h.Enroll(m, b.at) {
		return sched.ErrNoThread
	}
	b.threads = append(b.threads, m)
	b.addAlive(1)
	return nil
}

// addAlive adds n, which may be negative, to the number of threads in b and in the bubbles that contain it. It returns
// the joiners of the bubbles that have no threads any more, for wake. Under the lock of the bubbles.
func (b *Bubble) addAlive(n int) (joined []*sched.Waiter) {
	for ; b != nil; b = b.parent {
		b.alive += n
		if b.alive == 0 {
			if w := b.joiners.PopAll(); w != nil {
				joined = append(joined, w)
			}
		}
		b.updatePlanners()
	}
	return joined
}

// removeThread takes m out of b. It returns joiners as addAlive does. Under the lock of the bubbles.
func (b *Bubble) removeThread(m *bubbleThread) (joined []*sched.Waiter) {
	last := b.threads[len(b.threads)-1]
	b.threads[m.index], last.index = last, m.index
	b.threads[len(b.threads)-1] = nil
	b.threads = b.threads[:len(b.threads)-1]
	m.in.Store(nil)
	return b.addAlive(-1)
}

// Remove takes a thread out of b: from then on it waits on the own queue of the VP where it last was, as one that has
// never been in a bubble. Errors: ErrNotInBubble, ErrNoThread, ErrNoBubble.
func (b *Bubble) Remove(h sched.Thread) error {
	switch {
	case !b.isMade():
		return ErrNoBubble
	case !h.PrepareEnroll():
		return sched.ErrNoThread
	}
	c := b.visit()
	m, ok := h.Member().(*bubbleThread)
	if !ok || m.in.Load() != b {
		b.leave(c)
		return ErrNotInBubble
	}
	joined := b.removeThread(m)
	h.Enroll(nil, nil)
	b.sched.BubbleLock().Unlock()
	h.Sort(c)
	wake(c, joined)
	c.Leave()
	return nil
}

// Ended implements sched.Member.
func (m *bubbleThread) Ended(c *sched.Co) {
	if m.in.Load() == nil {
		return
	}
	m.sched.BubbleLock().Lock()
	var joined []*sched.Waiter
	if b := m.in.Load(); b != nil { // else removed at this moment
		joined = b.removeThread(m)
	}
	m.sched.BubbleLock().Unlock()
	wake(c, joined)
}

// wake wakes the joiners that addAlive has returned.
func wake(c *sched.Co, joined []*sched.Waiter) {
	for _, w := range joined {
		c.WakeAll(w)
	}
}

// InsertBubble puts a bubble into b. If b is awake it is woken there, and the policy arranges b anew; if b is not awake
// it is held from now on. Errors: ErrInBubble also if b is in it, ErrForeign, ErrBubbleClosed, ErrNoBubble.
func (b *Bubble) InsertBubble(child *Bubble) error {
	switch {
	case !b.isMade() || !child.isMade():
		return ErrNoBubble
	case child.sched != b.sched:
		return ErrForeign
	}
	var m moves
	c := b.visit()
	err := error(nil)
	switch {
	case b.closed:
		err = ErrBubbleClosed
	case child.parent != nil || b.in(child):
		err = ErrInBubble
	default:
		child.parent = b
		b.bubbles = append(b.bubbles, child)
		b.addAlive(child.alive)
		on := b.at
		if on == b.hold {
			on = nil
		}
		child.put(on, false, &m)
		child.setAwake(b.awake)
	}
	awake := b.awake
	b.sched.BubbleLock().Unlock()
	m.Finish(c)
	c.Leave()
	m.wakeOwn()
	if err == nil && awake {
		return b.regroup()
	}
	return err
}

// in reports whether b is o, or in it. Under the lock of the bubbles.
func (b *Bubble) in(o *Bubble) bool {
	for ; b != nil; b = b.parent {
		if b == o {
			return true
		}
	}
	return false
}

// RemoveBubble takes a bubble out of b. Its threads stay where they are placed, or held, until it is woken again.
// Errors: ErrNotInBubble, ErrNoBubble.
func (b *Bubble) RemoveBubble(child *Bubble) error {
	if !b.isMade() || !child.isMade() {
		return ErrNoBubble
	}
	c := b.visit()
	if child.parent != b {
		b.leave(c)
		return ErrNotInBubble
	}
	joined := b.detach(child)
	b.sched.BubbleLock().Unlock()
	wake(c, joined)
	c.Leave()
	return nil
}

// detach takes child out of b. It returns joiners as addAlive does. Under the lock of the bubbles.
func (b *Bubble) detach(child *Bubble) (joined []*sched.Waiter) {
	b.bubbles = slices.DeleteFunc(b.bubbles, func(o *Bubble) bool { return o == child })
	child.parent = nil
	if child.alive > 0 {
		joined = b.addAlive(-child.alive)
	}
	return joined
}

// Join waits until no thread is in b, at any depth: all have ended, or have been removed. It does not wake the bubble.
// It returns ErrJoinSelf to a thread of b, ErrNoBubble.
func (b *Bubble) Join() error {
	_, err := b.join(nil)
	return err
}

// TryJoin reports whether no thread is in b. err is the error that Join would return at once. It does
// not block.
func (b *Bubble) TryJoin() (empty bool, err error) {
	if !b.isMade() {
		return false, ErrNoBubble
	}
	self := Of(sched.Self())
	c := b.visit()
	if empty = b.alive == 0; !empty && self.in(b) {
		err = sched.ErrJoinSelf
	}
	b.leave(c)
	return empty, err
}

// JoinTimeout is Join for at most d: then empty is false and err nil. If d <= 0 it is TryJoin.
func (b *Bubble) JoinTimeout(d time.Duration) (empty bool, err error) {
	if d <= 0 {
		return b.TryJoin()
	}
	if empty, err = b.join(&sched.Limit{Timeout: d}); err == context.DeadlineExceeded {
		err = nil
	}
	return empty, err
}

// JoinContext is Join until ctx is done: then empty is false, and err the cause, also if no thread was in b.
func (b *Bubble) JoinContext(ctx context.Context) (empty bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return b.join(&sched.Limit{Context: ctx})
}

// join is Join within lim; nil: without a limit.
func (b *Bubble) join(lim *sched.Limit) (empty bool, err error) {
	if !b.isMade() {
		return false, ErrNoBubble
	}
	c := sched.EnterLibrary()
	b.sched.BubbleLock().Lock()
	switch {
	case Of(sched.Self()).in(b):
		b.leave(c)
		return false, sched.ErrJoinSelf
	case b.alive == 0:
		b.leave(c)
		return true, nil
	}
	if c.As(sched.InJoin); lim == nil {
		c.Wait(&b.joiners, b.sched.BubbleLock())
	} else if _, err := c.WaitUntil(&b.joiners, b.sched.BubbleLock(), *lim); err != nil {
		return false, err
	}
	return true, nil
}

// Close refuses further threads and bubbles for b, and takes b out of the bubble that contains it, as RemoveBubble
// does. The threads in b go on. A second Close has no effect.
func (b *Bubble) Close() {
	c := b.visit()
	b.closed = true
	var joined []*sched.Waiter
	if b.parent != nil {
		joined = b.parent.detach(b)
	}
	b.sched.BubbleLock().Unlock()
	wake(c, joined)
	c.Leave()
}

// Weight returns the number of threads in b that have not ended, at all depths.
func (b *Bubble) Weight() int {
	c := b.visit()
	n := b.alive
	b.leave(c)
	return n
}

// Item returns where b is placed; nil if it is held.
func (b *Bubble) Item() *topo.Item {
	c := b.visit()
	it := b.at.Item()
	b.leave(c)
	return it
}

// Scheduler returns the scheduler that b belongs to.
func (b *Bubble) Scheduler() *sched.Scheduler { return b.sched }
