package bench

import (
	"runtime"
	"sync"

	"github.com/pm2-go/pm2/marcel"
)

const spawnBatch = 1000

func threadRows() []Experiment {
	return []Experiment{
		{
			Name: "yield, 1 VP", VPs: 1, P: 1, PeerName: "runtime.Gosched, P=1", Least: 2,
			Ours: yieldOurs, Peer: yieldPeer,
		},
		{
			Name: "spawn+join one by one, 1 VP", VPs: 1, P: 1, PeerName: "go + WaitGroup, P=1",
			Ours: spawnOneOurs, Peer: spawnOnePeer,
		},
		{
			Name: "spawn+join 1000, 1 VP", VPs: 1, P: 1, PeerName: "go + WaitGroup, P=1", Least: spawnBatch,
			Ours: spawnBatchOurs, Peer: spawnBatchPeer,
		},
	}
}

// nothing is the body of a thread that is only made and awaited. No closure: what is measured is the thread.
func nothing() {}

// yieldOurs has two threads take turns. Each Yield is one operation.
func yieldOurs(s *stage, n int) error {
	turns := func(n int) {
		loop := func() {
			for range n / 2 {
				marcel.Yield()
			}
		}
		a, b := marcel.Spawn(loop), marcel.Spawn(loop)
		_ = a.Join()
		_ = b.Join()
	}
	return s.watch.timedLoop(n, 1000, turns)
}

func yieldPeer(w *watch, n int) error {
	turns := func(n int) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range n / 2 {
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
	}
	return w.timedLoop(n, 1000, turns)
}

func spawnOneOurs(s *stage, n int) error {
	turns := func(n int) (err error) {
		for range n {
			if e := marcel.Spawn(nothing).Join(); e != nil {
				err = e
			}
		}
		return err
	}
	return s.watch.timed(n, 1000, turns)
}

// awaited belongs to the goroutines of the spawn rows, which run one after the other.
var awaited sync.WaitGroup

func arrive() { awaited.Done() }

func spawnOnePeer(w *watch, n int) error {
	turns := func(n int) {
		for range n {
			awaited.Add(1)
			go arrive()
			awaited.Wait()
		}
	}
	return w.timedLoop(n, 1000, turns)
}

func spawnBatchOurs(s *stage, n int) error {
	var all [spawnBatch]marcel.Thread
	turns := func(n int) (err error) {
		for range n / spawnBatch {
			for i := range all {
				all[i] = marcel.Spawn(nothing)
			}
			for _, t := range all {
				if e := t.Join(); e != nil {
					err = e
				}
			}
		}
		return err
	}
	return s.watch.timed(n, 3*spawnBatch, turns)
}

func spawnBatchPeer(w *watch, n int) error {
	turns := func(n int) {
		for range n / spawnBatch {
			awaited.Add(spawnBatch)
			for range spawnBatch {
				go arrive()
			}
			awaited.Wait()
		}
	}
	return w.timedLoop(n, 3*spawnBatch, turns)
}
