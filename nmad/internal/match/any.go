package match

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Any holds the receives and probes that are for a message from any of a group of gates, each of which has a Matcher. A
// message must go to the receive that was posted first, among those of its gate and these, and must never slip through
// between the two. A program that uses no such receives pays one look at count per message. nmad/ANYSOURCE.md has the
// protocol, and why it holds.
//
// Age: the clock counts the wildcards (of gates, too) that were posted. A wildcard takes
// its age from it by counting (Post, Stamp), an exact receive by looking (Now), so the exact one is
// older exactly if its age is less.
//
// Nothing slips through: the gates that hold unexpected messages have a bit in flags.
//
//	post:     count++; clock++; w into list  |  arrival: count is 0, or nothing in list fits:
//	          look at flags; each gate       |           keep the message; set the gate's flag;
//	          that is flagged compares       |           look at count again; not 0: the gate
//	          its messages with w            |           compares its messages with the list
//
// All atomics are sequentially consistent, so one of the two sees the other. A gate compares
// (Matcher.Search) under its own lock. A flag stays until such a search finds the gate empty: setting it costs
// nothing in steady state. The clock counts after count, so a thread that has read an age sees by count
// whether one of up to that age may still wait.
//
// Any number of threads may call the methods at once. The owner gives Any the lock that they need, which is the inner one
// of the gates' locks; they hold it for tens of nanoseconds.
type Any[R any] struct {
	clock *atomic.Uint64            // wildcards posted; written by a poster of one, read by all receives; see Beside
	count atomic.Int32              // entries of list; written under mu, read by all arrivals
	live  atomic.Int32              // senders that have not ended; End counts down
	ended []atomic.Uint64           // a bit per gate of group: it has ended
	flags []atomic.Uint64           // a bit per gate, by rank: it may hold unexpected messages
	over  atomic.Pointer[overState] // why nothing will come any more; nil: something may
	early atomic.Pointer[error]     // why the first of the group has ended
	first atomic.Bool               // that is over already
	group Group                     // the gates
	span  uint32                    // above all ranks of group

	_ [128]byte // what follows is written far more often

	mu   sync.Locker
	list wildList[R]   // in the order of their ages
	turn atomic.Uint32 // counts walks over the gates, so that no gate is always first
}

// overState is why nothing will come any more.
type overState struct {
	why    error
	looked []atomic.Uint64 // by rank: up to which age the gate has compared its messages; nil: they do not matter
}

// NewAny makes one for a group of gates, with the lock that it is to use. Its receives are over when all of the group but
// own have ended.
func NewAny[R any](group Group, own int, lock sync.Locker) *Any[R] {
	a := &Any[R]{
		clock: new(atomic.Uint64), group: group, span: uint32(group.span()), mu: lock,
		flags: make([]atomic.Uint64, len(group)), ended: make([]atomic.Uint64, len(group)),
	}
	senders := group.Len()
	if group.Has(own) {
		senders--
	}
	a.live.Store(int32(senders))
	return a
}

// Beside makes one for another group of the same gates, and with the same clock: an age that was read of the one holds for
// the other.
func (a *Any[R]) Beside(group Group, own int, lock sync.Locker) *Any[R] {
	b := NewAny[R](group, own, lock)
	b.clock = a.clock
	return b
}

// Group is the gates whose messages it is for.
func (a *Any[R]) Group() Group { return a.group }

// Now returns the age of an exact receive that is posted now. A thread reads it before it leaves the receive for the
// holder of the gate's lock; the holder reads it before it looks at what others have left. So the holder finds all
// receives that were posted at this gate before a wildcard of up to that age.
func (a *Any[R]) Now() uint64 { return a.clock.Load() }

// Stamp is the age of a wildcard that is posted now to a gate; see Now.
func (a *Any[R]) Stamp() uint64 { return a.clock.Add(1) }

// Empty says that nothing waits for a message from any gate.
func (a *Any[R]) Empty() bool { return a.count.Load() == 0 }

// Post puts w into the list.
func (a *Any[R]) Post(w *Wild[R]) {
	a.mu.Lock()
	a.count.Add(1)
	w.recv.Age = a.clock.Add(1)
	a.list.push(w)
	a.mu.Unlock()
}

// Remove takes w out and says whether it was there: then it is the caller's.
func (a *Any[R]) Remove(w *Wild[R]) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.remove(w)
}

func (a *Any[R]) remove(w *Wild[R]) bool {
	if !a.list.remove(w) {
		return false
	}
	a.count.Add(-1)
	return true
}

// take takes out the first receive (probes: the first probe) for that tag that is
// of up to that age; nil: there is none.
func (a *Any[R]) take(tag, age uint64, probes bool) *R {
	if a.Empty() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.list.find(tag, probes)
	if w == nil || w.recv.Age > age {
		return nil
	}
	a.remove(w)
	return w.recv.Of
}

// wish is what an entry of the list is for.
type wish struct {
	Pattern
	probe bool
	age   uint64
}

// after is the oldest entry that is younger than age and of up to limit; false: there is none.
func (a *Any[R]) after(age, limit uint64) (next wish, ok bool) {
	if a.Empty() {
		return next, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for w := a.list.Last(); w != nil && w.recv.Age > age; w = w.node.Prev() {
		if w.recv.Age <= limit {
			next, ok = wish{w.Pattern(), w.Probe, w.recv.Age}, true
		}
	}
	return next, ok
}

// takeOf takes out the entry of that age; nil: it does not wait any more.
func (a *Any[R]) takeOf(age uint64) *R {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.list.Last()
	for w != nil && w.recv.Age > age {
		w = w.node.Prev()
	}
	if w == nil || w.recv.Age != age {
		return nil
	}
	a.remove(w)
	return w.recv.Of
}

// End notes that the gate of that rank has ended: all its messages are here. The first call for a rank counts. True: it
// was the last gate of the group, or the first is enough (AtFirst), and receives that find no message fail with why. Then
// each flagged gate has to compare its messages once more (Search, Looked, TakeLost), as for a receive that is posted from
// here on.
func (a *Any[R]) End(rank int, why error) bool {
	if !a.group.Has(rank) || a.ended[rank/64].Or(1<<(rank%64))&(1<<(rank%64)) != 0 {
		return false
	}
	a.early.CompareAndSwap(nil, &why)
	return (a.live.Add(-1) == 0 || a.first.Load()) && a.finish(why)
}

// AtFirst lets receives end as soon as one process of the group except own has ended, instead of when all have. True: one
// has; see End. End notes why and then looks whether the first is enough; AtFirst does these two in the other order, so
// one of the two sees the other.
func (a *Any[R]) AtFirst() bool {
	a.first.Store(true)
	why := a.early.Load()
	return why != nil && a.finish(*why)
}

func (a *Any[R]) finish(why error) bool {
	return a.over.CompareAndSwap(nil, &overState{why, make([]atomic.Uint64, 64*len(a.group))})
}

// Close has all receives fail with why from now on, whatever messages there are. TakeLost takes out those that wait.
func (a *Any[R]) Close(why error) { a.over.Store(&overState{why: why}) }

// Over says why nothing will come any more; nil: something may.
func (a *Any[R]) Over() error {
	if over := a.over.Load(); over != nil {
		return over.why
	}
	return nil
}

// Looked says that the gate of that rank has compared its messages with all of up to that age, once Over.
func (a *Any[R]) Looked(rank int, age uint64) {
	if over := a.over.Load(); over != nil && over.looked != nil && rank < len(over.looked) {
		over.looked[rank].Store(age)
	}
}

// TakeLost takes out the oldest one if it is Over and all gates that hold messages have compared these with it; nil: there
// is none. The owner calls it after each Looked, so that the last gate that looks finds it.
func (a *Any[R]) TakeLost() *R {
	over := a.over.Load()
	if over == nil || a.Empty() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.list.First()
	if w == nil {
		return nil
	}
	for rank := range a.Flagged {
		if over.looked != nil && over.looked[rank].Load() < w.recv.Age {
			return nil
		}
	}
	a.remove(w)
	return w.recv.Of
}

// Flagged goes over the gates that may hold unexpected messages, each time from another one on.
func (a *Any[R]) Flagged(yield func(rank int) bool) {
	words, start := len(a.flags), int(a.turn.Add(1)%max(a.span, 1))
	before := uint64(1)<<(start%64) - 1 // bits of the first word that come last
	for i := range words + 1 {
		at := (start/64 + i) % words
		word := a.flags[at].Load()
		switch i {
		case 0:
			word &^= before
		case words:
			word &= before
		}
		for ; word != 0; word &= word - 1 {
			if !yield(64*at + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

func (a *Any[R]) flag(rank int, on bool) {
	switch {
	case !a.group.Has(rank):
	case on:
		a.flags[rank/64].Or(1 << (rank % 64))
	default:
		a.flags[rank/64].And(^uint64(1 << (rank % 64)))
	}
}
