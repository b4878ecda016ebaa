package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseBench(t *testing.T) {
	text := []byte(`{"rows":[{"name":"yield, 1 VP","ours_ns":50,"probe_ns":null},{"name":"across","ours_ns":240.5,"probe_ns":57}],
		"skipped":[{"name":"blind","why":"kept switching"}]}`)
	if f, err := parseBench(text, "yield, 1 VP", 1); err != nil || f != (figure{Size: 1, Median: 50}) {
		t.Errorf("got %+v, %v", f, err)
	}
	if f, err := parseBench(text, "across", 1); err != nil || f != (figure{Size: 1, Median: 240.5, Probe: 57}) {
		t.Errorf("got %+v, %v", f, err)
	}
	if _, err := parseBench(text, "blind", 1); !errors.Is(err, errNoFigure) || !strings.Contains(err.Error(), "kept switching") {
		t.Errorf("a skipped row: %v", err)
	}
	for name, text := range map[string]string{
		"no JSON": "50 ns", "other row": `{"rows":[{"name":"yield","ours_ns":50}]}`, "no time": `{"rows":[{"name":"x"}]}`,
	} {
		if f, err := parseBench([]byte(text), "x", 1); err == nil || errors.Is(err, errNoFigure) {
			t.Errorf("%s: got %+v, %v, want an error that ends the run", name, f, err)
		}
	}
}

func TestParseNumber(t *testing.T) {
	if f, err := parseNumber([]byte("28.50\n"), 1); err != nil || f != (figure{Size: 1, Median: 28.5}) {
		t.Errorf("got %+v, %v", f, err)
	}
	for _, text := range []string{"", "fast", "0", "-3", "NaN", "28 ns"} {
		if f, err := parseNumber([]byte(text), 1); err == nil {
			t.Errorf("%q: got %+v", text, f)
		}
	}
}

// TestCompareOperations: a run without a figure of one regime is a dropped pair,
// and the row is of an operation.
func TestCompareOperations(t *testing.T) {
	c := comparison{name: "argobots", operation: "yield, 1 VP", oneCPU: true, sizes: []int{1},
		ours: program{name: "ours"}, peer: program{name: "peer"}}
	turn := 0
	rows, err := compare(t.Context(), c, program{name: "probe"}, 1, 2, func(_ context.Context, p program, size int) (figure, error) {
		if p.name == "probe" {
			t.Error("there is nothing to probe on one CPU")
		}
		if turn++; turn == 1 {
			return figure{}, fmt.Errorf("%w: kept switching", errNoFigure)
		}
		return figure{Size: size, Median: map[string]float64{"ours": 50, "peer": 25}[p.name]}, nil
	})
	if err != nil || len(rows) != 1 || rows[0].pairs != 2 || rows[0].dropped != 1 {
		t.Fatalf("got %+v, %v", rows, err)
	}
	if c.title(1) != "argobots, yield, 1 VP" {
		t.Errorf("called %q", c.title(1))
	}
	r := c.json(rows[0])
	if r.Row != "yield, 1 VP" || r.Size != 0 || r.Ratio != 2 {
		t.Errorf("got %+v", r)
	}
	var out bytes.Buffer
	document{Rows: []jsonRow{r}}.writeTable(&out)
	for _, want := range []string{"argobots: per operation", "yield, 1 VP", "50.0 [50.0 50.0]", "2.00"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}

// TestArgobotsMissing: the comparison says once what it lacks, and fails nothing.
func TestArgobotsMissing(t *testing.T) {
	t.Setenv("ARGOBOTS", "")
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	half := t.TempDir()
	if err := os.MkdirAll(filepath.Join(half, "include"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "include", "abt.h"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{"": "-argobots", t.TempDir(): "include/abt.h", half: "libabt.so"} {
		s, err := parseFlags([]string{"-only", "argobots", "-argobots", prefix, "-demo", "/nowhere"})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.comparisons(&workshop{dir: "/nowhere"})); n != len(operations) {
			t.Fatalf("%d rows", n)
		}
		var out, errs bytes.Buffer
		if err := compareAll(t.Context(), s, &out, &errs); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, "skipped argobots") || !strings.Contains(got, want) || !strings.Contains(got, "not installed") {
			t.Errorf("with prefix %q it prints\n%s\nwithout %q", prefix, got, want)
		}
		if cpus, err := usableCPUs(); err == nil && len(cpus) > 1 && strings.Count(out.String(), "skipped argobots") != 1 {
			t.Errorf("it says so more than once:\n%s", out.String())
		}
	}
}

// TestArgobotsFound: a prefix in the environment counts, and the static library
// comes first.
func TestArgobotsFound(t *testing.T) {
	prefix := t.TempDir()
	for _, name := range []string{"include/abt.h", "lib/libabt.a", "lib/libabt.so"} {
		if err := os.MkdirAll(filepath.Join(prefix, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(prefix, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ARGOBOTS", prefix)
	s, err := parseFlags(nil)
	if err != nil || s.argobots != prefix {
		t.Errorf("got %q, %v", s.argobots, err)
	}
	if options, err := argobotsOptions(prefix); err != nil || !slices.Contains(options, filepath.Join(prefix, "lib", "libabt.a")) {
		t.Errorf("got %v, %v", options, err)
	}
}

// TestArgobotsRuns runs the peer's every row once where ARGOBOTS names one.
func TestArgobotsRuns(t *testing.T) {
	prefix := os.Getenv("ARGOBOTS")
	if prefix == "" {
		t.Skip("ARGOBOTS names no installed Argobots")
	}
	w, err := newWorkshop()
	if err != nil {
		t.Fatal(err)
	}
	defer w.remove()
	cpus, err := usableCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operations {
		p := w.argobots(prefix, o)
		if err := p.build(t.Context()); errors.Is(err, errMissing) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		if f, err := run(t.Context(), p, 1, 0, [2]int{cpus[0], cpus[len(cpus)-1]}); err != nil {
			t.Error(err)
		} else if f.Median > 1e9 {
			t.Errorf("%s takes %v ns", o.row, f.Median)
		}
	}
}
