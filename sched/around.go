package sched

import "sync/atomic"

// surround is what Around was given.
type surround struct{ call func(t Thread, run func()) }

var around atomic.Pointer[surround]

// Around has f called for each thread that starts from now on, in every scheduler,
// on the thread itself; f must call run, once, which is the thread's code. It is
// for tools that mark the goroutine on which a thread runs, such as package
// profile. If run panics or exits, f is unwound like any caller. Nil ends it;
// threads that have started keep what they have. One f at a time: Around returns
// false, and does nothing, if f is not nil and there is one already.
func Around(f func(t Thread, run func())) bool {
	if f == nil {
		around.Store(nil)
		return true
	}
	return around.CompareAndSwap(nil, &surround{f})
}
