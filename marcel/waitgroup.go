package marcel

import (
	"context"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// WaitGroup counts work that is under way, as sync.WaitGroup, for threads, goroutines and hooks. All
// waiters go on at once, in no order. Unlike with sync.WaitGroup a new round may begin at any moment:
// a Wait ends with the round in which it began. The zero value has a counter of 0. It takes 32 bytes and
// must not be copied after first use.
type WaitGroup struct {
	n countdown
}

// Add adds delta, which may be negative, to the counter, and wakes the waiters if that is 0 then. It never blocks. It
// panics, and changes nothing, if the counter would be negative, or above 1<<62 - 1.
func (g *WaitGroup) Add(delta int) {
	if g.n.add(int64(delta)) {
		return
	}
	if delta < 0 {
		panic("marcel: negative WaitGroup counter")
	}
	panic(fmt.Sprintf("marcel: WaitGroup counter above its limit of %d", mostCounted))
}

// Done is Add(-1).
func (g *WaitGroup) Done() { g.Add(-1) }

// Go counts f, runs it on a new thread, and counts it as done when it has returned or ended the thread (Goexit). A
// panic in f ends the program as in Spawn, and is never counted as done. It panics if f is nil.
func (g *WaitGroup) Go(f func()) Thread {
	if f == nil {
		panic("marcel: WaitGroup.Go of a nil function")
	}
	g.Add(1)
	return SpawnBody(&waitGroupBody{calls.WrapperOf(f), g, f})
}

// waitGroupBody is what a thread of WaitGroup.Go runs.
type waitGroupBody struct {
	sched.Wrapper
	group *WaitGroup
	fn    func()
}

// Run implements Body.
func (c *waitGroupBody) Run() {
	defer c.group.ended()
	c.fn()
}

// ended is deferred by the threads that g counts. It is Done, but leaves the counter as it is while the thread panics.
func (g *WaitGroup) ended() {
	if x := recover(); x != nil {
		panic(x) // Done would let others end the program before the panic does
	}
	g.Done()
}

// Wait waits until the counter is 0.
func (g *WaitGroup) Wait() { _ = g.n.wait(sched.InWaitGroup, nil) }

// TryWait reports whether the counter is 0. It does not block.
func (g *WaitGroup) TryWait() bool { return g.n.zero() }

// WaitTimeout is Wait for at most d: it returns false if the counter did not become 0 in time. If d <= 0 it is TryWait.
func (g *WaitGroup) WaitTimeout(d time.Duration) bool {
	return g.n.wait(sched.InWaitGroup, within(d)) == nil
}

// WaitContext is Wait until ctx is done: then it returns the cause, also if the counter was 0.
func (g *WaitGroup) WaitContext(ctx context.Context) error {
	return until(ctx, func(lim *sched.Limit) error { return g.n.wait(sched.InWaitGroup, lim) })
}

// Case returns the case "Wait": Select can take it while the counter is 0, and when the round ends in which Select
// began to wait, even if a new round has begun by then.
func (g *WaitGroup) Case() Case {
	_ = &g.n // nil panics here
	return (*zeroCase)(&g.n)
}
