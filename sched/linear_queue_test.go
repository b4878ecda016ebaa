package sched

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// vpState is what a VP has: the rings of its queue, and its inbox, in order of arrival.
type vpState struct {
	rings [ranks]string
	inbox string
}

// collected is s after its inbox has been moved to the rings.
func (ps *past) collected(s vpState) vpState {
	for _, id := range s.inbox {
		r := &s.rings[ps.made[id].rank]
		*r = with(*r, int(id))
	}
	s.inbox = ""
	return s
}

// next takes the next thread of rank low or a higher one out of s; -1 if there is none.
func (vs vpState) next(lifo bool, low rank, turn uint32) (vpState, int) {
	if low == defaultRank {
		low = cpuBoundRank // of the same priority
	}
	for r := range low + 1 {
		ring := vs.rings[r]
		if ring == "" {
			continue
		}
		id := ring[0]
		if lifo {
			young := len(ring) - 1
			id = ring[young]
			if turn%anyEvery == 0 { // the youngest takes the place of another one
				i := int(turn/anyEvery) % len(ring)
				id = ring[i]
				ring = ring[:i] + ring[young:] + ring[min(i+1, young):]
			}
			vs.rings[r] = ring[:young]
		} else {
			vs.rings[r] = ring[1:]
		}
		return vs, int(id)
	}
	return vs, -1
}

// takeAllowed takes the older half of s, rounded up, of what may run on vp, the highest priorities first.
func (ps *past) takeAllowed(s vpState, vp, want int) (vpState, string) {
	taken := ""
	for r := range s.rings {
		for _, id := range s.rings[r] {
			if len(taken) < want && ps.made[id].mayRun(vp) {
				taken = with(taken, int(id))
				s.rings[r] = without(s.rings[r], int(id))
			}
		}
	}
	return s, taken
}

func (vs vpState) total() (n int) {
	for _, r := range vs.rings {
		n += len(r)
	}
	return n
}

// vpModel is of the queue of one VP: the one that holds it pushes, pops, yields to another, and withdraws; outsiders
// post into its inbox; thieves steal, and others list what is there.
//
// Stealing and listing may be refused while another one has the VP, and that alone: otherwise
// they get exactly what a list would give. One that lists may find that it has made too little room, and
// come again: then he has moved the inbox before ("collect"), or not. Everything else is exact.
func (ps *past) vpModel(lifo bool) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{vpState{}} },
		Step: func(state, in, out any) (next []any) {
			s, op := state.(vpState), in.(queueOp)
			if op.name == "post" {
				s.inbox = with(s.inbox, op.thread)
				return []any{s}
			}
			if op.name == "push" { // not before the inbox
				r := &s.rings[op.rank]
				*r = with(*r, op.thread)
				return []any{s}
			}
			if op.may && out == "" || op.name == "collect" {
				next = append(next, s)
			}
			s = ps.collected(s)
			switch op.name {
			case "pop":
				got := -1
				if s, got = s.next(lifo, ranks-1, op.turn); got != out {
					return nil
				}
			case "yield":
				after, got := s.next(lifo, op.rank, op.turn)
				if got != out {
					return nil
				}
				if got >= 0 {
					if r := &after.rings[op.rank]; lifo {
						*r = with("", op.thread) + *r
					} else {
						*r = with(*r, op.thread)
					}
					s = after
				}
			case "withdraw": // from either end
				r := &s.rings[op.rank]
				id := with("", op.thread)
				there := *r != "" && ((*r)[:1] == id || (*r)[len(*r)-1:] == id)
				if there != out {
					return nil
				}
				if there {
					*r = without(*r, op.thread)
				}
			case "steal":
				want := (s.total() + 1) / 2
				if randomSteals {
					want = max(len(out.(string)), 1) // as chance has it, but one at least
				}
				taken := ""
				if s, taken = ps.takeAllowed(s, op.vp, want); taken != out {
					return next
				}
			case "list":
				all := ""
				for r, ring := range s.rings {
					if rank(r) != cpuBoundRank { // they have begun
						all += ring
					}
				}
				if all != out {
					return next
				}
			}
			return append(next, s)
		},
	}
	return m.ToModel()
}

// A hand does in the place of an LWP what concerns its VP's word: it enters the scheduler and
// leaves it, on two runners that take turns, and gets the VP if it is free, or another one's
// thread runs user code there.
type hand struct {
	l         *lwp
	c, parked *co
}

func newHand(v *vp, id uint32) *hand {
	l := &lwp{id: id, coID: coIDOf(id), vp: v}
	one := func() *co { return &co{inside: isIn, id: l.coID, l: l} }
	return &hand{l, one(), one()}
}

// enters is Enter: false if h does not have the VP any more.
func (hd *hand) enters() bool {
	storeRel(&hd.c.inside, hd.c.inUser|isIn)
	return hd.l.vp.word.load() == hd.c.id || hd.c.regains()
}

// seizes takes the VP from another one's thread that runs user code.
func (hd *hand) seizes() bool {
	v := hd.l.vp
	old, ok := v.borrow()
	switch {
	case !ok:
		return false
	case old == 0:
		v.giveBack(old)
		return false
	}
	v.cur = hd.c
	v.giveBack(hd.l.id)
	return true
}

// take gets the VP for h, from the one that has it.
func (hd *hand) take() {
	for ok := hd.enters(); !ok && !hd.l.vp.claim(hd.l, hd.c) && !hd.seizes(); {
		runtime.Gosched()
	}
}

// swap goes on with h's other runner, as switchTo.
func (hd *hand) swap() {
	v := hd.l.vp
	storeRel64(&v.tick, v.tick+1)
	hd.c, hd.parked = hd.parked, hd.c
	v.carry(hd.c, hd.l)
}

// letGo ends what take began: h's thread goes on in user code, or the VP is free.
func (hd *hand) letGo(stay bool) {
	if stay {
		storeRel(&hd.c.inside, hd.c.inUser)
	} else {
		hd.l.vp.release(hd.l)
	}
}

// TestVPQueueIsLinearizable: two LWPs that take the VP from each other, two thieves, two
// outsiders, and one that lists.
func TestVPQueueIsLinearizable(t *testing.T) {
	defer func(n int) { minRing = n }(minRing)
	minRing = 2
	for _, policy := range []Policy{Fair, LIFO} {
		for round := range effort.Of(1500) {
			vpRound(t, round, policy == LIFO)
		}
	}
}

func vpRound(t *testing.T, round int, lifo bool) {
	s := planted(t, "core:4 pu:1", 0)
	o := s.vps[0]
	if lifo {
		o.q.nonDefault = lifoBit
		o.choices = uint32(anyEvery - round%anyEvery) // one pop in so many is an odd one
	}
	var p past
	some := [][]rank{{defaultRank - 1, defaultRank}, {defaultRank, defaultRank + 2}}[round%2]
	draw := func(r *rand.Rand, computing ...rank) (id int, x *thread) {
		var vps VPSet
		if r.IntN(3) == 0 { // the owner may always
			vps.Set(0)
			vps.Set(r.IntN(3))
		}
		all := append(computing, some...)
		return p.thread(s, all[r.IntN(len(all))], vps)
	}
	hands := [2]*hand{newHand(o, 1), newHand(o, 2)}
	lwp := func(id int, r *rand.Rand) {
		h := hands[id]
		op := queueOp{name: []string{"push", "push", "pop", "yield", "withdraw"}[r.IntN(5)]}
		var x *thread
		switch op.name {
		case "push":
			op.thread, x = draw(r, cpuBoundRank)
			op.rank = x.rank()
		case "yield":
			op.thread, x = draw(r)
			op.rank = x.rank()
		case "withdraw":
			if x = p.any(r); x == nil {
				return
			}
			op.thread = p.id(x)
			op.rank = x.rank()
		}
		p.do(id, op, func(op *queueOp) any {
			h.take()
			if r.IntN(4) == 0 {
				runtime.Gosched() // the others find it held
			}
			defer func() { h.letGo(r.IntN(4) > 0) }()
			switch op.name {
			case "push":
				if x.rank() == cpuBoundRank {
					o.add(x) // never woken
				} else {
					o.ready(x, true)
				}
				p.known(x)
			case "pop":
				got := o.pop()
				op.turn = o.choices
				return p.id(got)
			case "yield":
				got, what := o.swap(x)
				op.turn = o.choices
				if got != nil && what == opReady {
					o.requeue(x)
				}
				if got != nil {
					h.swap()
				}
				return p.id(got)
			case "withdraw":
				if o.inbox.Load() != nil {
					o.collect()
				}
				return o.q.withdraw(x, 1)
			}
			return nil
		})
	}
	thief := func(id int, r *rand.Rand) {
		v := s.vps[id-1] // 2 and 3 have VPs 1 and 2
		p.do(id, queueOp{name: "steal", vp: v.id, may: true}, func(*queueOp) any {
			n, taken := v.stealFrom(o), ""
			for x := v.pop(); x != nil; x = v.pop() {
				taken = with(taken, p.id(x))
				n--
			}
			if n != 0 {
				t.Errorf("the thief says of %d threads too many or too few", n)
			}
			return taken
		})
	}
	outsider := func(id int, r *rand.Rand) {
		x, post := draw(r)
		p.do(id, queueOp{name: "post", thread: x}, func(*queueOp) any { o.post(post); return nil })
		p.known(post)
	}
	lister := func(id int, r *rand.Rand) {
		if r.IntN(3) > 0 {
			return
		}
		begin, all := p.now.Add(1), ""
		for _, h := range o.seeds(nil) {
			all = with(all, p.id(h.thread))
		}
		end := p.now.Add(1)
		p.add(id, queueOp{name: "collect"}, nil, begin, end)
		p.add(id, queueOp{name: "list", may: true}, all, begin, end)
	}
	together(round, 6, lwp, lwp, thief, thief, outsider, outsider, lister)
	p.excuse(func(op queueOp) bool { return op.name != "post" })
	p.check(t, p.vpModel(lifo))
	left := o.q.total()
	for x := o.inbox.Load(); x != nil; x = x.link {
		left++
	}
	if want := p.left(); left != want {
		t.Fatalf("%d threads are left, want %d", left, want)
	}
}

// left is how many threads went in and did not come out.
func (ps *past) left() (n int) {
	for _, o := range ps.ops {
		switch op := o.Input.(queueOp); op.name {
		case "push", "post":
			n++
		case "pop":
			if o.Output != -1 {
				n--
			}
		case "withdraw":
			if o.Output == true {
				n--
			}
		case "steal":
			n -= len(o.Output.(string))
		}
	}
	return n
}

// TestVPQueueModel: the check finds what it is there for.
func TestVPQueueModel(t *testing.T) {
	p := past{made: []made{{rank: 2}, {rank: 2}, {rank: 1}, {2, OneVP(0)}}}
	type ops = []porcupine.Operation
	op := func(o queueOp, out any, begin, end int64) porcupine.Operation {
		return porcupine.Operation{Input: o, Output: out, Call: begin, Return: end}
	}
	push := func(id int, begin int64) porcupine.Operation {
		return op(queueOp{name: "push", thread: id, rank: p.made[id].rank}, nil, begin, begin+1)
	}
	pop := func(got int, begin int64) porcupine.Operation {
		return op(queueOp{name: "pop", turn: 1}, got, begin, begin+1)
	}
	steal := func(may bool, got string, begin int64) porcupine.Operation {
		return op(queueOp{name: "steal", vp: 1, may: may}, got, begin, begin+1)
	}
	post := op(queueOp{name: "post", thread: 0}, nil, 1, 2)
	for _, c := range []struct {
		name string
		lifo bool
		ops  ops
		ok   bool
	}{
		{"in order", false, ops{push(0, 1), push(1, 3), pop(0, 5), pop(1, 7), pop(-1, 9)}, true},
		{"out of order", false, ops{push(0, 1), push(1, 3), pop(1, 5)}, false},
		{"LIFO", true, ops{push(0, 1), push(1, 3), pop(1, 5), pop(0, 7)}, true},
		{"twice", false, ops{push(0, 1), pop(0, 3), pop(0, 5)}, false},
		{"lost", false, ops{push(0, 1), pop(-1, 3)}, false},
		{"lost in the inbox", false, ops{post, pop(-1, 3)}, false},
		{"the lower priority first", false, ops{push(0, 1), push(2, 3), pop(0, 5)}, false},
		{"half", false, ops{push(0, 1), push(1, 3), steal(false, "\x00", 5), pop(1, 7)}, true},
		{"more than half", false, ops{push(0, 1), push(1, 3), steal(false, "\x00\x01", 5)}, randomSteals},
		{"stolen and kept", false, ops{push(0, 1), steal(false, "\x00", 3), pop(0, 5)}, false},
		{"one that must stay", false, ops{push(3, 1), steal(false, "\x03", 3)}, false},
		{"a theft refused for no reason", false, ops{push(0, 1), steal(false, "", 3)}, false},
		{"a theft refused", false, ops{push(0, 1), steal(true, "", 3), pop(0, 5)}, true},
	} {
		if porcupine.CheckOperations(p.vpModel(c.lifo), c.ops) != c.ok {
			t.Errorf("%s: possible %v", c.name, !c.ok)
		}
	}
}
