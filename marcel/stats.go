package marcel

import "github.com/pm2-go/pm2/sched"

// What a scheduler has done, VP by VP: switches, steals, sleeps, time without work, latencies of wakes. The
// documentation of sched.Stats says how exact the figures are. Keeping them costs running threads nothing.
type (
	StatsSnapshot = sched.Stats
	VPStats       = sched.VPStats
	Histogram     = sched.Histogram
)

// Stats returns a snapshot of the default scheduler's counters, which it starts if it does not run. StatsSnapshot.Since
// has the difference of two. It does not block, and may be called from threads and goroutines. Package monitor shows
// them to other processes, package metrics through expvar.
func Stats() StatsSnapshot { return sched.Default().Stats() }
