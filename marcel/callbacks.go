package marcel

// PushCleanup registers f to be called when the calling thread ends, in whichever way, unless
// PopCleanup takes it away before. Handlers run last in, first out, on the thread, after the deferred
// calls of its functions; they may wait. Where one function pushes and pops, defer is simpler; a
// handler may also be popped by another function than the one that pushed it. On a plain goroutine
// PushCleanup returns ErrNotThread.
func PushCleanup(f func()) error { return calls.PushCleanup(f) }

// PopCleanup takes away the handler that was pushed last, and calls it if run is set. If there is no
// handler it does nothing.
func PopCleanup(run bool) error { return calls.PopCleanup(run) }

// AtExit registers f to be called on the calling thread when it ends, in whichever way, after its
// deferred calls and cleanup handlers and before the destructors of its keys; last in, first out. Join
// waits for these calls. f may wait. A panic of f counts as a panic of the thread. On a plain
// goroutine AtExit returns ErrNotThread.
func AtExit(f func()) error { return calls.AtExit(f) }

// AfterExit registers f to be called once the calling thread has ended and its stack is no longer in
// use: its joiners have been woken, and none of its frames is left. f runs on a thread made for these
// calls, last in, first out. On a plain goroutine AfterExit returns ErrNotThread.
func AfterExit(f func()) error { return calls.AfterExit(f) }

// OnSwitch registers f to be called on the calling thread each time that it runs again after it has
// waited or yielded, before that call returns. It is Marcel's post-switch callback. f may be called on
// another VP than last time, and must neither wait nor yield. OnSwitch(nil) ends the calls. On a plain
// goroutine OnSwitch returns ErrNotThread.
func OnSwitch(f func()) error { return calls.OnSwitch(f) }
