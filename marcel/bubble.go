package marcel

import (
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Bubble is a group of threads and bubbles that are scheduled together: see
// [sched.Bubble]. Fill it (Attr.Bubble, Insert), Wake it, Join it.
type Bubble = sched.Bubble

// BubblePolicy maps bubbles onto the machine; programs may have their own.
type BubblePolicy = sched.BubblePolicy

// The ready policies.
type (
	Spread  = sched.Spread  // use as much of the machine as possible, bubbles whole
	Cache   = sched.Cache   // each bubble under one cache
	Gang    = sched.Gang    // one bubble at a time, all of its threads at once
	Steal   = sched.Steal   // on one VP at first; idle VPs take over whole bubbles
	Explode = sched.Explode // every thread for itself, over all VPs
)

// What policies are made of.
type (
	Entity    = sched.Entity    // a Thread or a *Bubble
	Placement = sched.Placement // of an Entity on an item of the topology
)

// Errors of bubbles.
var (
	ErrBubbleClosed = sched.ErrBubbleClosed // nothing can be put into it any more
	ErrInBubble     = sched.ErrInBubble     // it is in one already
	ErrNotInBubble  = sched.ErrNotInBubble  // it is not in that one
	ErrForeign      = sched.ErrForeign      // it belongs to another scheduler
	ErrNoBubble     = sched.ErrNoBubble     // it is nil, or NewBubble has not made it
)

// NewBubble makes an empty bubble for the scheduler of the calling thread, from a
// plain goroutine for the default one. See [sched.Scheduler.NewBubble].
func NewBubble(policy BubblePolicy) *Bubble { return sched.NewBubble(policy) }

// BubbleOf returns the bubble that a thread is in; nil if none, or it has ended.
func BubbleOf(t Thread) *Bubble { return sched.BubbleOf(t) }

// NewGang makes a Gang policy, for one bubble, whose gangs get time slices of that
// length, or of sched.DefaultGangSlice if it is not positive.
func NewGang(slice time.Duration) *Gang { return sched.NewGang(slice) }
