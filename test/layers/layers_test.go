package layers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/pm2-go/pm2"

// TestRepository holds this repository to the rules.
func TestRepository(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.Contains(string(text), "module "+module+"\n") {
		t.Fatalf("%s is not the root of %s: %v", root, module, err)
	}
	found, err := Check(os.DirFS(root), module)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// source is a Go file with those imports, ours written without the module.
func source(pkg string, imports ...string) string {
	var b strings.Builder
	b.WriteString("package " + pkg + "\n")
	for _, i := range imports {
		if after, ok := strings.CutPrefix(i, "./"); ok {
			i = module + "/" + after
		}
		b.WriteString("import _ \"" + i + "\"\n")
	}
	return b.String()
}

// lawful is a tree in which each room uses all that it may.
func lawful() map[string]string {
	tree := map[string]string{
		"asm/pause.go":                      source("asm", "math/bits", sys+"/unix"),
		"hooks/set.go":                      source("hooks", "sync/atomic"),
		"sched/topo/topo.go":                source("topo", "./asm", ghw, ghw+"/pkg/topology"),
		"sched/vp.go":                       source("sched", "./hooks", "./asm", "./sched/topo", sys+"/unix"),
		"tasklet/tasklet.go":                source("tasklet", "./sched", "./hooks", "./asm"),
		"tasklet/tasklet_test.go":           source("tasklet", "./marcel", "pgregory.net/rapid", "go.uber.org/goleak"),
		"marcel/spawn.go":                   source("marcel", "./sched", "./hooks"),
		"pioman/engine.go":                  source("pioman", "./hooks", "./sched"),
		"pioman/threads.go":                 source("pioman", "./marcel"),
		"nmad/gate.go":                      source("nmad", "./pioman", "./marcel", "./sched/topo", "./asm", "./nmad/driver"),
		"nmad/driver/driver.go":             source("driver", "context"),
		"nmad/driver/shm/shm.go":            source("shm", "./nmad/driver", "./nmad/internal/limit", "./asm"),
		"nmad/driver/drivertest/suite.go":   source("drivertest", "testing", "./nmad/driver", "./internal/test/effort", "go.uber.org/goleak"),
		"internal/test/effort/effort.go":    source("effort", "testing"),
		"nmad/gate_test.go":                 source("nmad", "./internal/test/effort", "./nmad/driver/drivertest"),
		"cmd/demo/main.go":                  source("main", "./nmad", "github.com/alecthomas/kong", "gonum.org/v1/plot/plotter"),
		"test/stress/stress.go":             source("stress", "./marcel", "./sched", "./test/tools", "go.uber.org/goleak"),
		"test/tools/tools.go":               source("tools"),
		"nmad/testdata/broken.go":           "package",
		"_scratch/scratch.go":               source("scratch", "./cmd/demo"),
		".ci/tool.go":                       source("main", "./cmd/demo"),
		"README.md":                         strings.Repeat("a line\n", 5*MaxLines),
		"docs/internals.txt":                "prose",
		"nmad/driver/shm/long_enough.go":    "package shm\n" + strings.Repeat("\n", MaxLines-1),
		"sched/topo/testdata/sysfs/cpu.txt": "0-1",
	}
	for _, p := range []string{"asm", "hooks", "sched/topo", "sched", "tasklet", "marcel", "pioman", "nmad", "nmad/driver",
		"nmad/driver/shm", "nmad/driver/drivertest", "internal/test/effort", "cmd/demo", "test/stress", "test/tools"} {
		tree[p+"/doc.go"] = "// Package x has a comment.\npackage " + filepath.Base(p) + "\n"
	}
	return tree
}

func check(t *testing.T, files map[string]string) []Violation {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	found, err := Check(tree, module)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLawfulTree(t *testing.T) {
	for _, v := range check(t, lawful()) {
		t.Error(v)
	}
}

// TestViolations breaks each rule once and expects that breach and no other.
func TestViolations(t *testing.T) {
	for _, test := range []struct {
		name, file, text string
		where, what      string
	}{
		{"asm is at the bottom", "asm/cpu.go", source("asm", "./hooks"), "asm/cpu.go", "may import nothing of this module"},
		{"asm, other architecture", "asm/cpu_arm64.go", "//go:build arm64\n\n" + source("asm", "./sched"), "asm/cpu_arm64.go", "imports sched"},
		{"asm, other modules", "asm/cpu.go", source("asm", ghw), "asm/cpu.go", "imports github.com/jaypipes/ghw"},
		{"hooks imports nothing", "hooks/fire.go", source("hooks", "./asm"), "hooks/fire.go", "imports asm"},
		{"hooks, other modules", "hooks/fire.go", source("hooks", sys+"/unix"), "hooks/fire.go", "imports golang.org/x/sys/unix"},
		{"topo below sched", "sched/topo/tree.go", source("topo", "./hooks"), "sched/topo/tree.go", "sched/topo may import internal/kernel, asm"},
		{"topo above sched", "sched/topo/tree.go", source("topo", "./sched"), "sched/topo/tree.go", "imports sched:"},
		{"sched looks up", "sched/idle.go", source("sched", "./marcel"), "sched/idle.go", "sched may import hooks, internal/kernel, internal/ours, internal/setting, internal/shelf, asm"},
		{"tasklet looks aside", "tasklet/vector.go", source("tasklet", "./marcel"), "tasklet/vector.go", "imports marcel"},
		{"marcel looks down too far", "marcel/self.go", source("marcel", "./tasklet"), "marcel/self.go", "imports tasklet"},
		{"pioman outside its threads", "pioman/wait.go", source("pioman", "./marcel"), "pioman/wait.go", "in files named thread*.go marcel"},
		{"pioman's threads look up", "pioman/thread_wait.go", source("pioman", "./nmad"), "pioman/thread_wait.go", "imports nmad"},
		{"nmad knows no scheduler", "nmad/session.go", source("nmad", "./sched"), "nmad/session.go", "imports sched:"},
		{"a driver knows no core", "nmad/driver/tcp/link.go", source("tcp", "./nmad"), "nmad/driver/tcp/link.go", "imports nmad:"},
		{"no package imports cmd", "nmad/session.go", source("nmad", "./cmd/demo"), "nmad/session.go", "no package may import what lies under cmd"},
		{"not even the tests", "nmad/session_test.go", source("nmad", "./test/tools"), "nmad/session_test.go", "no package may import what lies under test"},
		{"test imports no cmd", "test/stress/more.go", source("stress", "./cmd/demo"), "test/stress/more.go", "no package may import what lies under cmd"},
		{"plots in the library", "nmad/plot.go", source("nmad", "gonum.org/v1/plot"), "nmad/plot.go", "only cmd may"},
		{"plots in the tests", "nmad/plot_test.go", source("nmad", "gonum.org/v1/plot/vg"), "nmad/plot_test.go", "only cmd may"},
		{"test tools in the library", "marcel/leak.go", source("marcel", "go.uber.org/goleak"), "marcel/leak.go", "only test files"},
		{"test tools in the laboratory", "cmd/demo/leak.go", source("main", "go.uber.org/goleak"), "cmd/demo/leak.go", "only test files"},
		{"what is for tests, in the library", "nmad/more.go", source("nmad", "./nmad/internal/test/simnet"), "nmad/more.go", "it is there for tests"},
		{"in the laboratory", "cmd/demo/more.go", source("main", "./internal/test/effort"), "cmd/demo/more.go", "it is there for tests"},
		{"the suite of drivers", "nmad/driver/shm/suite.go", source("shm", "./nmad/driver/drivertest"), "nmad/driver/shm/suite.go", "it is there for tests"},
		{"unknown module", "marcel/json.go", source("marcel", "example.org/json"), "marcel/json.go", "imports example.org/json"},
		{"unknown module in a test", "marcel/json_test.go", source("marcel", "example.org/json"), "marcel/json_test.go", "imports example.org/json"},
		{"unknown folder", "util/doc.go", "// Package util is one too many.\npackage util\n", "util", "no rule knows this folder"},
		{"a name that only begins alike", "asmx/doc.go", "// Package asmx is no asm.\npackage asmx\n", "asmx", "no rule knows this folder"},
		{"code at the root", "doc.go", "// Package pm2 is at the root.\npackage pm2\n", ".", "no rule knows this folder"},
		{"no doc.go", "nmad/strategy/aggreg.go", source("strategy"), "nmad/strategy", "has no doc.go"},
		{"no comment", "marcel/doc.go", "//go:build linux\n\npackage marcel\n", "marcel/doc.go", "has no package comment"},
		{"an init", "marcel/start.go", "package marcel\n\nfunc init() { println() }\n", "marcel/start.go", "has an init function"},
		{"a set of 1,024 CPUs", "marcel/mask.go", "package marcel\n\nvar mask unix.CPUSet\n", "marcel/mask.go", "say topo.CPUSet"},
		{"in a test", "marcel/mask_test.go", "package marcel\n\nvar err = unix.SchedSetaffinity(0, nil)\n", "marcel/mask_test.go", "say topo.CPUSet.Bind"},
		{"too long", "marcel/long.go", "package marcel\n" + strings.Repeat("\n", MaxLines), "marcel/long.go", "split it"},
		{"too long an assembly", "asm/long_amd64.s", strings.Repeat("\n", MaxLines+1), "asm/long_amd64.s", "split it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := lawful()
			tree[test.file] = test.text
			if dir := filepath.Dir(test.file); strings.HasSuffix(dir, "/tcp") {
				tree[dir+"/doc.go"] = "// Package tcp has a comment.\npackage tcp\n"
			}
			found := check(t, tree)
			if len(found) != 1 || found[0].Where != test.where || !strings.Contains(found[0].What, test.what) {
				t.Errorf("found %v, want one breach at %s that says %q", found, test.where, test.what)
			}
		})
	}
}

// TestUnreadable: a file that is not Go must not pass for lawful.
func TestUnreadable(t *testing.T) {
	_, err := Check(fstest.MapFS{"asm/doc.go": {Data: []byte("pakage asm")}}, module)
	if err == nil || !strings.Contains(err.Error(), "asm/doc.go") {
		t.Errorf("error is %v, want one that names the file", err)
	}
}
