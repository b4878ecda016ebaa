package sched

import "fmt"

// BindTo binds the calling OS thread, to which the caller must be locked
// (runtime.LockOSThread), to the CPU of VP number vp, as the VP's own are; free, called on
// the same thread, undoes it. It is for those who poll there instead of threads,
// while the VP is disabled. Where binding is forbidden the thread stays as it was, and nothing is said.
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
