package stress

import (
	"math/rand/v2"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// blocks blocks in the kernel, in channels and locks, having said so; or says so in vain.
func (w *round) blocks(r *rand.Rand) {
	switch r.IntN(5) {
	case 0:
		marcel.Blocking(func() {})
	case 1:
		marcel.Blocking(func() { nap(r.IntN(100_000)) })
	case 2:
		marcel.Blocking(func() { w.channel(r) })
	case 3:
		marcel.Blocking(func() { marcel.Yield(); nap(1000); w.useUnits(r) })
	case 4:
		marcel.Blocking(func() { burn(upTo(r, 200*time.Microsecond)) })
	}
}

// silent blocks without saying so.
func (w *round) silent(r *rand.Rand) {
	switch r.IntN(5) {
	case 0:
		nap(r.IntN(100_000))
	case 1:
		w.channel(r)
	case 2:
		time.Sleep(upTo(r, 200*time.Microsecond))
	case 3:
		runtime.Gosched()
	case 4:
		var mu sync.Mutex
		mu.Lock()
		w.helper.Go(func() { defer mu.Unlock(); time.Sleep(20 * time.Microsecond) })
		mu.Lock()
	}
}

// channel receives what a goroutine sends.
func (w *round) channel(r *rand.Rand) {
	x := r.Uint64()
	ch := make(chan uint64)
	w.helper.Go(func() {
		if x%4 == 0 {
			time.Sleep(50 * time.Microsecond)
		}
		ch <- x
	})
	if y := <-ch; y != x {
		w.fail("received %#x, want %#x", y, x)
	}
}

// process runs another program.
func (w *round) process(*rand.Rand) {
	if err := marcel.RunProcess(exec.Command("true")); err != nil {
		w.fail("a process: %v", err)
	}
}
