package bench

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
)

const (
	blocked = 100_000
	million = 1_000_000
)

// crowdRows block many threads at once, then wake and join them all, twice. An operation is one thread's whole life, in
// the second crowd; memory is what is held while all of the first are blocked.
func crowdRows() []Experiment {
	return []Experiment{
		{
			Name: "100,000 threads blocked, 1 VP", VPs: 1, P: 1, PeerName: "goroutines on a channel, P=1", Heavy: true,
			Least: blocked, Most: blocked, Ours: blockedOurs, Peer: blockedPeer,
		},
		{
			Name: "1,000,000 threads blocked, 2 VPs", VPs: 2, P: 2, PeerName: "goroutines on a channel, P=2", Heavy: true,
			Least: million, Most: million, Crosses: true, Ours: blockedOurs, Peer: blockedPeer,
		},
	}
}

// twice has crowd called two times with n. The first one finds neither threads nor goroutines that could be used again;
// it shows what memory the crowd takes. The second one is timed: the Go runtime keeps the goroutines of all crowds
// before, our scheduler those of its own, and each side has had one then.
func twice(w *watch, n int, crowd func(allThere func()) error) error {
	w.settled()
	if err := crowd(func() { w.held(n) }); err != nil {
		return err
	}
	w.begin()
	err := crowd(func() {})
	w.end()
	return err
}

func blockedOurs(s *stage, n int) error {
	all := make([]marcel.Thread, n)
	return twice(s.watch, n, func(allThere func()) (err error) {
		var gate marcel.Semaphore
		var there atomic.Int64
		wait := func() { there.Add(1); gate.Acquire() }
		for i := range all {
			all[i] = marcel.Spawn(wait)
		}
		for there.Load() < int64(n) {
			marcel.Yield()
		}
		allThere()
		for range all {
			gate.Release()
		}
		for _, t := range all {
			err = firstError(err, t.Join())
		}
		return err
	})
}

func blockedPeer(w *watch, n int) error {
	return twice(w, n, func(allThere func()) error {
		gate := make(chan struct{})
		var all sync.WaitGroup
		var there atomic.Int64
		all.Add(n)
		wait := func() { there.Add(1); <-gate; all.Done() }
		for range n {
			go wait()
		}
		for there.Load() < int64(n) {
			runtime.Gosched()
		}
		allThere()
		for range n {
			gate <- struct{}{}
		}
		all.Wait()
		return nil
	})
}
