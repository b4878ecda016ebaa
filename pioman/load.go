package pioman

import "sync/atomic"

// load is the word that every hook reads first. It has in one:
//
//	bits 0..29    pending requests
//	bit  30       watched: nothing was posted since the sleeper looked last, so hooks need not poll
//	bit  31       asleep: a sleeper is in the kernel, or about to be
//	bits 32..63   how many requests and repeat tasks were ever posted, modulo 2^32
//
//	      addPending              fallAsleep: the sleeper
//	quiet ─────────▶ pending ───────────────────────────────▶ watched (and asleep)
//	  ▲                │ ▲ ▲                                    │        │
//	  └ removePending ─┘ │ └──────────── wakeUp ────────────────┘        │ outdate: a poster that has
//	                     │                                               ▼ seen the sleeper asleep
//	                     └────────────── wakeUp ────────────────────── outdated (asleep, not watched)
//
// README.md says what pollers do in each state.
//
// No wake-up is lost because pending requests and the sleeper share one word (README.md): addPending and fallAsleep are
// atomic operations on it, so one of them comes first, and either the sleeper's last poll sees the request, or the
// poster sees the sleeper. An outdate that comes so late that the next sleeper is asleep already only makes hooks poll
// once too often.
//
// Posters call addPending, posted and outdate, those that end requests removePending, the sleeper fallAsleep and
// wakeUp.
type load struct{ word atomic.Uint64 }

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

// activity is a view without the sleeper: it differs after any AddPending, RemovePending or repeat Submit.
func (v view) activity() view { return v &^ (asleepBit | watchedBit) }

// remarkable reports whether the AddPending which led to v may have to wake a poller: it was the first, or a sleeper is
// asleep.
func (v view) remarkable() bool {
	low := v & (asleepBit | pendingMask)
	return low == 1 || low >= asleepBit
}

// The transitions. undoRemove takes back a removePending that had no addPending.
func (l *load) view() view          { return view(l.word.Load()) }
func (l *load) addPending() view    { return view(l.word.Add(uint64(postedOne + 1))) }
func (l *load) removePending() view { return view(l.word.Add(^uint64(0))) }
func (l *load) undoRemove()         { l.word.Add(1) }
func (l *load) posted() view        { return view(l.word.Add(uint64(postedOne))) }
func (l *load) fallAsleep()         { l.word.Or(uint64(asleepBit | watchedBit)) }
func (l *load) wakeUp()             { l.word.And(^uint64(asleepBit | watchedBit)) }
func (l *load) outdate()            { l.word.And(^uint64(watchedBit)) }
