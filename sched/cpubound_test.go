package sched

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// TestRanks: priorities keep their order around the rank of preempted threads, which no class has.
func TestRanks(t *testing.T) {
	last := rank(ranks)
	for p := PriorityIdle; p <= PriorityRealTime; p++ {
		r := p.rank()
		if r >= last || r == cpuBoundRank || r.priority() != p {
			t.Errorf("%v: rank %d, after %d, which is %v", p, r, last, r.priority())
		}
		var l queueClass
		if l = l.with(r); l.rank() != r || l.placed() {
			t.Errorf("%v: rank %d comes out of its class as %d", p, r, l.rank())
		}
		last = r
		x := newThread()
		x.class.store(l)
		x.co = &co{cur: x, cpuBound: true}
		want := r
		if p == PriorityDefault {
			want = cpuBoundRank
		}
		if x.rank() != want {
			t.Errorf("%v, preempted: rank %d, want %d", p, x.rank(), want)
		}
	}
	if cpuBoundRank.priority() != PriorityDefault {
		t.Errorf("a thread that was preempted is of priority %v", cpuBoundRank.priority())
	}
}

// TestCPUBoundTurns: threads that were preempted go behind all others of their priority, but for one each slice, and
// before those of lower ones.
func TestCPUBoundTurns(t *testing.T) {
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
		if x != nil && (v.chosenRank != x.rank() || v.chosenTick != v.tick+1) {
			t.Errorf("%s: what runs has rank %d", what, v.chosenRank)
		}
	}
	const batch = defaultRank + 2
	now := asm.Cycles()
	v.cpuBound.at = now
	computing := []*thread{add(cpuBoundRank), add(cpuBoundRank), add(cpuBoundRank)}
	woken := []*thread{add(defaultRank), add(defaultRank)}
	low, high := add(batch), add(defaultRank-1)
	expect("the highest priority", ranks-1, high)
	expect("those that were woken", ranks-1, woken[0])
	expect("those that were woken", ranks-1, woken[1])
	expect("for one of a higher priority that yields", defaultRank-1, nil)
	expect("no other thread of Default is there", defaultRank, computing[0])
	if v.cpuBound.at <= now {
		t.Error("the turn of a CPU-bound thread is not noted")
	}
	expect("before lower ones", ranks-1, computing[1])

	// Now with time: the slice is over.
	woken = []*thread{add(defaultRank), add(defaultRank)}
	computing = append(computing[2:], add(cpuBoundRank))
	s.slice = asm.ToCycles(int64(time.Second))
	v.cpuBound.at = asm.Cycles() - 2*s.slice
	expect("its turn, once in a slice", ranks-1, computing[0])
	expect("and not twice", ranks-1, woken[0])
	v.cpuBound.at -= 2 * s.slice
	high = add(defaultRank - 1)
	expect("the next turn", ranks-1, computing[1])
	v.cpuBound.at -= 2 * s.slice
	expect("no CPU-bound thread is left", ranks-1, high)
	expect("no CPU-bound thread is left", ranks-1, woken[1])
	expect("at last", ranks-1, low)
	expect("no thread is left", ranks-1, nil)
}

// TestCPUBoundPutOff: where an Idle hook has something to look for, the idle loop does so before a CPU-bound thread runs, until it is
// patient no more, and for as long as CPU-bound threads have run.
func TestCPUBoundPutOff(t *testing.T) {
	s := planted(t, "core:1 pu:1", 0)
	v := s.vps[0]
	var pending atomic.Uint64
	if _, err := s.hooks.RegisterWhile(hooks.Idle, 0, "looks", &pending, 1, func(int) hooks.Verdict { return hooks.Waiting }); err != nil {
		t.Fatal(err)
	}
	ready := func(r rank) *thread {
		x := ofRank(r)
		x.vp = v
		v.q.add(x)
		return x
	}
	expect := func(what string, x *thread, putOff bool) {
		t.Helper()
		if got := v.putsOff(); got != putOff {
			t.Errorf("%s: the CPU-bound thread is put off: %t, want %t", what, got, putOff)
		}
		if got := v.pop(); got != x {
			t.Errorf("%s: another one is chosen than is to be", what)
		}
	}
	const slice = 1 << 40
	s.slice = slice
	v.cpuBound.at = asm.Cycles()
	cpuBound := ready(cpuBoundRank)
	v.choices = 5 // another thread has run
	expect("nothing to look for", cpuBound, false)
	pending.Store(1)
	cpuBound = ready(cpuBoundRank)
	expect("something to look for", nil, true)
	v.cpuBound.looked(slice/4, slice, v.choices, false)
	expect("still looking", nil, true)
	v.cpuBound.looked(slice/4, slice, v.choices, true)
	expect("for long enough", cpuBound, false)
	cpuBound = ready(cpuBoundRank)
	expect("and no other thread has run", cpuBound, false)
	woken := ready(defaultRank)
	cpuBound = ready(cpuBoundRank)
	expect("a thread is woken", woken, false)
	expect("and has run", nil, true)
	v.cpuBound.looked(slice, slice, v.choices, false)
	expect("in debt", cpuBound, false)
	cpuBound, woken = ready(cpuBoundRank), ready(defaultRank)
	expect("in debt", woken, false)
	v.cpuBound.at = asm.Cycles() - slice/2
	v.cpuBound.ran()
	expect("in debt after half of it", cpuBound, false)
	cpuBound = ready(cpuBoundRank)
	v.cpuBound.at = asm.Cycles() - slice
	v.cpuBound.ran()
	expect("paid", nil, true)
	v.cpuBound.at = asm.Cycles() - 2*slice
	if v.pop() != cpuBound {
		t.Error("a CPU-bound thread has no turn once in a slice")
	}
}

// TestCPUBoundYieldToWoken: of those that compute one has its turn once in a slice, though others are ready all the time.
func TestCPUBoundYieldToWoken(t *testing.T) {
	if !isDirect {
		t.Skip("in the portable mode no thread is preempted")
	}
	s := running(t, Config{VPs: 1, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	turns := make(chan struct{})
	tick := &s.vps[0].tick
	cpuBound := s.Spawn(Attr{}, func() {
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
	within(t, "a CPU-bound thread has its turns beside threads that yield to each other", cpuBound.Ended)
	_, _ = other.Join(), third.Join()
}
