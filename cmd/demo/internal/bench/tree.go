package bench

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/cmd/demo/internal/uts"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// treeRows count public unbalanced trees: one thread per node, or per node with children, none of which waits; or
// recursively, each waiting for its children's.
func treeRows() []Experiment {
	var rows []Experiment
	for _, t := range []*uts.Tree{&uts.T1, &uts.T3} {
		rows = append(rows, Experiment{
			Name: "UTS " + t.Name + ", 2 VPs", VPs: 2, P: 2, PeerName: "one goroutine per node, P=2",
			Policy: sched.LIFO, Crosses: true, Heavy: true, Most: 1, Ours: treeOurs(t, false), Peer: treePeer(t, false),
		}, Experiment{
			Name: "UTS " + t.Name + ", leaves in place, 2 VPs", VPs: 2, P: 2, PeerName: "one goroutine per node with children, P=2",
			Policy: sched.LIFO, Crosses: true, Heavy: true, Most: 1, Ours: treeOurs(t, true), Peer: treePeer(t, true),
		}, Experiment{
			Name: "UTS " + t.Name + ", 2 VPs, beside one loop", VPs: 2, P: 2, PeerName: "the sequential program",
			Policy: sched.LIFO, Crosses: true, Heavy: true, Most: 1, Ours: treeOurs(t, false), Peer: treeLoop(t),
		}, Experiment{
			Name: "UTS " + t.Name + ", leaves in place, 2 VPs, beside one loop", VPs: 2, P: 2, PeerName: "the sequential program",
			Policy: sched.LIFO, Crosses: true, Heavy: true, Most: 1, Ours: treeOurs(t, true), Peer: treeLoop(t),
		}, Experiment{
			Name: "UTS " + t.Name + ", recursively, 2 VPs", VPs: 2, P: 2, PeerName: "the same program, go and WaitGroup, P=2",
			Policy: sched.LIFO, Crosses: true, Heavy: true, Most: 1, Ours: treeSeeds(t), Peer: treeGroups(t),
		}, Experiment{
			Name: "UTS " + t.Name + ", recursively, 2 VPs, beside one loop", VPs: 2, P: 2, PeerName: "the sequential program",
			Policy: sched.LIFO, Crosses: true, Heavy: true, Most: 1, Ours: treeSeeds(t), Peer: treeLoop(t),
		})
	}
	return rows
}

func treeOurs(t *uts.Tree, inPlace bool) func(*stage, int) error {
	return func(s *stage, n int) (err error) {
		s.watch.begin()
		for range n {
			var all marcel.Semaphore
			size := int64(0)
			s := uts.NewSearch(t, func(t uts.Task) { marcel.SpawnBody(t) }, func(n int64) { size = n; all.Release() })
			s.InPlace = inPlace
			s.Start()
			all.Acquire()
			err = firstError(err, sized(t, size))
		}
		s.watch.end()
		return err
	}
}

func treePeer(t *uts.Tree, inPlace bool) func(*watch, int) error {
	return func(w *watch, n int) (err error) {
		w.begin()
		for range n {
			all := make(chan int64, 1)
			s := uts.NewSearch(t, func(t uts.Task) { go t.Run() }, func(n int64) { all <- n })
			s.InPlace = inPlace
			s.Start()
			err = firstError(err, sized(t, <-all))
		}
		w.end()
		return err
	}
}

// seed is a uts.Team of threads that their joiner calls, if it comes before a thief or the VP's next turn.
type seed struct{ thread marcel.Thread }

func (s *seed) Start(_ *seed, t uts.Task) { s.thread = marcel.SpawnBody(t) }

func (s *seed) Ended(*seed) {}

func (s *seed) Join(*seed) { _ = s.thread.Join() }

// crew is a uts.Team of goroutines.
type crew struct{ below sync.WaitGroup }

func (*crew) Start(parent *crew, t uts.Task) {
	parent.below.Add(1)
	go t.Run()
}

func (*crew) Ended(parent *crew) { parent.below.Done() }

func (*crew) Join(parent *crew) { parent.below.Wait() }

func treeSeeds(t *uts.Tree) func(*stage, int) error {
	return func(s *stage, n int) (err error) {
		s.watch.begin()
		for range n {
			r := uts.NewRecursion[seed](t)
			r.Run()
			err = firstError(err, sized(t, r.Size))
		}
		s.watch.end()
		return err
	}
}

func treeGroups(t *uts.Tree) func(*watch, int) error {
	return func(w *watch, n int) (err error) {
		w.begin()
		for range n {
			r := uts.NewRecursion[crew](t)
			r.Run()
			err = firstError(err, sized(t, r.Size))
		}
		w.end()
		return err
	}
}

func treeLoop(t *uts.Tree) func(*watch, int) error {
	return func(w *watch, n int) (err error) {
		w.begin()
		for range n {
			err = firstError(err, sized(t, t.Count(t.Root())))
		}
		w.end()
		return err
	}
}

func sized(t *uts.Tree, n int64) error {
	if n != t.Nodes {
		return fmt.Errorf("%d nodes of tree %s were counted, it has %d", n, t.Name, t.Nodes)
	}
	return nil
}
