package sched

import (
	"runtime"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestSpinWaitersCanBeStopped: the collector can stop those that wait for a Spin;
// else they would wait for its holder, the holder for the collector, and the
// collector for them.
func TestSpinWaitersCanBeStopped(t *testing.T) {
	var mu Spin
	mu.Lock()
	ended := make(chan bool)
	for range 2 {
		go func() {
			mu.Lock()
			//lint:ignore SA2001 only the wait matters
			mu.Unlock()
			ended <- true
		}()
	}
	time.Sleep(10 * time.Millisecond)
	collected := make(chan bool)
	go func() {
		for range effort.Choose(5, 5, 20) {
			runtime.GC()
		}
		close(collected)
	}()
	select {
	case <-collected:
	case <-time.After(2 * time.Minute):
		t.Error("the collector waits for spinners")
	}
	mu.Unlock()
	<-ended
	<-ended
	<-collected
}
