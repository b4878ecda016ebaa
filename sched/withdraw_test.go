package sched

import (
	"slices"
	"testing"
)

// TestWithdraw: which threads a joiner takes out of the queue, to run them in its place, and what is left of the
// queue where it does not.
func TestWithdraw(t *testing.T) {
	for _, test := range []struct {
		name  string
		n     int // threads in the queue, the joined one included
		at    int // its place, from the oldest on
		setup func(v *vp, c *co, x *thread)
		want  bool
		moved bool // it was taken out, and is the youngest then
	}{
		{name: "the only one", n: 1, at: 0, want: true},
		{name: "the youngest", n: 3, at: 2, want: true},
		{name: "in the middle", n: 3, at: 1, want: true},
		{name: "the oldest of several", n: 3, at: 0, want: false},
		{name: "the oldest of two", n: 2, at: 0, want: false},
		{name: "the oldest of several, LIFO", n: 3, at: 0, setup: func(v *vp, _ *co, _ *thread) { v.q.nonDefault |= lifoBit }, want: true},
		{name: "the last that is looked at, from the old end", n: 100, at: joinLook - 1, want: true},
		{name: "the last that is looked at, from the young end", n: 100, at: 100 - joinLook, want: true},
		{name: "too far from either end", n: 100, at: 50, want: false},
		{name: "it has begun", n: 3, at: 1, setup: func(_ *vp, _ *co, x *thread) { x.co = &co{cur: x} }, want: false},
		{name: "another priority", n: 3, at: 1, setup: func(v *vp, _ *co, x *thread) {
			x.class.store(x.class.load().with(defaultRank - 1))
			v.sortNow()
		}, want: false},
		{name: "others of another priority are ready", n: 3, at: 1, setup: func(v *vp, _ *co, _ *thread) { v.q.add(ofRank(defaultRank - 1)) }, want: false},
		{name: "others were preempted", n: 3, at: 1, setup: func(v *vp, _ *co, _ *thread) { v.q.add(ofRank(cpuBoundRank)) }, want: false},
		{name: "pinned", n: 3, at: 1, setup: func(_ *vp, _ *co, x *thread) { x.extras.Store(&extras{id: x.id, pinned: true}) }, want: false},
		{name: "detached", n: 3, at: 1, setup: func(_ *vp, _ *co, x *thread) {
			x.extras.Store(&extras{id: x.id})
			x.extras.Load().detached.Store(true)
		}, want: false},
		{name: "with a name", n: 3, at: 1, setup: func(_ *vp, _ *co, x *thread) { x.extras.Store(&extras{id: x.id, name: "x"}) }, want: true},
		{name: "the joiner stays on its OS thread", n: 3, at: 1, setup: func(_ *vp, c *co, _ *thread) { c.stays = true }, want: false},
		{name: "it may not run here", n: 3, at: 1, setup: func(_ *vp, _ *co, x *thread) {
			only := OneVP(1)
			x.set.Store(&only)
		}, want: false, moved: true},
		{name: "it has ended, and is another one", n: 3, at: 1, setup: func(_ *vp, _ *co, x *thread) { x.id += 1000 }, want: false, moved: true},
	} {
		s := planted(t, "core:2 pu:1", 0)
		h := newHand(s.vps[0], 1)
		h.take()
		v, c := h.l.vp, h.c
		c.cur = newThread()
		var all []*thread
		for range test.n {
			x := ofRank(defaultRank)
			x.vp = v
			all = append(all, x)
			v.q.push(x)
		}
		x := all[test.at]
		handle := Thread{x, x.id}
		if test.setup != nil {
			test.setup(v, c, x)
		}
		there := v.q.total()
		if got := c.withdraw(handle); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		want := there
		if test.want {
			want--
		}
		if v.q.total() != want {
			t.Errorf("%s: %d threads are left, want %d", test.name, v.q.total(), want)
		}
		var left []*thread // of Default priority
		for y := v.q.threadRing.pop(); y != nil; y = v.q.threadRing.pop() {
			left = append(left, y)
		}
		rest := slices.DeleteFunc(slices.Clone(all), func(y *thread) bool { return y == x })
		if got := slices.DeleteFunc(slices.Clone(left), func(y *thread) bool { return y == x }); !slices.Equal(got, rest) {
			t.Errorf("%s: the others are not in order", test.name)
		}
		if test.moved && left[len(left)-1] != x || !test.moved && !test.want && len(left) == len(all) && left[test.at] != x {
			t.Errorf("%s: it is not where it was, or ought to be", test.name)
		}
	}
}

// TestWithdrawFromInbox: what was posted is looked for as well, in order of arrival.
func TestWithdrawFromInbox(t *testing.T) {
	s := planted(t, "core:1 pu:1", 0)
	h := newHand(s.vps[0], 1)
	h.take()
	v, c := h.l.vp, h.c
	c.cur = newThread()
	a, b := ofRank(defaultRank), ofRank(defaultRank)
	a.vp, b.vp = v, v
	v.post(a)
	v.post(b)
	if c.withdraw(Thread{a, a.id}) || !c.withdraw(Thread{b, b.id}) || !c.withdraw(Thread{a, a.id}) || v.hasWork() {
		t.Error("not as if they had been in the queue")
	}
}

// TestWithdrawnElsewhere: a thread of another VP's queue is not found, nor harmed.
func TestWithdrawnElsewhere(t *testing.T) {
	s := planted(t, "core:2 pu:1", 0)
	h := newHand(s.vps[0], 1)
	h.take()
	h.c.cur = newThread()
	x, mine := ofRank(defaultRank), ofRank(defaultRank)
	x.vp, mine.vp = s.vps[1], s.vps[0]
	s.vps[1].q.push(x)
	s.vps[0].q.push(mine)
	if h.c.withdraw(Thread{x, x.id}) || s.vps[0].q.total() != 1 || s.vps[1].q.total() != 1 {
		t.Error("taken from another VP")
	}
}

// TestJoinNow: a thread that is not begun runs when it is joined, before those that were ready earlier, on
// a VP on which no other one may come between; the oldest has its turn anyway.
func TestJoinNow(t *testing.T) {
	s := running(t, Config{VPs: 1})
	var order []int
	_ = s.Spawn(Attr{}, func() {
		hs := make([]Thread, 5)
		for i := range hs {
			hs[i] = Spawn(func() { order = append(order, i) })
		}
		for _, i := range []int{4, 2, 0, 1, 3} {
			if err := hs[i].Join(); err != nil {
				t.Error(err)
			}
		}
	}).Join()
	// 4 and 2 run at once; 0 is the oldest of three, and its runner goes on with 1 and 3.
	if want := []int{4, 2, 0, 1, 3}; !slices.Equal(order, want) {
		t.Errorf("in order %v, want %v", order, want)
	}
	order = nil
	_ = s.Spawn(Attr{}, func() { // what a joined one waits for runs meanwhile; the joiner then stands in line
		var mu Spin
		var q WaitQueue
		other := Spawn(func() { order = append(order, 1) })
		waits := Spawn(func() {
			order = append(order, 2)
			c := Enter()
			mu.Lock()
			c.Wait(&q, &mu)
			order = append(order, 4)
		})
		wakes := Spawn(func() {
			order = append(order, 3)
			c := Enter()
			mu.Lock()
			w := q.Pop()
			mu.Unlock()
			c.Wake(w)
			c.Leave()
		})
		for _, h := range []Thread{waits, other, wakes} {
			if err := h.Join(); err != nil {
				t.Error(err)
			}
		}
	}).Join()
	if want := []int{2, 1, 3, 4}; !slices.Equal(order, want) {
		t.Errorf("in order %v, want %v", order, want)
	}
}
