package sched

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/sched/direct"
)

const (
	me    = 7
	other = 9
)

// TestWordTransitions: every transition from every state, as word.go draws them.
func TestWordTransitions(t *testing.T) {
	states := []uint32{0, borrowBit, me, me | borrowBit, other, other | borrowBit}
	for _, c := range []struct {
		name string
		do   func(w *vpWord) bool
		to   map[uint32]uint32 // where it is allowed
	}{
		{"claim", func(w *vpWord) bool { return w.claim(me) }, map[uint32]uint32{0: me}},
		{"borrow", func(w *vpWord) bool {
			found := w.word
			x, ok := w.borrow()
			return ok && x == found
		}, map[uint32]uint32{0: borrowBit, me: me | borrowBit, other: other | borrowBit}},
		{"borrow and giveBack", func(w *vpWord) bool {
			x, ok := w.borrow()
			if ok {
				w.giveBack(x)
			}
			return ok
		}, map[uint32]uint32{0: 0, me: me, other: other}},
		{"borrow and giveBack as another", func(w *vpWord) bool {
			_, ok := w.borrow()
			if ok {
				w.giveBack(me)
			}
			return ok
		}, map[uint32]uint32{0: me, me: me, other: me}},
	} {
		for _, from := range states {
			w := vpWord{from}
			want, allowed := c.to[from]
			if ok := c.do(&w); ok != allowed {
				t.Errorf("%s from %#x: %v", c.name, from, ok)
			}
			if !allowed {
				want = from
			}
			if w.word != want {
				t.Errorf("%s from %#x: to %#x, want %#x", c.name, from, w.word, want)
			}
		}
	}
	w := vpWord{me}
	if w.passOn(me, other); w.word != other {
		t.Errorf("passed on, it is %#x", w.word)
	}
	if w.release(other); w.word != 0 {
		t.Errorf("released, it is %#x", w.word)
	}
	for _, x := range states {
		if w := (vpWord{x}); w.holder() != x&^borrowBit || holder(x) != x&^borrowBit {
			t.Errorf("the holder of %#x is %#x", x, w.holder())
		}
	}
}

// TestReleaseWaitsForTaker: an LWP that gives a VP away while a taker has the word for a moment does so afterwards, and
// what the taker gives back is not what is found then.
func TestReleaseWaitsForTaker(t *testing.T) {
	for _, c := range []struct {
		name string
		to   uint32
		do   func(w *vpWord)
	}{
		{"release", 0, func(w *vpWord) { w.release(me) }},
		{"passOn", other, func(w *vpWord) { w.passOn(me, other) }},
	} {
		w := vpWord{me}
		x, ok := w.borrow()
		if !ok {
			t.Fatal("not to be had")
		}
		var over atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() { c.do(&w); over.Store(true) })
		time.Sleep(2 * time.Millisecond)
		if over.Load() || w.load() != me|borrowBit {
			t.Errorf("%s does not wait for a taker: %#x", c.name, w.load())
		}
		w.giveBack(x)
		wg.Wait()
		if w.load() != c.to {
			t.Errorf("%s ends in %#x", c.name, w.load())
		}
	}
}

// TestBorrow: what can be borrowed, and what is found untouched otherwise.
func TestBorrow(t *testing.T) {
	s := planted(t, "core:1 pu:1", 0)
	v := s.vps[0]
	c := &co{id: me, l: &lwp{id: me, coID: me, vp: v}}
	base := &co{id: me, l: c.l, base: true, inside: isIn, inUser: isIn}
	for _, test := range []struct {
		name   string
		word   uint32
		cur    *co
		inside uint32
		ok     bool
	}{
		{"free", 0, &v.vacant, isIn, true},
		{"free, and borrowed", borrowBit, &v.vacant, isIn, false},
		{"its thread runs user code", me, c, 0, true},
		{"its thread is not to be preempted", me, c, noPreempt, true},
		{"its thread is inside", me, c, isIn, false},
		{"its thread is inside, not to be preempted", me, c, isIn | noPreempt, false},
		{"borrowed", me | borrowBit, c, 0, false},
		{"just claimed", me, &v.vacant, isIn, false},
		{"its base runs", me, base, isIn, false},
	} {
		v.word.word, v.cur = test.word, test.cur
		test.cur.inside = test.inside
		old, ok := v.borrow()
		if ok != test.ok || ok && old != test.word {
			t.Errorf("%s: %v, %#x", test.name, ok, old)
		}
		if want := test.word | borrowBit; ok && (v.word.word != want || v.mode() != vpBorrowed) {
			t.Errorf("%s: borrowed as %#x, mode %d", test.name, v.word.word, v.mode())
		}
		if ok {
			v.giveBack(old)
		}
		if v.word.word != test.word || v.cur != test.cur || test.cur.inside != test.inside {
			t.Errorf("%s: %#x afterwards", test.name, v.word.word)
		}
	}
	for _, test := range []struct {
		word   uint32
		inside uint32
		want   vpMode
	}{{0, 0, vpFree}, {me, 0, vpUser}, {me, noPreempt, vpUser}, {me, isIn, vpHeld}, {me | borrowBit, 0, vpBorrowed}, {borrowBit, 0, vpBorrowed}} {
		v.word.word, v.cur, c.inside = test.word, c, test.inside
		if m := v.mode(); m != test.want {
			t.Errorf("word %#x, inside %d: mode %d, want %d", test.word, test.inside, m, test.want)
		}
	}
}

// TestGiveBackOfFree: a post that finds a free VP borrowed wakes no LWP: the borrower, which gives it back, does.
func TestGiveBackOfFree(t *testing.T) {
	s := planted(t, "core:1 pu:1", 0)
	v := s.vps[0]
	l := &lwp{id: me, vp: v}
	v.idle.spares = []*lwp{l}
	v.idle.arrive()
	old, ok := v.borrow()
	if !ok || old != 0 {
		t.Fatal("a free VP cannot be borrowed")
	}
	x := ofRank(defaultRank)
	x.vp = v
	if v.post(x); l.wake.Load() != 0 || v.idle.waking() {
		t.Error("a spare was called that cannot get the VP")
	}
	if v.giveBack(old); l.wake.Load() != toClaim || !v.idle.waking() {
		t.Error("no LWP is woken for what was posted meanwhile")
	}
}

// TestTakeBackOfFree: the same holds for a taker that comes for a thread that waits in Go, and
// finds that no LWP has the VP any more.
func TestTakeBackOfFree(t *testing.T) {
	if !isDirect {
		t.Skip("in the portable mode no OS thread is taken back")
	}
	s := planted(t, "core:1 pu:1", 0)
	v := s.vps[0]
	l := &lwp{id: me, vp: v}
	v.idle.spares = []*lwp{l}
	v.idle.arrive()
	c := &co{id: me, l: &lwp{id: me, vp: v}}
	seated, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	go func() {
		c.seat.G = direct.Current()
		close(seated)
		<-end
	}()
	<-seated
	within(t, "it waits in Go", func() bool { return direct.Status(c.seat.G) == direct.Waiting })
	x := ofRank(defaultRank)
	x.vp = v
	v.push(x) // by a post that finds the VP borrowed, and so wakes none
	if v.takeBack(c) || v.word.load() != 0 {
		t.Fatalf("a free VP was taken back: %#x", v.word.load())
	}
	if l.wake.Load() != toClaim || !v.idle.waking() {
		t.Error("no LWP is woken for what was posted meanwhile")
	}
}

// waiting is what regains returns, and a look that it has not returned yet.
func waiting(t *testing.T, c *co) (ends func() bool) {
	t.Helper()
	regained := make(chan bool, 1)
	go func() { regained <- c.regains() }()
	time.Sleep(time.Millisecond)
	select {
	case <-regained:
		t.Error("it does not wait for the taker")
	default:
	}
	return func() bool {
		select {
		case got := <-regained:
			return got
		case <-time.After(time.Minute):
			t.Fatal("it waits for nothing")
			return false
		}
	}
}

// TestRegains: a thread that would enter waits for a taker, and then has its VP, or has lost it.
func TestRegains(t *testing.T) {
	s := planted(t, "core:1 pu:1", 0)
	v := s.vps[0]
	for _, bit := range []uint32{0, fencedBit} {
		fresh := func(word uint32) *co {
			v.word.giveBack(word)
			return &co{id: me | bit, inUser: noPreempt, l: &lwp{id: me, coID: me | bit, vp: v}}
		}
		c := fresh(me)
		if !c.regains() || c.inside != isIn|noPreempt {
			t.Errorf("it has its VP, and is not inside: %d", c.inside)
		}
		for _, x := range []uint32{0, borrowBit, other, other | borrowBit} {
			if fresh(x).regains() {
				t.Errorf("it has its VP again, which is %#x", x)
			}
		}
		c = fresh(me)
		if atomic.StoreUint32(&c.id, lostID); c.regains() {
			t.Error("its LWP's VP is taken for its own")
		}

		c = fresh(me | borrowBit)
		ends := waiting(t, c)
		if v.word.giveBack(me); !ends() {
			t.Error("given back, and not regained")
		}
		c = fresh(me | borrowBit)
		ends = waiting(t, c)
		if v.word.giveBack(other); ends() {
			t.Error("taken, and regained")
		}
		c = fresh(me | borrowBit) // its OS thread is taken back: by id first, then its base has the VP
		ends = waiting(t, c)
		atomic.StoreUint32(&c.id, lostID)
		if ends() {
			t.Error("lost its OS thread, and regained the VP of that")
		}
	}
}

// TestWordExcludes: threads of three LWPs enter and leave as fast as they can, with nothing but a plain store and a
// load, switch to each other, release the VP, claim it, and seize it; thieves borrow it. Most are in for a moment, some
// for longer than a look takes. What is done inside and while borrowed must not overlap: then there is another holder,
// plain counters lose updates, and the race detector sees it.
func TestWordExcludes(t *testing.T) {
	s := planted(t, "core:1 pu:1", 0)
	v := s.vps[0]
	var (
		plain, inside, borrowed int
		occupant                atomic.Int32 // is in; 0: none
		overlaps, all           atomic.Int64
		end                     atomic.Bool
		owners, takers          sync.WaitGroup
	)
	in := func(id int32, r *rand.Rand, count *int) {
		if occupant.Swap(id) != 0 {
			overlaps.Add(1)
		}
		was := plain
		if r.IntN(4) == 0 {
			for range r.IntN(1024) {
				relax()
			}
		}
		plain = was + 1
		*count++
		all.Add(1)
		if occupant.Swap(0) != id {
			overlaps.Add(1)
		}
	}
	turns := effort.Of(20_000)
	for id := uint32(1); id <= 3; id++ {
		owners.Go(func() {
			h := newHand(v, id)
			r := rand.New(rand.NewPCG(uint64(id), 1))
			for range turns {
				if r.IntN(64) == 0 || h.l.id != v.word.holder() {
					if id != 1 && r.IntN(8) > 0 { // mostly the first one has it, for long
						giveWay()
						continue
					}
					h.take()
				} else if !h.enters() {
					continue
				}
				in(int32(id), r, &inside)
				if r.IntN(4) == 0 {
					h.swap()
				}
				h.letGo(r.IntN(256) > 0)
				for range r.IntN(8) {
					relax()
				}
			}
			h.take()
			h.letGo(false)
		})
	}
	for id := int32(11); id <= 12; id++ {
		takers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(id), 2))
			for !end.Load() {
				if old, ok := v.borrow(); ok {
					in(id, r, &borrowed)
					v.giveBack(old)
				}
				for range r.IntN(8) {
					relax()
				}
			}
		})
	}
	owners.Wait()
	end.Store(true)
	takers.Wait()
	if overlaps.Load() != 0 {
		t.Errorf("%d times another owner or taker was in, of %d", overlaps.Load(), all.Load())
	}
	if n := all.Load(); int64(plain) != n || int64(inside+borrowed) != n {
		t.Errorf("%d times in: counted %d, and %d inside, %d borrowed", n, plain, inside, borrowed)
	}
	if inside == 0 || borrowed == 0 {
		t.Errorf("%d times inside, %d times borrowed: too few", inside, borrowed)
	}
}
