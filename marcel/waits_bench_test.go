package marcel_test

import (
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// BenchmarkTimedWait has two threads of one VP wake each other out of waits with a time limit. One operation is one wait.
func BenchmarkTimedWait(b *testing.B) {
	on(b, 1, func() {
		var x, y marcel.Semaphore
		o := marcel.Spawn(func() {
			for range b.N / 2 {
				x.AcquireTimeout(time.Hour)
				y.Release()
			}
		})
		b.ResetTimer()
		t := marcel.Spawn(func() {
			for range b.N / 2 {
				x.Release()
				y.AcquireTimeout(time.Hour)
			}
		})
		_, _ = t.Join(), o.Join()
		b.StopTimer()
	})
}

// BenchmarkGoroutineWait has two goroutines of one P wake each other through semaphores. One operation is one wait.
func BenchmarkGoroutineWait(b *testing.B) {
	beside(b, 1, func() {
		var x, y marcel.Semaphore
		var wg sync.WaitGroup
		wg.Go(func() {
			for range b.N / 2 {
				x.Acquire()
				y.Release()
			}
		})
		wg.Go(func() {
			for range b.N / 2 {
				x.Release()
				y.Acquire()
			}
		})
		wg.Wait()
	})
}
