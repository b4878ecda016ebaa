package pioman

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// Site is a place in the program where waits are alike. It chooses how long they spin before
// they sleep: only as long as the arrival times observed there make it pay. The zero value
// is ready; it must not be copied. Any number may wait at a site at a time. Wait without a site spins for a fixed
// time (BusyWait), or, with the parameter AdaptiveSpin, at a site that the engine has for all of them.
//
// # The rule
//
// To sleep and be woken is taken to be worth B = BusyWait of polling. Then an arrival after t costs,
// with a spin of at most T,
//
//	t          if t <= T
//	T + B      else
//
// and one who knew t would pay min(t, B). Who knows nothing spins for T = B: he never pays more than
// twice that (Karlin, Manasse, McGeoch, Owicki: "Competitive randomized algorithms for nonuniform
// problems", 1990). But if messages are known to come late every spin is in vain. So for some T from 0
// to B the mean of what it would have cost is kept, older waits counting less and less, and
// the cheapest T is used, of equals the longest.
//
// The past may mislead: one who does not spin, since all came late, pays B for what then comes at once.
// So there is an account. Each wait pays in one eighth of what T = B would have paid for it, and what a shorter T has saved;
// a shorter T draws what it loses. Its worst loss, B, is set aside before it is used, and if that is not
// there T = B is used. The account is never overdrawn, so at any time all waits together have paid at
// most 9/8 of what the fixed spin would have paid, and at most 9/4 of what one who knows the
// future pays. What is there in excess of 16 B is forgotten, lest old merits pay for a new mistake for long.
type Site struct {
	_       noCopy
	window  atomic.Int64 // in shares, less 16, of BusyWait: what is cheapest; the mask's holder writes
	account atomic.Int64 // cycles
	mask    atomic.Uint32
	costs   [len(spinShares)]int64 // cycles, times 8; the mask's holder's

	waits, slept, changes atomic.Uint64
	chosen                [len(spinShares)]atomic.Uint64
}

// spinShares are the spins to choose from, in sixteenths of BusyWait.
var spinShares = [...]int64{0, 1, 2, 4, 8, 16}

const (
	fullSpin     = len(spinShares) - 1
	earned       = 8  // a wait pays in one eighth
	accountLimit = 16 // times BusyWait
)

// Wait is Completion.Wait at this site.
func (s *Site) Wait(e *Engine, c *Completion, bits uint32) error {
	return c.await(e, want{bits: bits}, limit{d: forever, site: s})
}

// WaitAll is Completion.WaitAll at this site.
func (s *Site) WaitAll(e *Engine, c *Completion, bits uint32) error {
	return c.await(e, want{bits, true}, limit{d: forever, site: s})
}

// SiteStats says what a site has chosen so far.
type SiteStats struct {
	Waits   uint64 // that had to wait at all, the engine being hooked
	Slept   uint64 // of these, that had to sleep
	Changes uint64 // how often another spin became the cheapest
	Best    int    // index in Spins of the cheapest at present
	Spins   [len(spinShares)]SpinStats
}

// SpinStats is one of the spins that a site chooses from.
type SpinStats struct {
	Sixteenths int    // of BusyWait
	Waits      uint64 // that spun at most so long
}

// Spin returns the length of the i-th spin for an engine.
func (s SiteStats) Spin(e *Engine, i int) time.Duration {
	return e.params.BusyWait * time.Duration(s.Spins[i].Sixteenths) / 16
}

// Stats returns what the site has chosen so far. While there are waits its numbers need not agree.
func (s *Site) Stats() SiteStats {
	out := SiteStats{Waits: s.waits.Load(), Slept: s.slept.Load(), Changes: s.changes.Load(), Best: s.best()}
	for i := range s.chosen {
		out.Spins[i] = SpinStats{int(spinShares[i]), s.chosen[i].Load()}
	}
	return out
}

// SpinStats returns the statistics of the waits that named no site, if the engine has AdaptiveSpin.
func (e *Engine) SpinStats() SiteStats { return e.site.Stats() }

// best is the index of the cheapest spin; that of a new site is the full one.
func (s *Site) best() int { return int(s.window.Load()) + fullSpin }

// choose returns the spin for the wait that begins. full is BusyWait, in cycles. What it chooses has to be settled.
func (s *Site) choose(full int64) (choice int) {
	choice = s.best()
	if choice != fullSpin && s.account.Add(-full) < 0 {
		s.account.Add(full)
		choice = fullSpin
	}
	s.chosen[choice].Add(1)
	return choice
}

// settle takes the wait, in cycles, that ended: with the signal, or by being given up.
func (s *Site) settle(choice int, full, wait int64, slept bool) {
	wait = max(wait, 0)
	s.waits.Add(1)
	if slept {
		s.slept.Add(1)
	}
	fixed := spinCost(full, full, wait)
	gain := fixed/earned + fixed - spinCost(full*spinShares[choice]/16, full, wait)
	if choice != fullSpin {
		gain += full // what was set aside
	}
	if now := s.account.Add(gain); now > accountLimit*full {
		s.account.CompareAndSwap(now, accountLimit*full)
	}
	if s.mask.Load() != 0 || !s.mask.CompareAndSwap(0, 1) {
		return // somebody else's wait is being learned from
	}
	best := fullSpin
	for i := fullSpin; i >= 0; i-- {
		s.costs[i] += spinCost(full*spinShares[i]/16, full, wait) - s.costs[i]/8
		if s.costs[i] < s.costs[best] {
			best = i
		}
	}
	if best != s.best() {
		s.window.Store(int64(best - fullSpin))
		s.changes.Add(1)
	}
	s.mask.Store(0)
}

// spinCost is what a wait costs with a spin of at most spin, if a sleep is worth sleep.
func spinCost(spin, sleep, wait int64) int64 {
	if wait <= spin {
		return wait
	}
	return spin + sleep
}

// begin chooses the spin of a wait: what it returns is in cycles.
func (w *wait) begin() (spin int64) {
	e := w.e
	full := e.ticks.spin
	if w.site == nil && e.params.AdaptiveSpin {
		w.site = &e.site
	}
	if w.site == nil || full == 0 || e.attached.Load() == nil {
		w.site = nil // who polls himself has nothing to choose
		return full
	}
	w.began = asm.Cycles()
	w.choice = w.site.choose(full)
	return full * spinShares[w.choice] / 16
}

// learn ends what begin began. signalled is asm.Cycles when the sleeper was let go, 0: it did not sleep,
// or found out by itself.
func (w *wait) learn(slept bool, signalled int64) {
	if w.site == nil {
		return
	}
	if signalled == 0 {
		signalled = asm.Cycles()
	}
	w.site.settle(w.choice, w.e.ticks.spin, signalled-w.began, slept)
}
