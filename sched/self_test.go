package sched

import (
	"runtime"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestTable: goroutines come and go while others look themselves up; none is
// taken for another, though the runtime uses goroutines again.
func TestTable(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	for range rounds {
		var wg sync.WaitGroup
		for i := range 400 {
			wg.Go(func() {
				if lookup() != nil {
					t.Error("known before it registered")
				}
				if i%2 == 0 {
					return // its goroutine serves another one, perhaps a registered one
				}
				me := &co{}
				register(me)
				for range 100 {
					if lookup() != me {
						t.Error("taken for another")
						break
					}
				}
				unregister(me)
				if lookup() != nil {
					t.Error("known after it went")
				}
			})
		}
		wg.Wait()
	}
}

// TestRegistryWaitersLoseTheirP: a goroutine that waits for the registry's lock gives its CPU away
// in a system call, in which the collector takes its P. Pinned, it would end the process there.
func TestRegistryWaitersLoseTheirP(t *testing.T) {
	registered.mu.Lock()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			registered.lock()
			registered.unlock()
		})
	}
	var m runtime.MemStats
	for range effort.Of(750) {
		runtime.ReadMemStats(&m) // stops the world
		runtime.Gosched()
	}
	registered.mu.Unlock()
	wg.Wait()
}
