package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// An operation is what two packages of threads are compared by.
type operation struct {
	row      string // the row of `demo bench` that measures ours
	argobots string // what src/threads_argobots.c calls it
	crosses  bool   // two VPs, or two execution streams, on two CPUs
}

// operations are those of the comparison argobots.
var operations = []operation{
	{row: "yield, 1 VP", argobots: "yield"},
	{row: "spawn+join one by one, 1 VP", argobots: "one"},
	{row: "spawn+join 1000, 1 VP", argobots: "batch"},
	{row: "spawn+join one by one, 1 VP", argobots: "task"},
	{row: "spawn+join 1000, 1 VP", argobots: "tasks"},
	{row: "semaphore ping-pong, 1 VP", argobots: "ping"},
	{row: "semaphore ping-pong, 1 VP", argobots: "eventual"},
	{row: "semaphore ping-pong, each on its VP", argobots: "cross", crosses: true},
	{row: "semaphore ping-pong, each on its VP", argobots: "cross-eventual", crosses: true},
}

// argobotsRounds is how many operations one run of Argobots times: some 10 to 50 ms.
const argobotsRounds = 200000

// errNoFigure says that a program ran, but could not measure in one regime.
var errNoFigure = errors.New("no figure of one regime")

// bench is this module's `demo bench` for one row. Each of its runs is the median of several repetitions of 20 ms.
func (w *workshop) bench(binary string, o operation) program {
	p := w.ours(binary)
	p.name = "ours"
	p.confine = true // to the CPUs of the peer
	p.command = func(int, int, [2]int) []string {
		return []string{p.binary, "bench", "--rows", "^" + regexp.QuoteMeta(o.row) + "$", "--reps", "5", "--format", "json"}
	}
	p.parse = func(output []byte, size int) (figure, error) { return parseBench(output, o.row, size) }
	return p
}

// argobots is the same operation with Argobots' user-level threads, from the installation below prefix.
func (w *workshop) argobots(prefix string, o operation) program {
	const binary = "threads_argobots.bin"
	return program{
		name:    "Argobots, " + o.argobots,
		confine: true,
		build: func(ctx context.Context) error {
			options, err := argobotsOptions(prefix)
			if err != nil {
				return err
			}
			return w.compile(ctx, "gcc", "threads_argobots.c", binary, options...)
		},
		command: func(int, int, [2]int) []string {
			return []string{w.path(binary), o.argobots, strconv.Itoa(argobotsRounds)}
		},
		parse: parseNumber,
	}
}

// argobotsOptions are what gcc needs to find the Argobots that is installed below prefix; the error is errMissing if
// there is none.
func argobotsOptions(prefix string) ([]string, error) {
	if prefix == "" {
		return nil, fmt.Errorf("libabt of Argobots: %w; name the prefix it is installed below with -argobots or ARGOBOTS (README.md says how to build it)", errMissing)
	}
	prefix, err := filepath.Abs(prefix)
	if err != nil {
		return nil, fmt.Errorf("find Argobots: %w", err)
	}
	include, lib := filepath.Join(prefix, "include"), filepath.Join(prefix, "lib")
	if _, err := os.Stat(filepath.Join(include, "abt.h")); err != nil {
		return nil, fmt.Errorf("libabt of Argobots: %w below %s: there is no include/abt.h", errMissing, prefix)
	}
	for _, name := range []string{"libabt.a", "libabt.so"} {
		library := filepath.Join(lib, name)
		if _, err := os.Stat(library); err == nil {
			return []string{"-I" + include, library, "-Wl,-rpath," + lib, "-lpthread", "-lm"}, nil
		}
	}
	return nil, fmt.Errorf("libabt of Argobots: %w below %s: there is neither lib/libabt.a nor lib/libabt.so", errMissing, prefix)
}

// parseBench finds the row of that name in the JSON of `demo bench`. The error is errNoFigure if the row was skipped.
func parseBench(output []byte, name string, size int) (figure, error) {
	var document struct {
		Rows []struct {
			Name  string   `json:"name"`
			Ours  float64  `json:"ours_ns"`
			Probe *float64 `json:"probe_ns"`
		} `json:"rows"`
		Skipped []skipped `json:"skipped"`
	}
	if err := json.Unmarshal(output, &document); err != nil {
		return figure{}, fmt.Errorf("read the figures from %.80q: %w", output, err)
	}
	for _, r := range document.Rows {
		if r.Name != name {
			continue
		}
		if !(r.Ours > 0) {
			return figure{}, fmt.Errorf("row %q makes no sense: %v ns", name, r.Ours)
		}
		f := figure{Size: size, Median: r.Ours}
		if r.Probe != nil {
			f.Probe = *r.Probe
		}
		return f, nil
	}
	for _, s := range document.Skipped {
		if s.Name == name {
			return figure{}, fmt.Errorf("%w: %s", errNoFigure, s.Why)
		}
	}
	return figure{}, fmt.Errorf("no row %q in %.80q", name, output)
}

// parseNumber reads the nanoseconds per operation that a program printed.
func parseNumber(output []byte, size int) (figure, error) {
	ns, err := strconv.ParseFloat(strings.TrimSpace(string(output)), 64)
	if err != nil || !(ns > 0) {
		return figure{}, fmt.Errorf("a time in ns was expected, not %.80q", output)
	}
	return figure{Size: size, Median: ns}, nil
}
