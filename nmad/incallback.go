package nmad

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// InCallback says whether the caller runs inside a function that this package calls: Op.Done, Op.Choose, or a monitor's.
// There a thread must not wait: what it waits for may need the gate whose calls it keeps. A wait of this package that
// would have to sleep there fails with pioman.ErrInHandler. If very many threads run callbacks at once one of them may be
// overlooked. Some nanoseconds.
func InCallback() bool { return callers.has(asm.G()) }

// callers are the threads and goroutines that run callbacks: a set of the values of asm.G. Each stands in one of the few
// places behind the one that its value leads to; a place of its own line, which mostly no other one writes.
var callers callerSet

type callerSet [64]caller

type caller struct {
	g atomic.Uintptr // 0: free. The one that stands there writes it, and takes a free place by a compare-and-swap against others of its kind
	_ [56]byte
}

// callerTries is in how many places a thread may stand.
const callerTries = 4

func callerPlace(g uintptr) uintptr { return g>>6 ^ g>>12 }

// enter notes that the caller runs callbacks, until leave of what it returns. Of calls that are nested each has a place.
// nil: all places are taken.
func (set *callerSet) enter() *caller {
	g := asm.G()
	for i := range uintptr(callerTries) {
		c := &set[(callerPlace(g)+i)%uintptr(len(set))]
		if c.g.Load() == 0 && c.g.CompareAndSwap(0, g) {
			return c
		}
	}
	return nil
}

func (cl *caller) leave() {
	if cl != nil {
		asm.StoreReleasePtr(&cl.g, 0)
	}
}

func (set *callerSet) has(g uintptr) bool {
	for i := range uintptr(callerTries) {
		if set[(callerPlace(g)+i)%uintptr(len(set))].g.Load() == g {
			return true
		}
	}
	return false
}
