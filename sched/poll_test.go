package sched

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// inVain looks for something that does not come, until end.
func inVain(end time.Time) func() Found {
	return func() Found {
		if time.Now().After(end) {
			return FoundArrived
		}
		return FoundFlowing
	}
}

// TestPollTicks: while a thread polls it fires the Timer hooks, the clock does not, and pauses; when it computes, the
// clock fires them again.
func TestPollTicks(t *testing.T) {
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
	polled, computing := false, make(chan struct{})
	var end atomic.Bool
	th := s.Spawn(Attr{}, func() {
		own.Store(asm.G())
		// On a busy machine a thread may be kept from polling for a while: short spans, and many of them.
		for range 1000 {
			Poll(time.Second, false, inVain(time.Now().Add(10*time.Millisecond)))
			byThread.Store(0)
			byClock.Store(0)
			before := s.Stats()
			if !Poll(time.Second, false, inVain(time.Now().Add(20*time.Millisecond))) {
				t.Error("it has not arrived")
			}
			n := s.Stats().Since(before)
			if most := int32(n.Elapsed/s.cfg.Period) + 2; byThread.Load() > most {
				t.Errorf("the thread fired the hooks %d times in %v", byThread.Load(), n.Elapsed)
			}
			if polled = byThread.Load() >= 4 && byClock.Load() == 0 && n.Ticks <= uint64(n.Elapsed/s.cfg.Period)*6/10; polled {
				break
			}
		}
		close(computing)
		for !end.Load() {
		}
	})
	<-computing
	if !polled {
		t.Errorf("never did the clock leave to the thread what it does itself: in the last 20 ms hooks were fired %d times by the thread, %d by the clock", byThread.Load(), byClock.Load())
	}
	byClock.Store(0)
	awaited(t, "the clock fires the hooks again", func() bool { return byClock.Load() > 2 })
	end.Store(true)
	_ = th.Join()
}

// TestPollAway: a thread that is without its VP says nothing in the name of the one that has it now, and fires nothing.
func TestPollAway(t *testing.T) {
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
	told := false
	a := s.Spawn(Attr{}, func() {
		c := lookup()
		v := c.l.vp
		Blocking(func() {
			for x := v.current(); x == c || x.isBase(); x = v.current() {
				giveWay()
			}
			own.Store(asm.G())
			for range 100 {
				c.publishPolling(v, asm.Cycles(), FoundFlowing)
			}
			told = atomic.LoadUint64(&v.polling.until) != 0
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
	if told || fired.Load() {
		t.Errorf("a thread without its VP polls there: %v, fired hooks: %v", told, fired.Load())
	}
}

// TestPollEnds: what ends a Poll, for threads and goroutines.
func TestPollEnds(t *testing.T) {
	s := running(t, Config{VPs: 1})
	for _, test := range []struct {
		name   string
		spin   time.Duration
		polite bool
		finds  []Found // the last one again and again
		looks  int     // 0: any number
		want   bool
	}{
		{name: "arrived at once", finds: []Found{FoundArrived}, looks: 1, want: true},
		{name: "enough at once", spin: time.Hour, finds: []Found{FoundEnough}, looks: 1},
		{name: "arrived later", spin: time.Hour, finds: []Found{FoundNothing, FoundMoved, FoundFlowing, FoundNothing, FoundArrived}, looks: 5, want: true},
		{name: "enough later", spin: time.Hour, finds: []Found{FoundNothing, FoundEnough}, looks: 2},
		{name: "no patience", finds: []Found{FoundNothing}, looks: 1},
		{name: "in vain", spin: 50 * time.Microsecond, finds: []Found{FoundNothing}},
		{name: "polite", spin: time.Hour, polite: true, finds: []Found{FoundNothing}, looks: politeLooks},
		{name: "polite, and something moved", spin: time.Hour, polite: true, finds: []Found{FoundNothing, FoundNothing, FoundMoved, FoundNothing}, looks: politeLooks + 2},
	} {
		poll := func() (wrong string) {
			looks := 0
			began := time.Now()
			got := Poll(test.spin, test.polite, func() Found {
				looks++
				return test.finds[min(looks, len(test.finds))-1]
			})
			switch took := time.Since(began); {
			case got != test.want || test.looks != 0 && looks != test.looks:
				return fmt.Sprintf("%v after %d looks; want %v after %d", got, looks, test.want, test.looks)
			case test.looks == 0 && took < test.spin:
				return fmt.Sprintf("it has lost its patience after %v", took)
			}
			return ""
		}
		wrong := poll()
		for i := 0; wrong != "" && i < 1000; i++ { // its P, or its CPU, was wanted
			wrong = poll()
		}
		if wrong != "" {
			t.Errorf("%s, a goroutine: %s", test.name, wrong)
		}
		_ = s.Spawn(Attr{}, func() {
			if wrong := poll(); wrong != "" {
				t.Errorf("%s, a thread: %s", test.name, wrong)
			}
		}).Join()
	}
	for _, v := range s.vps {
		if until := int64(atomic.LoadUint64(&v.polling.until)); until > asm.Cycles()+asm.ToCycles(longLook) {
			t.Errorf("VP %d polls for longer than a look takes", v.id)
		}
	}
}

// TestPollYields: a thread that polls stops when another one is ready on its VP.
func TestPollYields(t *testing.T) {
	s := running(t, Config{VPs: 1})
	_ = s.Spawn(Attr{}, func() {
		looks := 0
		other := s.Spawn(Attr{}, func() {})
		if Poll(time.Hour, false, func() Found { looks++; return FoundNothing }) || looks != 1 {
			t.Errorf("%d looks beside a thread that is ready", looks)
		}
		_ = other.Join()
	}).Join()
}

// TestTrust: the clock trusts a thread for half as long as that has polled without a gap, and for a few periods at most.
func TestTrust(t *testing.T) {
	const period = 1_000_000
	at := func(ns int64) uint64 { return uint64(asm.ToCycles(ns)) }
	p := polling{since: at(10 * period), until: at(20 * period)}
	if polls, _ := p.trust(int64(at(20*period)), period); polls {
		t.Error("polls though its time is over")
	}
	for _, c := range []struct{ after, want int64 }{{0, 0}, {period, period / 2}, {4 * period, 2 * period}, {9 * period, maxTrust * period}} {
		polls, ns := p.trust(int64(at(10*period+c.after)), period)
		if off := ns - c.want; !polls || off > 1000 || off < -1000 {
			t.Errorf("after %d ns: polls %v, for %d ns, want %d", c.after, polls, ns, c.want)
		}
	}
}

func BenchmarkPoll(b *testing.B) {
	s := running(b, Config{VPs: 1})
	_ = s.Spawn(Attr{}, func() {
		Poll(time.Hour, false, func() Found {
			if !b.Loop() {
				return FoundArrived
			}
			return FoundNothing
		})
	}).Join()
}
