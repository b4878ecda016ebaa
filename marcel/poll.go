package marcel

import (
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Found is what a look of a Poll has found: see [sched.Found].
type Found = sched.Found

// The things that a look finds.
const (
	FoundNothing, FoundMoved, FoundFlowing = sched.FoundNothing, sched.FoundMoved, sched.FoundFlowing
	FoundArrived, FoundEnough              = sched.FoundArrived, sched.FoundEnough
)

// Poll is the loop in which a thread, or a plain goroutine, polls for something before it sleeps: for libraries whose
// waiters poll themselves, as those of package nmad do. Poll calls look again and again until that returns
// FoundArrived: then Poll returns true. It returns false when look returns FoundEnough, when nothing has moved for the
// time spin, and as soon as another thread is ready on the caller's VP. polite says that other processes use the CPU:
// then Poll offers it to them after each look, and looks a few times only. Between two looks, of some 100 ns each, the
// caller holds no lock that a hook may want.
//
// Meanwhile the thread fires the Timer hooks of its VP, in place of the scheduler's clock. While the threads of all VPs
// that are awake poll, the clock pauses for up to four periods.
func Poll(spin time.Duration, polite bool, look func() Found) bool {
	return sched.Poll(spin, polite, look)
}
