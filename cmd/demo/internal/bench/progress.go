package bench

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/tasklet"
)

func progressRows() []Experiment {
	return []Experiment{
		{
			Name: "task submit+run+complete", VPs: 1, P: 1, PeerName: "worker and two channels, P=1",
			Ours: taskOurs, Peer: workerPeer,
		},
		{
			Name: "tasklet schedule+run", VPs: 1, P: 1, PeerName: "go + WaitGroup, P=1",
			Ours: taskletOurs, Peer: spawnOnePeer,
		},
	}
}

// taskOurs submits an ltask, polls once, and finds its completion signaled.
func taskOurs(s *stage, n int) error {
	const done = 1
	var task pioman.Task
	var c pioman.Completion
	runs := 0
	task.Init("bench", func(*pioman.Task) pioman.Status { runs++; return pioman.Done }, pioman.OneShot)
	turns := func(n int) error {
		for range n {
			task.Notify(&c, done)
			if err := s.engine.Submit(&task); err != nil {
				return err
			}
			for !c.Test(done) {
				s.engine.Poll()
			}
			c.Reset()
		}
		return nil
	}
	if err := turns(1000); err != nil {
		return err
	}
	runs = 0
	s.watch.begin()
	err := turns(n)
	s.watch.end()
	if err == nil && runs != n {
		err = fmt.Errorf("%d tasks of %d ran", runs, n)
	}
	return err
}

// workerPeer is how a Go program hands a piece of work to another goroutine and learns of its end.
func workerPeer(w *watch, n int) error {
	work, done := make(chan func()), make(chan struct{})
	defer close(work)
	go func() {
		for f := range work {
			f()
			done <- struct{}{}
		}
	}()
	runs := 0
	f := func() { runs++ }
	turns := func(n int) {
		for range n {
			work <- f
			<-done
		}
	}
	turns(1000)
	runs = 0
	w.begin()
	turns(n)
	w.end()
	if runs != n {
		return fmt.Errorf("%d pieces of work of %d were done", runs, n)
	}
	return nil
}

// taskletOurs schedules a tasklet and fires the hook point at which it runs, as a context switch would; the switch
// itself is another row.
func taskletOurs(s *stage, n int) (err error) {
	v, err := tasklet.Attach(s.sched)
	if err != nil {
		return err
	}
	defer v.Detach()
	var runs atomic.Int64 // the clock may run it, too
	t := tasklet.New(v, func() { runs.Add(1) })
	defer t.Kill()
	vp := s.sched.CurrentVP()
	turns := func(n int) error {
		for range n {
			before := runs.Load()
			if !t.Schedule() {
				return errors.New("the tasklet was scheduled already")
			}
			for runs.Load() == before {
				s.sched.Hooks().Fire(hooks.Switch, vp)
			}
		}
		return nil
	}
	return s.watch.timed(n, 1000, turns)
}
