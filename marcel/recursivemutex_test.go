package marcel_test

import (
	"context"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// The owner locks again in every form, and has to unlock as often.
func TestRecursiveMutex(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var r marcel.RecursiveMutex
		takenFor := func() bool { // is it, for others?
			taken := make(chan bool)
			go func() {
				free := r.TryLock()
				if free {
					r.Unlock()
				}
				taken <- !free
			}()
			held := <-taken // first: the thread, too, has it for a moment
			x := marcel.Spawn(func() {
				if r.TryLock() {
					r.Unlock()
				}
			})
			must(t, x.Join())
			return held
		}
		r.Lock()
		for name, again := range map[string]func() bool{
			"Lock":        func() bool { r.Lock(); return true },
			"TryLock":     r.TryLock,
			"LockTimeout": func() bool { return r.LockTimeout(0) },
			"LockContext": func() bool { return r.LockContext(context.Background()) == nil },
		} {
			if !again() {
				t.Errorf("%s: cannot lock what it owns", name)
				r.Lock()
			}
		}
		for left := 5; left > 0; left-- {
			if !takenFor() {
				t.Errorf("free for others, with %d Unlocks to come", left)
			}
			done := make(chan bool)
			go func() { defer close(done); panics(t, "does not hold it", r.Unlock) }()
			<-done
			r.Unlock()
		}
		if takenFor() {
			t.Error("still locked")
		}
		panics(t, "does not hold it", r.Unlock)
	})
}

// One that ended as the owner leaves it locked: none that comes later is taken
// for it, though threads and goroutines use its memory again.
func TestRecursiveMutexOwnersAreNotMistaken(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var byThread marcel.RecursiveMutex
		must(t, marcel.Spawn(byThread.Lock).Join())
		for range 100 {
			must(t, marcel.Spawn(func() {
				if byThread.TryLock() {
					t.Error("a thread was taken for one that has ended")
				}
			}).Join())
		}
	})
	var byGoroutine marcel.RecursiveMutex
	var owner uintptr
	done := make(chan bool)
	go func() { byGoroutine.Lock(); owner = asm.G(); done <- true }()
	<-done
	same := 0
	for range 1000 {
		go func() {
			if byGoroutine.TryLock() {
				t.Error("a goroutine was taken for one that has ended")
			}
			if asm.G() == owner {
				same++
			}
			done <- true
		}()
		<-done
	}
	t.Logf("%d of 1000 had the owner's descriptor", same)
	if byGoroutine.LockTimeout(time.Millisecond) {
		t.Error("not locked")
	}
}
