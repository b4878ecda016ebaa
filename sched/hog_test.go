package sched

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// TestRanks: priorities keep their order around the rank of preempted threads, which no lane has.
func TestRanks(t *testing.T) {
	last := rank(ranks)
	for p := Idle; p <= RealTime; p++ {
		r := p.rank()
		if r >= last || r == hogRank || r.priority() != p {
			t.Errorf("%v: rank %d, after %d, which is %v", p, r, last, r.priority())
		}
		var l lane
		if l = l.with(r); l.rank() != r || l.placed() {
			t.Errorf("%v: rank %d comes out of its lane as %d", p, r, l.rank())
		}
		last = r
		x := newThread()
		x.lane.store(l)
		x.co = &co{cur: x, hog: true}
		want := r
		if p == DefaultPriority {
			want = hogRank
		}
		if x.rank() != want {
			t.Errorf("%v, preempted: rank %d, want %d", p, x.rank(), want)
		}
	}
	if hogRank.priority() != DefaultPriority {
		t.Errorf("who was preempted is of priority %v", hogRank.priority())
	}
}

// TestHogTurns: threads that were preempted go behind all others of their priority, but for one each slice, and
// before those of lower ones.
func TestHogTurns(t *testing.T) {
	s := planted(t, "core:1 pu:1", 0)
	v := s.vps[0]
	add := func(r rank) *thread {
		x := ofRank(r)
		x.vp = v
		v.q.add(x)
		return x
	}
	expect := func(what string, low rank, x *thread) {
		t.Helper()
		if got := v.choose(low); got != x {
			rank := rank(ranks)
			if got != nil {
				rank = got.rank()
			}
			t.Errorf("%s: another one is chosen, of rank %d", what, rank)
		}
		if x != nil && (v.running != x.rank() || v.chosenAt != v.tick+1) {
			t.Errorf("%s: what runs is said to be of rank %d", what, v.running)
		}
	}
	const batch = defaultRank + 2
	now := asm.Cycles()
	v.hogAt = now
	hogs := []*thread{add(hogRank), add(hogRank), add(hogRank)}
	woken := []*thread{add(defaultRank), add(defaultRank)}
	low, high := add(batch), add(defaultRank-1)
	expect("the highest priority", ranks-1, high)
	expect("those that were woken", ranks-1, woken[0])
	expect("those that were woken", ranks-1, woken[1])
	expect("for one of a higher priority that yields", defaultRank-1, nil)
	expect("nobody else of Default is there", defaultRank, hogs[0])
	if v.hogAt <= now {
		t.Error("a hog's turn is not noted")
	}
	expect("before lower ones", ranks-1, hogs[1])

	// Now with time: the slice is over.
	woken = []*thread{add(defaultRank), add(defaultRank)}
	hogs = append(hogs[2:], add(hogRank))
	s.slice = asm.ToCycles(int64(time.Second))
	v.hogAt = asm.Cycles() - 2*s.slice
	expect("its turn, once in a slice", ranks-1, hogs[0])
	expect("and not twice", ranks-1, woken[0])
	v.hogAt -= 2 * s.slice
	high = add(defaultRank - 1)
	expect("the next turn", ranks-1, hogs[1])
	v.hogAt -= 2 * s.slice
	expect("no hogs are left", ranks-1, high)
	expect("no hogs are left", ranks-1, woken[1])
	expect("at last", ranks-1, low)
	expect("nobody", ranks-1, nil)
}

// TestHogsYieldToWoken: of those that compute one has its turn once in a slice, though others are ready all the time.
func TestHogsYieldToWoken(t *testing.T) {
	if !isDirect {
		t.Skip("in the portable mode nobody is preempted")
	}
	s := running(t, Config{VPs: 1, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	turns := make(chan struct{})
	tick := &s.vps[0].tick
	hog := s.Spawn(Attr{}, func() {
		for range 20 {
			for began := atomic.LoadUint64(tick); atomic.LoadUint64(tick) == began; {
			} // until it was preempted, and goes on
		}
		close(turns)
	})
	busy := true
	other := s.Spawn(Attr{}, func() {
		for busy {
			select {
			case <-turns:
				busy = false
			default:
			}
			Yield()
		}
	})
	third := s.Spawn(Attr{}, func() {
		for busy {
			Yield()
		}
	})
	within(t, "a hog has its turns beside threads that yield to each other", hog.Ended)
	_, _ = other.Join(), third.Join()
}
