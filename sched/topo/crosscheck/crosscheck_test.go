package crosscheck

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/sched/topo"
)

// TestMain is also the child whose output TestSilent looks at.
func TestMain(m *testing.M) {
	if root := os.Getenv("PM2_TEST_CROSSCHECK"); root != "" {
		t, err := topo.Discover()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		r := Run(t, root)
		fmt.Println("agree", len(r.Agree), "differ", len(r.Differ))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestThisMachine(t *testing.T) {
	m, err := topo.Discover()
	if err != nil {
		t.Fatal(err)
	}
	r := Run(m, "/")
	t.Logf("%+v", r)
	if r.Err == nil && len(r.Agree)+len(r.Differ) == 0 {
		t.Error("nothing was compared, and no reason is given")
	}
}

// TestSilent runs it where ghw has much to complain about.
func TestSilent(t *testing.T) {
	bare := t.TempDir()
	broken := t.TempDir()
	for name, text := range map[string]string{
		"sys/devices/system/node/node0/cpulist":                    "0-1",
		"sys/devices/system/node/node0/cpu0/topology/core_id":      "x",
		"sys/devices/system/cpu/cpu0/topology/core_id":             "-",
		"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_map":  "zz",
		"sys/devices/system/cpu/cpu0/cache/index0/size":            "huge",
		"sys/devices/system/cpu/cpu0/topology/physical_package_id": "?",
		"sys/devices/system/cpu/online":                            "0-99999999",
		"proc/cpuinfo":                                             "processor : x\n\nprocessor : 0\n",
		"proc/meminfo":                                             "",
	} {
		path := filepath.Join(broken, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{"/", bare, broken} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "PM2_TEST_CROSSCHECK="+root)
		out, err := c.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "agree ") || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: %v, it printed:\n%s", root, err, out)
		}
	}
}

func TestCompare(t *testing.T) {
	m, err := topo.Synthetic("package:2 core:2 pu:2")
	if err != nil {
		t.Fatal(err)
	}
	pair := func(a int) sized { return sized{cpus: topo.CPUs(a, a+1)} }
	for _, c := range []struct {
		theirs        []sized
		agree, differ string
	}{
		{[]sized{pair(0), pair(2), pair(4), pair(6), {cpus: topo.CPUs(99)}}, "cores (4)", ""},
		{[]sized{pair(0), pair(2), pair(4)}, "", "cores: ghw 3, sysfs 4"},
		{[]sized{pair(0), pair(2), pair(4), pair(5)}, "", "cores: sysfs has one with CPUs 6-7, ghw has not"},
	} {
		var r Result
		(&checker{m, &r}).compare("cores", topo.Core, c.theirs)
		if strings.Join(r.Agree, ";") != c.agree || strings.Join(r.Differ, ";") != c.differ {
			t.Errorf("%v: %+v, want %s, %s", c.theirs, r, c.agree, c.differ)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	m, err := topo.Discover()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Run(m, "/")
	}
}
