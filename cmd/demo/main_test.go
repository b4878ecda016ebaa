package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pm2-go/pm2/cmd/demo/internal/bench"
	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/veth"
	"github.com/pm2-go/pm2/internal/test/effort"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"demo": main, "nobind": nobind})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"usage":        usage,
			"status":       exitStatus,
			"full":         full,
			"unprivileged": unprivileged,
			"benchrows":    benchrows,
			"pingrows":     pingrows,
			"figure":       isFigure,
			"timeline":     isTimeline,
			"attached":     isAttached,
			"toporows":     toporows,
			"labrows":      labrows,
		},
		Setup: func(env *testscript.Env) error {
			recordings, err := filepath.Abs(filepath.Join("..", "..", "sched", "topo", "testdata"))
			env.Setenv("TOPOLOGIES", recordings)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			// Scripts have no home, where the go command keeps what it has built.
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
				where, e := exec.Command("go", "env", name).Output()
				env.Setenv(name, strings.TrimSpace(string(where)))
				err = errors.Join(err, e)
			}
			return err
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "two-cpus":
				return twoCPUs(), nil
			case "cpus-0-1":
				cpus := binding.Allowed()
				return len(cpus) >= 2 && cpus[0] == 0 && cpus[1] == 1, nil
			case "link":
				return veth.Missing() == nil, nil
			case "root":
				return os.Geteuid() == 0, nil
			case "race":
				return raced(), nil
			case "long":
				return effort.Long(), nil
			}
			return false, fmt.Errorf("no condition %q", name)
		},
	})
}

// raced reports whether this is a build with the race detector.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// demoPath is where testscript put the command.
func demoPath(ts *testscript.TestScript) string {
	path, err := exec.LookPath("demo")
	ts.Check(err)
	return path
}

// runStatus runs c, logs what it wrote, and returns its exit status. One that hangs is
// made to show its goroutines, and ends.
func runStatus(ts *testscript.TestScript, c *exec.Cmd, out, errs *bytes.Buffer) int {
	ts.Check(c.Start())
	hangs := time.AfterFunc(3*time.Minute, func() { _ = c.Process.Signal(syscall.SIGQUIT) })
	err := c.Wait()
	hangs.Stop()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	ts.Logf("%s\n%s%s", strings.Join(c.Args, " "), out, errs)
	return c.ProcessState.ExitCode()
}

// usage PATTERN [ARGS...]: status 2, nothing on stdout, one line on stderr that
// matches the pattern as a whole.
func usage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: usage PATTERN [ARGS...]")
	}
	var out, errs bytes.Buffer
	c := exec.Command(demoPath(ts), args[1:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &out, &errs
	if status := runStatus(ts, c, &out, &errs); status != 2 {
		ts.Fatalf("exit status %d, want 2", status)
	}
	if out.Len() > 0 {
		ts.Fatalf("stdout is not empty")
	}
	line, ok := strings.CutSuffix(errs.String(), "\n")
	if !ok || strings.Contains(line, "\n") {
		ts.Fatalf("stderr is not one line")
	}
	if !regexp.MustCompile("^demo: " + args[0] + "$").MatchString(line) {
		ts.Fatalf("stderr does not match %s", args[0])
	}
}

// TestBenchCommands: what the rows run are commands.
func TestBenchCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of command lines are parsed, by one goroutine")
	}
	commands := 0
	for _, x := range bench.All() {
		for _, args := range x.Commands() {
			if _, err := parse(args, func(int) { t.Errorf("%s: %q ends", x.Name, args) }); err != nil {
				t.Errorf("%s: %q: %v", x.Name, args, err)
			}
			commands++
		}
	}
	if commands < 200 {
		t.Errorf("%d commands", commands)
	}
}

// exitStatus N ARGS...: the command ends with that status.
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N ARGS...")
	}
	var out, errs bytes.Buffer
	c := exec.Command(demoPath(ts), args[1:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &out, &errs
	if status := runStatus(ts, c, &out, &errs); fmt.Sprint(status) != args[0] {
		ts.Fatalf("exit status %d, want %s", status, args[0])
	}
}

// full ARGS...: with stdout on a full disk, status 1 and one line that says so.
func full(ts *testscript.TestScript, neg bool, args []string) {
	disk, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		ts.Logf("no /dev/full here: %v", err)
		return
	}
	defer disk.Close()
	var errs bytes.Buffer
	c := exec.Command(demoPath(ts), args...)
	c.Stdout, c.Stderr = disk, &errs
	if status := runStatus(ts, c, new(bytes.Buffer), &errs); status != 1 {
		ts.Fatalf("exit status %d, want 1", status)
	}
	if want := "demo: write the results: "; !strings.HasPrefix(errs.String(), want) || strings.Count(errs.String(), "\n") != 1 {
		ts.Fatalf("stderr is not one line that begins with %q", want)
	}
}

// document is what every experiment's JSON must have.
type document struct {
	Experiment string         `json:"experiment"`
	Machine    map[string]any `json:"machine"`
	Parameters map[string]any `json:"parameters"`
	Rows       []map[string]any
	Skipped    []struct{ Name, Why string }
}

func readDocument(ts *testscript.TestScript, name, experiment string) document {
	var d document
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(name)))
	ts.Check(dec.Decode(&d))
	if _, err := dec.Token(); err != io.EOF {
		ts.Fatalf("something follows the document")
	}
	if d.Experiment != experiment {
		ts.Fatalf("experiment %q, want %q", d.Experiment, experiment)
	}
	for _, key := range []string{"cpu", "cores", "kernel", "go", "probe_ns", "commit"} {
		value, there := d.Machine[key]
		if !there || value == "" {
			ts.Fatalf("machine has no %s", key)
		}
	}
	return d
}

// positive says that a row has these keys and that they are above zero.
func positive(ts *testscript.TestScript, row map[string]any, keys ...string) {
	for _, k := range keys {
		if v, ok := row[k].(float64); !ok || v <= 0 {
			ts.Fatalf("%v: %s is %v", row["name"], k, row[k])
		}
	}
}

// benchrows FILE: each row of bench is there, or skipped with a reason; all of them after a second argument.
func benchrows(ts *testscript.TestScript, neg bool, args []string) {
	d := readDocument(ts, args[0], "bench")
	seen := map[string]bool{}
	for _, row := range d.Rows {
		name, _ := row["name"].(string)
		seen[name] = true
		positive(ts, row, "ours_ns", "ours_q1_ns", "ours_q3_ns", "peer_ns", "peer_q1_ns", "peer_q3_ns", "ratio", "reps", "ops")
		if row["better"] != "lower" || row["peer"] == "" {
			ts.Fatalf("%s: better %v, peer %v", name, row["better"], row["peer"])
		}
	}
	for _, s := range d.Skipped {
		if s.Why == "" {
			ts.Fatalf("%s was skipped without a reason", s.Name)
		}
		seen[s.Name] = true
	}
	if len(args) == 1 && len(seen) > 0 {
		return
	}
	groups := map[string]bool{}
	for _, x := range bench.All() {
		groups[x.Group()] = true
		if !seen[x.Name] && !seen[x.Group()] {
			ts.Fatalf("neither measured nor skipped: %s", x.Name)
		}
	}
	if len(seen) != len(groups) {
		ts.Fatalf("%d names for %d rows", len(seen), len(groups))
	}
}

// pingrows FILE DRIVER ENGINE SIZE...: exactly these sizes, complete.
func pingrows(ts *testscript.TestScript, neg bool, args []string) {
	d := readDocument(ts, args[0], "pingpong")
	for i, key := range []string{"driver", "engine"} {
		if d.Parameters[key] != args[1+i] {
			ts.Fatalf("%s is %v, want %s", key, d.Parameters[key], args[1+i])
		}
	}
	positive(ts, d.Parameters, "iters", "threads")
	sizes := args[3:]
	if len(d.Rows) != len(sizes) || len(d.Skipped) != 0 {
		ts.Fatalf("%d rows, %d skipped, want %d rows", len(d.Rows), len(d.Skipped), len(sizes))
	}
	for i, row := range d.Rows {
		if row["name"] != "pingpong" || fmt.Sprintf("%.0f", row["size"]) != sizes[i] {
			ts.Fatalf("row %d is %v of size %v, want %s", i, row["name"], row["size"], sizes[i])
		}
		positive(ts, row, "iters", "threads", "min_ns", "median_ns", "p99_ns", "bandwidth_MBps")
		low, mid, high := row["min_ns"].(float64), row["median_ns"].(float64), row["p99_ns"].(float64)
		if low > mid || mid > high {
			ts.Fatalf("size %v: min %g, median %g, p99 %g", row["size"], low, mid, high)
		}
		if _, there := row["probe_ns"]; !there {
			ts.Fatalf("size %v has no probe_ns", row["size"])
		}
	}
}

// isFigure has the script's command figure: each is a whole picture of the kind that its name says.
func isFigure(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		if strings.HasSuffix(name, ".png") {
			picture, err := png.Decode(strings.NewReader(text))
			ts.Check(err)
			if b := picture.Bounds(); b.Dx() < 1000 || b.Dy() < 200 {
				ts.Fatalf("%s is %v", name, b)
			}
			continue
		}
		tags := 0
		for d := xml.NewDecoder(strings.NewReader(text)); ; tags++ {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				ts.Fatalf("%s: %v", name, err)
			}
		}
		if tags < 50 {
			ts.Fatalf("%s has %d tags", name, tags)
		}
	}
}
