package match

import "math"

// Matcher pairs the messages of one gate with its receives, of types M and R. Init makes one ready.
type Matcher[R, M any] struct {
	posted     table[R]          // receives without a message
	wild       wildList[R]       // such with a mask, and probes
	unexpected table[Arrival[M]] // messages without a receive
	order      arrivals[M]       // the same, in the order in which they came
	any        *Any[R]
	rank       int    // of the gate, in any
	searched   uint64 // what is in any and of up to this age was compared with the unexpected messages
	flagged    bool   // any knows that there may be some
	Stay       bool   // the flag is to stay though there are none
	Within     uint64 // arrivals overlook what is in any and younger, as its poster has it searched for

	// Seen is told of a probe that has found its message, which stays; Found of a receive for any gate and of
	// its message, both taken out. Neither calls the matcher.
	Seen  func(probe *R, m *M)
	Found func(r *R, m *M)
}

// Init makes an empty one for the gate of that rank.
func (x *Matcher[R, M]) Init(rank int, any *Any[R]) {
	x.posted, x.unexpected = newTable[R](firstBuckets), newTable[Arrival[M]](firstBuckets)
	x.rank, x.any = rank, any
}

// Any is where the gates of this one have their receives for any gate.
func (x *Matcher[R, M]) Any() *Any[R] { return x.any }

// Posted is how many exact receives wait.
func (x *Matcher[R, M]) Posted() int { return x.posted.len }

// Unexpected is how many messages wait.
func (x *Matcher[R, M]) Unexpected() int { return x.unexpected.len }

// Waits says whether a receive or a probe waits here.
func (x *Matcher[R, M]) Waits() bool { return x.posted.len != 0 || !x.wild.empty() }

// Wanted says whether one waits here, or for any gate.
func (x *Matcher[R, M]) Wanted() bool { return x.Waits() || !x.any.Empty() }

// Exactly says that no receive has a mask or is for any gate: the table decides.
func (x *Matcher[R, M]) Exactly() bool { return x.wild.empty() && x.any.Empty() }

// Post has an exact receive wait.
func (x *Matcher[R, M]) Post(r *Entry[R]) { x.posted.add(r) }

// PostWild has a receive with a mask, or a probe, wait.
func (x *Matcher[R, M]) PostWild(w *Wild[R]) { x.wild.push(w) }

// Withdraw takes out a receive that waits here in one way or the other, and says whether it did. It walks the queue of
// its tag: for what is rare.
func (x *Matcher[R, M]) Withdraw(r *Entry[R], w *Wild[R]) bool {
	return x.wild.remove(w) || x.posted.remove(r)
}

// Arrive takes out the receive that a message with that tag is for, if Exactly; nil: there is none.
func (x *Matcher[R, M]) Arrive(tag uint64) *R {
	p := x.posted.place(tag)
	if *p == nil {
		return nil
	}
	return x.posted.unlink(p).Of
}

// ArriveAny is Arrive in any case: it takes out the receive that was posted first among those of the gate with
// exactly this tag, with a mask, and for any gate.
func (x *Matcher[R, M]) ArriveAny(tag uint64) *R {
	posted := uint64(math.MaxUint64)
	if x.unexpected.len != 0 {
		// What came before goes first: a receive that has not been compared with the
		// unexpected messages must not get this one. Its poster has us look through them.
		if x.any.Now() != x.searched || x.Within < x.searched {
			x.search(x.Within) // not beyond: what overlooks this message is not compared with it
		}
		posted = x.searched
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
	r := x.any.take(tag, min(age, posted, x.Within), false)
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
	x.order.push(m)
	search = x.Flag() && !x.any.Empty()
	// With a flag that was there already the poster of a wildcard sees it, and sees to
	// it that a thread looks again.
	switch {
	case x.Exactly():
	case x.unexpected.len == 1:
		x.tellProbes(m, math.MaxUint64)
	case x.any.Now() != x.searched:
		x.search(x.Within) // a probe that was not compared with what came before m must hear of that
	default:
		x.tellProbes(m, x.searched)
	}
	return search
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

// Take takes out the oldest message for p; nil: there is none.
func (x *Matcher[R, M]) Take(p Pattern) *M {
	if x.unexpected.len == 0 {
		return nil
	}
	tag := p.Tag
	if p.Mask != Exact {
		m := x.order.find(p)
		if m == nil {
			return nil
		}
		tag = m.Tag // of which it is the oldest
	}
	e := x.unexpected.take(tag)
	if e == nil {
		return nil
	}
	x.order.remove(e.Of)
	return e.Of.Of
}

// Peek finds the oldest message for p and leaves it where it is.
func (x *Matcher[R, M]) Peek(p Pattern) *M {
	if x.unexpected.len == 0 {
		return nil
	}
	if p.Mask != Exact {
		if m := x.order.find(p); m != nil {
			return m.Of
		}
		return nil
	}
	if e := x.unexpected.peek(p.Tag); e != nil {
		return e.Of.Of
	}
	return nil
}

// Search looks through the unexpected messages for such as a receive for any gate,
// or a probe, has been posted for since they came.
func (x *Matcher[R, M]) Search() { x.search(math.MaxUint64) }

// search is Search for such as are of at most that age.
func (x *Matcher[R, M]) search(age uint64) {
	x.searched = min(x.any.youngest(), age)
	for m := x.order.first; m != nil; m = m.after {
		x.tellProbes(m, x.searched)
	}
	for m := x.order.first; m != nil; {
		next := m.after
		// Only such as were posted before: one that is posted now must begin with the oldest,
		// and its poster sees to it.
		if r := x.any.take(m.Tag, x.searched, false); r != nil {
			x.unexpected.take(m.Tag) // m: of its tag there is none before it, or r would have got that
			x.order.remove(m)
			x.Found(r, m.Of)
		}
		m = next
	}
	if x.unexpected.len == 0 && x.flagged && !x.Stay {
		x.flagged = false
		x.any.flag(x.rank, false)
	}
}

// tellProbes ends all probes that are for m, of those for any gate such as are of at
// most that age: younger ones begin with the oldest message, and their poster sees to it.
func (x *Matcher[R, M]) tellProbes(m *Arrival[M], age uint64) {
	for p := x.takeProbe(m.Tag, age); p != nil; p = x.takeProbe(m.Tag, age) {
		x.Seen(p, m.Of)
	}
}

func (x *Matcher[R, M]) takeProbe(tag, age uint64) *R {
	if p := x.wild.find(tag, true); p != nil {
		x.wild.remove(p)
		return p.recv.Of
	}
	return x.any.take(tag, age, true)
}

// TakePosted takes out some receive or probe that waits here, the oldest first within its tag; nil: there is none. from is
// a bucket below which all are known to be empty, 0 at first, and is moved on.
func (x *Matcher[R, M]) TakePosted(from *int) *R {
	if e := x.posted.takeAny(from); e != nil {
		return e.Of
	}
	if w := x.wild.first; w != nil {
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
			x.order.remove(m)
		}
	}
	x.unexpected = kept
}
