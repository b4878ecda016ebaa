package marcel

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/sched"
)

// For calls f for each i from 0 to n-1, on all VPs at once, and returns when all calls have. grain of them that follow
// each other are one thread's at a time: enough that they take some microseconds; below 1 it is 1. The order of the calls
// is not fixed. A thread that calls For takes part; a goroutine waits. A panic of f is that of a thread.
//
//	marcel.For(len(rows), 8, func(i int) { solve(rows[i]) })
func For(n, grain int, f func(i int)) {
	grain = max(grain, 1)
	if n <= 0 {
		return
	}
	parts := (n-1)/grain + 1
	var next atomic.Int64
	work := func() {
		for {
			part := int(next.Add(1)) - 1
			if part >= parts {
				return
			}
			for i := part * grain; i < min(n, (part+1)*grain); i++ {
				f(i)
			}
		}
	}
	on := sched.OnThread()
	helpers := min(parts, sched.Default().NumVP())
	if on {
		helpers--
	}
	var all WaitGroup
	all.Add(helpers)
	for range helpers {
		SpawnWith(Attr{Name: "for", Detached: true}, func() {
			defer all.Done()
			work()
		})
	}
	if on {
		work()
	}
	all.Wait()
}
