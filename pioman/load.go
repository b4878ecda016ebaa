package pioman

import "sync/atomic"

// load is the word that every hook reads first. It has in one:
//
//	bits 0..29    pending requests
//	bit  30       watched: nothing was posted since the sleeper looked last, so hooks need not poll
//	bit  31       asleep: a sleeper is in the kernel, or about to be
//	bits 32..63   how many requests and repeat tasks were ever posted, modulo 2^32
//
//	         need                 fallAsleep: the sleeper
//	quiet ─────────▶ pending ───────────────────────────────▶ watched (and asleep)
//	  ▲                │ ▲ ▲                                    │        │
//	  └──── done ──────┘ │ └──────────── wakeUp ────────────────┘        │ outdate: a poster that has
//	                     │                                               ▼ seen the sleeper asleep
//	                     └────────────── wakeUp ────────────────────── outdated (asleep, not watched)
//
// README.md says what pollers do in each state.
//
// No wake-up is lost because pending requests and the sleeper share one word (README.md): need and fallAsleep are
// atomic operations on it, so one of them comes first, and either the sleeper's last poll sees the request, or the
// poster sees the sleeper. An outdate that comes so late that the next sleeper is asleep already only makes hooks poll
// once too often.
//
// Posters call need, posted and outdate, the owners of requests done, the sleeper fallAsleep and wakeUp.
type load struct{ w atomic.Uint64 }

// view is a load at one moment.
type view uint64

const (
	pendingMask view = 1<<30 - 1
	watchedBit  view = 1 << 30
	asleepBit   view = 1 << 31
	postedOne   view = 1 << 32
)

func (v view) pending() uint32 { return uint32(v & pendingMask) }
func (v view) asleep() bool    { return v&asleepBit != 0 }
func (v view) watched() bool   { return v&watchedBit != 0 }

// activity is a view without the sleeper: it differs after any Need, Done or repeat Submit.
func (v view) activity() view { return v &^ (asleepBit | watchedBit) }

// remarkable reports whether the Need which led to v may have to wake a poller: it was the first, or a sleeper is
// asleep.
func (v view) remarkable() bool {
	low := v & (asleepBit | pendingMask)
	return low == 1 || low >= asleepBit
}

// The transitions. undone takes back a done that had no need.
func (l *load) view() view   { return view(l.w.Load()) }
func (l *load) need() view   { return view(l.w.Add(uint64(postedOne + 1))) }
func (l *load) done() view   { return view(l.w.Add(^uint64(0))) }
func (l *load) undone()      { l.w.Add(1) }
func (l *load) posted() view { return view(l.w.Add(uint64(postedOne))) }
func (l *load) fallAsleep()  { l.w.Or(uint64(asleepBit | watchedBit)) }
func (l *load) wakeUp()      { l.w.And(^uint64(asleepBit | watchedBit)) }
func (l *load) outdate()     { l.w.And(^uint64(watchedBit)) }
