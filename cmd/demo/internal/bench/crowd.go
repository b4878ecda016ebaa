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

// crowdRows block many threads at once, then wake and join them all. An operation
// is one thread's whole life; memory is what is held while all are blocked.
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

func blockedOurs(s *stage, n int) error {
	all := make([]marcel.Thread, n)
	var gate marcel.Semaphore
	var there atomic.Int64
	wait := func() { there.Add(1); gate.Acquire() }
	s.watch.settled()
	for i := range all {
		all[i] = marcel.Spawn(wait)
	}
	for there.Load() < int64(n) {
		marcel.Yield()
	}
	s.watch.pause()
	s.watch.held(n)
	s.watch.resume()
	for range all {
		gate.Release()
	}
	var err error
	for _, t := range all {
		err = firstError(err, t.Join())
	}
	s.watch.end()
	return err
}

func blockedPeer(w *watch, n int) error {
	gate := make(chan struct{})
	var all sync.WaitGroup
	var there atomic.Int64
	all.Add(n)
	wait := func() { there.Add(1); <-gate; all.Done() }
	w.settled()
	for range n {
		go wait()
	}
	for there.Load() < int64(n) {
		runtime.Gosched()
	}
	w.pause()
	w.held(n)
	w.resume()
	for range n {
		gate <- struct{}{}
	}
	all.Wait()
	w.end()
	return nil
}
