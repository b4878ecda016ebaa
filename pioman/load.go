package pioman

import "sync/atomic"

// load is the word that every hook reads first, in one:
//
//	bits 0..29    pending requests
//	bit  30       watched: nothing was posted since the sleeper looked last, so hooks need not poll
//	bit  31       asleep: a sleeper is in the kernel, or about to be
//	bits 32..63   how many requests and repeat tasks were ever posted, modulo 2^32
//
//	         need                 fallAsleep: the sleeper
//	quiet ─────────▶ pending ───────────────────────────────▶ watched (and asleep)
//	  ▲                │ ▲ ▲                                    │        │
//	  └──── done ──────┘ │ └──────────── wakeUp ────────────────┘        │ outdate: the poster, that has
//	                     │                                               ▼ seen it asleep
//	                     └────────────── wakeUp ────────────────────── outdated (asleep, not watched)
//
// What each state means to those that poll: README.md.
//
// That pending requests and the sleeper share one word is the heart of the protocol
// against lost wake-ups (README.md): need and fallAsleep are atomic operations on the
// same word, so one of them comes first, and either the sleeper's last poll
// sees the request, or the poster sees the sleeper. An outdate that comes so late that the next
// sleeper is there already has hooks poll once too often, no more.
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

// activity is a view without the sleeper: it differs after any Need, Done or
// repeat Submit.
func (v view) activity() view { return v &^ (asleepBit | watchedBit) }

// remarkable tells that the Need which led to v may have to wake a poller:
// it was the first, or there is a sleeper.
func (v view) remarkable() bool {
	low := v & (asleepBit | pendingMask)
	return low == 1 || low >= asleepBit
}

func (l *load) view() view   { return view(l.w.Load()) }
func (l *load) need() view   { return view(l.w.Add(uint64(postedOne + 1))) }
func (l *load) done() view   { return view(l.w.Add(^uint64(0))) }
func (l *load) posted() view { return view(l.w.Add(uint64(postedOne))) }

// undone takes back a done without a need.
func (l *load) undone()     { l.w.Add(1) }
func (l *load) fallAsleep() { l.w.Or(uint64(asleepBit | watchedBit)) }
func (l *load) wakeUp()     { l.w.And(^uint64(asleepBit | watchedBit)) }

// outdate is for a caller that has posted something and seen, in what that returned, that a poller sleeps.
func (l *load) outdate() { l.w.And(^uint64(watchedBit)) }
