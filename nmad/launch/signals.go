package launch

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// forward passes signals on to the children until they have ended, and then, if there
// was one, lets this process die of it.
func (j *Job) forward() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		var kill <-chan time.Time
		for {
			select {
			case sig := <-signals:
				j.mu.Lock()
				again := j.caught != nil
				j.caught = sig
				j.mu.Unlock()
				if again {
					j.Kill()
					continue
				}
				j.Signal(sig.(syscall.Signal))
				kill = time.After(j.spec.Grace)
			case <-kill:
				j.Kill()
			case <-j.over:
				signal.Stop(signals)
				j.mu.Lock()
				caught := j.caught
				j.mu.Unlock()
				if caught != nil {
					signal.Reset(caught)
					_ = syscall.Kill(os.Getpid(), caught.(syscall.Signal)) // to ourselves: cannot fail
				}
				return
			}
		}
	}()
}
