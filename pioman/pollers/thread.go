package pollers

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched"
)

// futexWait sleeps while *p == old, interrupted or not, at most ns if that is not 0.
func futexWait(p *atomic.Uint32, old uint32, ns int64) {
	var limit *unix.Timespec
	if ns > 0 {
		ts := unix.NsecToTimespec(ns)
		limit = &ts
	}
	sched.FutexWait(p, old, limit)
}
