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
		add := func(name, peerName string, ours, peer counter) {
			rows = append(rows, Experiment{
				Name: "UTS " + t.Name + name, VPs: 2, P: 2, PeerName: peerName, Policy: sched.LIFO, Crosses: true, Heavy: true, Most: 1,
				Ours: func(s *stage, n int) error { return timeTrees(s.watch, n, t, ours) },
				Peer: func(w *watch, n int) error { return timeTrees(w, n, t, peer) },
			})
		}
		const loop = "the sequential program"
		add(", 2 VPs", "one goroutine per node, P=2", byThreads(false), byGoroutines(false))
		add(", leaves in place, 2 VPs", "one goroutine per node with children, P=2", byThreads(true), byGoroutines(true))
		add(", 2 VPs, beside one loop", loop, byThreads(false), byLoop)
		add(", leaves in place, 2 VPs, beside one loop", loop, byThreads(true), byLoop)
		add(", recursively, 2 VPs", "the same program, go and WaitGroup, P=2", byRecursion[seed], byRecursion[crew])
		add(", recursively, 2 VPs, beside one loop", loop, byRecursion[seed], byLoop)
	}
	return rows
}

// A counter returns how many nodes a tree has.
type counter func(t *uts.Tree) int64

// timeTrees times n counts of a tree. A wrong count is an error.
func timeTrees(w *watch, n int, t *uts.Tree, count counter) (err error) {
	w.begin()
	for range n {
		err = firstError(err, sized(t, count(t)))
	}
	w.end()
	return err
}

// byThreads has a thread visit each node, or each that has children if the leaves are visited in place.
func byThreads(inPlace bool) counter {
	return func(t *uts.Tree) (size int64) {
		var all marcel.Semaphore
		s := uts.NewSearch(t, func(t uts.Task) { marcel.SpawnBody(t) }, func(n int64) { size = n; all.Release() })
		s.InPlace = inPlace
		s.Start()
		all.Acquire()
		return size
	}
}

// byGoroutines is byThreads with goroutines.
func byGoroutines(inPlace bool) counter {
	return func(t *uts.Tree) int64 {
		all := make(chan int64, 1)
		s := uts.NewSearch(t, func(t uts.Task) { go t.Run() }, func(n int64) { all <- n })
		s.InPlace = inPlace
		s.Start()
		return <-all
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

// byRecursion has a task for each node with children wait for those of its children: S is what such tasks run on.
func byRecursion[S any, T uts.Team[S]](t *uts.Tree) int64 {
	r := uts.NewRecursion[S, T](t)
	r.Run()
	return r.Size
}

// byLoop counts in the caller alone.
func byLoop(t *uts.Tree) int64 { return t.Count(t.Root()) }

func sized(t *uts.Tree, n int64) error {
	if n != t.Nodes {
		return fmt.Errorf("%d nodes of tree %s were counted, it has %d", n, t.Name, t.Nodes)
	}
	return nil
}
