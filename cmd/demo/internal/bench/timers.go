package bench

import (
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/marcel"
)

const (
	nap     = 100 * time.Microsecond
	farAway = time.Hour
)

func timerRows() []Experiment {
	return []Experiment{
		{
			Name: "timer start+stop, 1 VP", VPs: 1, P: 1, PeerName: "time.Timer Reset+Stop, P=1",
			Ours: timerOurs, Peer: timerPeer,
		},
		{
			Name: "sleep 100 us, how late, 1 VP", VPs: 1, P: 1, PeerName: "time.Sleep, P=1", Most: 100,
			Ours: lateOurs, Peer: latePeer,
		},
	}
}

// timerOurs starts a timer that is far from over, and stops it: as each wait with a time limit does that ends well.
func timerOurs(s *stage, n int) error {
	t := marcel.NewTimer(farAway)
	defer t.Stop()
	s.watch.begin()
	for range n {
		t.Reset(farAway)
		t.Stop()
	}
	s.watch.end()
	return nil
}

func timerPeer(w *watch, n int) error {
	t := time.NewTimer(farAway)
	defer t.Stop()
	w.begin()
	for range n {
		t.Reset(farAway)
		t.Stop()
	}
	w.end()
	return nil
}

func lateOurs(s *stage, n int) error { return late(s.watch, n, marcel.Sleep) }

func latePeer(w *watch, n int) error { return late(w, n, time.Sleep) }

// late measures how much longer than asked for a sleep takes while there is nothing else to do: the median of n.
func late(w *watch, n int, sleep func(time.Duration)) error {
	all := make([]float64, n)
	w.begin()
	for i := range all {
		begin := time.Now()
		sleep(nap)
		all[i] = float64(time.Since(begin) - nap)
	}
	w.end()
	w.set(time.Duration(stat.Quantile(all, 0.5) * float64(n)))
	return nil
}
