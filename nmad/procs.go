package nmad

import (
	"runtime"
	"sync"

	"github.com/pm2-go/pm2/sched"
)

// spareProc is the P that sessions add where Go has one: it counts the CPUs that the process may use, and a launcher gives a
// rank one.
//
// A goroutine that waits for a message yields its CPU, and sleeps, in system calls. If no P is idle, Go's monitor takes
// the P of a goroutine in a system call after 20 us, and on its return that goroutine has to queue for the P, by the
// kernel: an exchange of long messages takes two to three times as long. With a second P, which is idle, it keeps its own.
var spareProc struct {
	mu       sync.Mutex
	sessions int
	lower    func() // nil: there were more Ps than one
}

// takeSpareProc is called when a session begins to open, leaveSpareProc when it has ended.
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

// shareCPUs has the waits of this process, also outside of its sessions, yield its CPU.
func shareCPUs() { sched.ShareCPUs() }
