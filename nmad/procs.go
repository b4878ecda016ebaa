package nmad

import (
	"runtime"
	"sync"

	"github.com/pm2-go/pm2/sched"
)

// spareProc adds a second P while sessions are open, if Go has only one: Go makes as many Ps as the process may use
// CPUs, and a launcher often gives a rank one CPU.
//
// A goroutine that waits for a message yields its CPU, and sleeps, in system calls. If no P is idle, Go's monitor takes
// the P of a goroutine that is in a system call after 20 us; on its return that goroutine has to wait for a P, with the
// help of the kernel. Then an exchange of long messages takes two to three times as long. With a second P, which is
// idle, the goroutine keeps its own.
var spareProc struct {
	mu       sync.Mutex
	sessions int
	lower    func() // takes the second P away; nil if there were more Ps than one
}

// takeSpareProc is called when a session begins to open, and leaveSpareProc when it has ended.
func takeSpareProc() {
	spareProc.mu.Lock()
	defer spareProc.mu.Unlock()
	if spareProc.sessions++; spareProc.sessions == 1 && runtime.GOMAXPROCS(0) == 1 {
		spareProc.lower = sched.RaiseProcs(1)
	}
}

func leaveSpareProc() {
	spareProc.mu.Lock()
	defer spareProc.mu.Unlock()
	if spareProc.sessions--; spareProc.sessions == 0 && spareProc.lower != nil {
		spareProc.lower()
		spareProc.lower = nil
	}
}

// shareCPUs makes all waits of this process, also outside of its sessions, yield the CPU.
func shareCPUs() { sched.ShareCPUs() }
