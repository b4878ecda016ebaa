package sched

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/direct"
)

// Goroutines is what the plain goroutines of the program share that poll (Poll), each with its own OS thread and P:
//
//	waits ── Poll: there is room ──────────────────────────────────────► polls
//	waits ── Poll: as many poll as there are CPUs ─────────────────────► sleeps
//	polls ── the P has another goroutine ready, the patience is over ──► sleeps
//	polls ── a look says Arrived ──────────────────────────────────────► goes on
//
// While a goroutine polls, nothing else polls in its place: it fires the Timer hooks of Hooks now and then, in the name of
// no VP (-1), also if each of its waits is short. GoroutinesPoll tells idle VPs and others to stand back.
var goroutines struct {
	_       [128]byte
	polling atomic.Int32 // goroutines that poll; they count themselves
	until   atomic.Int64 // cycles: they poll until then, if they say no more
	since   atomic.Int64 // cycles: without a gap since then
	fired   atomic.Int64 // cycles: when one fired the hooks last
	wanted  atomic.Int64 // cycles: until then their CPU counts as wanted by other OS threads
	wantFor atomic.Int64 // cycles: for how long it will, if it is taken at the next offer, too
	_       [128]byte
	hooks   hooks.Set
}

// mostPolling is how many goroutines poll at the same time: one for each CPU that the process may use.
var mostPolling = int32(runtime.NumCPU())

const (
	// fireGap is how far apart, in ns, the hooks are fired by goroutines that poll.
	fireGap = 50_000
	// aheadGoroutine is for how long, in ns, a goroutine that looks in vain says that it polls: until it has received, done a little,
	// and polls for the next message.
	aheadGoroutine = 200_000
	// offerGap is how long, in ns, a goroutine polls before it offers its CPU to others.
	offerGap = 20_000
	// wantedCPU is how long, in ns, the offer takes if another OS thread takes the CPU.
	wantedCPU = 15_000
	// leastWanted and mostWanted bound for how long, in ns, a CPU counts as wanted that was taken at two offers, one after the other; at each
	// further one four times as long. Meanwhile a goroutine sleeps where it would offer its CPU: the kernel lets a thread that wakes up
	// run soon, and one that yields only after the time slices of all others, some milliseconds each.
	leastWanted = 20_000_000
	mostWanted  = 1_000_000_000
)

// GoroutineHooks are the hooks that goroutines fire while they poll: the Timer hooks, at most every 50 us, with -1 as the VP.
func (moduleCalls) GoroutineHooks() *hooks.Set { return &goroutines.hooks }

// GoroutinesPoll tells for how long, in cycles, goroutines have been polling, without a gap, at the moment now, which is in
// cycles; 0: none polls.
func (moduleCalls) GoroutinesPoll(now int64) (since int64) {
	if now >= goroutines.until.Load() {
		return 0
	}
	return max(now-goroutines.since.Load(), 1)
}

// Crowded tells whether other goroutines want to run, or poll, where the caller polls, a plain goroutine: it should sleep where they
// wake it.
func (moduleCalls) Crowded() bool { return direct.Queued() || goroutines.polling.Load() != 0 }

// pollGoroutine is Poll with the patience in cycles, for a plain goroutine. It says that it polls also if the first look finds
// what it is for: that look may have moved many bytes.
func pollGoroutine(patience int64, polite bool, look func() Found) bool {
	all := &goroutines
	offered := asm.Cycles()
	tellGoroutine(offered, Nothing)
	told := offered
	found := look()
	if found >= Arrived {
		return found == Arrived
	}
	if all.polling.Add(1) > mostPolling {
		all.polling.Add(-1)
		return false
	}
	defer all.polling.Add(-1)
	limit := offered + patience
	for vain := 0; ; {
		now := asm.Cycles()
		switch found {
		case Flowing:
			vain, limit = 0, now+flowPatience*patience
		case Moved:
			vain, limit = 0, now+patience
		}
		if now-told > asm.ToCycles(ahead/2) || found == Flowing {
			told = now
			tellGoroutine(now, found)
		}
		if direct.Queued() {
			return false
		}
		switch vain++; {
		case now >= limit, polite && vain >= politeLooks:
			return false
		case polite:
			giveWay()
		case now-offered > asm.ToCycles(offerGap):
			if now < all.wanted.Load() || offerOnce() {
				return look() == Arrived
			}
			offered = asm.Cycles()
		}
		if found = look(); found >= Arrived {
			return found == Arrived
		}
	}
}

// Offer lets other OS threads run on the CPU of a goroutine that polls, and tells whether one has. Goroutines that are ready on
// the caller's P are looked for (direct.Queued); where that cannot be, Offer lets these run, too.
func (moduleCalls) Offer() (wanted bool) {
	began := asm.Cycles()
	if !isDirect {
		runtime.Gosched()
	}
	giveWay()
	return asm.Cycles()-began > asm.ToCycles(wantedCPU)
}

// offerOnce is Offer for a goroutine that polls. It notes for how long none need be made.
func offerOnce() (wanted bool) {
	all := &goroutines
	if !(moduleCalls{}).Offer() {
		all.wantFor.Store(0)
		return false
	}
	length := all.wantFor.Load()
	all.wantFor.Store(min(max(4*length, asm.ToCycles(leastWanted)), asm.ToCycles(mostWanted)))
	all.wanted.Store(asm.Cycles() + length)
	return true
}

// tellGoroutine says that a goroutine polls, and fires the hooks if that is due.
func tellGoroutine(now int64, found Found) {
	all := &goroutines
	until := all.until.Load()
	if now >= until {
		all.since.Store(now)
	}
	length := int64(aheadGoroutine)
	if found == Flowing {
		length = longLook
	}
	if next := now + asm.ToCycles(length); next > until {
		all.until.Store(next)
	}
	if fired := all.fired.Load(); now-fired >= asm.ToCycles(fireGap) && all.fired.CompareAndSwap(fired, now) {
		all.hooks.Fire(hooks.Timer, -1)
	}
}
