package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestTables: a table's commands are found by the head of their column, and a row without a whole one is an error.
func TestTables(t *testing.T) {
	const head = "| | here | command |\n|---|--:|---|\n"
	all, err := add(nil, "page", "text\n\n| a | b |\n|---|---|\n| `demo no` | 1 |\n\n"+head+
		"| one | 1 | `demo bench --rows 'a\\|b'`; Argobots: `go run ./x` |\n| two | 2 | `go run ./x` |\n")
	if err != nil || len(all) != 2 {
		t.Fatalf("found %v, %v", all, err)
	}
	if want := (entry{Command: "demo bench --rows 'a|b'", Rows: []string{"page: one"}}); all[0].Command != want.Command || !slices.Equal(all[0].Rows, want.Rows) {
		t.Errorf("the first is %+v, want %+v", all[0], want)
	}
	if want := (entry{Command: "go run ./x", Rows: []string{"page: one", "page: two"}}); all[1].Command != want.Command || !slices.Equal(all[1].Rows, want.Rows) {
		t.Errorf("the second is %+v, want %+v", all[1], want)
	}
	for text, why := range map[string]string{
		head + "| one | 1 | |\n":                       "names no command",
		head + "| one | 1 |\n":                         "names no command",
		head + "| one | 1 | the same, `-only ucx` |\n": "no whole command",
		"| a | b |\n|---|---|\n| 1 | 2 |\n":            "no table has a column",
	} {
		if _, err := add(nil, "page", text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want an error that says %q", text, err, why)
		}
	}
}

// TestRun: an output is kept, an exit status is told, and what needs Argobots is left out without it.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/demo", []byte("#!/bin/sh\necho \"$@\"\necho twice >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := &bench{root, dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "ARGOBOTS=/a b")}
	run := func(line string) (entry, string) {
		e := entry{Command: line}
		if err := b.run(t.Context(), &e, dir, 7); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, e.File))
		if err != nil && e.File != "" {
			t.Error(err)
		}
		return e, string(text)
	}
	t.Setenv("ARGOBOTS", "/a b")
	if e, text := run("demo bench --rows 'x | y' DIR"); e.Status != 3 || e.File != "07-demo-bench-rows-x-y-DIR.txt" || text != "bench --rows x | y /a b\ntwice\n" {
		t.Errorf("%+v, with the output %q", e, text)
	}
	t.Setenv("ARGOBOTS", "")
	if e, _ := run("demo DIR"); e.Skipped == "" || e.File != "" {
		t.Errorf("without Argobots: %+v", e)
	}
}

var (
	folder  = regexp.MustCompile(` \./\S+`)
	chooses = regexp.MustCompile(` -(?:run|bench) ('[^']*'|\S+)`)
)

// TestCommandsExist: the rows, experiments, comparisons and tests that the pages name are there. Nothing is measured.
func TestCommandsExist(t *testing.T) {
	all, err := commands(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	sh := func(line string) string {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	sh("go build -o " + dir + "/ ./cmd/demo ./test/peers")
	var experiments struct{ Rows []struct{ Name string } }
	if err := json.Unmarshal([]byte(sh("demo experiment --format json")), &experiments); err != nil || len(experiments.Rows) == 0 {
		t.Fatalf("experiments: %v, %v", experiments, err)
	}
	for _, e := range all {
		words := strings.Fields(e.Command)
		switch {
		case strings.HasPrefix(e.Command, "demo bench"):
			if sh(e.Command+" --list") == "" {
				t.Errorf("%s: no rows", e.Command)
			}
		case strings.HasPrefix(e.Command, "demo experiment "):
			if !slices.ContainsFunc(experiments.Rows, func(x struct{ Name string }) bool { return x.Name == words[2] }) {
				t.Errorf("%s: no such experiment", e.Command)
			}
		case words[0] == "demo":
			sh("demo help " + words[1])
		case strings.HasPrefix(e.Command, "go run ./test/peers"):
			if sh(strings.TrimPrefix(e.Command, "go run ./test/")+" -list") == "" {
				t.Errorf("%s: no comparison", e.Command)
			}
		case strings.HasPrefix(e.Command, "go test "):
			where := folder.FindString(e.Command)
			if _, err := os.Stat(filepath.Join(root, strings.TrimSpace(where))); where == "" || err != nil {
				t.Errorf("%s: no such package: %v", e.Command, err)
			}
			for _, m := range chooses.FindAllStringSubmatch(e.Command, -1) {
				if m[1] == "'^$'" || testing.Short() { // a test of that package has to be compiled
					continue
				}
				if listed := sh("go test -vet=off -list " + m[1] + where); !regexp.MustCompile(`(?m)^(Test|Benchmark)`).MatchString(listed) {
					t.Errorf("%s: nothing in %s matches %s", e.Command, where, m[1])
				}
			}
		default:
			t.Errorf("%s: this test does not know how to look whether that is there", e.Command)
		}
	}
}
