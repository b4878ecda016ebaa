package marcel

import (
	"time"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/place"
)

// Bubble is a group of threads and bubbles that are scheduled together: see [place.Bubble]. Fill it (Attr.Bubble,
// Insert), Wake it, Join it.
type Bubble = place.Bubble

// BubblePolicy maps bubbles onto the machine; programs may have their own.
type BubblePolicy = place.Policy

// The policies of this package.
type (
	Spread  = place.Spread  // use as much of the machine as possible, bubbles whole
	Cache   = place.Cache   // each bubble under one cache
	Gang    = place.Gang    // one bubble at a time, all of its threads at once
	Steal   = place.Steal   // on one VP at first; idle VPs take over whole bubbles
	Explode = place.Explode // every thread for itself, over all VPs
)

// What policies are made of.
type (
	Entity    = place.Entity    // a Thread or a *Bubble
	Placement = place.Placement // of an Entity on an item of the topology
)

// Errors of bubbles: see package place.
var (
	ErrBubbleClosed = place.ErrBubbleClosed
	ErrInBubble     = place.ErrInBubble
	ErrNotInBubble  = place.ErrNotInBubble
	ErrForeign      = place.ErrForeign
	ErrNoBubble     = place.ErrNoBubble
)

// NewBubble makes an empty bubble for the scheduler of the calling thread, from a plain goroutine for the default one.
// See [place.NewBubble].
func NewBubble(policy BubblePolicy) *Bubble { return NewBubbleOn(sched.Current(), policy) }

// NewBubbleOn is NewBubble for threads of scheduler s.
func NewBubbleOn(s *sched.Scheduler, policy BubblePolicy) *Bubble { return place.NewBubble(s, policy) }

// BubbleOf returns the bubble that a thread is in; nil if none, or it has ended.
func BubbleOf(t Thread) *Bubble { return place.Of(t) }

// NewGang makes a Gang policy, for one bubble, whose gangs get time slices of that length, or of place.DefaultGangSlice
// if it is not positive.
func NewGang(slice time.Duration) *Gang { return place.NewGang(slice) }
