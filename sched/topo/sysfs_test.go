package topo

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// tree makes a file system of lines in the form that FuzzRecorded reads.
func tree(lines ...string) fstest.MapFS { return hostileTree(strings.Join(lines, "\n")) }

// outline writes a tree of items as text: "Machine(Package#0(PU#0 PU#1))".
func outline(it *Item) string {
	s := it.Kind.String()
	if it.OS >= 0 && it.Kind != Machine {
		s += fmt.Sprintf("#%d", it.OS)
	}
	var children []string
	for _, c := range it.Children {
		children = append(children, outline(c))
	}
	if children != nil {
		s += "(" + strings.Join(children, " ") + ")"
	}
	return s
}

func TestSmallTrees(t *testing.T) {
	for _, c := range []struct {
		name    string
		tree    fstest.MapFS
		want    string
		outside string
		remark  string
	}{
		{"only a list of CPUs", tree("O=0,2"), "Machine(NUMA#0(PU#0 PU#2))", "", ""},
		{"only cpuinfo", tree(`I=processor : 0\nphysical id : 0\ncore id : 0\nprocessor : 1\nphysical id : 0\ncore id : 0\nprocessor : 2\nphysical id : 7\ncore id : 0\n`),
			"Machine(NUMA#0(Package#0(Core#0(PU#0 PU#1)) Package#7(Core#0(PU#2))))", "", ""},
		{"dies that are packages, clusters that are cores", tree(
			"0/topology/package_cpus=3", "0/topology/physical_package_id=5", "0/topology/die_cpus=3", "0/topology/die_id=0",
			"0/topology/cluster_cpus=1", "1/topology/cluster_cpus=2", "0/topology/core_cpus=1", "1/topology/core_cpus=2"),
			"Machine(Package#5(NUMA#0(Core(PU#0) Core(PU#1))))", "", ""},
		{"a cluster that is a cache", tree(
			"0/topology/cluster_cpus=3", "2/topology/cluster_cpus=c", "3/x=", "1/x=",
			"0/topology/core_cpus=1", "1/topology/core_cpus=2", "2/topology/core_cpus=4", "3/topology/core_cpus=8",
			"0/cache/index2/level=2", "0/cache/index2/type=Unified", "0/cache/index2/shared_cpu_map=3", "0/cache/index2/size=1M"),
			"Machine(NUMA#0(L2(Core(PU#0) Core(PU#1)) Cluster(Core(PU#2) Core(PU#3))))", "", ""},
		{"core numbers split compute units", tree(
			"0/topology/core_siblings=3", "0/topology/thread_siblings=3", "0/topology/core_id=0",
			"1/topology/core_siblings=3", "1/topology/thread_siblings=3", "1/topology/core_id=1"),
			"Machine(Package(NUMA#0(Core#0(PU#0) Core#1(PU#1))))", "", ""},
		{"nodes that claim the same CPUs", tree("O=0-3", "N0/cpumap=7", "N1/cpumap=c"),
			"Machine(NUMA#0(PU#0 PU#1 PU#2) PU#3)", "", "NUMA node 1 claims CPUs 2-3"},
		{"GPU memory", tree("O=0", "N0/cpumap=1", "N9/cpumap=0", "N8/cpumap=0", `proc/driver/nvidia/gpus/a/numa_status=Node: 9\nx`),
			"Machine(NUMA#0(PU#0))", "NUMA#8", ""},
		{"packages across caches", tree("0/topology/core_siblings=3", "2/topology/core_siblings=c", "1/x=", "3/x=",
			"0/cache/index2/level=3", "0/cache/index2/type=Unified", "0/cache/index2/shared_cpu_map=1",
			"1/cache/index2/level=3", "1/cache/index2/type=Unified", "1/cache/index2/shared_cpu_map=6"),
			"Machine(NUMA#0(Package(L3(PU#0) PU#1) Package(PU#2 PU#3)))", "", "L3 -1 with CPUs 1-2 lies across Package"},
		{"a cpuset that allows nothing", tree("O=0-1", "proc/mounts=cgroup2 /c cgroup2 rw 0 0", "proc/self/cgroup=0::/", "c/cpuset.cpus.effective=7"),
			"Machine(NUMA#0(PU#0 PU#1))", "", "the cpuset allows CPUs 7 only"},
		{"inside a node of which one package is allowed", tree("0/topology/core_siblings=3", "2/topology/core_siblings=c", "1/x=", "3/x=",
			"N0/cpumap=f", "proc/mounts=cgroup2 /c cgroup2 rw 0 0", "proc/self/cgroup=0::/", "c/cpuset.cpus.effective=3"),
			"Machine(NUMA#0(Package(PU#3)))", "", ""},
	} {
		m, err := Recorded(c.tree)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		checkTree(t, m)
		outside := ""
		for _, it := range m.Outside {
			outside += outline(it)
		}
		if got := outline(m.Root); got != c.want || outside != c.outside {
			t.Errorf("%s:\n got %s outside %s\nwant %s outside %s", c.name, got, outside, c.want, c.outside)
		}
		if remarks := strings.Join(m.Remarks, "\n"); !strings.Contains(remarks, c.remark) || (c.remark == "") != (remarks == "") {
			t.Errorf("%s: remarks %q, want %q", c.name, remarks, c.remark)
		}
	}
}

func TestRecordedErrors(t *testing.T) {
	if m, err := Recorded(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "names a CPU") {
		t.Errorf("of nothing: %v, %v", m, err)
	}
	for path, want := range map[string]string{
		"testdata/none.tar": "no such file",
		"testdata":          "it holds no copy of /sys/devices/system/cpu, nor of /proc/cpuinfo",
		"sysfs_test.go":     "it must be a tar archive",
		"/dev/null":         "neither a directory nor an archive",
	} {
		if m, err := RecordedFile(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, %v; want an error with %q", path, m, err, want)
		}
	}
}

// TestDiscover checks this machine against what the kernel says of this process.
func TestDiscover(t *testing.T) {
	m, err := Discover()
	if err != nil {
		t.Fatal(err)
	}
	checkTree(t, m)
	cpus, quota := usable()
	if !m.Root.CPUs.Equal(cpus) || m.Quota != quota {
		t.Errorf("CPUs %v with quota %v, want %v with %v", m.Root.CPUs, m.Quota, cpus, quota)
	}
}

func BenchmarkDiscover(b *testing.B) {
	for b.Loop() {
		if _, err := Discover(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommon(b *testing.B) {
	m, err := Synthetic("numa:4 l3:2 core:8 pu:2")
	if err != nil {
		b.Fatal(err)
	}
	pus := m.PUs()
	i := 0
	for b.Loop() {
		i++
		if m.Common(pus[i%128], pus[i*7%128]) == nil {
			b.Fatal("no common ancestor")
		}
	}
}
