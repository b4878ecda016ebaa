package serial

import "testing"

// Every transition from every situation, one row each.
func TestTransitions(t *testing.T) {
	const (
		S, Q, R, K = Scheduled, Queued, Running, Killed
		D          = oneHold
		limit      = ^(oneHold - 1)
		users      = 0x5a5a5a0 // no transition changes them
	)
	release := func(s State) (State, bool) { n, p, _ := s.Release(); return n, p }
	kill := func(s State) (State, bool) { return s.Kill(), false }
	drop := func(s State) (State, bool) { return s.Drop(), false }
	for _, c := range []struct {
		name string
		from State
		op   func(State) (State, bool)
		want State
		flag bool
	}{
		{"schedule idle", 0, State.Schedule, S | Q, true},
		{"schedule queued stays where it is", S | Q, State.Schedule, S | Q, false},
		{"schedule running", R, State.Schedule, R | S, false},
		{"schedule again", R | S, State.Schedule, R | S, false},
		{"schedule held parks", D, State.Schedule, S | D, false},
		{"schedule parked", S | D, State.Schedule, S | D, false},
		{"schedule dead", K, State.Schedule, K, false},
		{"schedule dying", K | R, State.Schedule, K | R, false},

		{"begin queued", S | Q, State.Begin, R, true},
		{"begin held parks", S | Q | 2*D, State.Begin, S | 2*D, false},
		{"begin killed", Q | K, State.Begin, K, false},
		{"begin killed and held", Q | K | D, State.Begin, K | D, false},

		{"end", R, State.End, 0, false},
		{"end again", R | S, State.End, S | Q, true},
		{"end again, held, parks", R | S | D, State.End, S | D, false},
		{"end held", R | D, State.End, D, false},
		{"end killed", R | K, State.End, K, false},

		{"hold idle", 0, State.Hold, D, true},
		{"hold nests", S | 7*D, State.Hold, S | 8*D, true},
		{"hold queued", S | Q, State.Hold, S | Q | D, true},
		{"hold at the limit", limit | S, State.Hold, limit | S, false},

		{"release one of two", S | 2*D, release, S | D, false},
		{"release parked", S | D, release, S | Q, true},
		{"release idle", D, release, 0, false},
		{"release queued", S | Q | D, release, S | Q, false},
		{"release running", R | S | D, release, R | S, false},
		{"release dead", K | D, release, K, false},
		{"release too often", S | Q, release, S | Q, false},

		{"kill idle", 0, kill, K, false},
		{"kill queued", S | Q, kill, Q | K, false},
		{"kill again", S | R, kill, R | K, false},
		{"kill parked", S | 3*D, kill, K | 3*D, false},
		{"kill dead", K, kill, K, false},

		{"drop queued", S | Q, drop, 0, false},
		{"drop killed", Q | K, drop, K, false},
		{"drop running and killed", R | K, drop, K, false},
		{"drop again", R | S, drop, 0, false},

		{"revive idle", 0, State.Revive, S | Q, true},
		{"revive dead", K, State.Revive, S | Q, true},
		{"revive queued", S | Q, State.Revive, S | Q, false},
		{"revive running", R, State.Revive, R, false},
		{"revive dying", Q | K, State.Revive, Q | K, false},
		{"revive dying while it runs", R | K, State.Revive, R | K, false},
	} {
		if got, flag := c.op(c.from | users); got != c.want|users || flag != c.flag {
			t.Errorf("%s: %#x -> %#x, %v; want %#x, %v", c.name, uint64(c.from), uint64(got), flag, uint64(c.want), c.flag)
		}
	}
}

// All states that can be reached by transitions in any order, two holds deep: the invariants hold in each, and none is a
// dead end by accident.
func TestReachableStatesKeepTheInvariants(t *testing.T) {
	type step struct {
		name string
		to   State
	}
	steps := func(s State) (out []step) {
		add := func(name string, to State) { out = append(out, step{name, to}) }
		next, _ := s.Schedule()
		add("schedule", next)
		if next, _, ok := s.Release(); ok {
			add("release", next)
		}
		if s.Has(Running) {
			next, _ = s.End()
			add("end", next)
			next, _ = s.Kill().End()
			add("fail", next)
		}
		if s.Holds() < 2 {
			next, _ = s.Hold()
			add("hold", next)
		}
		add("kill", s.Kill())
		if s.Has(Queued) {
			next, _ = s.Begin()
			add("begin", next)
			add("drop", s.Drop())
		}
		if next, ok := s.Revive(); ok {
			add("revive", next)
		}
		return out
	}
	check := func(from State, name string, s State) {
		fail := func(why string) {
			t.Errorf("%#x -%s-> %#x: %s", uint64(from), name, uint64(s), why)
		}
		if s.Has(Queued) && s.Has(Running) {
			fail("queued and running")
		}
		if s.Over() == (s.Has(Queued) || s.Has(Running)) {
			fail("over, or not")
		}
		if s.Has(Queued) && !s.Has(Scheduled) && !s.Has(Killed) {
			fail("queued for no reason")
		}
		if s.Has(Killed) && s.Has(Scheduled) {
			fail("killed, yet scheduled")
		}
		if s&(Scheduled|Queued|Running|Killed) == Scheduled && s.Holds() == 0 {
			fail("scheduled, and no holder will ever run it")
		}
		if from.Has(Killed) && !s.Has(Killed) && name != "revive" {
			fail("came back to life")
		}
		if from.Has(Killed) && s.Has(Running) && !from.Has(Running) {
			fail("begins after its death")
		}
		if s.Has(Running) && !from.Has(Running) && (from.Holds() != 0 || !from.Has(Queued)) {
			fail("begins held, or from nowhere")
		}
	}
	seen := map[State]bool{0: true}
	for queue := []State{0}; len(queue) > 0; queue = queue[1:] {
		for _, next := range steps(queue[0]) {
			check(queue[0], next.name, next.to)
			if !seen[next.to] {
				seen[next.to] = true
				queue = append(queue, next.to)
			}
		}
	}
	// {idle, queued, running, again; dead, dying in its list, dying while it runs}
	// times three counts of holds, and parked with two.
	if want := 7*3 + 2; len(seen) != want {
		t.Errorf("%d reachable states, want %d", len(seen), want)
	}
}

// A word changes by whichever transition comes first; Set is for the side that need not ask.
func TestWord(t *testing.T) {
	var w Word
	queued, _ := State(0).Schedule()
	if !w.Swap(0, queued) || w.Swap(0, queued) || w.Load() != queued {
		t.Errorf("%#x", uint64(w.Load()))
	}
	if w.Change(State.Kill); w.Load() != Queued|Killed {
		t.Errorf("killed: %#x", uint64(w.Load()))
	}
	if w.Set(Killed); w.Load() != Killed {
		t.Errorf("set: %#x", uint64(w.Load()))
	}
}
