package bench

import (
	"fmt"
	"runtime/metrics"
	"time"
)

// A version of a program does its work in size n and returns a number by which the result is judged.
type version func(w *watch, n int) (int, error)

// program is a whole program as people write it, twice: with threads and with goroutines.
type program struct {
	name   string
	peer   string // what the other version is made of
	n      int    // its size
	tiny   int    // its size in tests
	ours   version
	theirs version
	want   func(n int) int // the right result
	timing timing
	heavy  bool
	from   int // VPs; 0 stands for 1
}

// timing runs a version by way of run, which judges the result, and times it.
type timing func(w *watch, run func() error) error

// programRows are rows of whole programs: each is one operation, on 1 and on 2 VPs.
func programRows() []Experiment {
	var rows []Experiment
	for _, p := range programs() {
		for vps := max(p.from, 1); vps <= 2; vps++ {
			rows = append(rows, p.row(vps, p.n))
		}
	}
	return rows
}

func (p *program) row(vps, n int) Experiment {
	unit := "VP"
	if vps > 1 {
		unit = "VPs"
	}
	return Experiment{
		Name: fmt.Sprintf("program: %s, %d %s", p.name, vps, unit), VPs: vps, P: vps, PeerName: fmt.Sprintf("%s, P=%d", p.peer, vps),
		Crosses: vps > 1, Heavy: p.heavy, Most: 1,
		Ours: func(s *stage, _ int) error { return p.judged(s.watch, n, p.ours) },
		Peer: func(w *watch, _ int) error { return p.judged(w, n, p.theirs) },
	}
}

// judged times a version. A wrong result is an error.
func (p *program) judged(w *watch, n int, v version) error {
	want := p.want(n)
	return p.timing(w, func() error {
		got, err := v(w, n)
		if err == nil && got != want {
			err = fmt.Errorf("%s: the result is %d, %d is right", p.name, got, want)
		}
		return err
	})
}

// The sizes are such that goroutines take some 5 to 40 ms on one CPU; for the heavy ones, seconds.
func programs() []program {
	const groups, channels, same = "go + WaitGroup", "channels", "the same with goroutines"
	token := func(laps int) int { return ringMembers * laps }
	square := func(n int) int { return n * n }
	gauss := func(n int) int { return n * (n + 1) / 2 }
	all := func(n int) int { return n }
	return []program{
		{name: "fib(21), Spawn and Join", peer: groups, n: 21, tiny: 8, ours: fibSpawn, theirs: fibGroups, want: fib, timing: warm},
		{name: "fib(21), Do", peer: groups, n: 21, tiny: 8, ours: fibDo, theirs: fibGroups, want: fib, timing: warm},
		{name: "ring of 100", peer: channels, n: 300, tiny: 2, ours: ringOurs, theirs: ringPeer, want: token, timing: warm},
		{name: "pipeline of 4", peer: "channels of 16", n: 20_000, tiny: 50, ours: pipelineOurs, theirs: pipelinePeer, want: square, timing: warm},
		{name: "prime sieve to 2,000", peer: channels, n: 2000, tiny: 50, ours: sieveOurs, theirs: sievePeer, want: primes, timing: warm},
		{name: "pool of 64 on a Go channel", peer: same, n: 20_000, tiny: 200, ours: pool(joined), theirs: pool(grouped), want: gauss, timing: warm},
		{name: "200 x http.Get of 10 ms", peer: same, n: 200, tiny: 5, ours: gets(joined), theirs: gets(grouped), want: all, timing: warm},
		{name: "1,000 in time.Sleep(10 ms)", peer: same, n: 1000, tiny: 20, ours: naps(joined), theirs: naps(grouped), want: all, timing: warm},
		{name: "10,000 in <-ch, from close", peer: same, n: 10_000, tiny: 100, ours: closing(joined), theirs: closing(grouped), want: all, timing: second},
		{
			name: "mergesort of 10,000,000", peer: groups, n: 10_000_000, tiny: 1000, heavy: true, from: 2,
			ours: mergesort(sortSpawn), theirs: mergesort(sortGroups), want: all, timing: itself,
		},
		{name: "fib(32), Spawn and Join", peer: groups, n: 32, tiny: 8, heavy: true, ours: fibSpawn, theirs: fibGroups, want: fib, timing: peak},
	}
}

// warm runs a program twice and times the second time: the first finds a scheduler that has run no threads yet.
func warm(w *watch, run func() error) error {
	return w.timed(1, 1, func(int) error { return run() })
}

// itself is the timing of a program that times a part of itself.
func itself(_ *watch, run func() error) error { return run() }

// second is the timing of a program that times a part of itself: it runs twice, and the second run counts.
func second(_ *watch, run func() error) error {
	if err := run(); err != nil {
		return err
	}
	return run()
}

// peak times the first run, and notes how much more memory was in use meanwhile than before: heap and stacks, garbage
// included, the largest of many looks.
func peak(w *watch, run func() error) error {
	const look = 5 * time.Millisecond
	use := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
	}
	inUse := func() (sum float64) {
		metrics.Read(use) // does not stop the world
		for _, s := range use {
			sum += float64(s.Value.Uint64())
		}
		return sum
	}
	w.settled()
	before := inUse()
	done, most := make(chan struct{}), make(chan float64)
	go func() {
		ticker := time.NewTicker(look)
		defer ticker.Stop()
		high := before
		for {
			select {
			case <-ticker.C:
				high = max(high, inUse())
			case <-done:
				most <- max(high, inUse())
				return
			}
		}
	}()
	w.begin()
	err := run()
	w.end()
	close(done)
	w.bytes = <-most - before
	return err
}
