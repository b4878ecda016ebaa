package bench

import "github.com/pm2-go/pm2/sched"

// Experiment is one row before it is measured. Beside goroutines both sides have the row's CPUs alone, for all their OS
// threads, and begin with GOMAXPROCS=P. The peer goes first in every other repetition.
type Experiment struct {
	Name     string
	VPs      int          // of our scheduler
	P        int          // GOMAXPROCS of the peer; 0: the peer is not made of goroutines and brings its own scheduler
	PeerName string       // what the peer is
	Crosses  bool         // crosses cores: needs two CPUs, and is probed
	Competes bool         // shares are compared as well: see watch.shares
	Parallel bool         // compares two VPs with one
	Heavy    bool         // takes seconds and gigabytes: measured only when asked for by name
	Policy   sched.Policy // of our scheduler

	// Ours performs n operations, in a thread of a scheduler with VPs VPs. It warms up, then times with s.watch.
	Ours func(s *stage, n int) error
	// Peer performs n operations in goroutines under GOMAXPROCS=P.
	Peer func(w *watch, n int) error
	// PeerStage is the peer if it is a scheduler of ours with PeerVPs VPs.
	PeerStage func(s *stage, n int) error
	PeerVPs   int

	// Exchange and PeerExchange are the two sides if they are processes that exchange messages.
	Exchange, PeerExchange *exchange

	// Least is the smallest sensible number of operations of a repetition; also the number it is rounded to a multiple
	// of. 0 stands for 1.
	Least int
	// Most bounds the operations of a repetition; 0: no bound.
	Most int
}

// All lists the rows in the order in which they run.
func All() []Experiment {
	var all []Experiment
	all = append(all, threadRows()...)
	all = append(all, synchronizationRows()...)
	all = append(all, messageRows()...)
	all = append(all, timerRows()...)
	all = append(all, progressRows()...)
	all = append(all, socketRows()...)
	all = append(all, silenceRows()...)
	all = append(all, parallelRows()...)
	all = append(all, wakeRows()...)
	all = append(all, treeRows()...)
	all = append(all, crowdRows()...)
	all = append(all, programRows()...)
	all = append(all, callerRows()...)
	return all
}

// Names lists the names of rows.
func Names(rows []Experiment) []string {
	names := make([]string, len(rows))
	for i, x := range rows {
		names[i] = x.Name
	}
	return names
}
