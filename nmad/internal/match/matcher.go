package match

import "math"

// Matcher pairs the messages of one gate with its receives, of types M and R. Init makes one ready.
type Matcher[R, M any] struct {
	posted     table[R]          // receives without a message
	wild       wildList[R]       // such with a mask, and probes
	unexpected table[Arrival[M]] // messages without a receive
	order      arrivals[M]       // the same, in the order in which they came
	any        *Any[R]
	rank       int     // of the gate, in any
	searched   uint64  // what is in any and of up to this age was compared with all unexpected messages
	flagged    bool    // any knows that there may be some
	Stay       bool    // the flag is to stay though there are none
	Within     *uint64 // arrivals overlook what is in any and younger than that, unless it was searched for: its poster has us Search. One for all matchers of a gate; nil: they overlook none of it that was not searched for

	All *int // counts the exact receives that wait in all matchers of a gate; nil: nothing does. Set before Init

	// Seen is told of a probe that has found its message, which stays; Found of a receive for any gate and of
	// its message, both taken out. Neither calls the matcher.
	Seen  func(probe *R, m *M)
	Found func(r *R, m *M)
}

// Init makes an empty one for the gate of that rank.
func (x *Matcher[R, M]) Init(rank int, any *Any[R]) {
	x.posted, x.unexpected = newTable[R](firstBuckets), newTable[Arrival[M]](firstBuckets)
	x.rank, x.any, x.posted.all = rank, any, x.All
}

// Join has the matcher share what is for any gate with others. What it keeps is for that from here on; before, nothing was
// for any gate.
func (x *Matcher[R, M]) Join(any *Any[R]) {
	x.any, x.flagged = any, false
	if x.unexpected.len != 0 || x.Stay {
		x.Flag()
	}
}

// Rank is that of its gate.
func (x *Matcher[R, M]) Rank() int { return x.rank }

// Any is where the gates of this one have their receives for any gate.
func (x *Matcher[R, M]) Any() *Any[R] { return x.any }

// Unexpected is how many messages wait.
func (x *Matcher[R, M]) Unexpected() int { return x.unexpected.len }

// Waits says whether a receive or a probe waits here.
func (x *Matcher[R, M]) Waits() bool { return x.posted.len != 0 || !x.wild.Empty() }

// Wanted says whether one waits here, or for any gate.
func (x *Matcher[R, M]) Wanted() bool { return x.Waits() || !x.any.Empty() }

// Exactly says that no receive has a mask or is for any gate: the table decides.
func (x *Matcher[R, M]) Exactly() bool { return x.wild.Empty() && x.any.Empty() }

// Post has an exact receive wait.
func (x *Matcher[R, M]) Post(r *Entry[R]) { x.posted.add(r) }

// PostWild has a receive with a mask, or a probe, wait.
func (x *Matcher[R, M]) PostWild(w *Wild[R]) { x.wild.push(w) }

// Withdraw takes out a receive that waits here in one way or the other, and says whether it did; w: nil if it has none. It
// walks the ring of its tag: for what is rare.
func (x *Matcher[R, M]) Withdraw(r *Entry[R], w *Wild[R]) bool {
	return w != nil && x.wild.remove(w) || x.posted.remove(r)
}

// Arrive takes out the receive that a message with that tag is for, if Exactly; nil: there is none.
func (x *Matcher[R, M]) Arrive(tag uint64) *R {
	p := x.posted.place(tag)
	if *p == nil {
		return nil
	}
	return x.posted.unlink(p, *p).Of
}

// ArriveAny is Arrive in any case: it takes out the receive that was posted first among those of the gate with
// exactly this tag, with a mask, and for any gate.
func (x *Matcher[R, M]) ArriveAny(tag uint64) *R {
	if x.Within != nil {
		x.catchUp(*x.Within) // what came before goes first
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
	r := x.any.take(tag, min(age, x.searched), false)
	switch {
	case r != nil:
		return r
	case masked != nil:
		x.wild.remove(masked)
		return masked.recv.Of
	case exactly != nil:
		return x.posted.take(tag).Of
	}
	return nil
}

// Keep puts a message that no receive is for among the unexpected ones, and tells the
// probes. It says whether a Search is due before the lock is let go: something for any gate was posted meanwhile.
func (x *Matcher[R, M]) Keep(m *Arrival[M]) (search bool) {
	x.unexpected.add(&m.Entry)
	x.order.Push(&m.node, m)
	if !x.Exactly() {
		x.tellProbes(m)
	}
	// With a flag that was there already the poster of a wildcard sees it, and sees to
	// it that a thread looks again.
	return x.Flag() && !x.any.Empty()
}

// tellProbes ends all probes that are for m, which has just come, of those for any gate such as have seen what came before
// it.
func (x *Matcher[R, M]) tellProbes(m *Arrival[M]) {
	for p := x.wild.find(m.Tag, true); p != nil; p = x.wild.find(m.Tag, true) {
		x.wild.remove(p)
		x.Seen(p.recv.Of, m.Of)
	}
	for p := x.any.take(m.Tag, x.searched, true); p != nil; p = x.any.take(m.Tag, x.searched, true) {
		x.Seen(p, m.Of)
	}
}

// Flag has the posters of wildcards for any gate look here, and says whether they did not.
func (x *Matcher[R, M]) Flag() bool {
	if x.flagged {
		return false
	}
	x.flagged = true
	x.any.flag(x.rank, true)
	return true
}

// Kept goes over the unexpected messages, the oldest first.
func (x *Matcher[R, M]) Kept(yield func(*M) bool) {
	for m := x.order.First(); m != nil; m = m.node.Next() {
		if !yield(m.Of) {
			return
		}
	}
}

// Take takes out the oldest message for p that is for no receive for any gate of up to that age; nil: there is none.
func (x *Matcher[R, M]) Take(p Pattern, age uint64) *M {
	x.catchUp(age)
	m := x.oldest(p)
	if m == nil {
		return nil
	}
	x.remove(m)
	return m.Of
}

// Peek finds what Take would take out and leaves it where it is.
func (x *Matcher[R, M]) Peek(p Pattern, age uint64) *M {
	x.catchUp(age)
	if m := x.oldest(p); m != nil {
		return m.Of
	}
	return nil
}

// oldest is the oldest unexpected message for p; nil: there is none.
func (x *Matcher[R, M]) oldest(p Pattern) *Arrival[M] {
	switch {
	case x.unexpected.len == 0:
		return nil
	case p.Mask != Exact:
		return x.order.find(p)
	}
	if e := x.unexpected.peek(p.Tag); e != nil {
		return e.Of
	}
	return nil
}

// remove takes out an unexpected message that is the oldest of its tag.
func (x *Matcher[R, M]) remove(m *Arrival[M]) {
	x.unexpected.take(m.Tag)
	x.order.Remove(&m.node)
}

// Search compares the unexpected messages with the receives and probes for any gate that are of up to that age.
func (x *Matcher[R, M]) Search(age uint64) {
	x.catchUp(age)
	if x.unexpected.len == 0 && x.flagged && !x.Stay {
		x.flagged = false
		x.any.flag(x.rank, false)
	}
}

// catchUp gives what is for any gate and of up to that age its messages, in the order of age, as far as that was not done.
func (x *Matcher[R, M]) catchUp(age uint64) {
	if age <= x.searched {
		return
	}
	if x.unexpected.len != 0 {
		for w, ok := x.any.after(x.searched, age); ok; w, ok = x.any.after(w.age, age) {
			x.grant(w)
		}
	}
	x.searched = age
}

// grant gives an entry of any the oldest message for it.
func (x *Matcher[R, M]) grant(w wish) {
	m := x.oldest(w.Pattern)
	if m == nil {
		return
	}
	switch r := x.any.takeOf(w.age); {
	case r == nil: // another gate had one for it, or it was withdrawn
	case w.probe:
		x.Seen(r, m.Of)
	default:
		x.remove(m)
		x.Found(r, m.Of)
	}
}

// TakePosted takes out some receive or probe that waits here, the oldest first within its tag; nil: there is none. from is
// a bucket below which all are known to be empty, 0 at first, and is moved on.
func (x *Matcher[R, M]) TakePosted(from *int) *R {
	if e := x.posted.takeAny(from); e != nil {
		return e.Of
	}
	if w := x.wild.First(); w != nil {
		x.wild.remove(w)
		return w.recv.Of
	}
	return nil
}

// Filter takes out the unexpected messages that keep does not want. It sees all messages of a tag before those of
// another one, in their order.
func (x *Matcher[R, M]) Filter(keep func(*M) bool) {
	kept := newTable[Arrival[M]](firstBuckets)
	from := 0
	for e := x.unexpected.takeAny(&from); e != nil; e = x.unexpected.takeAny(&from) {
		if m := e.Of; keep(m.Of) {
			kept.add(e)
		} else {
			x.order.Remove(&m.node)
		}
	}
	x.unexpected = kept
}
