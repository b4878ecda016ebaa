package launch

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Signals that end the job, and those that are merely passed on: what they do is the ranks'
// affair.
var (
	endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	passedSignals = []os.Signal{syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
)

// forward passes signals on to the children until they have ended. SIGHUP remains ignored if this
// process was started so, as by nohup.
func (j *Job) forward() {
	ending, passed := make(chan os.Signal, 4), make(chan os.Signal, 4)
	notify(ending, endingSignals)
	notify(passed, passedSignals)
	go func() {
		defer signal.Stop(ending)
		defer signal.Stop(passed)
		var kill <-chan time.Time
		for {
			select {
			case sig := <-passed:
				j.Signal(sig.(syscall.Signal))
			case sig := <-ending:
				if j.catch(sig.(syscall.Signal)) {
					j.Kill()
					continue
				}
				j.Signal(sig.(syscall.Signal))
				kill = time.After(j.spec.Grace)
			case <-kill:
				j.Kill()
			case <-j.over:
				return
			}
		}
	}()
}

func notify(c chan<- os.Signal, signals []os.Signal) {
	for _, s := range signals {
		if s != syscall.SIGHUP || !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// catch notes what has ended the job; again: it was to end already.
func (j *Job) catch(sig syscall.Signal) (again bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	again = j.caught != 0
	j.caught, j.again = sig, again
	return again
}

// interruption is the error that tells of it. Under mu, or when the job is over.
func (j *Job) interruption() error { return &InterruptError{Signal: j.caught, Killed: j.again} }
