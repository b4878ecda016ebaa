package sched

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// TestTend: while a thread tends its VP it fires the Timer hooks, the clock does not, and pauses; when it stops, the
// clock fires them again.
func TestTend(t *testing.T) {
	s := running(t, Config{VPs: 1})
	var own atomic.Uintptr // the thread's goroutine
	var byThread, byClock atomic.Int32
	h, err := s.Hooks().Register(hooks.Timer, 1, "count", func(int) hooks.Verdict {
		if asm.G() == own.Load() {
			byThread.Add(1)
		} else {
			byClock.Add(1)
		}
		return hooks.Waiting
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Unregister()
	tended, computing := false, make(chan struct{})
	var end atomic.Bool
	th := s.Spawn(Attr{}, func() {
		own.Store(asm.G())
		// On a busy machine a thread may be kept from its promise for a while.
		for range 50 {
			Tend(20 * time.Millisecond)
			byThread.Store(0)
			byClock.Store(0)
			before := s.Stats()
			for began := time.Now(); time.Since(began) < 50*time.Millisecond; {
				Tick(20 * time.Millisecond)
			}
			n := s.Stats().Since(before)
			if most := int32(n.Elapsed/s.cfg.Period) + 2; byThread.Load() > most {
				t.Errorf("the thread fired the hooks %d times in %v", byThread.Load(), n.Elapsed)
			}
			if tended = byThread.Load() >= 10 && byClock.Load() == 0 && n.Ticks <= uint64(n.Elapsed/s.cfg.Period)*6/10; tended {
				break
			}
		}
		close(computing)
		for !end.Load() {
		}
	})
	<-computing
	if !tended {
		t.Errorf("never did the clock leave to the thread what it promised: in the last 50 ms hooks were fired %d times by the thread, %d by the clock", byThread.Load(), byClock.Load())
	}
	byClock.Store(0)
	awaited(t, "the clock fires the hooks again", func() bool { return byClock.Load() > 2 })
	end.Store(true)
	_ = th.Join()
}

// TestTendAway: a thread that is without its VP promises nothing in the name of who has it now, and fires nothing.
func TestTendAway(t *testing.T) {
	s := running(t, Config{VPs: 1, Slice: time.Millisecond})
	var fired, end atomic.Bool
	var own atomic.Uintptr
	h, err := s.Hooks().Register(hooks.Timer, 1, "count", func(int) hooks.Verdict {
		if asm.G() == own.Load() {
			fired.Store(true)
		}
		return hooks.Quiet
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Unregister()
	tended := false
	a := s.Spawn(Attr{}, func() {
		c := lookup()
		v := c.l.vp
		Blocking(func() {
			for x := v.current(); x == c || x.isBase(); x = v.current() {
				giveWay()
			}
			own.Store(asm.G())
			Tend(time.Hour)
			Tick(time.Hour)
			tended = int64(atomic.LoadUint64(&v.tended)) >= asm.Cycles()+asm.ToCycles(int64(time.Minute))
		})
		own.Store(0)
	})
	b := s.Spawn(Attr{}, func() {
		for !end.Load() {
			Yield()
		}
	})
	_ = a.Join()
	end.Store(true)
	_ = b.Join()
	if tended || fired.Load() {
		t.Errorf("a thread without its VP has tended it: %v, fired hooks: %v", tended, fired.Load())
	}
}

// TestTendOutside: a plain goroutine has nothing to tend.
func TestTendOutside(t *testing.T) {
	s := running(t, Config{VPs: 1})
	Tend(time.Hour)
	Tick(time.Hour)
	for _, v := range s.vps {
		if v.isTended() {
			t.Errorf("VP %d is tended", v.id)
		}
	}
}

// TestPause: a pause is never longer than half of the time, in periods, for which all was tended before.
func TestPause(t *testing.T) {
	span := int64(0) // of n ticks
	for n := 1; n < 100; n++ {
		p := pause(n)
		if p < 1 || p > longestPause || p > 1 && 2*p > span {
			t.Errorf("after %d ticks, %d periods: a pause of %d", n, span, p)
		}
		span += p
	}
	if pause(100) != longestPause {
		t.Errorf("at last %d periods, not %d", pause(100), longestPause)
	}
}

func BenchmarkTick(b *testing.B) {
	s := running(b, Config{VPs: 1})
	_ = s.Spawn(Attr{}, func() {
		for b.Loop() {
			Tick(time.Millisecond)
		}
	}).Join()
}
