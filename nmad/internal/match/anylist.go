package match

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// AnyList holds the receives and probes that take a message from any gate of a group; each of these gates has a
// Matcher. A message must go to the receive that was posted first among those of its gate and those of AnyList, and no
// message and receive that match may both stay waiting. A program that uses no such receives pays one look at count per
// message. nmad/ANYSOURCE.md has the protocol, and the proof.
//
// A wildcard is a receive with a mask, of a gate or for any gate, or a receive for any gate. The clock counts the
// wildcards that were posted. A wildcard gets its age by counting the clock (Post, Stamp), an exact receive by reading
// it (Now). So an exact receive was posted before a wildcard if and only if its age is less.
//
// flags has a bit for each gate that may hold unexpected messages. The poster of an entry, and a gate at which a
// message arrives, each write before they look:
//
//	poster:   count++; clock++; add the entry to list;    gate:  count is 0, or no entry matches: keep the message;
//	          look at flags: make each gate that has             set the gate's flag;
//	          its flag compare its messages with the             look at count again: if it is not 0, compare the
//	          entry                                              gate's messages with the list
//
// All atomics are sequentially consistent, so one of the two sees what the other has written. A gate compares
// (Matcher.Search) under its own lock. A flag stays set until a Search finds the gate empty, so in steady state a
// message sets no flag. The clock counts after count: so a thread that has read an age sees by count whether an entry
// of up to that age may still wait.
//
// Any number of threads may call the methods at once. They use the lock that NewAnyList is given, which is taken
// inside the locks of gates, and held for tens of nanoseconds.
type AnyList[R any] struct {
	clock       *atomic.Uint64           // number of wildcards that were posted; their posters write it, all posters read it; see Sibling
	count       atomic.Int32             // entries of list; written under mu, read by gates at which a message arrives
	liveSenders atomic.Int32             // senders (ranks of group but own) that have not ended; End counts down
	ended       []atomic.Uint64          // a bit for each rank of group that has ended; End writes it
	flags       []atomic.Uint64          // a bit for each rank whose gate may hold unexpected messages; the gate writes it, posters read it
	end         atomic.Pointer[endState] // set when receives that find no message end; nil before
	firstEnd    atomic.Pointer[error]    // why the first sender of the group has ended; nil before. End writes it
	endAtFirst  atomic.Bool              // the end of one sender is enough (AtFirst)
	group       Group                    // the ranks of the gates
	span        uint32                   // one more than the highest rank of group

	_ [128]byte // the fields below are written far more often than those above

	mu    sync.Locker   // guards list
	list  wildList[R]   // receives and probes, in the order of their ages
	walks atomic.Uint32 // counts calls of Flagged, so that each begins with another gate
}

// endState says why receives that find no message end.
type endState struct {
	why      error
	searched []atomic.Uint64 // by rank: up to which age the gate has searched; nil after Close, which ends all receives
}

// NewAnyList makes an AnyList for a group of gates, with the lock that it is to use. own is the rank of this process.
// Receives that find no message end when all ranks of the group but own have ended.
func NewAnyList[R any](group Group, own int, lock sync.Locker) *AnyList[R] {
	a := &AnyList[R]{
		clock: new(atomic.Uint64), group: group, span: uint32(group.span()), mu: lock,
		flags: make([]atomic.Uint64, len(group)), ended: make([]atomic.Uint64, len(group)),
	}
	senders := group.Len()
	if group.Has(own) {
		senders--
	}
	a.liveSenders.Store(int32(senders))
	return a
}

// Sibling makes an AnyList for another group of ranks of the same process, with the same clock: so ages of both can be
// compared.
func (a *AnyList[R]) Sibling(group Group, own int, lock sync.Locker) *AnyList[R] {
	b := NewAnyList[R](group, own, lock)
	b.clock = a.clock
	return b
}

// Group returns the ranks of the gates.
func (a *AnyList[R]) Group() Group { return a.group }

// Now returns the age of an exact receive that is posted now. The poster calls Now before it leaves the receive in the
// gate's inbox for the holder of the gate's lock. The holder calls Now before it looks into the inbox: then it finds
// there all receives of this gate that were posted before a wildcard of up to the age that it has read.
func (a *AnyList[R]) Now() uint64 { return a.clock.Load() }

// Stamp returns the age of a wildcard of a gate that is posted now; see Now.
func (a *AnyList[R]) Stamp() uint64 { return a.clock.Add(1) }

// Empty reports whether no receive or probe waits in the list.
func (a *AnyList[R]) Empty() bool { return a.count.Load() == 0 }

// Post adds w to the list, and sets its age. Afterwards the caller makes the gates of Flagged call Search.
func (a *AnyList[R]) Post(w *Wild[R]) {
	a.mu.Lock()
	a.count.Add(1)
	w.recv.Age = a.clock.Add(1)
	a.list.push(w)
	a.mu.Unlock()
}

// Remove takes w out of the list, and reports whether it was there; then the caller owns it.
func (a *AnyList[R]) Remove(w *Wild[R]) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.remove(w)
}

func (a *AnyList[R]) remove(w *Wild[R]) bool {
	if !a.list.remove(w) {
		return false
	}
	a.count.Add(-1)
	return true
}

// take takes out the first receive, or with probes the first probe, that matches the tag and is of up to that age; nil
// if there is none.
func (a *AnyList[R]) take(tag, age uint64, probes bool) *R {
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
	return w.recv.Value
}

// wildcard describes an entry of the list. The entry itself may be taken out by another gate at any time.
type wildcard struct {
	Pattern
	probe bool
	age   uint64 // identifies the entry; see takeAged
}

// nextWild describes the oldest entry whose age is above age and at most limit; ok is false if there is none.
func (a *AnyList[R]) nextWild(age, limit uint64) (next wildcard, ok bool) {
	if a.Empty() {
		return next, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for w := a.list.Last(); w != nil && w.recv.Age > age; w = w.node.Prev() {
		if w.recv.Age <= limit {
			next, ok = wildcard{w.Pattern(), w.Probe, w.recv.Age}, true
		}
	}
	return next, ok
}

// takeAged takes out the entry of that age; nil if it does not wait any more.
func (a *AnyList[R]) takeAged(age uint64) *R {
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
	return w.recv.Value
}

// End notes that the gate of a rank has ended, because of why: all messages of that rank are here. A second call for a
// rank does nothing. End returns true if the receives that find no message end now: the last sender of the group has
// ended, or one is enough (AtFirst). Then the caller makes each gate of Flagged call Search, Searched and TakeLost, and
// does the same for each receive that is posted later.
func (a *AnyList[R]) End(rank int, why error) bool {
	if !a.group.Has(rank) || a.ended[rank/64].Or(1<<(rank%64))&(1<<(rank%64)) != 0 {
		return false
	}
	a.firstEnd.CompareAndSwap(nil, &why)
	return (a.liveSenders.Add(-1) == 0 || a.endAtFirst.Load()) && a.finish(why)
}

// AtFirst makes the end of one sender of the group enough for receives to end. It returns true if one has ended
// already; then the caller goes on as after End. End stores firstEnd and then looks at endAtFirst; AtFirst stores
// endAtFirst and then looks at firstEnd. So one of the two sees what the other has stored.
func (a *AnyList[R]) AtFirst() bool {
	a.endAtFirst.Store(true)
	why := a.firstEnd.Load()
	return why != nil && a.finish(*why)
}

// finish makes receives that find no message end with why, and reports whether no earlier call has.
func (a *AnyList[R]) finish(why error) bool {
	return a.end.CompareAndSwap(nil, &endState{why, make([]atomic.Uint64, 64*len(a.group))})
}

// Close makes all receives end with why, whatever messages there are. The caller takes out those that wait by TakeLost.
func (a *AnyList[R]) Close(why error) { a.end.Store(&endState{why: why}) }

// Err returns the error with which receives that find no message end; nil if they still wait.
func (a *AnyList[R]) Err() error {
	if over := a.end.Load(); over != nil {
		return over.why
	}
	return nil
}

// Searched notes, once Err is set, that the gate of a rank has compared its messages with all entries of up to that
// age.
func (a *AnyList[R]) Searched(rank int, age uint64) {
	if over := a.end.Load(); over != nil && over.searched != nil && rank < len(over.searched) {
		over.searched[rank].Store(age)
	}
}

// TakeLost takes out the oldest entry, if Err is set and all gates that may hold messages have compared these with the
// entry; else it returns nil. The caller calls it after each Searched, until it returns nil.
func (a *AnyList[R]) TakeLost() *R {
	over := a.end.Load()
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
		if over.searched != nil && over.searched[rank].Load() < w.recv.Age {
			return nil
		}
	}
	a.remove(w)
	return w.recv.Value
}

// Flagged iterates over the ranks whose gates may hold unexpected messages. Each call begins with another rank, so that
// no gate is always the first.
func (a *AnyList[R]) Flagged(yield func(rank int) bool) {
	words, start := len(a.flags), int(a.walks.Add(1)%max(a.span, 1))
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

// setFlag sets, or clears, the flag of a rank.
func (a *AnyList[R]) setFlag(rank int, on bool) {
	switch {
	case !a.group.Has(rank):
	case on:
		a.flags[rank/64].Or(1 << (rank % 64))
	default:
		a.flags[rank/64].And(^uint64(1 << (rank % 64)))
	}
}
