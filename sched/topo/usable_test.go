package topo

import (
	"os"
	"testing"
	"testing/fstest"
)

// usable returns the CPUs that the mask of this process, as it was at the start, and the cpuset of its cgroup allow, and
// its quota, in another way than Discover finds them.
func usable() (cpus CPUSet, quota float64) {
	l := readLimits(os.DirFS("/"))
	cpus = processMask
	// The mask obeys the cpuset already, unless that changed since.
	if both := cpus.And(l.cpus); l.hasCPUs && !both.Empty() {
		cpus = both
	}
	return cpus, l.quota
}

func TestUsableHere(t *testing.T) {
	cpus, quota := usable()
	if cpus.Empty() || quota < 0 {
		t.Errorf("usable: CPUs %v, quota %v", cpus, quota)
	}
}

// TestQuotaHere: the two functions that read the quota agree, and no quota is no number.
func TestQuotaHere(t *testing.T) {
	cpus, ok := Quota()
	if _, quota := usable(); quota != cpus || ok != (cpus > 0) {
		t.Errorf("quota %v, %v; the limits say %v", cpus, ok, quota)
	}
	left, limited := TasksLeft()
	t.Logf("quota %v CPUs, %v; %d tasks left, %v", cpus, ok, left, limited)
	if left < 0 || !limited && left != 0 {
		t.Errorf("tasks left: %d, %v", left, limited)
	}
}

func TestLimits(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const v2mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
	for _, c := range []struct {
		name  string
		tree  fstest.MapFS
		cpus  string
		mems  string
		quota float64
	}{
		{"nothing", fstest.MapFS{}, "", "", 0},
		{"version 2", fstest.MapFS{
			"proc/self/mountinfo":                   file(v2mount),
			"proc/self/cgroup":                      file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/cpu.max":             file("150000 100000\n"),
			"sys/fs/cgroup/a/cpu.max":               file("max 100000\n"),
			"sys/fs/cgroup/a/cpuset.cpus.effective": file("2-5\n"),
			"sys/fs/cgroup/a/cpuset.mems.effective": file("1\n"),
			"sys/fs/cgroup/cpuset.cpus.effective":   file("0-7\n"),
			"sys/fs/cgroup/a/b/c/cpuset.cpus":       file("0\n"),
			"sys/fs/cgroup/cpuset/a/b/cpuset.cpus":  file("0\n"),
		}, "2-5", "1", 1.5},
		{"the quota above is smaller", fstest.MapFS{
			"proc/self/mountinfo":       file(v2mount),
			"proc/self/cgroup":          file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/cpu.max": file("300000 100000\n"),
			"sys/fs/cgroup/a/cpu.max":   file("50000 100000\n"),
		}, "", "", 0.5},
		{"version 2 in a container without namespace", fstest.MapFS{
			"proc/self/mountinfo":                 file("30 23 0:26 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
			"proc/self/cgroup":                    file("0::/docker/x\n"),
			"sys/fs/cgroup/cpuset.cpus.effective": file("1,3\n"),
			"sys/fs/cgroup/cpu.max":               file("100000 100000\n"),
		}, "1,3", "", 1},
		{"version 1", fstest.MapFS{
			"proc/self/mountinfo": file("33 31 0:31 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" +
				"34 31 0:32 / /cg/my\\040set rw - cgroup cgroup rw,cpuset\n"),
			"proc/self/cgroup":             file("3:cpuset:/in\n1:cpu,cpuacct:/q\n0::/\n"),
			"cg/cpu/q/cpu.cfs_quota_us":    file("25000\n"),
			"cg/cpu/q/cpu.cfs_period_us":   file("100000\n"),
			"cg/cpu/cpu.cfs_quota_us":      file("-1\n"),
			"cg/cpu/cpu.cfs_period_us":     file("100000\n"),
			"cg/my set/in/cpuset.cpus":     file("0-1\n"),
			"cg/my set/in/cpuset.mems":     file("0\n"),
			"cg/my set/cpuset.cpus":        file("0-3\n"),
			"cg/my set/in/deep/cpuset.cpu": file("3\n"),
		}, "0-1", "0", 0.25},
		{"old cpuset, recorded", fstest.MapFS{
			"proc/mounts":           file("cpuset /dev/cpuset cgroup rw,cpuset,noprefix 0 0\ncgroup2 /dev/cgroup cgroup2 rw 0 0\n"),
			"proc/self/cpuset":      file("/prout\n"),
			"dev/cpuset/prout/cpus": file("0-3\n"),
			"dev/cpuset/prout/mems": file("2-3\n"),
		}, "0-3", "2-3", 0},
		{"nonsense", fstest.MapFS{
			"proc/self/mountinfo":     file("x\n - \n30 23 0:26 / /c rw - cgroup2 cgroup2 rw\n"),
			"proc/self/cgroup":        file("::\n0\n0::/../../..\n"),
			"c/cpu.max":               file("1e300 1e-300\n"),
			"c/cpuset.cpus.effective": file("0-99999999999\n"),
			"c/cpuset.cpus":           file("zero\n"),
		}, "", "", 0},
	} {
		l := readLimits(c.tree)
		if l.cpus.String() != c.cpus || l.hasCPUs != (c.cpus != "") || l.mems.String() != c.mems || l.quota != c.quota {
			t.Errorf("%s: got CPUs %v, memory %v, quota %v; want %s, %s, %v", c.name, l.cpus, l.mems, l.quota, c.cpus, c.mems, c.quota)
		}
	}
}

// TestTasks: the tightest of the pids controllers from the process's own cgroup to the root.
func TestTasks(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const v2mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
	for _, c := range []struct {
		name    string
		tree    fstest.MapFS
		left    int64
		limited bool
	}{
		{"nothing", fstest.MapFS{}, 0, false},
		{"no limit", fstest.MapFS{
			"proc/self/mountinfo":            file(v2mount),
			"proc/self/cgroup":               file("0::/a\n"),
			"sys/fs/cgroup/a/pids.max":       file("max\n"),
			"sys/fs/cgroup/a/pids.current":   file("17\n"),
			"sys/fs/cgroup/pids.current":     file("400\n"),
			"sys/fs/cgroup/a/b/pids.max":     file("1\n"),
			"sys/fs/cgroup/a/b/pids.current": file("1\n"),
		}, 0, false},
		{"version 2, the one above leaves less", fstest.MapFS{
			"proc/self/mountinfo":            file(v2mount),
			"proc/self/cgroup":               file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/pids.max":     file("100\n"),
			"sys/fs/cgroup/a/b/pids.current": file("10\n"),
			"sys/fs/cgroup/a/pids.max":       file("200\n"),
			"sys/fs/cgroup/a/pids.current":   file("150\n"),
		}, 50, true},
		{"version 1, in a container without namespace", fstest.MapFS{
			"proc/self/mountinfo": file("33 31 0:31 /docker/x /cg/pids rw - cgroup cgroup rw,pids\n" +
				"34 31 0:32 / /cg/unified rw - cgroup2 cgroup2 rw\n"),
			"proc/self/cgroup":     file("8:pids:/docker/x\n1:cpu,cpuacct:/q\n0::/\n"),
			"cg/pids/pids.max":     file("64\n"),
			"cg/pids/pids.current": file("60\n"),
		}, 4, true},
		{"more than allowed run already", fstest.MapFS{
			"proc/self/mountinfo":        file(v2mount),
			"proc/self/cgroup":           file("0::/\n"),
			"sys/fs/cgroup/pids.max":     file("5\n"),
			"sys/fs/cgroup/pids.current": file("7\n"),
		}, 0, true},
		{"how many run is not told", fstest.MapFS{
			"proc/self/mountinfo":    file(v2mount),
			"proc/self/cgroup":       file("0::/\n"),
			"sys/fs/cgroup/pids.max": file("5\n"),
		}, 5, true},
		{"nonsense", fstest.MapFS{
			"proc/self/mountinfo":        file(v2mount),
			"proc/self/cgroup":           file("0::/\n"),
			"sys/fs/cgroup/pids.max":     file("9223372036854775807\n"),
			"sys/fs/cgroup/pids.current": file("-9223372036854775808\n"),
		}, 1<<63 - 1, true},
	} {
		if left, limited := smallest(findCgroups(c.tree), "pids", readTasks); left != c.left || limited != c.limited {
			t.Errorf("%s: %d left, %v; want %d, %v", c.name, left, limited, c.left, c.limited)
		}
	}
}
