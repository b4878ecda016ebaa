package marcel

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/sched"
)

// For calls f for each i from 0 to n-1, on all VPs of the default scheduler at once, and returns when all calls have
// returned. A thread takes grain consecutive calls at a time; choose grain so that they take some microseconds; below 1
// it is 1. The order of the calls is not fixed. A thread that calls For makes calls as well; a goroutine only waits. A
// panic in f ends the program, as that of any thread does.
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
