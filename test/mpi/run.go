package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A runner runs tests.
type runner struct {
	suite    string
	in       string   // the folder with the programs
	mpiexec  []string // the launcher, and arguments that all get
	limit    time.Duration
	at       int // processes that may run at once
	progress io.Writer
	rules    *rulebook
}

// A result is a test and what became of it.
type result struct {
	*test
	verdict
	excluded string // why it was not run; "": it was
	seconds  float64
}

// mostOutput is how much of a test's output is kept, in bytes.
const mostOutput = 1 << 20

// endLimit is how long a launcher may take to end a test whose time is up, as MPIEXEC_TIMEOUT asks it to.
const endLimit = 10 * time.Second

// all runs tests, several at once as long as they have no more processes together than at; one that has more is run
// alone. When ctx ends, those that were not run are left out of what is returned.
func (r *runner) all(ctx context.Context, tests []*test) []result {
	results := make([]*result, len(tests))
	places := newPlaces(r.at)
	var running sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i, t := range tests {
		if why := r.rules.why(t); why != "" {
			results[i] = &result{test: t, excluded: why}
			continue
		}
		n := places.take(t.np)
		if ctx.Err() != nil {
			places.give(n)
			break
		}
		running.Go(func() {
			defer places.give(n)
			began := time.Now()
			o := r.run(ctx, t)
			if ctx.Err() != nil {
				return
			}
			v := judge(r.suite, t.result, o)
			x := &result{test: t, verdict: v, seconds: time.Since(began).Seconds()}
			if v.skipped {
				x.excluded = "says itself that there is nothing to test"
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			results[i] = x
			if r.progress != nil {
				fmt.Fprintf(r.progress, "%d of %d: %s: %s (%.1f s)\n", done, len(tests), t.title(), x.say(), x.seconds)
			}
		})
	}
	running.Wait()
	var there []result
	for _, x := range results {
		if x != nil {
			there = append(there, *x)
		}
	}
	return there
}

// say is what became of it, in a line.
func (x *result) say() string {
	switch {
	case x.excluded != "":
		return "left out: " + x.excluded
	case x.why == "":
		return "passed"
	case x.line == "":
		return x.why
	}
	return x.why + ": " + x.line
}

// run runs one test.
func (r *runner) run(ctx context.Context, t *test) outcome {
	folder := filepath.Join(r.in, t.folder)
	program := filepath.Join(folder, t.name)
	if _, err := os.Stat(program); err != nil {
		return outcome{err: errors.New("there is no such program: was it compiled?")}
	}
	words := slices.Concat(r.mpiexec, []string{"-n", strconv.Itoa(t.np)}, t.exec, []string{program}, t.args)
	limit := r.limit
	if t.limit > 0 && t.limit < limit {
		limit = t.limit
	}
	inTime, stop := context.WithTimeout(ctx, limit+min(limit, endLimit))
	defer stop()
	cmd := exec.CommandContext(inTime, words[0], words[1:]...)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), t.env...), fmt.Sprintf("MPIEXEC_TIMEOUT=%d", int(math.Ceil(limit.Seconds()))))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	kept := &head{}
	cmd.Stdout, cmd.Stderr = kept, kept
	began := time.Now()
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is left of its group
	}
	o := outcome{state: cmd.ProcessState, output: kept.Bytes(), late: time.Since(began) >= limit, killed: inTime.Err() != nil}
	if o.state == nil {
		o.err = err
	}
	return o
}

// head keeps the beginning of what is written.
type head struct{ bytes.Buffer }

// Write implements io.Writer.
func (h *head) Write(b []byte) (int, error) {
	if room := mostOutput - h.Len(); room > 0 {
		h.Buffer.Write(b[:min(len(b), room)])
	}
	return len(b), nil
}

// places counts processes.
type places struct {
	mu   sync.Mutex
	more sync.Cond
	all  int
	free int
}

func newPlaces(n int) *places {
	p := &places{all: n, free: n}
	p.more.L = &p.mu
	return p
}

// take waits until so many are free, or all if that is not enough, and returns how many it has taken.
func (p *places) take(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n = min(n, p.all); p.free < n; {
		p.more.Wait()
	}
	p.free -= n
	return n
}

func (p *places) give(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += n
	p.more.Broadcast()
}

// splitCommand splits what -mpiexec has at blanks.
func splitCommand(text string) ([]string, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, errors.New("-mpiexec: name a launcher, such as PREFIX/bin/mpiexec")
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("-mpiexec: %w", err)
	}
	if words[0], err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("-mpiexec: %w", err)
	}
	return words, nil
}
