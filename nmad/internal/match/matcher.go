package match

import "math"

// Matcher pairs the messages of one gate, of type M, with its receives, of type R. Init makes it ready. The lock of the
// gate guards it.
type Matcher[R, M any] struct {
	posted     table[R]          // exact receives that wait
	wild       wildList[R]       // receives with a mask, and probes, that wait
	unexpected table[Arrival[M]] // messages that wait
	order      arrivals[M]       // the same messages, in the order in which they came
	anyList    *AnyList[R]       // receives for any gate
	rank       int               // of the gate, in anyList
	searched   uint64            // entries of anyList of up to this age were compared with all unexpected messages
	flagged    bool              // the flag of this gate is set in anyList

	// KeepFlag keeps the flag of this gate set although no message is unexpected.
	KeepFlag bool
	// AgeLimit, if not nil, is the age up to which a message that arrives may be compared with the entries of anyList.
	// The message ignores younger entries: their posters make this gate Search. All matchers of a gate share one
	// AgeLimit.
	AgeLimit *uint64
	// Total, if not nil, counts the exact receives that wait in all matchers of a gate. It is set before Init.
	Total *int

	// ProbeFound is called for a probe that was taken out because it has found its message, which stays. ReceiveFound
	// is called for a receive for any gate, and its message, which were both taken out. Neither may call the matcher.
	ProbeFound   func(probe *R, m *M)
	ReceiveFound func(r *R, m *M)
}

// Init makes the matcher ready for the gate of a rank, without receives and messages.
func (x *Matcher[R, M]) Init(rank int, anyList *AnyList[R]) {
	x.posted, x.unexpected = newTable[R](firstBuckets), newTable[Arrival[M]](firstBuckets)
	x.rank, x.anyList, x.posted.total = rank, anyList, x.Total
}

// Join makes the matcher share the receives for any gate that are in anyList; before, it must have had none. The
// messages that wait in the matcher are for these receives from here on.
func (x *Matcher[R, M]) Join(anyList *AnyList[R]) {
	x.anyList, x.flagged = anyList, false
	if x.unexpected.len != 0 || x.KeepFlag {
		x.Flag()
	}
}

// Rank returns the rank of the gate.
func (x *Matcher[R, M]) Rank() int { return x.rank }

// AnyList returns the list of the receives for any gate.
func (x *Matcher[R, M]) AnyList() *AnyList[R] { return x.anyList }

// Unexpected returns how many messages wait.
func (x *Matcher[R, M]) Unexpected() int { return x.unexpected.len }

// HasPosted reports whether a receive or a probe of this gate waits.
func (x *Matcher[R, M]) HasPosted() bool { return x.posted.len != 0 || !x.wild.Empty() }

// HasPostedOrAny reports whether a receive or a probe waits, of this gate or for any gate.
func (x *Matcher[R, M]) HasPostedOrAny() bool { return x.HasPosted() || !x.anyList.Empty() }

// OnlyExact reports whether only exact receives wait: none has a mask or is for any gate, and no probe waits.
func (x *Matcher[R, M]) OnlyExact() bool { return x.wild.Empty() && x.anyList.Empty() }

// Post makes an exact receive wait.
func (x *Matcher[R, M]) Post(r *Entry[R]) { x.posted.add(r) }

// PostWild makes a receive with a mask, or a probe, wait.
func (x *Matcher[R, M]) PostWild(w *Wild[R]) { x.wild.push(w) }

// Withdraw takes out a receive or a probe of this gate, and reports whether it waited. w is its Wild, or nil. Withdraw
// walks over all receives with the same tag.
func (x *Matcher[R, M]) Withdraw(r *Entry[R], w *Wild[R]) bool {
	return w != nil && x.wild.remove(w) || x.posted.remove(r)
}

// Arrive takes out the receive that gets a message with that tag; nil if there is none. It may be called only if
// OnlyExact.
func (x *Matcher[R, M]) Arrive(tag uint64) *R {
	p := x.posted.place(tag)
	if *p == nil {
		return nil
	}
	return x.posted.unlink(p, *p).Value
}

// ArriveAny is Arrive for all cases: it takes out the receive that was posted first among the exact ones, those with a
// mask, and those for any gate.
func (x *Matcher[R, M]) ArriveAny(tag uint64) *R {
	if x.AgeLimit != nil {
		x.searchUpTo(*x.AgeLimit) // messages that came earlier go first
	}
	exactly := x.posted.peek(tag)
	masked := x.wild.find(tag, false)
	age := uint64(math.MaxUint64)
	if masked != nil {
		age = masked.recv.Age
	}
	if exactly != nil && exactly.Age < age {
		masked, age = nil, exactly.Age
	} else {
		exactly = nil
	}
	r := x.anyList.take(tag, min(age, x.searched), false)
	switch {
	case r != nil:
		return r
	case masked != nil:
		x.wild.remove(masked)
		return masked.recv.Value
	case exactly != nil:
		return x.posted.take(tag).Value
	}
	return nil
}

// Keep adds a message without a receive to the unexpected ones, and ends the probes that match it. It reports whether
// the caller must call Search before it releases the lock, because an entry for any gate may have been posted
// meanwhile.
func (x *Matcher[R, M]) Keep(m *Arrival[M]) (search bool) {
	x.unexpected.add(&m.Entry)
	x.order.Push(&m.node, m)
	if !x.OnlyExact() {
		x.tellProbes(m)
	}
	// If the flag was set before, the poster of an entry sees it, and makes this gate Search.
	return x.Flag() && !x.anyList.Empty()
}

// tellProbes ends all probes that match m, which has just come; of those for any gate only the ones that were compared
// with the messages before m.
func (x *Matcher[R, M]) tellProbes(m *Arrival[M]) {
	for p := x.wild.find(m.Tag, true); p != nil; p = x.wild.find(m.Tag, true) {
		x.wild.remove(p)
		x.ProbeFound(p.recv.Value, m.Value)
	}
	for p := x.anyList.take(m.Tag, x.searched, true); p != nil; p = x.anyList.take(m.Tag, x.searched, true) {
		x.ProbeFound(p, m.Value)
	}
}

// Flag sets the flag of this gate in anyList, so that the posters of entries make this gate Search. It reports whether
// the flag was not set before.
func (x *Matcher[R, M]) Flag() bool {
	if x.flagged {
		return false
	}
	x.flagged = true
	x.anyList.setFlag(x.rank, true)
	return true
}

// Messages iterates over the unexpected messages, the oldest first.
func (x *Matcher[R, M]) Messages(yield func(*M) bool) {
	for m := x.order.First(); m != nil; m = m.node.Next() {
		if !yield(m.Value) {
			return
		}
	}
}

// Take takes out the oldest unexpected message that p matches; nil if there is none. Before, receives for any gate of
// up to that age get their messages.
func (x *Matcher[R, M]) Take(p Pattern, age uint64) *M {
	x.searchUpTo(age)
	m := x.oldest(p)
	if m == nil {
		return nil
	}
	x.remove(m)
	return m.Value
}

// Peek returns the message that Take would take out.
func (x *Matcher[R, M]) Peek(p Pattern, age uint64) *M {
	x.searchUpTo(age)
	if m := x.oldest(p); m != nil {
		return m.Value
	}
	return nil
}

// oldest returns the oldest unexpected message that p matches; nil if there is none.
func (x *Matcher[R, M]) oldest(p Pattern) *Arrival[M] {
	switch {
	case x.unexpected.len == 0:
		return nil
	case p.Mask != Exact:
		return x.order.find(p)
	}
	if e := x.unexpected.peek(p.Tag); e != nil {
		return e.Value
	}
	return nil
}

// remove takes out an unexpected message, which must be the oldest of its tag.
func (x *Matcher[R, M]) remove(m *Arrival[M]) {
	x.unexpected.take(m.Tag)
	x.order.Remove(&m.node)
}

// Search compares the unexpected messages with the receives and probes for any gate of up to that age. It clears the
// flag of this gate if no message is left.
func (x *Matcher[R, M]) Search(age uint64) {
	x.searchUpTo(age)
	if x.unexpected.len == 0 && x.flagged && !x.KeepFlag {
		x.flagged = false
		x.anyList.setFlag(x.rank, false)
	}
}

// searchUpTo compares the entries of anyList that are of up to that age, and that were not compared before, with the
// unexpected messages, in the order of their ages.
func (x *Matcher[R, M]) searchUpTo(age uint64) {
	if age <= x.searched {
		return
	}
	if x.unexpected.len != 0 {
		for w, ok := x.anyList.nextWild(x.searched, age); ok; w, ok = x.anyList.nextWild(w.age, age) {
			x.matchWild(w)
		}
	}
	x.searched = age
}

// matchWild gives an entry of anyList the oldest message that it matches.
func (x *Matcher[R, M]) matchWild(w wildcard) {
	m := x.oldest(w.Pattern)
	if m == nil {
		return
	}
	switch r := x.anyList.takeAged(w.age); {
	case r == nil: // another gate has given it a message, or it was canceled
	case w.probe:
		x.ProbeFound(r, m.Value)
	default:
		x.remove(m)
		x.ReceiveFound(r, m.Value)
	}
}

// DrainPosted takes out all receives and probes of this gate, and passes them to yield: those of a tag in a row, the
// oldest first. yield must not call the matcher.
func (x *Matcher[R, M]) DrainPosted(yield func(*R) bool) {
	for e := range x.posted.drain {
		if !yield(e.Value) {
			return
		}
	}
	for w := x.wild.First(); w != nil; w = x.wild.First() {
		if x.wild.remove(w); !yield(w.recv.Value) {
			return
		}
	}
}

// Filter takes out the unexpected messages for which keep returns false. It calls keep for all messages of a tag in a
// row, in the order in which they came.
func (x *Matcher[R, M]) Filter(keep func(*M) bool) {
	kept := newTable[Arrival[M]](firstBuckets)
	for e := range x.unexpected.drain {
		if m := e.Value; keep(m.Value) {
			kept.add(e)
		} else {
			x.order.Remove(&m.node)
		}
	}
	x.unexpected = kept
}
