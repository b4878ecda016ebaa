package marcel

import "github.com/pm2-go/pm2/sched"

// ErrNotThread is returned where only a thread can do what was asked for, and a
// plain goroutine asked.
var ErrNotThread = sched.ErrNotThread

// PushCleanup has f called when the calling thread ends, in whichever way, unless
// PopCleanup takes it away before. Handlers are called last in, first out, on the
// thread, after the deferred calls of its functions; they may wait. Where one
// function pushes and pops, defer is simpler; a handler may also be popped by
// another function than the one that pushed it. On a plain goroutine PushCleanup
// returns ErrNotThread.
func PushCleanup(f func()) error { return sched.PushCleanup(f) }

// PopCleanup takes away the handler that was pushed last, and calls it if run is
// set. Without one it does nothing.
func PopCleanup(run bool) error { return sched.PopCleanup(run) }

// AtExit has f called on the calling thread when it ends, in whichever way, after
// its deferred calls and cleanup handlers and before the destructors of its keys;
// last in, first out. Join waits for it. f may wait, and a panic of f is one of
// the thread. On a plain goroutine AtExit returns ErrNotThread.
func AtExit(f func()) error { return sched.AtExit(f) }

// AfterExit has f called once the calling thread has ended and its stack is no
// longer in use: joiners have been woken, none of its frames is left. f runs on a
// thread made for these calls, which come last in, first out. On a plain
// goroutine AfterExit returns ErrNotThread.
func AfterExit(f func()) error { return sched.AfterExit(f) }

// OnSwitch has f called on the calling thread each time that it runs again after
// it has waited or yielded, before the call in which it did so returns: Marcel's
// post-switch callback. f may be called on another VP than last time, and must
// neither wait nor yield. Nil ends it. On a plain goroutine OnSwitch returns
// ErrNotThread.
func OnSwitch(f func()) error { return sched.OnSwitch(f) }

// Key gives each thread a value of its own: POSIX thread-specific data. The zero
// value is a key without a destructor. A key must not be copied after first use.
type Key[T any] = sched.Key[T]

// NewKey returns a key whose values are given to destroy when their thread ends:
// on that thread, after its at-exit callbacks.
func NewKey[T any](destroy func(T)) *Key[T] { return sched.NewKey(destroy) }
