package sched

import (
	"math/bits"

	"github.com/pm2-go/pm2/internal/shelf"
)

// A wheel is a hierarchical timing wheel (Varghese and Lauck, SOSP 1987, scheme 7): nine wheels of 64 slots, each slot
// a list. Time is counted in ticks of 1024 ns. A level-0 slot holds the timers of one tick, one of level l those of
// 64^l ticks. A timer is put on the level of the highest digit (base 64) in which its tick differs from cur, at the
// place of that digit:
//
//	        cur = 0 0 0 0 0 0 2 17 40      (digits, level 8 first)
//	a tick        0 0 0 0 0 0 2 17 63  ->  level 0, slot 63
//	another       0 0 0 0 0 0 5  0  1  ->  level 2, slot 5
//
// So all timers of a level come before those of the next level, and within a level the lowest slot is the first. No
// slot holds timers of two rounds of the wheel at a time. Nine digits hold every time there is, so there is no overflow
// list. When cur arrives at the beginning of a slot of a higher level, its timers are spread over the levels below
// (they cascade); a timer cascades eight times at most.
//
// A wheel has no lock and no clock: see timers.
type wheel struct {
	cur       uint64                                      // ticks before this one are over
	cascading wheelList                                   // the slot at whose beginning cur has arrived: expired spreads it until it is empty
	full      [levels]uint64                              // for each level, which slots have timers, as bits
	lists     [firstSlot + levels*slots]shelf.List[timer] // by wheelList
}

// wheelList is the index of a list of the wheel.
type wheelList uint16

const (
	nowhere   wheelList = iota // the timer is not pending
	due                        // its function waits for a thread: see timers.serve
	firstSlot                  // of level 0

	slotBits = 6
	slots    = 1 << slotBits
	levels   = 9
	tickBits = 10

	// maxAt is the latest time, in ns: 146 years after the program began. A later timer never ends.
	maxAt = 1 << 62
)

// timer is an entry of a wheel. It is a field of its owner, so that starting and stopping it allocates nothing. The
// lock of home guards all fields but at, owner and home.
type timer struct {
	node  shelf.Node[timer]
	at    int64     // monotonic ns
	owner any       // what fire calls: *BoundedWait, func() or Ringer
	home  *timers   // the wheel in which it is, or was last; its starter writes it before the timer is pending
	place wheelList // the list in which it is; nowhere: it is not pending
	round uint32    // how often it was started
}

// tickOf returns the first tick that begins at or after time at, so that no timer is early.
func tickOf(at int64) uint64 { return (uint64(at) + 1<<tickBits - 1) >> tickBits }

// insert adds tm, which is not pending.
func (wh *wheel) insert(tm *timer) {
	tick := max(tickOf(tm.at), wh.cur)
	level := (bits.Len64(tick^wh.cur|1) - 1) / slotBits
	slot := tick >> (level * slotBits) % slots
	wh.full[level] |= 1 << slot
	wh.push(tm, firstSlot+wheelList(level*slots+int(slot)))
}

// push appends tm to a list.
func (wh *wheel) push(tm *timer, p wheelList) {
	tm.place = p
	wh.lists[p].Push(&tm.node, tm)
}

// remove takes tm out if it is pending, and reports whether it was.
func (wh *wheel) remove(tm *timer) bool {
	p := tm.place
	if p == nowhere {
		return false
	}
	l := &wh.lists[p]
	l.Remove(&tm.node)
	tm.place = nowhere
	if l.Empty() && p >= firstSlot {
		p -= firstSlot
		wh.full[p/slots] &^= 1 << (p % slots)
	}
	return true
}

// first returns the first slot with timers in it, and the tick at which it begins; nowhere if there is none.
func (wh *wheel) first() (p wheelList, tick uint64) {
	for level, set := range wh.full {
		if set != 0 {
			slot := bits.TrailingZeros64(set)
			above := wh.cur >> ((level + 1) * slotBits) << ((level + 1) * slotBits)
			return firstSlot + wheelList(level*slots+slot), above | uint64(slot)<<(level*slotBits)
		}
	}
	return nowhere, 0
}

// expired takes out a timer that is over at tick now; nil if there is none. It does at most *work steps, one for each
// timer that it takes or moves. If these are not enough it leaves the wheel consistent, and soon returns 0.
func (wh *wheel) expired(now uint64, work *int) *timer {
	for ; *work > 0; *work-- {
		if tm := wh.lists[wh.cascading].First(); tm != nil {
			wh.remove(tm)
			wh.insert(tm)
			continue
		}
		wh.cascading = nowhere
		p, tick := wh.first()
		if p == nowhere || tick > now {
			wh.cur = max(wh.cur, now) // it arrives at no slot: first begins later
			return nil
		}
		wh.cur = tick
		if p < firstSlot+slots {
			tm := wh.lists[p].First()
			wh.remove(tm)
			*work--
			return tm
		}
		wh.cascading = p
	}
	return nil
}

// fewTimers is up to how many timers of a slot soon compares to find the first.
const fewTimers = 8

// soon returns a lower bound, in ns, of when the next timer is over: maxAt if there is none. It is exact if few are in
// its slot; else it may be the time of a cascade, after which to ask again.
func (wh *wheel) soon() int64 {
	if !wh.lists[wh.cascading].Empty() {
		return 0
	}
	p, tick := wh.first()
	if p == nowhere {
		return maxAt
	}
	if p >= firstSlot+slots {
		least, n := uint64(maxAt), 0
		for tm := wh.lists[p].First(); tm != nil; tm = tm.node.Next() {
			if n++; n > fewTimers {
				return int64(tick << tickBits)
			}
			least = min(least, tickOf(tm.at))
		}
		tick = least
	}
	return int64(tick << tickBits)
}
