package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
)

// stage is what a repetition of ours runs on: a scheduler of its own, with an engine on its hooks and nothing pending.
type stage struct {
	sched  *sched.Scheduler
	engine *pioman.Engine
	watch  *watch
}

// patience is how long a scheduler may take to stop; its threads have ended by then.
const patience = 10 * time.Second

// perform runs one repetition in a thread of a new scheduler with that many VPs on the first of the CPUs.
func perform(vps int, policy sched.Policy, cpus []int, n int, ours func(*stage, int) error) (_ sample, err error) {
	s, err := sched.New(sched.Config{VPs: vps, Policy: policy, CPUs: cpus[:min(vps, len(cpus))]})
	if err != nil {
		return sample{}, fmt.Errorf("start a scheduler with %d VPs: %w", vps, err)
	}
	defer func() { err = errors.Join(err, stopped(s)) }()
	engine := pioman.New(pioman.Config{Name: "bench"})
	stop, err := engine.Attach(s)
	if err != nil {
		return sample{}, err
	}
	defer func() {
		stop()
		err = errors.Join(err, engine.Close())
	}()
	w := &watch{}
	marcel.RunOn(s, func() { err = ours(&stage{s, engine, w}, n) })
	return w.sample(n), err
}

// stopped stops a scheduler.
func stopped(s *sched.Scheduler) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		return fmt.Errorf("stop the scheduler: %w", err)
	}
	return nil
}

// performPeer runs one repetition in goroutines under GOMAXPROCS=p. No scheduler of ours may exist meanwhile.
func performPeer(p, n int, peer func(*watch, int) error) (sample, error) {
	before := runtime.GOMAXPROCS(p)
	defer runtime.GOMAXPROCS(before)
	w := &watch{}
	err := peer(w, n)
	return w.sample(n), err
}
