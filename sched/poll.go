package sched

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// Found is what a look of a Poll has found.
type Found uint8

// The things that a look finds.
const (
	FoundNothing Found = iota // look again, for as long as it is worth it
	FoundMoved                // something came in: what the caller waits for is likely to be near
	FoundFlowing              // bytes come in, and will for a while; a look may take 2 ms, longLook
	FoundArrived              // what the caller waits for is there
	FoundEnough               // it is not there, and to look on is of no use
)

const (
	// pollClaim is for how long, in ns, a thread that looks in vain claims to poll. If its message comes in that time,
	// the thread handles it and polls for the next one.
	pollClaim = 100_000
	// longLook is for how long, in ns, a thread whose look was FoundFlowing claims to poll: a look that moves bytes may
	// take as long.
	longLook = 2_000_000
	// flowPatience is how many times as long a thread polls while bytes flow: the peer copies a piece at a time, tens
	// of microseconds each.
	flowPatience = 10
	// politeLooks is how many looks in vain a thread makes where other processes use the CPU.
	politeLooks = 8
	// maxTrust bounds, in periods, by how much the Timer hooks of a VP are late if its thread claims to poll and
	// computes instead.
	maxTrust = 4
)

// Poll is the loop in which a thread or a goroutine polls before it sleeps: it calls look until that returns
// FoundArrived (Poll then returns true) or FoundEnough, or until nothing has moved for the time spin, or another thread
// is ready on the caller's VP (Poll then returns false). With polite it offers the CPU to other processes after each
// look, and looks a few times only. Meanwhile the VP of a thread is polling: see the type polling. marcel.Poll says
// what look may do.
func Poll(spin time.Duration, polite bool, look func() Found) bool {
	c := lookup()
	if c == nil {
		return pollGoroutine(asm.ToCycles(int64(spin)), polite, look)
	}
	found := look()
	switch {
	case found >= FoundArrived:
		return found == FoundArrived
	case c.base:
		c = nil
	}
	return c.spin(asm.ToCycles(int64(spin)), found, polite, look)
}

// spin is Poll after the first look, which has found found, for the thread on c; nil: for an idle hook. patience is in
// cycles.
func (c *co) spin(patience int64, found Found, polite bool, look func() Found) bool {
	var limit, told int64
	for vain := 0; ; {
		now := asm.Cycles()
		switch {
		case found == FoundFlowing:
			vain, limit = 0, now+flowPatience*patience
		case found == FoundMoved || limit == 0:
			vain, limit = 0, now+patience
		}
		if c != nil {
			v := c.vpHint()
			if v.hasWork() {
				return false
			}
			if atomic.LoadUint32(&c.inside)&isIn == 0 && (now-told > asm.ToCycles(pollClaim/2) || found == FoundFlowing) {
				told = now
				c.publishPolling(v, now, found)
			}
		}
		if vain++; polite {
			if vain >= politeLooks {
				return false
			}
			giveWay()
		} else if now >= limit {
			return false
		}
		if found = look(); found >= FoundArrived {
			return found == FoundArrived
		}
	}
}

// polling reports whether the thread of a VP polls:
//
//	idle ──── publishPolling: a thread looks in vain ────────────► polling until T
//	polling ─ publishPolling again, before T ────────────────────► polling until a later T, since the same moment
//	polling ─ T passes ──────────────────────────────────────────► idle
//
// While a VP is polling its thread fires its Timer hooks, once a period, and the clock does not. While all VPs that are
// awake are polling, and nothing is ready, the clock sleeps for half as long as they have, maxTrust periods at most. On
// a virtual machine an interrupt takes 45 us from the thread that computes or copies beside it: at one a millisecond
// that is 4 to 7 % of the bandwidth of long messages, and one message in a hundred of some microseconds takes five
// times as long.
//
// The thread never shortens T. If it computes before T, its Timer hooks are late by at most the time until T. The
// thread that polls writes the fields, atomically because it may lose its VP at any moment; the clock reads them.
type polling struct {
	since   uint64 // cycles
	until   uint64 // cycles: T
	firedAt uint64 // cycles: when its thread fired the Timer hooks last
}

// publishPolling publishes that the thread on c polls on v, if the thread still has v, and fires the Timer hooks if
// they are due.
func (c *co) publishPolling(v *vp, now int64, found Found) {
	if v.current() != c {
		return
	}
	p := &v.polling
	if now > int64(atomic.LoadUint64(&p.until)) {
		storeRel64(&p.since, uint64(now))
	}
	length := int64(pollClaim)
	if found == FoundFlowing {
		length = longLook
	}
	storeRel64(&p.until, uint64(now+asm.ToCycles(length)))
	if now-int64(atomic.LoadUint64(&p.firedAt)) >= v.sched.period {
		storeRel64(&p.firedAt, uint64(now))
		v.fire(hooks.Timer)
	}
}

// trust tells the clock whether a thread polls at the moment now, and for how long, in ns, the clock may leave the VP
// to it.
func (pl *polling) trust(now, period int64) (polls bool, ns int64) {
	if now >= int64(atomic.LoadUint64(&pl.until)) {
		return false, 0
	}
	return true, min(asm.Nanos(now-int64(atomic.LoadUint64(&pl.since)))/2, maxTrust*period)
}
