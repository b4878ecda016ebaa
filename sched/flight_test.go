package sched

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// What happens between a look and what is done because of it: each test does the one half of an
// operation, then all of another party's, then the other half. No chance is involved, so a protocol
// that has lost one of its second looks fails each time.

// TestPutOfWhatBelongsElsewhere: between the look at where a thread belongs and its arrival there
// that changes. One that changes it finds it in no node, and leaves it to put.
func TestPutOfWhatBelongsElsewhere(t *testing.T) {
	in := func(n *queueNode) (all int) {
		n.walk(func(x *queueNode) { all += x.queue.total() })
		return all
	}
	for _, c := range []struct {
		name   string
		change func(g *grove, x *thread)
		where  func(g *grove) *queueNode // nil: on its VP
	}{
		{"another node", func(g *grove, x *thread) { x.assign(g.s.vps[3].leaf) }, func(g *grove) *queueNode { return g.s.vps[3].leaf }},
		{"the node above", func(g *grove, x *thread) { x.assign(g.s.vps[0].leaf.up) }, func(g *grove) *queueNode { return g.s.vps[0].leaf.up }},
		{"its VP", func(g *grove, x *thread) { x.assign(nil) }, func(*grove) *queueNode { return nil }},
	} {
		g := newGrove(t)
		_, x := g.thread(g.s, defaultRank, VPSet{})
		old := g.s.vps[0].leaf
		x.assign(old) // the holder that puts x has seen this
		c.change(g, x)
		x.sort(nil) // as a thread that changes it does
		old.put(x)
		if n := c.where(g); n == nil {
			if in(g.s.root) != 0 || x.vpHint().inbox.Load() != x {
				t.Errorf("%s: not there", c.name)
			}
		} else if n.queue.total() != 1 || in(g.s.root) != 1 || x.extras.Load().queuedOn.Load() != n {
			t.Errorf("%s: not there, or elsewhere as well", c.name)
		}
	}
	// The set changes while put waits for the node's lock. Whether it had looked before is chance: right is
	// the same either way.
	for range 20 {
		g := newGrove(t)
		_, x := g.thread(g.s, defaultRank, VPSet{})
		old := g.s.vps[0].leaf
		x.assign(old)
		old.mu.Lock()
		var done sync.WaitGroup
		done.Go(func() { old.put(x) })
		time.Sleep(200 * time.Microsecond)
		only := OneVP(3)
		x.set.Store(&only)
		old.mu.Unlock()
		done.Wait()
		if g.s.root.queue.total() != 1 || old.queue.total() != 0 {
			t.Fatal("a thread waits where none of its VPs looks")
		}
	}
}

// TestLaneOfWhatIsStolen: a thread's priority changes before, between and after the steps of a theft, the
// thief's VP being held. Then it is in the ring of its priority, or will be before the next thread is chosen.
func TestLaneOfWhatIsStolen(t *testing.T) {
	const high = defaultRank - 1
	for when := range 4 {
		s := planted(t, "core:2 pu:1", 0)
		o, v := s.vps[0], s.vps[1]
		newHand(v, 2).take()
		first := ofRank(defaultRank)
		first.vp = v
		v.q.push(first)
		x := ofRank(defaultRank)
		x.vp = o
		o.q.push(x)
		change := func(at int) {
			if at == when {
				x.class.store(x.class.load().with(high))
				x.sort(nil)
			}
		}
		change(0)
		old, ok := o.borrow()
		if !ok {
			t.Fatal("a free VP cannot be borrowed")
		}
		change(1)
		var taken [1]*thread
		for _, r := range []rank{high, defaultRank} {
			if o.q.present()&r.bit() != 0 && v.takeAllowed(o.q.of(r), taken[:]) == 1 {
				o.q.took(r)
				break
			}
		}
		if taken[0] != x || x.vp != v {
			t.Fatalf("the change at %d: not taken", when)
		}
		change(2)
		v.add(x)
		o.giveBack(old)
		change(3)
		if got := v.pop(); got != x {
			t.Errorf("the change at %d: a thread of lower priority goes first", when)
		}
	}
}

// TestLanesInFlight: two VPs that take threads from each other all the time, and two that change their priorities.
// When all are through, each thread is there once, in the ring of its priority.
func TestLanesInFlight(t *testing.T) {
	for round := range effort.Of(1000) {
		s := planted(t, "core:2 pu:1", 0)
		var all []*thread
		for range 12 {
			x := ofRank(defaultRank)
			x.vp = s.vps[0]
			all = append(all, x)
			s.vps[0].q.push(x)
		}
		hands := [2]*hand{newHand(s.vps[0], 1), newHand(s.vps[1], 2)}
		vp := func(id int, r *rand.Rand) {
			v, o := s.vps[id], s.vps[1-id]
			h := hands[id]
			h.take()
			if v.stealFrom(o); r.IntN(2) == 0 {
				if x := v.pop(); x != nil {
					v.requeue(x)
					h.swap()
				}
			}
			h.letGo(r.IntN(2) == 0)
		}
		changer := func(id int, r *rand.Rand) {
			x := all[r.IntN(len(all)/2)*2+id%2] // its own: a change is made under the thread's lock
			x.class.store(x.class.load().with(defaultRank - rank(r.IntN(2))))
			x.sort(nil)
		}
		together(round, 20, vp, vp, changer, changer)
		seen := map[*thread]bool{}
		for i, v := range s.vps {
			hands[i].take()
			if v.inbox.Load() != nil {
				v.collect()
			}
			for r := range rank(ranks) {
				if v.q.present()&r.bit() == 0 {
					continue
				}
				for o := v.q.of(r); o.len() > 0; {
					x := o.pop()
					if x.class.load().rank() != r || seen[x] || x.vp != v {
						t.Fatalf("round %d: a thread of rank %d is in ring %d of VP %d, seen %v", round, x.class.load().rank(), r, i, seen[x])
					}
					seen[x] = true
				}
				v.q.took(r)
			}
		}
		if len(seen) != len(all) {
			t.Fatalf("round %d: %d threads of %d are left", round, len(seen), len(all))
		}
	}
}

// A dueOp is what was asked of an alarm, or what it did.
type dueOp struct {
	alarm int
	name  string // start, stop, run
	start int    // of which start the function is
}

// dueModel is of an alarm with a function: a start makes it pending, a stop tells whether it was, and the
// function of a start runs at most once, if it was pending: then it is not any more.
var dueModel = porcupine.Model{
	Partition: func(all []porcupine.Operation) (by [][]porcupine.Operation) {
		at := map[int]int{}
		for _, o := range all {
			a := o.Input.(dueOp).alarm
			if _, ok := at[a]; !ok {
				at[a] = len(by)
				by = append(by, nil)
			}
			by[at[a]] = append(by[at[a]], o)
		}
		return by
	},
	Init: func() any { return 0 },
	Step: func(state, in, out any) (bool, any) {
		switch op := in.(dueOp); op.name {
		case "start":
			return state == 0, op.start
		case "stop":
			return out.(bool) == (state != 0), 0
		default:
			return state == op.start, 0
		}
	},
}

// TestDueFunctionsAreLinearizable: alarms that are over at once are started, stopped and started again by two threads
// and two goroutines, while their functions begin.
func TestDueFunctionsAreLinearizable(t *testing.T) {
	s, err := New(Config{VPs: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer stopFor(t, s)
	for round := range effort.Of(300) {
		dueRound(t, s, round)
	}
}

func dueRound(t *testing.T, s *Scheduler, round int) {
	const alarms = 3
	var (
		p       past
		as      [alarms]Alarm
		mu      [alarms]Spin
		starts  atomic.Int64
		pending sync.WaitGroup // starts that have neither been stopped nor run
	)
	add := func(client int, op dueOp, out any, begin, end int64) {
		p.mu.Lock()
		p.ops = append(p.ops, porcupine.Operation{ClientId: client, Input: op, Call: begin, Output: out, Return: end})
		p.mu.Unlock()
	}
	turn := func(id int, r *rand.Rand) {
		a := r.IntN(alarms)
		n := int(starts.Add(1))
		d := time.Duration(r.IntN(3)) * 5 * time.Microsecond
		again := r.IntN(3) > 0
		f := func(begin int64) func() {
			return func() {
				add(100+n, dueOp{a, "run", n}, nil, begin, p.now.Add(1))
				pending.Done()
			}
		}
		c := Visit()
		mu[a].Lock()
		begin := p.now.Add(1)
		was := as[a].Stop()
		stopped := p.now.Add(1)
		started := int64(0)
		if again {
			pending.Add(1)
			as[a].StartFunc(c, s, d, f(stopped))
			started = p.now.Add(1)
		}
		mu[a].Unlock()
		c.Leave()
		if was {
			pending.Done()
		}
		add(id, dueOp{a, "stop", 0}, was, begin, stopped)
		if again {
			add(id, dueOp{a, "start", n}, nil, stopped, started)
		}
	}
	onThread := func(id int, r *rand.Rand) {
		_ = s.Spawn(Attr{}, func() {
			for range 3 {
				turn(id, r)
			}
		}).Join()
	}
	together(round, 5, onThread, turn, onThread, turn)
	all := make(chan int)
	go func() { pending.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(time.Minute):
		t.Fatalf("round %d: functions that are due never run", round)
	}
	for a := range as {
		begin := p.now.Add(1)
		add(0, dueOp{a, "stop", 0}, as[a].Stop(), begin, p.now.Add(1))
	}
	if porcupine.CheckOperationsTimeout(dueModel, p.ops, 30*time.Second) != porcupine.Ok {
		p.log(t)
		t.Fatalf("round %d: no order explains these operations", round)
	}
}

// TestDueModel: the check finds what it is there for.
func TestDueModel(t *testing.T) {
	op := func(name string, start int, out any, begin, end int64) porcupine.Operation {
		return porcupine.Operation{Input: dueOp{0, name, start}, Output: out, Call: begin, Return: end}
	}
	start, run, later := op("start", 1, nil, 1, 2), op("run", 1, nil, 1, 6), op("start", 2, nil, 5, 8)
	for _, c := range []struct {
		name string
		ops  []porcupine.Operation
		ok   bool
	}{
		{"stopped", []porcupine.Operation{start, op("stop", 0, true, 3, 4), op("stop", 0, false, 5, 6)}, true},
		{"run", []porcupine.Operation{start, run, op("stop", 0, false, 7, 8)}, true},
		{"stopped too late", []porcupine.Operation{start, run, op("stop", 0, false, 3, 4)}, true},
		{"stopped, and run", []porcupine.Operation{start, run, op("stop", 0, true, 3, 4)}, false},
		{"run twice", []porcupine.Operation{start, run, run}, false},
		{"neither", []porcupine.Operation{start, op("stop", 0, false, 3, 4)}, false},
		{"an old start's", []porcupine.Operation{start, op("stop", 0, true, 3, 4), later, op("run", 1, nil, 1, 9)}, false},
	} {
		if porcupine.CheckOperations(dueModel, c.ops) != c.ok {
			t.Errorf("%s: possible %v", c.name, !c.ok)
		}
	}
}

// stopFor stops s at the end of a test.
func stopFor(t testing.TB, s *Scheduler) {
	t.Helper()
	for end := time.Now().Add(time.Minute); s.Alive() > 0 && time.Now().Before(end); {
		time.Sleep(100 * time.Microsecond)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
