package tasklet

import "testing"

// Every transition from every situation, one row each.
func TestTransitions(t *testing.T) {
	const (
		S, Q, R, K = scheduled, queued, running, killed
		D          = oneDisable
	)
	lane := func(s state, n int) state { return s.in(n) }
	schedule := func(s state) (state, bool) { return s.schedule(5) }
	end := func(s state) (state, bool) { return s.end(5) }
	enable := func(s state) (state, bool) { n, p, _ := s.enable(5); return n, p }
	disable := func(s state) (state, bool) { return s.disable() }
	begin := func(s state) (state, bool) { return s.begin() }
	kill := func(s state) (state, bool) { return s.kill(), false }
	drop := func(s state) (state, bool) { return s.drop(), false }
	for _, c := range []struct {
		name string
		from state
		op   func(state) (state, bool)
		want state
		flag bool
	}{
		{"schedule idle", lane(0, 2), schedule, lane(S|Q, 5), true},
		{"schedule queued stays where it is", lane(S|Q, 2), schedule, lane(S|Q, 2), false},
		{"schedule running", lane(R, 2), schedule, lane(R|S, 2), false},
		{"schedule again", lane(R|S, 2), schedule, lane(R|S, 2), false},
		{"schedule disabled parks", lane(D, 2), schedule, lane(S|D, 2), false},
		{"schedule parked", lane(S|D, 2), schedule, lane(S|D, 2), false},
		{"schedule dead", lane(K, 2), schedule, lane(K, 2), false},
		{"schedule dying", lane(K|R, 2), schedule, lane(K|R, 2), false},

		{"begin queued", lane(S|Q, 2), begin, lane(R, 2), true},
		{"begin disabled parks", lane(S|Q|2*D, 2), begin, lane(S|2*D, 2), false},
		{"begin killed", lane(Q|K, 2), begin, lane(K, 2), false},
		{"begin killed and disabled", lane(Q|K|D, 2), begin, lane(K|D, 2), false},

		{"end", lane(R, 2), end, lane(0, 2), false},
		{"end again", lane(R|S, 2), end, lane(S|Q, 5), true},
		{"end again, disabled, parks", lane(R|S|D, 2), end, lane(S|D, 2), false},
		{"end disabled", lane(R|D, 2), end, lane(D, 2), false},
		{"end killed", lane(R|K, 2), end, lane(K, 2), false},

		{"disable idle", lane(0, 2), disable, lane(D, 2), true},
		{"disable nests", lane(S|7*D, 2), disable, lane(S|8*D, 2), true},
		{"disable queued", lane(S|Q, 2), disable, lane(S|Q|D, 2), true},
		{"disable at the limit", disableMask | S, disable, disableMask | S, false},

		{"enable one of two", lane(S|2*D, 2), enable, lane(S|D, 2), false},
		{"enable parked", lane(S|D, 2), enable, lane(S|Q, 5), true},
		{"enable idle", lane(D, 2), enable, lane(0, 2), false},
		{"enable queued", lane(S|Q|D, 2), enable, lane(S|Q, 2), false},
		{"enable running", lane(R|S|D, 2), enable, lane(R|S, 2), false},
		{"enable dead", lane(K|D, 2), enable, lane(K, 2), false},
		{"enable too often", lane(S|Q, 2), enable, lane(S|Q, 2), false},

		{"kill idle", lane(0, 2), kill, lane(K, 2), false},
		{"kill queued", lane(S|Q, 2), kill, lane(Q|K, 2), false},
		{"kill again", lane(S|R, 2), kill, lane(R|K, 2), false},
		{"kill parked", lane(S|3*D, 2), kill, lane(K|3*D, 2), false},
		{"kill dead", lane(K, 2), kill, lane(K, 2), false},

		{"drop queued", lane(S|Q, 2), drop, lane(0, 2), false},
		{"drop killed", lane(Q|K, 2), drop, lane(K, 2), false},
	} {
		if got, flag := c.op(c.from); got != c.want || flag != c.flag {
			t.Errorf("%s: %#x -> %#x, %v; want %#x, %v", c.name, uint64(c.from), uint64(got), flag, uint64(c.want), c.flag)
		}
	}
}

// All states that can be reached by transitions in any order, disables up to two
// deep: the invariants hold in each, and none is a dead end by accident.
func TestReachableStatesKeepTheInvariants(t *testing.T) {
	type step struct {
		name string
		to   state
	}
	steps := func(s state) []step {
		var out []step
		add := func(name string, to state) { out = append(out, step{name, to}) }
		for lane := range 2 {
			n, _ := s.schedule(lane)
			add("schedule", n)
			if n, _, ok := s.enable(lane); ok {
				add("enable", n)
			}
			if s.has(running) {
				n, _ := s.end(lane)
				add("end", n)
				n, _ = s.kill().end(lane)
				add("fail", n)
			}
		}
		if s&disableMask < 2*oneDisable {
			n, _ := s.disable()
			add("disable", n)
		}
		add("kill", s.kill())
		if s.has(queued) {
			n, _ := s.begin()
			add("begin", n)
			add("drop", s.drop())
		}
		return out
	}
	check := func(from state, name string, s state) {
		fail := func(why string) {
			t.Errorf("%#x -%s-> %#x: %s", uint64(from), name, uint64(s), why)
		}
		if s.has(queued) && s.has(running) {
			fail("queued and running")
		}
		if s.has(queued) && !s.has(scheduled) && !s.has(killed) {
			fail("queued for no reason")
		}
		if s.has(killed) && s.has(scheduled) {
			fail("killed, yet scheduled")
		}
		if s&(scheduled|queued|running|killed) == scheduled && !s.disabled() {
			fail("scheduled, and no firing will ever run it")
		}
		if from.has(killed) && !s.has(killed) {
			fail("came back to life")
		}
		if from.has(killed) && s.has(running) && !from.has(running) {
			fail("begins after its death")
		}
		if s.has(running) && !from.has(running) && (from.disabled() || !from.has(queued)) {
			fail("begins disabled, or from nowhere")
		}
		if from.has(queued) && s.has(queued) && from.lane() != s.lane() {
			fail("changed its lane while in it")
		}
		if s.lane() > 1 {
			fail("in a lane that no call named")
		}
	}
	seen := map[state]bool{0: true}
	for queue := []state{0}; len(queue) > 0; queue = queue[1:] {
		for _, next := range steps(queue[0]) {
			check(queue[0], next.name, next.to)
			if !seen[next.to] {
				seen[next.to] = true
				queue = append(queue, next.to)
			}
		}
	}
	// {idle, queued, running, again; dead, dying in its lane, dying while it runs}
	// times three disable counts, and parked with two, times two lanes.
	if want := (7*3 + 2) * 2; len(seen) != want {
		t.Errorf("%d reachable states, want %d", len(seen), want)
	}
}
