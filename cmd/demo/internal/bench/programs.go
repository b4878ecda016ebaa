package bench

import "fmt"

// program is a whole program as people write it, twice: with threads and with goroutines.
// Both check what they have computed.
type program struct {
	name   string
	peer   string // what the other version is made of
	ours   func(w *watch) error
	theirs func(w *watch) error
	heavy  bool
	vps    []int // nil: 1 and 2
}

// programRows are rows of whole programs: each is one operation. See Experiment.Program for what both
// sides have in common.
func programRows() []Experiment {
	var rows []Experiment
	for _, p := range programs() {
		vps := p.vps
		if vps == nil {
			vps = []int{1, 2}
		}
		for _, n := range vps {
			unit := "VP"
			if n > 1 {
				unit = "VPs"
			}
			rows = append(rows, Experiment{
				Name: fmt.Sprintf("program: %s, %d %s", p.name, n, unit), VPs: n, P: n, PeerName: fmt.Sprintf("%s, P=%d", p.peer, n),
				Crosses: n > 1, Heavy: p.heavy, Program: true, Most: 1,
				Ours: func(s *stage, _ int) error { return p.ours(s.watch) },
				Peer: func(w *watch, _ int) error { return p.theirs(w) },
			})
		}
	}
	return rows
}

// The sizes are such that goroutines take some 5 to 40 ms on one CPU; for the heavy
// ones, seconds.
func programs() []program {
	const same = "the same with goroutines"
	return []program{
		{name: "fib(21), fork and join", peer: "go + WaitGroup", ours: warm(forkOurs(21)), theirs: warm(forkPeer(21))},
		{name: "ring of 100", peer: "unbuffered channels", ours: warm(ringOurs(100, 300)), theirs: warm(ringPeer(100, 300))},
		{name: "pipeline of 4", peer: "channels of 16", ours: warm(pipelineOurs(20_000)), theirs: warm(pipelinePeer(20_000))},
		{name: "prime sieve to 2,000", peer: "unbuffered channels", ours: warm(sieveOurs(2000)), theirs: warm(sievePeer(2000))},
		{name: "pool of 64 on a Go channel", peer: same, ours: warm(pool(joined, 64, 20_000)), theirs: warm(pool(grouped, 64, 20_000))},
		{name: "200 http.Get of 10 ms", peer: same, ours: gets(joined, 200), theirs: gets(grouped, 200)},
		{name: "1,000 in time.Sleep(10 ms)", peer: same, ours: warm(naps(joined, 1000)), theirs: warm(naps(grouped, 1000))},
		{name: "10,000 in <-ch, from close on", peer: same, ours: closing(joined, 10_000), theirs: closing(grouped, 10_000)},
		{
			name: "mergesort of 10,000,000", peer: "go + WaitGroup", heavy: true, vps: []int{2},
			ours: mergesort(10_000_000, sortOurs), theirs: mergesort(10_000_000, sortPeer),
		},
		{
			name: "fib(32), fork and join", peer: "go + WaitGroup", heavy: true,
			ours: peak(forkOurs(32)), theirs: peak(forkPeer(32)),
		},
	}
}

// warm runs a program twice and times the second time: the first finds a scheduler that has
// run no threads yet.
func warm(run func(w *watch) error) func(w *watch) error {
	return func(w *watch) error {
		return w.timed(1, 1, func(int) error { return run(w) })
	}
}

// peak runs a program once, for its time and the memory that it needs.
func peak(run func(w *watch) error) func(w *watch) error {
	return func(w *watch) error {
		return w.peak(1, func() error { return run(w) })
	}
}

// expect compares what a program has computed with what is right.
func expect[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s: %v instead of %v", what, got, want)
	}
	return nil
}
