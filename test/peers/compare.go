package main

import (
	"context"
	"errors"
	"slices"
)

// regimeLimit divides the probe's two regimes, in ns for one cache line one way.
const regimeLimit = 120.0 // as demo has it

// A comparison is ours beside one peer over some sizes.
type comparison struct {
	name       string
	operation  string // of threads; empty: messages, one way
	window     int    // messages under way at once, in one direction; 0: ping-pong
	ours, peer program
	sizes      []int // of messages; of an operation only 1, which says nothing
	oneCPU     bool  // all of it runs on one CPU: there is nothing to probe
}

// title names a row of the comparison.
func (c comparison) title(size int) string {
	if c.operation != "" {
		return c.name + ", " + c.operation
	}
	return c.name + ", " + formatSize(size) + " bytes"
}

// windowed is the comparison with windows of that many messages.
func (c comparison) windowed(messages int) comparison {
	c.window = messages
	c.ours, c.peer = c.ours.windowed("--window", messages), c.peer.windowed("-n", messages)
	return c
}

// A row is the outcome for one size in one regime.
type row struct {
	size       int
	regime     string // "near", "far", "" on one CPU
	probe      float64
	ours, peer spread
	pairs      int // that count
	dropped    int // pairs of this size that met a change of regime
}

// A pair is one measurement of ours and one of the peer, one after the other.
type pair struct {
	ours, peer figure
	probe      float64 // median of the probes around and in it
}

// measure is what the comparison calls to run a program; tests put their own here.
type measure func(ctx context.Context, p program, size int) (figure, error)

// compare runs one size until one regime has reps pairs, at most 3*reps times, and returns a row per regime with at
// least one pair.
func compare(ctx context.Context, c comparison, probe program, size, reps int, m measure) ([]row, error) {
	byRegime := map[string][]pair{}
	dropped := 0
	enough := func() bool {
		for _, pairs := range byRegime {
			if len(pairs) >= reps {
				return true
			}
		}
		return false
	}
	for try := 0; try < 3*reps && !enough(); try++ {
		p, regime, err := onePair(ctx, c, probe, size, m, try%2 != 0)
		if errors.Is(err, errNoFigure) {
			dropped++
			continue
		}
		if err != nil {
			return nil, err
		}
		if regime == mixed {
			dropped++
			continue
		}
		byRegime[regime] = append(byRegime[regime], p)
	}
	var rows []row
	for _, regime := range []string{"", "near", "far"} {
		pairs := byRegime[regime]
		if len(pairs) == 0 {
			continue
		}
		r := row{size: size, regime: regime, pairs: len(pairs), dropped: dropped}
		var ours, peer []figure
		var probes []float64
		for _, p := range pairs {
			ours, peer, probes = append(ours, p.ours), append(peer, p.peer), append(probes, p.probe)
		}
		slices.Sort(probes)
		r.ours, r.peer, r.probe = spreadOf(ours), spreadOf(peer), quantile(probes, 0.5)
		rows = append(rows, r)
	}
	return rows, nil
}

const mixed = "mixed"

// onePair measures both once, the peer first or ours, so that what drifts favors neither over the pairs.
func onePair(ctx context.Context, c comparison, probe program, size int, m measure, peerFirst bool) (pair, string, error) {
	var p pair
	var probes []float64
	look := func() error {
		if c.oneCPU {
			return nil
		}
		f, err := m(ctx, probe, 1)
		probes = append(probes, f.Median)
		return err
	}
	if err := look(); err != nil {
		return p, "", err
	}
	turns := []struct {
		program program
		to      *figure
	}{{c.ours, &p.ours}, {c.peer, &p.peer}}
	if peerFirst {
		slices.Reverse(turns)
	}
	for _, turn := range turns {
		var err error
		if *turn.to, err = m(ctx, turn.program, size); err != nil {
			return p, "", err
		}
		if err := look(); err != nil {
			return p, "", err
		}
	}
	if c.oneCPU {
		return p, "", nil
	}
	for _, ns := range []float64{p.ours.Probe, p.ours.ProbeAfter, p.peer.Probe, p.peer.ProbeAfter} {
		if ns > 0 {
			probes = append(probes, ns)
		}
	}
	regime := regimeOf(probes[0])
	for _, ns := range probes {
		if regimeOf(ns) != regime {
			regime = mixed
		}
	}
	slices.Sort(probes)
	p.probe = quantile(probes, 0.5)
	return p, regime, nil
}

func regimeOf(ns float64) string {
	if ns < regimeLimit {
		return "near"
	}
	return "far"
}
