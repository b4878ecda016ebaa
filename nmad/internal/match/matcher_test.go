package match

import (
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

// world is two gates and what they share, beside a model: lists in order of age.
type world struct {
	any    *Any[receive]
	gates  [2]*Matcher[receive, message]
	posted [2][]*receive // receives of a gate that wait, exact ones and others
	shared []*receive    // receives and probes for any gate
	kept   [2][]*message
	given  map[*receive]*message // what matchers have said by themselves
	count  int
	t      *rapid.T
}

func newWorld() *world {
	w := &world{any: NewAny[receive](2, &sync.Mutex{}), given: map[*receive]*message{}}
	for i := range w.gates {
		x := &Matcher[receive, message]{}
		x.Init(i, w.any)
		x.Within = math.MaxUint64
		x.Seen = func(p *receive, m *message) { w.given[p] = m }
		x.Found = func(r *receive, m *message) { w.given[r] = m }
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

// expect says that r is to get m, or a probe to see it.
func (w *world) expect(r *receive, m *message) {
	if got := w.given[r]; got != m {
		w.t.Fatalf("receive %d got %v, want %v", r.order, got, m)
	}
	delete(w.given, r)
}

// arrive has a message come to a gate.
func (w *world) arrive(gate int, tag uint64) {
	x, m := w.gates[gate], newMessage(tag)
	var want *receive // posted first
	first := func(list []*receive) {
		for _, r := range list {
			if !r.wild.Probe && r.isFor(tag) && (want == nil || r.order < want.order) {
				want = r
			}
		}
	}
	first(w.posted[gate])
	first(w.shared)
	var got *receive
	if x.Exactly() {
		got = x.Arrive(tag)
	} else {
		got = x.ArriveAny(tag)
	}
	if got != want {
		w.t.Fatalf("a message with tag %d went to %v, want %v", tag, got, want)
	}
	if got != nil {
		w.drop(got)
		return
	}
	w.kept[gate] = append(w.kept[gate], m)
	if x.Keep(&m.Arrival) {
		x.Search()
	}
	for _, list := range [][]*receive{w.posted[gate], w.shared} {
		for _, p := range slices.Clone(list) {
			if p.wild.Probe && p.isFor(tag) {
				w.expect(p, m)
				w.drop(p)
			}
		}
	}
}

// drop takes a receive out of the model.
func (w *world) drop(r *receive) {
	is := func(x *receive) bool { return x == r }
	for i := range w.posted {
		w.posted[i] = slices.DeleteFunc(w.posted[i], is)
	}
	w.shared = slices.DeleteFunc(w.shared, is)
}

// post has a receive, or a probe, come to a gate.
func (w *world) post(gate int, p Pattern, probe bool) {
	r := &receive{order: w.count}
	w.count++
	x := w.gates[gate]
	r.entry.Tag, r.entry.Of = p.Tag, r
	i := slices.IndexFunc(w.kept[gate], func(m *message) bool { return p.Matches(m.Tag) })
	var want *message
	if i >= 0 {
		want = w.kept[gate][i]
	}
	if probe {
		if got := x.Peek(p); got != want {
			w.t.Fatalf("a probe sees %v, want %v", got, want)
		} else if got != nil {
			return
		}
	} else {
		if got := x.Take(p); got != want {
			w.t.Fatalf("a receive takes %v, want %v", got, want)
		} else if got != nil {
			w.kept[gate] = slices.Delete(w.kept[gate], i, i+1)
			return
		}
	}
	if p.Mask == Exact && !probe {
		r.entry.Age = w.any.Now()
		x.Post(&r.entry)
	} else {
		r.entry.Age = w.any.Stamp()
		r.wild.Set(&r.entry, p.Mask, probe)
		x.PostWild(&r.wild)
	}
	w.posted[gate] = append(w.posted[gate], r)
}

// postAny has one for any gate come. Gates that are flagged look through their messages, now or only later.
func (w *world) postAny(p Pattern, probe, later bool) {
	r := &receive{order: w.count, any: true}
	w.count++
	r.entry.Tag, r.entry.Of = p.Tag, r
	r.wild.Set(&r.entry, p.Mask, probe)
	w.any.Post(&r.wild)
	w.shared = append(w.shared, r)
	if !later {
		w.searchAll()
	}
}

// searchAll has all gates look that may hold unexpected messages, and checks what they find: receives for any gate, in the order
// of their posting, each the oldest message of the first gate that has one.
func (w *world) searchAll() {
	for i, x := range w.gates {
		if !w.any.Flagged(i) {
			if len(w.kept[i]) != 0 {
				w.t.Fatalf("gate %d keeps %d messages and has no flag", i, len(w.kept[i]))
			}
			continue
		}
		x.Search()
		for _, p := range slices.Clone(w.shared) {
			if at := slices.IndexFunc(w.kept[i], func(m *message) bool { return p.isFor(m.Tag) }); p.wild.Probe && at >= 0 {
				w.expect(p, w.kept[i][at])
				w.drop(p)
			}
		}
		for _, m := range slices.Clone(w.kept[i]) {
			for _, r := range slices.Clone(w.shared) {
				if !r.wild.Probe && r.isFor(m.Tag) {
					w.expect(r, m)
					w.drop(r)
					w.kept[i] = slices.DeleteFunc(w.kept[i], func(x *message) bool { return x == m })
					break
				}
			}
		}
	}
	if len(w.given) != 0 {
		w.t.Fatalf("%d more receives were given messages than there should be", len(w.given))
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
			"arrive": as(func(t *rapid.T) { w.arrive(gates.Draw(t, "gate"), tags.Draw(t, "tag")) }),
			"post":   as(func(t *rapid.T) { w.post(gates.Draw(t, "gate"), pattern(t), false) }),
			"probe":  as(func(t *rapid.T) { w.post(gates.Draw(t, "gate"), pattern(t), true) }),
			"any":    as(func(t *rapid.T) { w.postAny(pattern(t), rapid.Bool().Draw(t, "probe"), false) }),
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
					if x.Unexpected() != len(w.kept[i]) || x.Waits() != (len(w.posted[i]) != 0) {
						t.Fatalf("gate %d keeps %d messages, want %d; receives wait: %v, want %d", i, x.Unexpected(), len(w.kept[i]), x.Waits(), len(w.posted[i]))
					}
				}
				if w.any.Empty() != (len(w.shared) == 0) {
					t.Fatalf("receives for any gate: none %v, want %d", w.any.Empty(), len(w.shared))
				}
			},
		})
	})
}

// A receive for any gate that was not compared yet with what a gate keeps does not get a younger message.
func TestArrivalOverlooksWhatWasNotCompared(t *testing.T) {
	w := newWorld()
	x := w.gates[0]
	old := newMessage(7)
	x.Keep(&old.Arrival)
	w.any.clock.Add(1) // a receive counts itself, and is about to stand in the list
	x.Search()
	r := &receive{}
	r.entry.Tag, r.entry.Of = 7, r
	r.wild.Set(&r.entry, Exact, false)
	w.any.Post(&r.wild)
	if got := x.ArriveAny(7); got != nil {
		t.Fatal("the younger message went to the receive") // ArriveAny looks first: the old one is Found
	}
	if w.given[r] != old {
		t.Fatal("the old message was not found for the receive")
	}
}

// TestOverlooked: a receive for any gate is posted while a message arrives, which overlooks it, beside one that waits already; the
// next message of that tag, which comes before the poster has looked through what has been kept, does not get it in its place.
func TestOverlooked(t *testing.T) {
	for _, others := range []bool{false, true} {
		w := newWorld()
		x := w.gates[0]
		if others {
			x.Keep(&newMessage(9).Arrival)
		}
		x.Within = w.any.Now() // a packet is looked at
		r := &receive{any: true}
		r.entry.Of, r.entry.Tag = r, 7
		r.wild.Set(&r.entry, Exact, false)
		w.any.Post(&r.wild)
		first, second := newMessage(7), newMessage(7)
		if got := x.ArriveAny(7); got != nil {
			t.Fatalf("others=%v: a message is given to a receive that may be younger than one of the gate", others)
		}
		x.Keep(&first.Arrival)
		x.Within = w.any.Now() // the next packet
		if got := x.ArriveAny(7); got != nil {
			t.Errorf("others=%v: the second message is received before the first", others)
			continue
		}
		x.Keep(&second.Arrival)
		x.Search() // by the poster
		if got := w.given[r]; got != first {
			t.Errorf("others=%v: the receive got %v, want the first message", others, got)
		}
	}
}
