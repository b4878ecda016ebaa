package pioman

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// play has a site choose for arrivals that come after the given times, and returns what it paid.
func play(s *Site, full int64, arrivals []int64) (paid int64) {
	for _, t := range arrivals {
		choice := s.choose(full)
		spin := full * spinShares[choice] / 16
		paid += spinCost(spin, full, t)
		s.settle(choice, full, t, t > spin)
	}
	return paid
}

func repeated(n int, times ...int64) (out []int64) {
	for i := range n {
		out = append(out, times[i%len(times)])
	}
	return out
}

// The site learns what arrivals have in common, and pays nearly what the best fixed choice would.
func TestSiteChooses(t *testing.T) {
	const full = 1600
	for name, x := range map[string]struct {
		arrivals []int64
		best     int64 // the share that it ends with
	}{
		"always at once":         {repeated(500, 10), 16},
		"always late":            {repeated(500, 100*full), 0},
		"just in time":           {repeated(500, full-1), 16},
		"soon or never":          {repeated(500, full/16, 50*full), 1},
		"late, then at once":     {append(repeated(300, 100*full), repeated(300, 10)...), 16},
		"at once, then late":     {append(repeated(300, 10), repeated(300, 100*full)...), 0},
		"within a quarter, late": {repeated(500, full/4, 50*full, full/4), 4},
	} {
		var s Site
		paid := play(&s, full, x.arrivals)
		least := int64(-1)
		for _, share := range spinShares {
			var sum int64
			for _, a := range x.arrivals {
				sum += spinCost(full*share/16, full, a)
			}
			if least < 0 || sum < least {
				least = sum
			}
		}
		got := s.Stats()
		if spinShares[got.Best] != x.best {
			t.Errorf("%s: ends with %d sixteenths, want %d", name, spinShares[got.Best], x.best)
		}
		if paid > least+least/4+20*full {
			t.Errorf("%s: paid %d, the best fixed spin %d", name, paid, least)
		}
		if got.Waits != uint64(len(x.arrivals)) {
			t.Errorf("%s: %d waits", name, got.Waits)
		}
		t.Logf("%s: paid %d, the best fixed spin %d; %+v", name, paid, least, got)
	}
}

// Whatever comes, the site never pays more than 9/8 of the full spin, nor than 9/4 of who knows the future.
func TestSiteIsCompetitive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const full = 1600
		var s Site
		var paid, fixed, future int64
		adversary := rapid.Bool().Draw(t, "adversary")
		n := rapid.IntRange(1, 400).Draw(t, "waits")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		late := 0
		for i := range n {
			wait := rnd.Int64N(3 * full)
			choice := s.choose(full)
			spin := full * spinShares[choice] / 16
			if adversary { // late until it gives up spinning, then just after its spin
				if wait = 50 * full; choice != fullSpin {
					wait = spin + 1
				}
			} else if late > 0 {
				late--
				wait += 20 * full
			} else if rnd.IntN(20) == 0 {
				late = rnd.IntN(60)
			}
			paid += spinCost(spin, full, wait)
			fixed += spinCost(full, full, wait)
			future += min(wait, full)
			s.settle(choice, full, wait, wait > spin)
			if paid > fixed+fixed/8 || paid > 9*future/4+int64(i)+1 {
				t.Fatalf("after %d waits: paid %d, full spin %d, the future known %d", i+1, paid, fixed, future)
			}
			if a := s.account.Load(); a < 0 || a > accountLimit*full {
				t.Fatalf("account %d", a)
			}
		}
	})
}

// Waits of all kinds at one site at the same time: each is counted once, nothing stays set aside.
func TestSiteIsShared(t *testing.T) {
	e, s := hookedEngine(t, Config{tune: func(p *Params) { p.AdaptiveSpin = true }})
	const each, threads = 300, 4
	var site Site
	var all sync.WaitGroup
	for k := range threads {
		all.Add(1)
		work := func() {
			defer all.Done()
			var c Completion
			for i := range each {
				x := s.Spawn(marcel.Attr{}, func() { c.Signal(1 << (i % 3)) })
				var err error
				switch bit := uint32(1) << (i % 3); k % 2 {
				case 0:
					err = site.Wait(e, &c, bit)
				default:
					err = c.WaitAll(e, bit)
				}
				if err != nil {
					t.Error(err)
				}
				if err := x.Join(); err != nil {
					t.Error(err)
				}
				c.Reset()
			}
		}
		if k < 2 {
			s.Spawn(marcel.Attr{}, work)
		} else {
			go work()
		}
	}
	finishes(t, "waits", all.Wait)
	for name, got := range map[string]SiteStats{"site": site.Stats(), "engine": e.SpinStats()} {
		var chosen uint64
		for _, x := range got.Spins {
			chosen += x.Waits
		}
		if got.Waits > each*threads/2 || chosen != got.Waits || got.Slept > got.Waits {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, x := range []*Site{&site, &e.site} {
		if a := x.account.Load(); a < 0 || x.mask.Load() != 0 {
			t.Errorf("account %d, mask %d", a, x.mask.Load())
		}
	}
}

// Where all arrivals are late a wait ceases to spin, without a site or with one.
func TestAdaptiveSpinGivesUp(t *testing.T) {
	e := engine(t, Config{tune: func(p *Params) { p.AdaptiveSpin = true }})
	attach(t, e, scheduler(t, sched.Config{VPs: 1}))
	var site Site
	var c Completion
	for range 40 {
		if err := c.WaitTimeout(e, 1, 300*time.Microsecond); err == nil {
			t.Fatal("nobody signalled")
		}
		go func() {
			for !c.hasWaiter() { // its spin is over
				time.Sleep(300 * time.Microsecond)
			}
			time.Sleep(300 * time.Microsecond)
			c.Signal(1)
		}()
		if err := site.Wait(e, &c, 1); err != nil {
			t.Fatal(err)
		}
		c.Reset()
	}
	for name, got := range map[string]SiteStats{"site": site.Stats(), "engine": e.SpinStats()} {
		if got.Best != 0 || got.Spins[0].Waits == 0 || got.Waits != 40 || got.Spin(e, got.Best) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
