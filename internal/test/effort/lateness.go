package effort

import (
	"sync"
	"time"
)

// Lateness measures how late the machine wakes a sleeper. The function that it returns ends that, and returns the worst
// case; called again it returns the same.
func Lateness() (worst func() time.Duration) {
	stop, told := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		for {
			began := time.Now()
			select {
			case <-stop:
				told <- most
				return
			case <-time.After(time.Millisecond):
				most = max(most, time.Since(began)-time.Millisecond)
			}
		}
	}()
	return sync.OnceValue(func() time.Duration {
		close(stop)
		return <-told
	})
}
