package tasklet

import "sync/atomic"

// turn says whose turn it is in a lane: a try-lock that remembers. Taken, it is
// the goroutine's identity with a 0 appended. Free, it is the number of times
// that it has been taken, whether work was left, and a 1: two equal readings of a
// free turn mean that no firing had it in between.
type turn struct{ word atomic.Uint64 }

const (
	turnFree  = 1 << 0
	turnLeft  = 1 << 1
	turnCount = 1 << 2 // the count begins here
)

// ready makes a zero turn free.
func (t *turn) ready() { t.word.Store(turnFree) }

// take tries to get the turn, seen as the last reading of word, for goroutine g.
func (t *turn) take(seen uint64, g uintptr) bool {
	return seen&turnFree != 0 && t.word.CompareAndSwap(seen, uint64(g)<<1)
}

// give hands back a turn that was taken when it was seen; left tells the next
// ones that there is work that they cannot see otherwise.
func (t *turn) give(seen uint64, left bool) {
	next := (seen &^ turnLeft) + turnCount
	if left {
		next |= turnLeft
	}
	t.word.Store(next)
}

// is tells whether goroutine g has the turn.
func (t *turn) is(g uintptr) bool { return t.word.Load() == uint64(g)<<1 }
