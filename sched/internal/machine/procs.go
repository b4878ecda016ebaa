package machine

import (
	"math"
	"os"
	"runtime"
	"sync"

	"github.com/pm2-go/pm2/sched/topo"
)

// LWPs hold Go's Ps. Each scheduler raises GOMAXPROCS by the number of Ps that its LWPs may hold, and lowers it again
// when it stops; so the program's goroutines, the collector and the clock keep theirs.
//
//	GOMAXPROCS = base + extra       base: what the program, or the Go runtime, chose
//	                                extra: what schedulers and progressors add
//
// The program may set GOMAXPROCS at any time. It need not tell this package: at each raise and lower, a GOMAXPROCS
// other than the one that this package set last is the program's, and becomes the new base. Until then, or until
// HeedProcs, it stays as the program set it, though LWPs hold some of these Ps.
var procs = procCount{setProcs: runtime.GOMAXPROCS, useDefault: defaultProcs}

type procCount struct {
	mu    sync.Mutex
	extra int // while it is 0, GOMAXPROCS is the program's and the fields below are not used
	base  int
	auto  bool // base is the Go runtime's own choice, which follows the CPUs and the cgroup
	set   int  // GOMAXPROCS as this package has set or seen it last
	saved struct {
		set, base int // of the time just before the program set GOMAXPROCS; set is 0: it did not
		auto      bool
	}

	setProcs   func(int) int // runtime.GOMAXPROCS; tests have their own
	useDefault func()        // defaultProcs
}

// RaiseProcs raises GOMAXPROCS by n, the number of Go's Ps that the caller's threads are going to occupy. lower takes
// that back; call it once.
func RaiseProcs(n int) (lower func()) {
	procs.add(n)
	return func() { procs.add(-n) }
}

// HeedProcs raises a GOMAXPROCS that the program has set since the last raise or lower by what schedulers add; without
// that, LWPs and goroutines share what the program set until the next raise. It costs a lock if the program has set
// none; else see add.
func HeedProcs() {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	if procs.extra != 0 && procs.setProcs(0) != procs.set {
		procs.settle()
	}
}

// baseProcs returns GOMAXPROCS without what schedulers add.
func baseProcs() int {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	if procs.extra == 0 {
		return procs.setProcs(0)
	}
	return procs.base
}

// add changes extra by n, and GOMAXPROCS with it. It stops the world, so it waits until a collection that runs has
// ended.
func (p *procCount) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n == 0 {
		return
	}
	if p.extra == 0 {
		p.begin()
	}
	p.extra += n
	if p.extra == 0 {
		if p.notice(p.setProcs(0)); p.auto {
			p.useDefault() // the runtime follows CPUs and cgroup again
			return
		}
	}
	p.settle()
}

// begin notes what GOMAXPROCS is before the first raise. Whether that is the runtime's own choice, only the runtime
// knows: asked to choose again, it changes nothing if so. If not, GOMAXPROCS has another value for a moment. A program
// that set the very value that the runtime would choose counts as one that set none.
func (p *procCount) begin() {
	p.base, p.auto = p.setProcs(0), false
	if os.Getenv("GOMAXPROCS") == "" {
		p.useDefault()
		p.auto = p.setProcs(0) == p.base
	}
	p.set = p.setProcs(0)
	p.saved.set = 0
}

// settle sets GOMAXPROCS to base + extra. If the program sets it at the same moment, settle finds its value out only by
// overwriting it, and starts over with it.
func (p *procCount) settle() {
	inForce := p.setProcs(0)
	for now := inForce; ; {
		p.notice(now)
		want := p.base + p.extra
		if want == p.saved.set && p.extra != 0 {
			want++ // so that the program can be seen to put back what it has read
		}
		before := p.setProcs(want)
		p.set = want
		if before == inForce || before == want {
			return
		}
		inForce, now = want, before
	}
}

// notice looks whether the program has set GOMAXPROCS, which is now, since this package did. A program that reads
// GOMAXPROCS, sets another, and puts back what it has read means the base that was in force when it read.
func (p *procCount) notice(now int) {
	switch now {
	case p.set:
		return
	case p.saved.set:
		p.base, p.auto = p.saved.base, p.saved.auto
		p.saved.set = 0
	default:
		p.saved.set, p.saved.base, p.saved.auto = p.set, p.base, p.auto
		p.base, p.auto = now, false
	}
	p.set = now
}

// defaultProcs has the Go runtime choose GOMAXPROCS, as at the start of the program. The runtime counts the CPUs that
// the calling OS thread may use. That thread may be bound, by the program or because the runtime cloned it from an
// LWP's, so it gets the mask of the process meanwhile.
func defaultProcs() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		Widened(runtime.SetDefaultGOMAXPROCS)
	}()
	<-done
}

// DefaultVPs returns the default number of VPs of a scheduler: one for each of the usable CPUs, or fewer if the quota
// of the process's cgroup keeps fewer busy. With more VPs than that, the kernel would stop all of them for the rest of
// each period, at any point of their work. DefaultVPs reads a few small files.
func DefaultVPs(usable int) int {
	quota, _ := topo.Quota()
	return vpsWithin(usable, quota)
}

// vpsWithin is DefaultVPs with a quota in CPUs' worth of time; 0: none.
func vpsWithin(usable int, quota float64) int {
	if quota <= 0 || quota >= float64(usable) {
		return usable
	}
	return min(usable, max(1, int(math.Ceil(quota))))
}
