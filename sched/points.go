package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/hooks"
)

// fire fires the hooks of p in the name of v. Hooks are code of users, so a thread fires them in user mode, and may
// lose its VP meanwhile. Only Idle is fired while the VP is held, by the base.
func (v *vp) fire(p hooks.Point) hooks.Verdict {
	if v.trace.Load() != nil {
		return v.tracedHooks(p)
	}
	return v.sched.hooks.Fire(p, v.id)
}

// EnterLibrary is Enter for a call that may block: it fires the Library hooks first. The caller holds no lock that a
// hook may want. On a plain goroutine, which has no VP, it fires nothing.
func EnterLibrary() *Co {
	c := lookup()
	if c == nil || c.base {
		return nil
	}
	if v := c.vpHint(); !v.sched.hooks.Empty(hooks.Library) {
		v.fire(hooks.Library)
	}
	storeRel(&c.inside, c.inUser|isIn)
	c.acquire()
	if !isDirect || c.l.vp.word.load() != c.id {
		return c.comeBack()
	}
	return c
}

// Library fires the Library hooks of the calling thread, if it is one: for the calls of a communication library that do
// not block in the scheduler themselves. The caller holds no lock that a hook may want.
func (moduleCalls) Library() {
	if c := lookup(); c != nil && !c.base {
		c.vpHint().fire(hooks.Library)
	}
}

// surround is what Around was given.
type surround struct{ call func(t Thread, run func()) }

var around atomic.Pointer[surround]

// Around sets a function f that each thread which starts from now on, in every scheduler, calls around its code: f must
// call run once, which is the thread's code. It is for tools that mark the goroutine on which a thread runs, such as
// package profile. If run panics or exits, f is unwound like any caller. Around(nil) ends it; threads that have started
// are not affected. There is one f at a time: Around returns false, and does nothing, if f is not nil and there is one
// already.
func Around(f func(t Thread, run func())) bool {
	if f == nil {
		around.Store(nil)
		return true
	}
	return around.CompareAndSwap(nil, &surround{f})
}
