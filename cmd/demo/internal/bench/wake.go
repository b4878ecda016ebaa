package bench

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/marcel"
)

// asleep is how long the other side waits before it is woken: its OS thread sleeps in the kernel by then.
const asleep = 2 * time.Millisecond

func wakeRows() []Experiment {
	return []Experiment{{
		Name: "wake of a sleeping VP", VPs: 2, P: 2, PeerName: "channel to a goroutine whose OS thread sleeps, P=2",
		Crosses: true, Most: 200, Ours: wakeOurs, Peer: wakePeer,
	}}
}

// lost is the time after which an event that has not happened is lost rather than late: on a machine in use a process
// may have no processor for seconds.
const lost = time.Minute

// wakeOurs measures from the release of a semaphore on one VP to the return of Acquire on the other, which slept. The
// figure is the median of n.
func wakeOurs(s *stage, n int) error {
	var bell marcel.Semaphore
	var err error
	var late []float64
	var heard atomic.Int64
	sleeper := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(1)}, func() {
		for range n {
			bell.Acquire()
			heard.Store(asm.Cycles())
		}
	})
	ringer := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
		late, err = rings(n, bell.Release, &heard, s.watch)
	})
	if err = firstError(ringer.Join(), err); err != nil {
		for range n { // what it still waits for
			bell.Release()
		}
	}
	err = firstError(err, sleeper.Join())
	s.watch.set(time.Duration(stat.Quantile(late, 0.5) * float64(n)))
	return err
}

func wakePeer(w *watch, n int) error {
	bell := make(chan struct{}, 1)
	var heard atomic.Int64
	go func() {
		for range n {
			<-bell
			heard.Store(asm.Cycles())
		}
	}()
	late, err := rings(n, func() { bell <- struct{}{} }, &heard, w)
	w.set(time.Duration(stat.Quantile(late, 0.5) * float64(n)))
	return err
}

// rings rings n times and returns how late each was heard, in ns. It computes all the while, so that the other side has
// to be heard on its own processor.
func rings(n int, ring func(), heard *atomic.Int64, w *watch) ([]float64, error) {
	late := make([]float64, 0, n)
	steps := stepsFor(time.Microsecond)
	w.begin()
	defer w.end()
	for range n {
		for until := time.Now().Add(asleep); time.Now().Before(until); {
			sink.Store(labour(steps))
		}
		heard.Store(0)
		began := asm.Cycles()
		ring()
		for deadline := time.Now().Add(lost); heard.Load() == 0; {
			sink.Store(labour(steps))
			if time.Now().After(deadline) {
				return nil, fmt.Errorf("the sleeper was not woken within %v", lost)
			}
		}
		late = append(late, float64(asm.Nanos(max(heard.Load()-began, 0))))
	}
	return late, nil
}
