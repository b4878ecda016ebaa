package sched

import (
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/setting"
)

// shareCalled says that ShareCPUs was called.
var shareCalled atomic.Bool

// sharedByEnvironment reports whether PM2_SHARED_CPUS is set.
var sharedByEnvironment = sync.OnceValue(func() bool {
	shared, _ := setting.Shared() // New returns the error
	return shared
})

// ShareCPUs says that other processes use the CPUs of this one, as PM2_SHARED_CPUS does: from here on threads and
// goroutines that poll, and idle VPs, offer their CPU to them after each look. There is no way back.
func ShareCPUs() { shareCalled.Store(true) }

// SharedCPUs reports whether ShareCPUs was called, or the environment says so.
func SharedCPUs() bool { return shareCalled.Load() || sharedByEnvironment() }
