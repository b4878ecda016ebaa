package sched

import (
	"sync"
	"testing"
)

// TestTable: goroutines come and go while others look themselves up; nobody is
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
