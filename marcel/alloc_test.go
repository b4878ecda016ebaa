package marcel_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Threads allocate nothing in steady state, whatever they wait for.
func TestThreadsDoNotAllocate(t *testing.T) {
	effort.SkipIfNotInlined(t)
	needsPools(t)
	var (
		there, back, none marcel.Semaphore
		m                 marcel.Mutex
		c                 = marcel.NewCond(&m)
		b                 = marcel.NewBarrier(2)
		turn              int
		rec               marcel.RecursiveMutex
		rw                marcel.RWMutex
		spin              marcel.SpinLock
		group             marcel.WaitGroup
		once              marcel.Once
		q                 marcel.Futex
		word              atomic.Uint32
		batch             [100]marcel.Thread
	)
	nothing := func() {}
	yield := func() { marcel.Yield() }
	signal := func() {
		m.Lock()
		turn++
		c.Signal()
		m.Unlock()
		marcel.Yield()
	}
	for _, it := range []struct {
		name    string
		op      func()
		partner func() // what another thread of the VP does meanwhile, again and again
	}{
		{"Self", func() { _ = marcel.Self() }, yield},
		{"Yield", yield, yield},
		{"Spawn+Join", func() { _ = marcel.Spawn(nothing).Join() }, nil},
		{"Spawn+Join of one that waits", func() { _ = marcel.Spawn(yield).Join() }, nil},
		{"Spawn+Join of 100", func() {
			for i := range batch {
				batch[i] = marcel.Spawn(yield)
			}
			for _, x := range batch {
				_ = x.Join()
			}
		}, nil},
		{"Spawn+Detach", func() {
			marcel.Spawn(nothing)
			marcel.Yield()
		}, nil},
		{"Semaphore", func() { there.Release(); back.Acquire() }, func() { there.Acquire(); back.Release() }},
		{"Semaphore.TryAcquire", func() { none.TryAcquire() }, nil},
		{"Semaphore.AcquireTimeout", func() {
			if there.Release(); !back.AcquireTimeout(time.Hour) {
				t.Error("an hour is over")
			}
		}, func() { there.Acquire(); back.Release() }},
		{"Semaphore.AcquireTimeout in vain", func() { none.AcquireTimeout(time.Microsecond) }, nil},
		{"Mutex", func() { lockUnlock(&m) }, nil},
		{"Mutex with a waiter", func() {
			m.Lock()
			marcel.Yield()
			m.Unlock()
			marcel.Yield()
		}, func() { lockUnlock(&m); marcel.Yield() }},
		{"Cond", func() {
			m.Lock()
			for before := turn; turn == before; {
				c.Wait()
			}
			m.Unlock()
		}, signal},
		{"Cond.WaitTimeout", func() {
			m.Lock()
			for before := turn; turn == before; {
				c.WaitTimeout(time.Hour)
			}
			m.Unlock()
		}, signal},
		{"Barrier", func() { b.Wait() }, func() { b.Wait() }},
		{"Barrier.Arrive", func() { b.Arrive().Wait() }, func() { b.Arrive().Wait() }},
		{"Mutex.LockTimeout", func() {
			m.LockTimeout(time.Hour)
			m.Unlock()
		}, nil},
		{"RecursiveMutex", func() {
			rec.Lock()
			rec.TryLock()
			rec.Unlock()
			rec.Unlock()
		}, nil},
		{"RWMutex", func() {
			rw.RLock()
			rw.LockTimeout(time.Microsecond)
			rw.RUnlock()
			rw.Lock()
			marcel.Yield()
			rw.Unlock()
		}, func() { rw.RLock(); computed.Add(1); rw.RUnlock(); marcel.Yield() }},
		{"SpinLock", func() { spin.Lock(); computed.Add(1); spin.Unlock() }, nil},
		{"WaitGroup", func() { group.Add(1); marcel.Yield(); group.Wait() }, func() {
			if !group.TryWait() {
				group.Done()
			}
			marcel.Yield()
		}},
		{"WaitGroup.WaitTimeout in vain", func() { group.Add(1); group.WaitTimeout(time.Microsecond); group.Done() }, nil},
		{"Once", func() { once.Do(nothing) }, nil},
		{"Futex", func() { q.WaitTimeout(&word, 0, time.Hour) }, func() { q.Wake(1); marcel.Yield() }},
		{"Futex.WaitTimeout in vain", func() { q.WaitTimeout(&word, 0, time.Microsecond) }, nil},
		{"Sleep", func() { marcel.Sleep(time.Microsecond) }, nil},
		{"Blocking", func() { marcel.Blocking(nothing) }, nil},
	} {
		run(t, undisturbed(), func(*sched.Scheduler) {
			if it.partner != nil {
				// It never ends by itself: the last wait of its loop is ended by
				// one op too many, or it sees stop.
				stop, ended := false, false
				partner := marcel.Spawn(func() {
					for !stop {
						it.partner()
					}
					ended = true
				})
				defer func() {
					for stop = true; !ended; marcel.Yield() {
						there.Release()
						if !ended && strings.HasPrefix(it.name, "Barrier") {
							b.WaitTimeout(time.Millisecond) // for one more, or in vain: the partner may have seen stop
						}
					}
					must(t, partner.Join())
				}()
			}
			for range 200 { // until everything has its size
				it.op()
			}
			if n := testing.AllocsPerRun(200, it.op); n != 0 {
				t.Errorf("%s: %v allocations", it.name, n)
			}
		})
	}
}
