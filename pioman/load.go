package pioman

import "sync/atomic"

// load is the word that every hook reads first, in one:
//
//	bits 0..30    pending requests
//	bit  31       somebody sleeps in the Sleeper, or is about to
//	bits 32..63   how many requests and repeat tasks were ever posted, modulo 2^32
//
// That pending requests and the sleeper share one word is the heart of the protocol
// against lost wake-ups (doc.go): need and fallAsleep are atomic operations on the
// same word, so one of them comes first, and either the sleeper's last poll
// sees the request, or the poster sees the sleeper.
type load struct{ w atomic.Uint64 }

// view is a load at one moment.
type view uint64

const (
	pendingMask view = 1<<31 - 1
	asleepBit   view = 1 << 31
	postedOne   view = 1 << 32
)

func (v view) pending() uint32 { return uint32(v & pendingMask) }
func (v view) asleep() bool    { return v&asleepBit != 0 }
func (v view) posted() uint32  { return uint32(v >> 32) }

// activity is a view without the sleeper: it differs after any Need, Done or
// repeat Submit.
func (v view) activity() view { return v &^ asleepBit }

// remarkable tells that the Need which led to v has somebody to wake, perhaps:
// it was the first, or somebody sleeps.
func (v view) remarkable() bool {
	low := v & (asleepBit | pendingMask)
	return low == 1 || low >= asleepBit
}

func (l *load) view() view   { return view(l.w.Load()) }
func (l *load) need() view   { return view(l.w.Add(uint64(postedOne + 1))) }
func (l *load) done() view   { return view(l.w.Add(^uint64(0))) }
func (l *load) posted() view { return view(l.w.Add(uint64(postedOne))) }

// undone takes back a done that nobody had needed.
func (l *load) undone()     { l.w.Add(1) }
func (l *load) fallAsleep() { l.w.Or(uint64(asleepBit)) }
func (l *load) wakeUp()     { l.w.And(^uint64(asleepBit)) }
