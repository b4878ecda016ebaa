package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	asRank()
	enterLoopback()
	os.Exit(m.Run())
}

// TestIsolation: an isolated program sees loopback, up, and nothing else.
func TestIsolation(t *testing.T) {
	if !canIsolate() {
		t.Skip("the kernel gives this user no network namespace")
	}
	cmd := exec.Command("cat", "/proc/net/dev")
	onlyLoopback(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if name, _, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) != "lo" {
			t.Errorf("there is also %s", strings.TrimSpace(name))
		}
	}
	cmd = exec.Command("sh", "-c", "no such command")
	onlyLoopback(cmd)
	if err := cmd.Run(); err == nil {
		t.Error("a failing command must fail in isolation too")
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string][]int{
		"1":         {1},
		"1:16":      {1, 2, 4, 8, 16},
		"1:5":       {1, 2, 4},
		"3:3":       {3},
		"1,8,4K,1M": {1, 8, 4096, 1 << 20},
		"512K:2M":   {512 << 10, 1 << 20, 2 << 20},
		"1G":        {1 << 30},
	} {
		got, err := parseSizes(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("parseSizes(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "4:1", "0", "-1", "1:", ":4", "1,,2", "1k", "K", "2G", "9999999999", "1 ", "1.5K", "1:2:4"} {
		if got, err := parseSizes(text); err == nil {
			t.Errorf("parseSizes(%q) = %v, want an error", text, got)
		}
	}
	for n, want := range map[int]string{1: "1", 1000: "1000", 1024: "1K", 1536: "1536", 4 << 20: "4M", 1 << 30: "1G"} {
		if got := formatSize(n); got != want {
			t.Errorf("formatSize(%d) = %q, want %q", n, got, want)
		}
	}
}

func FuzzSizes(f *testing.F) {
	for _, text := range []string{"1:64K", "1,8,4K,1M", "4:1", "2147483647", "1G:2G", ","} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sizes, err := parseSizes(text)
		if (err == nil) != (len(sizes) > 0) {
			t.Fatalf("%q: %v with error %v", text, sizes, err)
		}
		for _, n := range sizes {
			if n < 1 || n > largestSize {
				t.Fatalf("%q: size %d out of range", text, n)
			}
			if back, err := parseSize(formatSize(n)); err != nil || back != n {
				t.Fatalf("%d is written %q and read back as %d, %v", n, formatSize(n), back, err)
			}
		}
	})
}

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{nil, 0.5, 0},
		{[]float64{3}, 0.25, 3},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 3, 4, 5}, 0.25, 2},
		{[]float64{1, 2, 3, 4, 5}, 1, 5},
		{[]float64{1, 2, 3, 4}, 0.75, 3.25},
	} {
		if got := quantile(test.values, test.q); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("quantile(%v, %v) = %v, want %v", test.values, test.q, got, test.want)
		}
	}
}

func TestParseFigure(t *testing.T) {
	good := `{"rows":[{"size":1,"min_ns":10,"median_ns":20,"p99_ns":30},{"size":8,"min_ns":11,"median_ns":21,"p99_ns":31}]}`
	if f, err := parseFigure([]byte(good), 8); err != nil || f != (figure{Size: 8, Min: 11, Median: 21, P99: 31}) {
		t.Errorf("got %v, %v", f, err)
	}
	for name, text := range map[string]string{
		"no JSON":     "latency 20",
		"other size":  `{"rows":[{"size":1,"min_ns":1,"median_ns":1,"p99_ns":1}]}`,
		"no time":     `{"rows":[{"size":8}]}`,
		"disordered":  `{"rows":[{"size":8,"min_ns":5,"median_ns":4,"p99_ns":6}]}`,
		"end missing": good[:len(good)-3],
	} {
		if f, err := parseFigure([]byte(text), 8); err == nil {
			t.Errorf("%s: got %v, want an error", name, f)
		}
	}
}

func TestFlags(t *testing.T) {
	s, err := parseFlags([]string{"-only", strings.Join(known, ",")})
	if err != nil {
		t.Fatal(err)
	}
	every := s.comparisons(&workshop{dir: "/nowhere"})
	for _, name := range known {
		if !slices.ContainsFunc(every, func(c comparison) bool { return c.name == name }) {
			t.Errorf("%s compares nothing", name)
		}
	}
	s, err = parseFlags([]string{"-only", "tcp,shm", "-sizes", "1:4", "-engine", "hooks"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range s.comparisons(&workshop{dir: "/nowhere"}) {
		names = append(names, c.name)
	}
	if !slices.Equal(names, []string{"shm", "tcp"}) || s.reps != 5 || len(s.sizes) != 3 {
		t.Errorf("got %v, %+v", names, s)
	}
	for _, args := range [][]string{
		{"-only", "udp"}, {"-reps", "0"}, {"-sizes", "4:1"}, {"-iters", "-1"}, {"-format", "xml"}, {"-engine", "steam"}, {"-what"}, {"now"},
	} {
		if _, err := parseFlags(args); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: error is %v, want one line", args, err)
		}
	}
}

// script answers compare with figures from lists, in the order of the calls.
type script struct {
	order              []string
	probes, ours, peer []float64
	inside             [2]float64 // the probes that ours takes itself
}

func (s *script) measure(_ context.Context, p program, size int) (figure, error) {
	s.order = append(s.order, p.name)
	list := map[string]*[]float64{"probe": &s.probes, "ours": &s.ours, "peer": &s.peer}[p.name]
	if len(*list) == 0 {
		return figure{}, errors.New("no more " + p.name)
	}
	ns := (*list)[0]
	*list = append((*list)[1:], ns) // round and round
	f := figure{Size: size, Min: ns, Median: ns, P99: ns}
	if p.name == "ours" {
		f.Probe, f.ProbeAfter = s.inside[0], s.inside[1]
	}
	return f, nil
}

// TestCompare: turns are taken, and no pair that met both regimes counts.
func TestCompare(t *testing.T) {
	c := comparison{ours: program{name: "ours"}, peer: program{name: "peer"}}
	probe := program{name: "probe"}
	run := func(s *script, reps int) []row {
		t.Helper()
		rows, err := compare(t.Context(), c, probe, 8, reps, s.measure)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}

	quiet := &script{probes: []float64{57}, ours: []float64{100, 300, 200}, peer: []float64{400}}
	rows := run(quiet, 3)
	if len(rows) != 1 || rows[0].pairs != 3 || rows[0].regime != "near" || rows[0].ours.Median != 200 || rows[0].ours.Q1 != 150 || rows[0].dropped != 0 {
		t.Errorf("one regime: got %+v", rows)
	}
	if got := c.json(rows[0]); got.Ratio != 0.5 || got.Better != "lower" || got.Probe != 57 {
		t.Errorf("one regime: got %+v", got)
	}
	want := "probe ours probe peer probe probe peer probe ours probe probe ours probe peer probe "
	if got := strings.Join(quiet.order, " ") + " "; got != want {
		t.Errorf("order of the turns: got %s, want %s", got, want)
	}

	// near, near then far within the pair, far: the second pair must not count.
	jumpy := &script{probes: []float64{57, 58, 59, 60, 61, 265, 266, 267, 268}, ours: []float64{100, 9999, 1000}, peer: []float64{50, 9999, 500}}
	rows = run(jumpy, 2)
	if len(rows) != 2 || rows[0].regime != "near" || rows[1].regime != "far" || rows[0].ours.Median != 100 || rows[1].ours.Median != 1000 || rows[1].dropped != 1 {
		t.Errorf("two regimes: got %+v", rows)
	}

	if rows := run(&script{probes: []float64{57, 265}, ours: []float64{1}, peer: []float64{1}}, 2); len(rows) != 0 {
		t.Errorf("always mixed: got %+v, want no row", rows)
	}

	if rows := run(&script{probes: []float64{57}, ours: []float64{1}, peer: []float64{1}, inside: [2]float64{57, 265}}, 2); len(rows) != 0 {
		t.Errorf("mixed while ours ran: got %+v, want no row", rows)
	}

	c.oneCPU = true
	if rows := run(&script{ours: []float64{3}, peer: []float64{2}}, 4); len(rows) != 1 || rows[0].pairs != 4 || rows[0].regime != "" {
		t.Errorf("one CPU: got %+v", rows)
	}
	if _, err := compare(t.Context(), c, probe, 8, 1, (&script{ours: []float64{1}}).measure); err == nil {
		t.Error("a program that fails must fail the comparison")
	}
}

// TestPrograms compiles each peer that can be compiled here and lets it run a few
// round trips of several sizes on the CPUs there are.
func TestPrograms(t *testing.T) {
	t.Parallel() // most of it is waiting for launchers
	w, err := newWorkshop()
	if err != nil {
		t.Fatal(err)
	}
	defer w.remove()
	cpus, err := usableCPUs()
	if err != nil {
		t.Fatal(err)
	}
	where := [2]int{cpus[0], cpus[len(cpus)-1]}
	programs := []program{
		w.native("C busy-poll, tcp", "pingpong_tcp"),
		w.native("C busy-poll, unix", "pingpong_tcp", "-u"),
		w.native("C busy-poll, tcp, windows", "pingpong_tcp").windowed("-n", 7),
		w.native("blocking pipes", "pingpong_pipe"),
	}
	if where[0] != where[1] {
		programs = append(programs, w.probe())
	}
	if !testing.Short() { // the launchers take seconds
		programs = append(programs, w.openMPI("Open MPI"), w.ucx("Open MPI over UCX"), w.mpich("MPICH"),
			w.openMPI("Open MPI, windows").fresh().windowed("-n", 7))
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			if err := p.build(t.Context()); errors.Is(err, errMissing) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			sizes := []int{1, 100000}
			if p.name == "probe" {
				sizes = sizes[:1]
			}
			for _, size := range sizes {
				f, err := run(t.Context(), p, size, 20, where)
				if err != nil {
					t.Fatal(err)
				}
				if probes := p.name != "probe" && where[0] != where[1]; probes != (f.Probe > 0 && f.ProbeAfter > 0) {
					t.Errorf("%d bytes: probes %v and %v ns", size, f.Probe, f.ProbeAfter)
				}
				if f.Median > 10e9 {
					t.Errorf("%d bytes take %v ns: no clock counts like that", size, f.Median)
				}
			}
		})
	}
}

// TestRunEnds: what hangs is ended with its children, what fails says why.
func TestRunEnds(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	shell := func(text string) program {
		return program{name: "shell", command: func(int, int, [2]int) []string { return []string{"sh", "-c", text} }}
	}
	_, err := run(t.Context(), shell("echo what is wrong >&2; exit 3"), 1, 1, [2]int{})
	if err == nil || !strings.Contains(err.Error(), "what is wrong") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(errSlow) })
	began := time.Now()
	_, err = run(ctx, shell("sleep 600 & wait"), 1, 1, [2]int{})
	if !errors.Is(err, errSlow) || time.Since(began) > runLimit {
		t.Errorf("error is %v after %v", err, time.Since(began))
	}
}

func TestConfine(t *testing.T) {
	before, err := usableCPUs()
	if err != nil {
		t.Fatal(err)
	}
	last := before[len(before)-1]
	if err := onCPUs([2]int{last, last}, func() error {
		in, err := usableCPUs()
		if err == nil && !slices.Equal(in, []int{last}) {
			t.Errorf("inside: %v, want %d only", in, last)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if after, err := usableCPUs(); err != nil || !slices.Equal(after, before) {
		t.Errorf("outside: %v, %v, want %v", after, err, before)
	}
}

func TestReport(t *testing.T) {
	d := document{Experiment: "peers", Rows: []jsonRow{
		{Name: "shm", Size: 4096, OursName: "ours, shm", Peer: "theirs", Ours: 1500, PeerNs: 1000, Ratio: 1.5, Probe: 57, Regime: "near", Pairs: 5},
	}, Skipped: []skipped{{"mpich", "mpicc.mpich: not installed"}}}
	var out bytes.Buffer
	d.writeTable(&out)
	for _, want := range []string{"shm: ours, shm | theirs", "4K", "1.500", "1.50", "57 near", "skipped mpich: mpicc.mpich: not installed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := d.writeJSON(&out); err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"experiment", "machine", "parameters", "rows", "skipped"} {
		if _, ok := back[key]; !ok {
			t.Errorf("the JSON lacks %q", key)
		}
	}
}

// TestControl runs the whole command where no demo is needed.
func TestControl(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures for seconds")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	file := t.TempDir() + "/out.json"
	s, err := parseFlags([]string{"-control", "-only", "onecpu", "-reps", "2", "-iters", "50", "-json", file})
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if err := compareAll(t.Context(), s, &out, &errs); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || !bytes.Contains(text, []byte(`"pairs": 2`)) {
		t.Errorf("the JSON file holds %s, %v", text, err)
	}
	if !strings.Contains(out.String(), "blocking pipes") || !strings.Contains(errs.String(), "onecpu, 1 bytes") {
		t.Errorf("printed %s\nand %s", out.String(), errs.String())
	}
}
