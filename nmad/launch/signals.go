package launch

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Signals that end the job, and those that are merely passed on: what they do is the ranks' affair.
var (
	endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	passedSignals = []os.Signal{syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
)

// forward passes signals on to the children until they have ended. A signal that this process was started to
// ignore (SIGHUP by nohup, SIGTSTP) stays ignored.
func (j *Job) forward() {
	ending, passed, stop := make(chan os.Signal, 4), make(chan os.Signal, 4), make(chan os.Signal, 4)
	notify(ending, endingSignals)
	notify(passed, passedSignals)
	notify(stop, []os.Signal{syscall.SIGTSTP})
	go func() {
		defer signal.Stop(ending)
		defer signal.Stop(passed)
		defer signal.Stop(stop)
		var kill <-chan time.Time
		for {
			select {
			case sig := <-passed:
				j.Signal(sig.(syscall.Signal))
			case <-stop:
				j.suspend()
			case sig := <-ending:
				if j.catch(sig.(syscall.Signal)) {
					j.GiveUp()
					continue
				}
				j.Signal(sig.(syscall.Signal))
				kill = time.After(j.spec.Grace)
			case <-kill:
				j.GiveUp()
			case <-j.done:
				return
			}
		}
	}()
}

// suspend stops the job as a shell does at the terminal's stop key. It stops the ranks first, because the terminal does
// not know their process groups, and then this process. Once this process is continued, it continues the ranks.
func (j *Job) suspend() {
	j.Signal(syscall.SIGTSTP)
	stopHere()
	j.Signal(syscall.SIGCONT)
}

// notify has c receive the signals, but for SIGHUP and SIGTSTP if they are ignored.
func notify(c chan<- os.Signal, signals []os.Signal) {
	for _, s := range signals {
		if s != syscall.SIGHUP && s != syscall.SIGTSTP || !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// catch records the signal that ends the job, and reports whether there was an earlier one.
func (j *Job) catch(sig syscall.Signal) (again bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	again = j.interrupt != 0
	j.interrupt, j.interruptedTwice = sig, again
	return again
}

// interruption returns the error for the signal that has ended the job. The caller holds mu, or the job is over.
func (j *Job) interruption() error {
	return &InterruptError{Signal: j.interrupt, Killed: j.interruptedTwice}
}
