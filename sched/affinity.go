package sched

import (
	"fmt"
	"os"
	"sync"

	"github.com/pm2-go/pm2/sched/internal/machine"
)

var bindOnce sync.Once

// bind binds l's OS thread to the CPU of its VP. Where that is forbidden it warns once, and the LWP runs unbound.
func (s *Scheduler) bind(l *lwp) {
	if s.cfg.Unbound || !isDirect {
		return
	}
	if err := bindTo(int(l.tid.Load()), l.vp.cpu); err != nil {
		bindOnce.Do(func() {
			fmt.Fprintf(os.Stderr, "sched: cannot bind an OS thread to CPU %d (%v): going on unbound\n", l.vp.cpu, err)
		})
	}
}

// unbind gives an OS thread the whole mask of the process and the ordinary policy back.
func (s *Scheduler) unbind(tid int) {
	if !isDirect {
		return
	}
	if !s.cfg.Unbound {
		machine.Widen(tid)
	}
	setAttr(tid, schedOther, s.nice, 0)
}

// BindTo binds the calling OS thread, to which the caller must be locked (runtime.LockOSThread), to the CPU of VP
// number vp, as the VP's own are; free, called on the same thread, undoes it. It is for an OS thread that polls on that
// CPU while the VP is disabled. Where binding is forbidden the thread stays as it was, and nothing is said.
func (s *Scheduler) BindTo(vp int) (free func(), err error) {
	if vp < 0 || vp >= len(s.vps) {
		return nil, fmt.Errorf("%w: bind to VP %d of %d", ErrNoVPs, vp, len(s.vps))
	}
	if s.cfg.Unbound || !isDirect {
		return func() {}, nil
	}
	tid := gettid()
	_ = bindTo(tid, s.vps[vp].cpu)
	return func() { s.unbind(tid) }, nil
}

// RaiseProcs raises GOMAXPROCS by n, the number of Go's Ps that the caller's threads are going to occupy. lower takes
// that back; call it once.
func RaiseProcs(n int) (lower func()) { return machine.RaiseProcs(n) }

// HeedProcs raises a GOMAXPROCS that the program has set since by what RaiseProcs has added. It may stop the world.
func (moduleCalls) HeedProcs() { machine.HeedProcs() }
