package sched

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestFutex: one that is woken goes on; one that sleeps leaves its P to others, even the only one, and
// the world can be stopped.
func TestFutex(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const sleepers, rounds = 4, 100
	var words [sleepers]atomic.Uint32
	var spans [sleepers]sleepState
	var all sync.WaitGroup
	for i := range words {
		all.Go(func() {
			for range rounds {
				for words[i].Load() == 0 {
					futexWait(&words[i], &spans[i])
				}
				words[i].Store(0)
			}
		})
	}
	for range rounds {
		for i := range words {
			for !words[i].CompareAndSwap(0, 1) {
				runtime.Gosched()
			}
			futexWake(&words[i])
		}
		if runtime.GC(); t.Failed() {
			return
		}
	}
	all.Wait()
}

// TestFutexLimit: a sleep ends when its time is over, and does not begin when the word is set; it
// allocates nothing.
func TestFutexLimit(t *testing.T) {
	var word atomic.Uint32
	limit := new(sleepState)
	begin := time.Now()
	for time.Since(begin) < 5*time.Millisecond { // interrupted, perhaps
		futexWaitFor(&word, limit, int64(5*time.Millisecond))
	}
	word.Store(1)
	futexWaitFor(&word, limit, int64(time.Hour))
	futexWait(&word, limit)
	if n := testing.AllocsPerRun(100, func() { futexWaitFor(&word, limit, 1) }); n != 0 {
		t.Errorf("a sleep allocates %g times", n)
	}
	futexWake(&word) // none sleeps
}
