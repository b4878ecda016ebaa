package sched

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/direct"
)

// goroutines is the state that all plain goroutines of the program that poll (Poll) share. Each has its own OS thread
// and P:
//
//	waits ── Poll: fewer poll than there are CPUs ──────────────────────────► polls
//	waits ── Poll: as many poll as there are CPUs ──────────────────────────► sleeps
//	polls ── its P has another goroutine ready, or its patience is over ────► sleeps
//	polls ── a look says FoundArrived ──────────────────────────────────────► goes on
//
// A goroutine that polls also fires the Timer hooks of GoroutineHooks now and then, in the name of no VP (-1), so that
// the engine makes progress even if each of its waits is short. GoroutinesPoll tells idle VPs and others that they need
// not poll.
var goroutines struct {
	_           [128]byte
	pollers     atomic.Int32 // goroutines that poll; they count themselves
	pollUntil   atomic.Int64 // cycles: the goroutines claim to poll until then
	pollSince   atomic.Int64 // cycles: they have claimed so without a gap since then
	firedAt     atomic.Int64 // cycles: when one of them fired the hooks last
	wantedUntil atomic.Int64 // cycles: until then other OS threads count as wanting their CPU
	wantedFor   atomic.Int64 // cycles: for how long they will, if they take the CPU at the next offer, too
	_           [128]byte
	hooks       hooks.Set
}

// maxPollers is how many goroutines poll at the same time: one for each CPU that the process may use.
var maxPollers = int32(runtime.NumCPU())

const (
	// fireGap is how far apart, in ns, the hooks are fired by goroutines that poll.
	fireGap = 50_000
	// goroutinePollClaim is for how long, in ns, a goroutine that looks in vain claims to poll: until it has received a
	// message, has done a little, and polls for the next one.
	goroutinePollClaim = 200_000
	// offerGap is how long, in ns, a goroutine polls before it offers its CPU to others.
	offerGap = 20_000
	// wantedCPU is how long, in ns, an offer takes at least if another OS thread takes the CPU.
	wantedCPU = 15_000
	// minWanted and maxWanted bound for how long, in ns, a CPU counts as wanted after other OS threads have taken it at
	// two offers in a row; each further such offer makes it four times as long. Meanwhile a goroutine sleeps where it
	// would offer its CPU: the kernel lets a thread that wakes up run soon, but one that yields only after the slices
	// of all others, some milliseconds each.
	minWanted = 20_000_000
	maxWanted = 1_000_000_000
)

// GoroutineHooks are the hooks that goroutines fire while they poll: the Timer hooks, at most every 50 us, with -1 as
// the VP.
func (moduleCalls) GoroutineHooks() *hooks.Set { return &goroutines.hooks }

// GoroutinesPoll tells for how long, in cycles, goroutines have been polling, without a gap, at the moment now, which
// is in cycles; 0: none polls.
func (moduleCalls) GoroutinesPoll(now int64) (since int64) {
	if now >= goroutines.pollUntil.Load() {
		return 0
	}
	return max(now-goroutines.pollSince.Load(), 1)
}

// Crowded reports whether other goroutines want to run, or poll, on the P of the caller, a plain goroutine: then the
// caller should sleep until one of them wakes it, rather than poll.
func (moduleCalls) Crowded() bool { return direct.Queued() || goroutines.pollers.Load() != 0 }

// pollGoroutine is Poll for a plain goroutine, with the patience in cycles. The goroutine claims to poll even if the
// first look finds what the goroutine waits for, since that look may have moved many bytes.
func pollGoroutine(patience int64, polite bool, look func() Found) bool {
	all := &goroutines
	offered := asm.Cycles()
	publishGoroutinePolling(offered, FoundNothing)
	told := offered
	found := look()
	if found >= FoundArrived {
		return found == FoundArrived
	}
	if all.pollers.Add(1) > maxPollers {
		all.pollers.Add(-1)
		return false
	}
	defer all.pollers.Add(-1)
	limit := offered + patience
	for vain := 0; ; {
		now := asm.Cycles()
		switch found {
		case FoundFlowing:
			vain, limit = 0, now+flowPatience*patience
		case FoundMoved:
			vain, limit = 0, now+patience
		}
		if now-told > asm.ToCycles(pollClaim/2) || found == FoundFlowing {
			told = now
			publishGoroutinePolling(now, found)
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
			if now < all.wantedUntil.Load() || offerOnce() {
				return look() == FoundArrived
			}
			offered = asm.Cycles()
		}
		if found = look(); found >= FoundArrived {
			return found == FoundArrived
		}
	}
}

// Offer lets other OS threads run on the CPU of the caller, a goroutine that polls, and reports whether one has run. In
// the portable mode, where the caller cannot see the goroutines that are ready on its P (direct.Queued), Offer lets
// these run, too.
func (moduleCalls) Offer() (wanted bool) {
	began := asm.Cycles()
	if !isDirect {
		runtime.Gosched()
	}
	giveWay()
	return asm.Cycles()-began > asm.ToCycles(wantedCPU)
}

// offerOnce is Offer that also notes for how long the CPU counts as wanted, in which no further offer need be made.
func offerOnce() (wanted bool) {
	all := &goroutines
	if !(moduleCalls{}).Offer() {
		all.wantedFor.Store(0)
		return false
	}
	length := all.wantedFor.Load()
	all.wantedFor.Store(min(max(4*length, asm.ToCycles(minWanted)), asm.ToCycles(maxWanted)))
	all.wantedUntil.Store(asm.Cycles() + length)
	return true
}

// publishGoroutinePolling publishes that a goroutine polls, and fires the hooks if they are due. now is in cycles.
func publishGoroutinePolling(now int64, found Found) {
	all := &goroutines
	until := all.pollUntil.Load()
	if now >= until {
		all.pollSince.Store(now)
	}
	length := int64(goroutinePollClaim)
	if found == FoundFlowing {
		length = longLook
	}
	if next := now + asm.ToCycles(length); next > until {
		all.pollUntil.Store(next)
	}
	if fired := all.firedAt.Load(); now-fired >= asm.ToCycles(fireGap) && all.firedAt.CompareAndSwap(fired, now) {
		all.hooks.Fire(hooks.Timer, -1)
	}
}
