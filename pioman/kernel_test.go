package pioman

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// Every wake ends the wait in progress or the next one, also when several wakers and
// the sleeper meet at the eventfd. One lost wake leaves the wait for ever.
func TestEveryWakeEndsAWait(t *testing.T) {
	rounds := effort.Of(100_000)
	k, err := openKernel()
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	var waits atomic.Int64
	var stop atomic.Bool
	var sleeper, wakers sync.WaitGroup
	sleeper.Go(func() {
		for !stop.Load() {
			if n := k.wait(forever); n != sleepDisturbed {
				t.Errorf("wait: %d", n)
			}
			waits.Add(1)
		}
	})
	for w := range 3 {
		wakers.Go(func() {
			for i := range rounds {
				n := waits.Load()
				k.wake()
				for waits.Load() == n {
					runtime.Gosched()
				}
				for range (i * (w + 1)) % 16 {
					runtime.Gosched()
				}
			}
		})
	}
	finishes(t, "wakers", wakers.Wait)
	stop.Store(true)
	k.wake()
	finishes(t, "sleeper", sleeper.Wait)
}

// The one that uses the descriptors when they are let go keeps them until it is through, and
// leaves; afterwards nothing works, harmlessly.
func TestKernelIsClosedByItsLastUser(t *testing.T) {
	before := openDescriptors(t)
	k, err := openKernel()
	if err != nil {
		t.Fatal(err)
	}
	if n := k.wait(time.Millisecond); n != sleepUndisturbed {
		t.Errorf("undisturbed wait: %d", n)
	}
	var wg sync.WaitGroup
	wg.Go(func() { k.wait(forever) })
	eventually(t, "asleep", func() bool { return k.uses.Count() == 2 })
	k.close()
	if n := openDescriptors(t); n != before+2 {
		t.Errorf("%d descriptors while one is asleep, %d before", n, before)
	}
	if k.wake(); k.wait(forever) != sleepDisturbed { // neither enters any more
		t.Error("a wait after the end")
	}
	if _, err := unix.Write(k.eventfd, []byte{1, 0, 0, 0, 0, 0, 0, 1}); err != nil {
		t.Fatal(err)
	}
	finishes(t, "sleeper", wg.Wait)
	if n := openDescriptors(t); n != before {
		t.Errorf("%d descriptors at the end, %d before", n, before)
	}
	k.wake()
	if n := k.wait(forever); n != sleepDisturbed {
		t.Errorf("wait on closed descriptors: %d", n)
	}
}
