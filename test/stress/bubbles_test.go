package stress

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// somePolicy is a policy for a bubble, or nil.
func somePolicy(r *rand.Rand) marcel.BubblePolicy {
	switch r.IntN(6) {
	case 0:
		return marcel.Spread{}
	case 1:
		return marcel.Cache{}
	case 2:
		return marcel.Steal{}
	case 3:
		return marcel.Explode{}
	case 4:
		return marcel.NewGang(upTo(r, time.Millisecond))
	default:
		return nil
	}
}

// bubbles: all threads of a tree of bubbles run, whatever is done to it meanwhile, and
// none before it is woken.
func (w *round) bubbles(r *rand.Rand) {
	s := pick(r, w.s...)
	outer := marcel.NewBubbleOn(s, somePolicy(r))
	trees := []*marcel.Bubble{outer}
	for range r.IntN(4) {
		inner := marcel.NewBubbleOn(s, somePolicy(r))
		w.must(pick(r, trees...).InsertBubble(inner))
		trees = append(trees, inner)
	}
	var woken atomic.Bool
	var hs []marcel.Thread
	b := marcel.NewBarrier(2 + r.IntN(6))
	n := 0
	for ; n < 8; n++ {
		own := fork(r)
		work := w.counted(func() {
			if !woken.Load() {
				w.fail("a thread of a bubble runs before that is woken")
			}
			for range 2 {
				if own.IntN(2) == 0 {
					marcel.Yield()
				} else {
					w.useUnits(own)
				}
				b.WaitTimeout(upTo(own, 100*time.Microsecond)) // a rank that is missing may be held
			}
		})
		hs = append(hs, s.Spawn(marcel.Attr{Bubble: pick(r, trees...), Priority: pick(r, priorities...)}, work))
	}
	if n := outer.Weight(); n != len(hs) {
		w.fail("a bubble of %d threads weighs %d", len(hs), n)
	}
	woken.Store(true)
	w.must(outer.Wake())
	for range r.IntN(6) {
		inner := pick(r, trees...)
		switch r.IntN(5) {
		case 0:
			outer.Hold()
			marcel.Sleep(upTo(r, 200*time.Microsecond))
			w.must(outer.Wake())
		case 1:
			if err := inner.WakeOn(someItem(s, r)); err != nil && !errors.Is(err, marcel.ErrNoItem) {
				w.fail("WakeOn: %v", err)
			}
		case 2:
			h := pick(r, hs...)
			if in := marcel.BubbleOf(h); in != nil {
				if err := in.Remove(h); err == nil && r.IntN(2) == 0 {
					w.must(ended(inner.Insert(h)))
				} else if err != nil && !errors.Is(err, marcel.ErrNotInBubble) && !errors.Is(err, marcel.ErrNoThread) {
					w.fail("Remove: %v", err)
				}
			}
		case 3:
			w.must(outer.Wake())
		case 4:
			marcel.Yield()
		}
	}
	w.must(outer.Wake())
	w.must(outer.Join())
	for _, h := range hs {
		w.joined(h, nil)
	}
	outer.Close()
	if err := outer.InsertBubble(marcel.NewBubbleOn(s, nil)); !errors.Is(err, marcel.ErrBubbleClosed) {
		w.fail("a bubble that is closed takes another one: %v", err)
	}
}
