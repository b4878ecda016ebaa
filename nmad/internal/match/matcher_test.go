package match

import (
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// receive and message are what the tests match.
type receive struct {
	entry Entry[receive]
	wild  Wild[receive]
	any   bool // for any gate
	order int  // of posting
}

type message struct{ Arrival[message] }

func newMessage(tag uint64) *message {
	m := &message{}
	m.Init(m)
	m.Tag = tag
	return m
}

// world is two gates and what they share, beside a model: lists in the order in which things came.
type world struct {
	any      *AnyList[receive]
	gates    [2]*Matcher[receive, message]
	posted   [2][]*receive // receives of a gate that wait, exact ones and others
	shared   []*receive    // receives and probes for any gate
	kept     [2][]*message
	compared [2]uint64             // the messages of a gate with what is in shared and of up to that age
	given    map[*receive]*message // what matchers have said by themselves
	count    int
	t        *rapid.T
}

func newWorld() *world {
	w := &world{any: NewAnyList[receive](All(2), 2, &sync.Mutex{}), given: map[*receive]*message{}}
	for i := range w.gates {
		x := &Matcher[receive, message]{}
		x.Init(i, w.any)
		x.ProbeFound = func(p *receive, m *message) { w.given[p] = m }
		x.ReceiveFound = func(r *receive, m *message) { w.given[r] = m }
		w.gates[i] = x
	}
	return w
}

func (r *receive) isFor(tag uint64) bool {
	if r.wild.recv == nil {
		return r.entry.Tag == tag
	}
	return r.wild.Pattern().Matches(tag)
}

// catchUp has the model compare the messages of a gate with what is for any gate and of up to that age, in the order of
// posting, and gives what each gets.
func (wd *world) catchUp(gate int, age uint64) map[*receive]*message {
	given := map[*receive]*message{}
	for _, r := range slices.Clone(wd.shared) {
		if r.entry.Age <= wd.compared[gate] || r.entry.Age > age {
			continue
		}
		i := slices.IndexFunc(wd.kept[gate], func(m *message) bool { return r.isFor(m.Tag) })
		if i < 0 {
			continue
		}
		given[r] = wd.kept[gate][i]
		wd.drop(r)
		if !r.wild.Probe {
			wd.kept[gate] = slices.Delete(wd.kept[gate], i, i+1)
		}
	}
	wd.compared[gate] = max(wd.compared[gate], age)
	return given
}

// expect says what the matchers are to have given by themselves.
func (wd *world) expect(given map[*receive]*message) {
	if !maps.Equal(wd.given, given) {
		wd.t.Fatalf("receives for any gate got %v, want %v", wd.given, given)
	}
	clear(wd.given)
}

// arrive has a message come to a gate, which overlooks what is for any gate and younger than within.
func (wd *world) arrive(gate int, tag, within uint64) {
	x, m := wd.gates[gate], newMessage(tag)
	given := wd.catchUp(gate, within)
	var want *receive // posted first
	first := func(list []*receive, age uint64) {
		for _, r := range list {
			if !r.wild.Probe && r.isFor(tag) && r.entry.Age <= age && (want == nil || r.order < want.order) {
				want = r
			}
		}
	}
	first(wd.posted[gate], math.MaxUint64)
	first(wd.shared, wd.compared[gate])
	x.AgeLimit = &within
	var got *receive
	if x.OnlyExact() {
		got = x.Arrive(tag)
	} else {
		got = x.ArriveAny(tag)
	}
	if got != want {
		wd.t.Fatalf("a message with tag %d went to %v, want %v", tag, got, want)
	}
	if got != nil {
		wd.drop(got)
		wd.expect(given)
		return
	}
	wd.kept[gate] = append(wd.kept[gate], m)
	see := func(list []*receive, age uint64) {
		for _, p := range slices.Clone(list) {
			if p.wild.Probe && p.isFor(tag) && p.entry.Age <= age {
				given[p] = m
				wd.drop(p)
			}
		}
	}
	see(wd.posted[gate], math.MaxUint64)
	see(wd.shared, wd.compared[gate])
	due := x.Keep(&m.Arrival)
	wd.expect(given)
	if due {
		given = wd.catchUp(gate, wd.any.Now())
		x.Search(wd.any.Now())
		wd.expect(given)
	}
}

// drop takes a receive out of the model.
func (wd *world) drop(r *receive) {
	is := func(x *receive) bool { return x == r }
	for i := range wd.posted {
		wd.posted[i] = slices.DeleteFunc(wd.posted[i], is)
	}
	wd.shared = slices.DeleteFunc(wd.shared, is)
}

// post has a receive, or a probe, come to a gate.
func (wd *world) post(gate int, p Pattern, probe bool) {
	r := &receive{order: wd.count}
	wd.count++
	x := wd.gates[gate]
	r.entry.Tag, r.entry.Value = p.Tag, r
	if p.Mask == Exact && !probe {
		r.entry.Age = wd.any.Now()
	} else {
		r.entry.Age = wd.any.Stamp()
		r.wild.Set(&r.entry, p.Mask, probe)
	}
	if wd.take(gate, p, probe, r.entry.Age) != nil {
		return
	}
	if p.Mask == Exact && !probe {
		x.Post(&r.entry)
	} else {
		x.PostWild(&r.wild)
	}
	wd.posted[gate] = append(wd.posted[gate], r)
}

// take takes out the oldest message for p of a gate, or only looks at it.
func (wd *world) take(gate int, p Pattern, look bool, age uint64) *message {
	given := wd.catchUp(gate, age)
	i := slices.IndexFunc(wd.kept[gate], func(m *message) bool { return p.Matches(m.Tag) })
	var want, got *message
	if i >= 0 {
		want = wd.kept[gate][i]
	}
	if look {
		got = wd.gates[gate].Peek(p, age)
	} else {
		got = wd.gates[gate].Take(p, age)
	}
	if got != want {
		wd.t.Fatalf("looking=%v: it gets %v, want %v", look, got, want)
	}
	if got != nil && !look {
		wd.kept[gate] = slices.Delete(wd.kept[gate], i, i+1)
	}
	wd.expect(given)
	return got
}

// postAny has one for any gate come. Gates that are flagged compare their messages, now or only later.
func (wd *world) postAny(p Pattern, probe, later bool) {
	r := &receive{order: wd.count, any: true}
	wd.count++
	r.entry.Tag, r.entry.Value = p.Tag, r
	r.wild.Set(&r.entry, p.Mask, probe)
	wd.any.Post(&r.wild)
	wd.shared = append(wd.shared, r)
	if !later {
		wd.searchAll()
	}
}

// searchAll has all gates compare that may hold unexpected messages.
func (wd *world) searchAll() {
	flagged := slices.Collect(wd.any.Flagged)
	for i := range wd.gates {
		if len(wd.kept[i]) != 0 && !slices.Contains(flagged, i) {
			wd.t.Fatalf("gate %d keeps %d messages and has no flag", i, len(wd.kept[i]))
		}
	}
	for _, i := range flagged {
		given := wd.catchUp(i, wd.any.Now())
		wd.gates[i].Search(wd.any.Now())
		wd.expect(given)
	}
}

// TestMatcherModel compares two gates with lists in order of age.
func TestMatcherModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		gates, tags := rapid.IntRange(0, 1), rapid.Uint64Range(0, 5)
		masks := rapid.SampledFrom([]uint64{Exact, Exact, Exact, 0, 1, 6})
		pattern := func(t *rapid.T) Pattern { return Pattern{tags.Draw(t, "tag"), masks.Draw(t, "mask")} }
		as := func(f func(*rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) {
				w.t = t
				f(t)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"arrive": as(func(t *rapid.T) { w.arrive(gates.Draw(t, "gate"), tags.Draw(t, "tag"), w.any.Now()) }),
			"arrive meanwhile": as(func(t *rapid.T) { // the age was read before the youngest were posted
				gate := gates.Draw(t, "gate")
				least := w.compared[gate]
				for _, r := range w.posted[gate] {
					least = max(least, r.entry.Age)
				}
				w.arrive(gate, tags.Draw(t, "tag"), rapid.Uint64Range(least, w.any.Now()).Draw(t, "within"))
			}),
			"claim": as(func(t *rapid.T) {
				w.take(gates.Draw(t, "gate"), pattern(t), rapid.Bool().Draw(t, "look"), w.any.Now())
			}),
			"search": as(func(*rapid.T) { w.searchAll() }),
			"post":   as(func(t *rapid.T) { w.post(gates.Draw(t, "gate"), pattern(t), false) }),
			"probe":  as(func(t *rapid.T) { w.post(gates.Draw(t, "gate"), pattern(t), true) }),
			"any":    as(func(t *rapid.T) { w.postAny(pattern(t), rapid.Bool().Draw(t, "probe"), rapid.Bool().Draw(t, "later")) }),
			"withdraw": as(func(t *rapid.T) {
				gate := gates.Draw(t, "gate")
				if len(w.posted[gate]) == 0 {
					t.Skip()
				}
				r := rapid.SampledFrom(w.posted[gate]).Draw(t, "receive")
				if !w.gates[gate].Withdraw(&r.entry, &r.wild) || w.gates[gate].Withdraw(&r.entry, &r.wild) {
					t.Fatal("a receive that waits is not withdrawn, or twice")
				}
				w.drop(r)
			}),
			"withdraw any": as(func(t *rapid.T) {
				if len(w.shared) == 0 {
					t.Skip()
				}
				r := rapid.SampledFrom(w.shared).Draw(t, "receive")
				if !w.any.Remove(&r.wild) || w.any.Remove(&r.wild) {
					t.Fatal("a receive for any gate is not withdrawn, or twice")
				}
				w.drop(r)
			}),
			"sift": as(func(t *rapid.T) {
				gate, tag := gates.Draw(t, "gate"), tags.Draw(t, "tag")
				w.gates[gate].Filter(func(m *message) bool { return m.Tag != tag })
				w.kept[gate] = slices.DeleteFunc(w.kept[gate], func(m *message) bool { return m.Tag == tag })
			}),
			"": func(t *rapid.T) {
				for i, x := range w.gates {
					if x.Unexpected() != len(w.kept[i]) || x.HasPosted() != (len(w.posted[i]) != 0) {
						t.Fatalf("gate %d keeps %d messages, want %d; receives wait: %v, want %d", i, x.Unexpected(), len(w.kept[i]), x.HasPosted(), len(w.posted[i]))
					}
				}
				if w.any.Empty() != (len(w.shared) == 0) {
					t.Fatalf("receives for any gate: none %v, want %d", w.any.Empty(), len(w.shared))
				}
			},
		})
	})
}

// TestOverlooked: a receive for any gate is posted while a message arrives, which overlooks it, beside one that waits
// already; the next message of that tag, which comes before the poster has looked through what has been kept, does not
// get it in its place.
func TestOverlooked(t *testing.T) {
	for _, others := range []bool{false, true} {
		w := newWorld()
		x := w.gates[0]
		if others {
			x.Keep(&newMessage(9).Arrival)
		}
		now := w.any.Now() // a packet is looked at
		x.AgeLimit = &now
		r := &receive{any: true}
		r.entry.Value, r.entry.Tag = r, 7
		r.wild.Set(&r.entry, Exact, false)
		w.any.Post(&r.wild)
		first, second := newMessage(7), newMessage(7)
		if got := x.ArriveAny(7); got != nil {
			t.Fatalf("others=%v: a message is given to a receive that may be younger than one of the gate", others)
		}
		x.Keep(&first.Arrival)
		now = w.any.Now() // the next packet
		if got := x.ArriveAny(7); got != nil {
			t.Errorf("others=%v: the second message is received before the first", others)
			continue
		}
		x.Keep(&second.Arrival)
		x.Search(w.any.Now()) // by the poster
		if got := w.given[r]; got != first {
			t.Errorf("others=%v: the receive got %v, want the first message", others, got)
		}
	}
}

// TestOlderGoesFirst: a receive for any gate was posted before one of a gate, and its poster has found the lock of that
// gate held: the one of the gate does not get its message, and neither do a claim and a probe.
func TestOlderGoesFirst(t *testing.T) {
	w := newWorld()
	x := w.gates[0]
	first, second := newMessage(7), newMessage(7)
	x.Keep(&first.Arrival)
	x.Keep(&second.Arrival)
	r := &receive{any: true}
	r.entry.Value, r.entry.Tag = r, 7
	r.wild.Set(&r.entry, 0, false)
	before := w.any.Now()
	w.any.Post(&r.wild)
	if got := x.Peek(Pattern{7, Exact}, before); got != first {
		t.Errorf("what was posted before it finds %v, want the first message", got)
	}
	if got := x.Take(Pattern{7, Exact}, w.any.Now()); got != second || w.given[r] != first {
		t.Errorf("what was posted after it gets %v, want the second message; the older one has %v, want the first", got, w.given[r])
	}
}

// TestEnd: a receive for any gate is lost only when all of the group but the own gate have ended, and each gate that
// keeps messages has compared these with it; and never by the end of a gate that is not in the group.
func TestEnd(t *testing.T) {
	why := errors.New("over")
	group := All(3)
	group[0] &^= 1 << 1 // rank 1 may not send
	anyList := NewAnyList[receive](group, 0, &sync.Mutex{})
	var gates [3]Matcher[receive, message]
	given := map[*receive]*message{}
	for i := range gates {
		gates[i].Init(i, anyList)
		gates[i].ReceiveFound = func(r *receive, m *message) { given[r] = m }
	}
	post := func(tag uint64) *receive {
		r := &receive{any: true}
		r.entry.Value, r.entry.Tag = r, tag
		r.wild.Set(&r.entry, Exact, false)
		anyList.Post(&r.wild)
		return r
	}
	m := newMessage(7)
	gates[2].Keep(&m.Arrival)
	gates[0].Keep(&newMessage(8).Arrival)
	got, lost := post(7), post(9)
	if anyList.End(1, why) || anyList.Err() != nil {
		t.Fatal("it is over with the end of a gate that is not in the group")
	}
	if anyList.TakeLost() != nil {
		t.Fatal("a receive is lost while senders live")
	}
	if !anyList.End(2, why) || anyList.Err() != why {
		t.Fatalf("the last sender has ended: over is %v", anyList.Err())
	}
	look := func(gate int) {
		gates[gate].Search(anyList.Now())
		anyList.Searched(gate, anyList.Now())
	}
	if r := anyList.TakeLost(); r != nil {
		t.Fatal("a receive is lost that no gate has looked for")
	}
	look(0)
	if r := anyList.TakeLost(); r != nil {
		t.Fatal("a receive is lost that one gate has not looked for")
	}
	look(2)
	if given[got] != m {
		t.Errorf("the receive got %v, want the message that was there", given[got])
	}
	if r := anyList.TakeLost(); r != lost || anyList.TakeLost() != nil {
		t.Errorf("lost is %v, want the one without a message", r)
	}
	late := post(8)
	look(2) // which keeps nothing
	if anyList.TakeLost() != nil {
		t.Error("a younger receive is lost by the look for an older one")
	}
	if look(0); given[late] == nil {
		t.Error("a receive that is posted after the end does not get what is there")
	}
	closed := errors.New("closed")
	gates[0].Keep(&newMessage(1).Arrival)
	last := post(1)
	anyList.Close(closed)
	if anyList.Err() != closed || anyList.TakeLost() != last {
		t.Error("after Close a receive is not lost at once")
	}
}

// TestJoin: a gate that has kept messages joins one of another group, with the clock of the first: a receive that is
// posted there finds them, and those of the first do not.
func TestJoin(t *testing.T) {
	first := NewAnyList[receive](All(2), 2, &sync.Mutex{})
	second := first.Sibling(All(1), 2, &sync.Mutex{})
	alone := NewAnyList[receive](nil, 2, nil)
	var x Matcher[receive, message]
	given := map[*receive]*message{}
	x.Init(0, alone)
	x.ReceiveFound = func(r *receive, m *message) { given[r] = m }
	m := newMessage(7)
	x.Keep(&m.Arrival)
	x.Search(first.Now())
	post := func(anyList *AnyList[receive]) *receive {
		r := &receive{any: true}
		r.entry.Value, r.entry.Tag = r, 7
		r.wild.Set(&r.entry, Exact, false)
		anyList.Post(&r.wild)
		return r
	}
	other := post(first)
	x.Join(second)
	if got := slices.Collect(second.Flagged); !slices.Equal(got, []int{0}) {
		t.Fatalf("flagged are %v, want the gate that keeps a message", got)
	}
	r := post(second)
	if r.entry.Age <= other.entry.Age {
		t.Errorf("the younger receive is of age %d, the older one of %d", r.entry.Age, other.entry.Age)
	}
	x.Search(first.Now())
	if given[r] != m || given[other] != nil {
		t.Errorf("given %v, want the message to the receive of its group", given)
	}
}

// TestEndsOnce: the end of a gate that is told twice counts once.
func TestEndsOnce(t *testing.T) {
	anyList := NewAnyList[receive](All(3), 0, &sync.Mutex{})
	why := errors.New("over")
	for _, end := range []struct {
		rank int
		last bool
	}{{1, false}, {1, false}, {2, true}, {2, false}} {
		if last := anyList.End(end.rank, why); last != end.last {
			t.Errorf("the end of rank %d is the last: %v, want %v", end.rank, last, end.last)
		}
	}
}

// TestFlagged: successive walks begin with different gates, and see each one that is flagged once.
func TestFlagged(t *testing.T) {
	const gates = 130
	anyList := NewAnyList[receive](All(gates), 0, &sync.Mutex{})
	want := []int{0, 1, 63, 64, 100, 129}
	for _, rank := range want {
		anyList.setFlag(rank, true)
	}
	first := map[int]bool{}
	for range 2 * gates {
		got := slices.Collect(anyList.Flagged)
		first[got[0]] = true
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("flagged are %v, want %v", got, want)
		}
	}
	if len(first) != len(want) {
		t.Errorf("walks begin with %v, never with others of %v", first, want)
	}
}
