package lab

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCrowdRows: a thread that got everything done while the others waited has fast messages, and
// the round is as slow as it was.
func TestCrowdRows(t *testing.T) {
	c := crowd{name: "pairs", threads: []int{1, 2, 4}, paced: true}
	ours := []crowdRound{{1: {ns: []float64{100}, elapsed: 200, players: 1}, 2: {ns: []float64{100, 100}, elapsed: 200, players: 2, messages: 4, aggregates: 1, together: 2}}}
	rounds := []crowdRound{{1: {ns: []float64{400}, elapsed: 800, players: 1}, 2: {ns: []float64{50, 50}, elapsed: 1600, players: 2}}}
	all := c.rows("peer", rounds, ours, true)
	if len(all) != 2 {
		t.Fatalf("%d rows, want 2: nothing was measured with 4 threads", len(all))
	}
	if r := all[1]; r.Median != 50 || r.Paced != 800 || *r.Growth != 2 || *r.Ratio != 0.125 || *r.Slope != 400 || r.Together != nil {
		t.Errorf("%+v: growth %v, ratio %v, slope %v", r, *r.Growth, *r.Ratio, *r.Slope)
	}
	r := c.rows("ours", ours, ours, false)[1]
	if r.Ratio != nil || *r.Together != 0.5 || *r.PerPacket != 2 {
		t.Errorf("%+v", r)
	}
	if line := r.Line(); !strings.Contains(line, "50 % x2.0") {
		t.Error(line)
	}
}

// TestSlowPeer: a peer whose job does not end in time is skipped with a reason, and not asked again; the others' rows
// do without it.
func TestSlowPeer(t *testing.T) {
	dir := t.TempDir()
	script, asked := filepath.Join(dir, "peers"), filepath.Join(dir, "asked")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho >>"+asked+"\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var skipped []string
	s := &Sink{Skip: func(name, why string) { skipped = append(skipped, name+": "+why) }}
	c := crowd{name: "pairs", mode: "pairs", threads: []int{1, 2}}
	p := &peers{dir: &scratch{path: dir}, command: script, patience: 10 * time.Millisecond}
	e := c.peer(t.Context(), Options{Iters: 1}, s, p, mpich, "0,1")
	for range 2 {
		if of, err := e.measure(); err != nil || len(of) != 0 {
			t.Errorf("%v, %v", of, err)
		}
	}
	if len(skipped) != 1 || !strings.HasPrefix(skipped[0], mpich.title+": ") || !strings.Contains(skipped[0], "it took longer than 10ms") {
		t.Errorf("skipped: %q", skipped)
	}
	if text, _ := os.ReadFile(asked); len(text) > 1 {
		t.Errorf("it was asked %d times", len(text))
	}
	if rows := c.rows(mpich.title, []crowdRound{nil, nil}, []crowdRound{{1: {ns: []float64{1}, players: 1}}, {}}, true); len(rows) != 0 {
		t.Errorf("rows: %v", rows)
	}
}

func TestSlope(t *testing.T) {
	var rows []CrowdRow
	for _, n := range powers(64) {
		rows = append(rows, CrowdRow{Threads: n, Paced: 100 + 7*float64(n)})
	}
	if k := slope(rows); math.Abs(k-7) > 1e-6 {
		t.Errorf("slope %g, want 7", k)
	}
}

// TestNumbers: what a peer prints is checked.
func TestNumbers(t *testing.T) {
	lines, err := numbers("1 2.5\n\n3 1e3\n")
	if err != nil || len(lines) != 2 || lines[1][1] != 1000 {
		t.Errorf("%v, %v", lines, err)
	}
	if _, err := numbers("1 one\n"); err == nil || !strings.Contains(err.Error(), `"one"`) {
		t.Error(err)
	}
	var good [][]float64
	for k := range 3 {
		good = append(good, []float64{100, float64(k) * 50, 200, 300, 400})
	}
	points, err := pointsOf(good, 3)
	if err != nil || len(points) != 3 || points[2].compute != 100 || points[0].alone != 100 || len(points[0].total) != 3 {
		t.Errorf("%v, %v", points, err)
	}
	for _, bad := range [][][]float64{nil, good[1:], append(good[:len(good)-1:len(good)-1], []float64{1, 2}), {{0, 0, 1}}} {
		if _, err := pointsOf(bad, 3); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
}

// TestOverlapRow: ratios are those within the rounds, the ceiling is that of the side that computes.
func TestOverlapRow(t *testing.T) {
	round := func(total, cpu0, cpu1 float64) []point {
		return []point{{alone: 400, compute: 100, total: []float64{total}, cpu: [2]float64{cpu0, cpu1}}}
	}
	ours := [][]point{round(100, 110, 125), round(125, 110, 125), round(200, 110, 125)}
	c := contest{name: "tcp", variant: "ours", size: 1, who: bothSides, long: factors}
	r := c.row(0, ours, ours, false)
	if r.Overlap != 0.8 || *r.Ceiling != 0.8 || r.Ratio != nil || r.Alone != 400 || r.Rounds != 3 {
		t.Errorf("%+v, ceiling %v", r, *r.Ceiling)
	}
	c.who = senderOnly
	if r := c.row(0, ours, ours, false); *r.Ceiling != 0.9091 {
		t.Errorf("ceiling of the sender %v", *r.Ceiling)
	}
	peer := [][]point{round(200, 0, 0), round(250, 0, 0), round(200, 0, 0)}
	if r := c.row(0, peer, ours, true); *r.Ratio != 2 || r.Ceiling != nil {
		t.Errorf("%+v, ratio %v", r, *r.Ratio)
	}
	if !strings.Contains(r.Line(), "0.800") {
		t.Error(r.Line())
	}
}

// TestSendRow: what is perfect, and what is no overlap at all.
func TestSendRow(t *testing.T) {
	round := func(total float64) [][]point { return [][]point{{{alone: 400, compute: 100, total: []float64{total}}}} }
	c := contest{variant: "ours", size: 1, mbps: 1000, who: bothSides, long: lengths{of: []float64{100}, ns: true}}
	if r := c.sendRow(0, round(400), nil, false); r.Max != 1 || r.Sum != 0.8 || r.Ratio != nil || r.Compute != 100 || r.Name != "tcp, 1 Gbit/s" {
		t.Errorf("%+v", r)
	}
	r := c.sendRow(0, round(500), round(400), true)
	if r.Max != 1.25 || r.Sum != 1 || *r.Ratio != 0.8 || !strings.Contains(r.Line(), "1.250") {
		t.Errorf("%+v, ratio %v: %s", r, *r.Ratio, r.Line())
	}
}

// TestLengths: of T_comm, or fixed.
func TestLengths(t *testing.T) {
	of := lengths{of: []float64{0.25, 2}}
	if x := of.compute(1, 300); x != 600 || strings.Join(of.args(), " ") != "-f 0.25,2" {
		t.Errorf("%v, %v", x, of.args())
	}
	fixed := lengths{of: []float64{0, 1e7}, ns: true}
	if x := fixed.compute(1, 300); x != 1e7 || strings.Join(fixed.args(), " ") != "-t 0,10000000" {
		t.Errorf("%v, %v", x, fixed.args())
	}
}

// TestGateRow: a share is that of one round.
func TestGateRow(t *testing.T) {
	c := gateCase{driver: "shm", size: 1000}
	r := c.row([]load{{10, 20}, {30, 30}, {40, 10}})
	if r.Share != 0.5 || r.Worst != 0.25 || r.Smallest != 10 || r.Largest != 30 || r.Bandwidth != 50 {
		t.Errorf("%+v", r)
	}
}
