package lab

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/cmd/demo/internal/taskqueue"
)

// role is what one bound thread of an experiment does, until it is through.
type role struct {
	cpu int
	run func() error
}

// bound runs each role on an OS thread of its own, bound to its CPU, and waits for all. None begins before all are
// bound.
func bound(roles ...role) error {
	if p := runtime.GOMAXPROCS(0); p <= len(roles) {
		runtime.GOMAXPROCS(len(roles) + 1)
		defer runtime.GOMAXPROCS(p)
	}
	ready, start, ended := make(chan error, len(roles)), make(chan bool), make(chan error, len(roles))
	for _, r := range roles {
		go func() { // ends locked, so that the thread goes with its mask
			runtime.LockOSThread()
			ready <- binding.Thread(r.cpu)
			if !<-start {
				ended <- nil
				return
			}
			ended <- r.run()
		}()
	}
	var err error
	for range roles {
		err = errors.Join(err, <-ready)
	}
	for range roles {
		start <- err == nil
	}
	for range roles {
		err = errors.Join(err, <-ended)
	}
	return err
}

// exchange has a thread on CPU a, VP 0, submit job n times and poll until it is finished each time, while another one
// on CPU b polls as VP 1. It returns the times in ns.
func exchange(q taskqueue.Queues, j *taskqueue.Job, a, b, n int) (samples []float64, err error) {
	q.Prepare(j)
	samples = make([]float64, 0, n)
	overhead, ns := stat.ClockOverhead(), nsPerCycle()
	var over atomic.Bool
	err = bound(
		role{a, func() error {
			defer over.Store(true)
			for i := range warmup(n) + n {
				t0 := asm.Cycles()
				if err := q.Submit(j); err != nil {
					return fmt.Errorf("%s: submit job %d: %w", q.Name(), i, err)
				}
				for !q.Finished(j) {
					q.Poll(0)
				}
				t1 := asm.Cycles()
				if i >= warmup(n) {
					samples = append(samples, float64(max(t1-t0-overhead, 1))*ns)
				}
			}
			return nil
		}},
		role{b, func() error {
			for !over.Load() {
				q.Poll(1)
				asm.Pause()
			}
			return nil
		}})
	return samples, err
}
