package direct

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestQueued: a goroutine that was just started waits in the queue of the caller's P until the caller lets it run.
func TestQueued(t *testing.T) {
	if !Supported() {
		t.Skip("the Go scheduler's queues are not known here")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // else another P may take it
	for range 100 {
		for i := 0; Queued(); i++ { // of the testing package
			runtime.Gosched()
		}
		var ran atomic.Bool
		go ran.Store(true)
		if !Queued() && !ran.Load() {
			t.Fatal("a goroutine is ready, and Queued does not see it")
		}
		for !ran.Load() {
			runtime.Gosched()
		}
	}
}
