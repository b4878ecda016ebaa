package topo

import (
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// limits is what cgroups grant a process.
type limits struct {
	cpus, mems       CPUSet // memory nodes are numbered like CPUs
	hasCPUs, hasMems bool
	quota            float64 // CPUs' worth of time; 0: all
}

// readLimits reads the cgroups of the process that fsys/proc/self describes. What it cannot read does not limit.
func readLimits(fsys fs.FS) (l limits) {
	c := findCgroups(fsys)
	c.each("cpuset", func(dirs []string) { l.addCPUSet(fsys, dirs) })
	l.quota = c.quota()
	return l
}

// cgroups says where the files of one process's cgroups are, of version 1 and 2, mounted wherever the mount table says.
type cgroups struct {
	fsys   fs.FS
	paths  map[string]map[bool]string // by controller and by "is version 2"
	mounts []cgroupMount
}

func findCgroups(fsys fs.FS) cgroups {
	return cgroups{fsys, cgroupPaths(fsys), cgroupMounts(fsys)}
}

// each calls look once for each mount that has files of a controller, with the directory of the process's cgroup and
// those above it, the innermost first.
func (c cgroups) each(controller string, look func(dirs []string)) {
	for _, m := range c.mounts {
		if dirs := m.climb(c.paths[controller]); m.has(controller) && len(dirs) > 0 {
			look(dirs)
		}
	}
}

// smallest returns the smallest limit of one controller. Every cgroup from the process's own up to the root of the
// mount limits the process.
func smallest[N int64 | float64](c cgroups, controller string, read func(fsys fs.FS, dir string) (N, bool)) (least N, ok bool) {
	c.each(controller, func(dirs []string) {
		for _, dir := range dirs {
			if n, has := read(c.fsys, dir); has && (!ok || n < least) {
				least, ok = n, true
			}
		}
	})
	return least, ok
}

// quota returns how many CPUs' worth of time the process may use; 0: all.
func (c cgroups) quota() float64 {
	q, _ := smallest(c, "cpu", readQuota)
	return q
}

// readQuota reads the quota of one cgroup, in CPUs' worth of time.
func readQuota(fsys fs.FS, dir string) (float64, bool) {
	quota, period := "", ""
	if text, err := readText(fsys, path.Join(dir, "cpu.max")); err == nil { // version 2
		quota, period, _ = strings.Cut(strings.TrimSpace(text), " ")
	} else if text, err := readText(fsys, path.Join(dir, "cpu.cfs_quota_us")); err == nil {
		quota = strings.TrimSpace(text)
		text, _ = readText(fsys, path.Join(dir, "cpu.cfs_period_us"))
		period = strings.TrimSpace(text)
	}
	q, err := strconv.ParseFloat(quota, 64) // "max" in version 2 and -1 in version 1 mean none
	p, err2 := strconv.ParseFloat(period, 64)
	if err != nil || err2 != nil || !(q > 0) || !(p > 0) || math.IsInf(q/p, 0) || math.IsNaN(q/p) || q/p == 0 {
		return 0, false
	}
	return q / p, true
}

// readTasks reads how many more tasks one cgroup lets start. The kernel counts each thread as a task, of the cgroup and
// of all below it.
func readTasks(fsys fs.FS, dir string) (int64, bool) {
	most, ok := readInt(fsys, path.Join(dir, "pids.max")) // "max" means no limit
	if !ok || most < 0 {
		return 0, false
	}
	now, _ := readInt(fsys, path.Join(dir, "pids.current"))
	return max(0, most-max(0, now)), true
}

// addCPUSet takes the cpuset of the innermost directory that states one: those below it inherit it.
func (lm *limits) addCPUSet(fsys fs.FS, dirs []string) {
	read := func(set *CPUSet, has *bool, names ...string) {
		for _, dir := range dirs {
			for _, name := range names {
				text, err := readText(fsys, path.Join(dir, name))
				if err != nil {
					continue
				}
				if s, err := ParseCPUList(text); err == nil && !s.Empty() {
					if *has {
						s = s.And(*set)
					}
					*set, *has = s, true
					return
				}
			}
		}
	}
	// Version 2, version 1, and version 1 mounted without prefixes.
	read(&lm.cpus, &lm.hasCPUs, "cpuset.cpus.effective", "cpuset.cpus", "cpus")
	read(&lm.mems, &lm.hasMems, "cpuset.mems.effective", "cpuset.mems", "mems")
}

// cgroupPaths says in which cgroup the process is: by the controllers of version 1, and by "" for version 2.
// /proc/self/cpuset is older than /proc/self/cgroup, and some recordings have only that.
func cgroupPaths(fsys fs.FS) map[string]map[bool]string {
	paths := map[string]map[bool]string{"cpuset": {}, "cpu": {}, "pids": {}}
	if text, err := readText(fsys, "proc/self/cpuset"); err == nil {
		paths["cpuset"][false] = strings.TrimSpace(text)
		paths["cpuset"][true] = strings.TrimSpace(text)
	}
	text, err := readText(fsys, "proc/self/cgroup")
	if err != nil {
		return paths
	}
	for line := range strings.Lines(text) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, where, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		for controller, of := range paths {
			if controllers == "" {
				of[true] = where
				continue
			}
			if slices.Contains(strings.Split(controllers, ","), controller) {
				of[false] = where
			}
		}
	}
	return paths
}

// cgroupMount is a cgroup file system in the mount table.
type cgroupMount struct {
	root    string // which cgroup is mounted, where the table says so
	point   string // where, without the leading slash
	v2      bool
	options []string
}

// has reports whether the mount may have files of a controller; a mount of version 2 may have those of all.
func (cm cgroupMount) has(controller string) bool {
	return cm.v2 || slices.Contains(cm.options, controller)
}

// climb lists the directory of a cgroup and those above it up to the mount point; none if the process's cgroup in this
// hierarchy is not known.
func (cm cgroupMount) climb(paths map[bool]string) (dirs []string) {
	cgroup, ok := paths[cm.v2]
	if !ok || !strings.HasPrefix(cgroup, "/") {
		return nil
	}
	// In a container that does not have a namespace for cgroups, the mount shows only the
	// container's own cgroup, while the process's path is that of the host.
	if cm.root != "/" && (cgroup == cm.root || strings.HasPrefix(cgroup, cm.root+"/")) {
		cgroup = cgroup[len(cm.root):]
	}
	for cgroup = path.Clean("/" + cgroup); ; cgroup = path.Dir(cgroup) {
		dirs = append(dirs, path.Join(cm.point, cgroup))
		if cgroup == "/" || len(dirs) > maxCgroupDepth {
			return dirs
		}
	}
}

const (
	maxCgroupDepth  = 64
	maxCgroupMounts = 64
)

// cgroupMounts finds the cgroup file systems in the mount table.
func cgroupMounts(fsys fs.FS) (mounts []cgroupMount) {
	add := func(root, point, fstype, options string) {
		switch fstype {
		case "cgroup", "cgroup2", "cpuset": // the last one is the ancestor of them all
		default:
			return
		}
		point = strings.TrimPrefix(path.Clean("/"+unescapeMount(point)), "/")
		if point == "" || len(mounts) == maxCgroupMounts {
			return
		}
		m := cgroupMount{root, point, fstype == "cgroup2", strings.Split(options, ",")}
		if fstype == "cpuset" {
			m.options = append(m.options, "cpuset")
		}
		mounts = append(mounts, m)
	}
	if text, err := readText(fsys, "proc/self/mountinfo"); err == nil {
		for line := range strings.Lines(text) {
			// ID PARENT DEVICE ROOT POINT OPTIONS... - TYPE SOURCE OPTIONS
			left, right, ok := strings.Cut(strings.TrimSpace(line), " - ")
			l, r := strings.Fields(left), strings.Fields(right)
			if ok && len(l) >= 6 && len(r) >= 3 {
				add(unescapeMount(l[3]), l[4], r[0], r[2])
			}
		}
		return mounts
	}
	text, err := readText(fsys, "proc/self/mounts")
	if err != nil {
		text, err = readText(fsys, "proc/mounts")
	}
	if err != nil {
		return nil
	}
	for line := range strings.Lines(text) {
		// SOURCE POINT TYPE OPTIONS 0 0
		if f := strings.Fields(line); len(f) >= 4 {
			add("/", f[1], f[2], f[3])
		}
	}
	return mounts
}

// unescapeMount undoes the mount table's \040 for a space, and the like.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace
