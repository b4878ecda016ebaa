package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// write writes files below a folder; those with a first line for a shell can be run.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParseTest(t *testing.T) {
	for text, want := range map[string]*test{
		"":                    nil,
		"  # only a comment":  nil,
		"!dir:target":         nil,
		"plain":               {folder: "f", name: "plain", np: 2},
		"a 3 # four would do": {folder: "f", name: "a", np: 3},
		"sub/b 4 arg=-x arg=y=z env=N=v=w timeLimit=9 xfail=t1 resultTest=TestStatus mem=1.5 hasgpu=any strict=FALSE mpiversion=4.0 mpiexecarg=-l": {folder: "f/sub", name: "b", np: 4, args: []string{"-x", "y=z"}, env: []string{"N=v=w"},
			limit: 9 * time.Second, xfail: "t1", result: "TestStatus", memory: 1.5, gpu: true, beyond: true, version: "4.0", exec: []string{"-l"}},
	} {
		if got, err := parseTest(text, "f", 2); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, why := range map[string]string{
		"a zero":           "no number of processes",
		"a 0":              "no number of processes",
		"a 2 word":         "write KEY=VALUE",
		"a 2 color=red":    "no such key",
		"a 2 env=X":        "write env=NAME=VALUE",
		"a 2 timeLimit=ab": "no number of seconds",
		"a 2 mem=much":     "no number of gigabytes",
	} {
		if _, err := parseTest(text, "f", 2); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
}

// fake is a launcher: it runs the program once.
const fake = `#!/bin/sh
test "$1" = -n || exit 99
shift 2
exec "$@"
`

// TestRun runs a small suite of both kinds, with everything that may become of a test, to its table.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"mpiexec":    fake,
		"in/mpiexec": fake,
		"in/a/good":  "#!/bin/sh\necho ' No Errors'\n",
		"in/a/bad":   "#!/bin/sh\necho 'Found 3 errors | here'\n",
		"in/a/exits": "#!/bin/sh\necho oh; exit 3\n",
		"in/a/dies":  "#!/bin/sh\necho 'rank 0 was killed by signal 11' >&2; exit 139\n",
		"in/b/hangs": "#!/bin/sh\nexec sleep 3600\n", "in/b/testlist": "hangs 1\n",
		"in/a/env":   "#!/bin/sh\ntest \"$V$1\" = 12 && echo No Errors\n",
		"in/a/skip":  "#!/bin/sh\necho 'Test Skipped'\n",
		"in/a/fatal": "#!/bin/sh\necho No Errors; exit 1\n",
		"in/a/testlist": "good 2\ngood 2 env=MPIR_CVAR_X=1\nbad 2\nexits 1\ndies 1\nenv 1 env=V=1 arg=2\nskip 1\nfatal 1 resultTest=TestErrFatal\n" +
			"none 1\nsub\ngood 99\ngood 1 xfail=t\ngood 3 strict=false\ngood 4 hasgpu=any\ngood 5 mem=50\ngood 6 mpiversion=9.0\n",
		"src/a/sub/testlist":                       "kept 1\n",
		"in/a/sub/kept":                            "#!/bin/sh\necho No Errors\n",
		"exclude":                                  "# why not\na/exits: has its reason\n",
		"osu/c/mpi/pt2pt/standard/x":               "",
		"osu/c/mpi/startup/osu_hello":              "#!/bin/sh\necho hello\n",
		"osu/c/mpi/one-sided/osu_put":              "#!/bin/sh\necho '4  1.0  Fail'\n",
		"osu/c/mpi/one-sided/osu_put.o":            "",
		"osu/c/mpi/pt2pt/congestion/osu_bw_fan_in": "#!/bin/sh\nexit 1\n",
	})
	table := filepath.Join(dir, "table.md")
	run := func(args ...string) string {
		t.Helper()
		err := runTests(context.Background(), append(args, "-mpiexec", filepath.Join(dir, "mpiexec"), "-table", table, "-title", "T"))
		if err == nil || !strings.Contains(err.Error(), "some tests have failed") {
			t.Fatalf("%v", err)
		}
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	got := run("-in", filepath.Join(dir, "in"), "-from", filepath.Join(dir, "src"), "-folders", "a", "-exclude", filepath.Join(dir, "exclude"))
	want := `T

| folder | tests | passed | failed | left out | passed of those run |
|---|---|---|---|---|---|
| a | 15 | 3 | 3 | 9 | 50.0 % |
| a/sub | 1 | 1 | 0 | 0 | 100.0 % |
| all | 16 | 4 | 3 | 9 | 57.1 % |

| failed | why | its first line |
|---|---|---|
| a/bad 2 | no line No Errors | Found 3 errors / here |
| a/dies 1 | signal 11 | rank 0 was killed by signal 11 |
| a/none 1 | not started | there is no such program: was it compiled? |

| left out | how many | which |
|---|---|---|
| goes beyond the standard, as its list says | 1 | a/good |
| has its reason | 1 | a/exits |
| is there already, and differs only by settings of MPICH | 1 | a/good |
| its list expects it to fail | 1 | a/good |
| needs a graphics processor | 1 | a/good |
| needs a later standard than 5 | 1 | a/good |
| needs more than 16 processes | 1 | a/good |
| needs more than 4 GB of memory | 1 | a/good |
| says itself that there is nothing to test | 1 | a/skip |
`
	if got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
	if got, want := run("-in", filepath.Join(dir, "in"), "-folders", "b", "-limit", "100ms"), "| b/hangs 1 | timeout |  |"; !strings.Contains(got, want) {
		t.Errorf("%s is missing in\n%s", want, got)
	}
	got = run("-suite", "osu", "-in", filepath.Join(dir, "osu"))
	for _, line := range []string{
		"| needs several hosts | 2 | c/mpi/pt2pt/congestion/osu_bw_fan_in |",
		"| c/mpi/startup | 2 | 2 | 0 | 0 | 100.0 % |", "| c/mpi/one-sided | 1 | 0 | 1 | 0 | 0.0 % |",
		"| c/mpi/one-sided/osu_put 2 -i 10 -x 2 -m 1:262144 | validation | 4  1.0  Fail |",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%s is missing in\n%s", line, got)
		}
	}
}

// TestInterrupted: what has run until then is in the table.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"mpiexec":       fake,
		"in/a/good":     "#!/bin/sh\necho No Errors\n",
		"in/a/hangs":    "#!/bin/sh\ntouch began\nexec sleep 3600\n",
		"in/a/testlist": "good 1\nhangs 1\ngood 1\n",
	})
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for !exists(filepath.Join(dir, "in/a/began")) {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	r := runner{suite: suiteMPICH, in: filepath.Join(dir, "in"), mpiexec: []string{filepath.Join(dir, "mpiexec")}, limit: time.Hour, at: 1, rules: &rulebook{most: 9, settings: true}}
	tests, err := list(suiteMPICH, r.in, nil, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.all(ctx, tests); len(got) != 1 || got[0].name != "good" || got[0].why != "" {
		t.Errorf("the results are %+v", got)
	}
}

// TestBuild: the commands that build a suite, and what keeps it from being built.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"cc":                      "#!/bin/sh\n",
		"mpich/test/mpi/runtests": "",
		"mpich/test/mpi/autogen.sh": "#!/bin/sh\nprintf '#!/bin/sh\\necho \"$@\" > args; echo all: > Makefile; for d in dtpools util pt2pt; do mkdir $d; printf \"all:\\\\n\\\\ttouch made\\\\n\" > $d/Makefile; done\\n' > configure\n" +
			"chmod +x configure\n",
		"empty/there": "",
	})
	err := build(context.Background(), []string{"-from", filepath.Join(dir, "mpich"), "-to", filepath.Join(dir, "out"), "-mpicc", filepath.Join(dir, "cc"), "-folders", "pt2pt"})
	if err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(filepath.Join(dir, "out/args"))
	if err != nil || !strings.Contains(string(args), "MPICC="+dir+"/cc ") || !exists(filepath.Join(dir, "out/pt2pt/made")) {
		t.Errorf("configure got %q, %v", args, err)
	}
	for _, suite := range []string{suiteMPICH, suiteOSU} {
		err := build(context.Background(), []string{"-suite", suite, "-from", filepath.Join(dir, "empty"), "-to", filepath.Join(dir, "out2"), "-mpicc", filepath.Join(dir, "cc")})
		if err == nil || !strings.Contains(fmt.Sprint(err), "-from") {
			t.Errorf("%s is built from nothing: %v", suite, err)
		}
	}
}
