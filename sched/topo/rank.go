package topo

import (
	"io/fs"
	"maps"
	"slices"
)

// rank tells kinds of CPUs apart: by what the kernel says each can compute (arm64), else by the performance-monitoring
// units of Intel's hybrid processors, else by the frequencies that are always kept. The highest frequencies do not
// tell: favored cores of one kind have higher ones.
func (b *treeBuilder) rank(fsys fs.FS) {
	b.ranks = map[int]int{}
	for _, measure := range []func() map[int]int{
		func() map[int]int { return b.eachCPU(fsys, "cpu_capacity") },
		func() map[int]int { return b.units(fsys) },
		func() map[int]int { return b.eachCPU(fsys, "cpufreq/base_frequency") },
	} {
		values := measure()
		if len(values) < b.online.Count() {
			continue // not known of all
		}
		classes := slices.Compact(slices.Sorted(maps.Values(values)))
		if len(classes) == 1 {
			continue
		}
		for c, v := range values {
			b.ranks[c], _ = slices.BinarySearch(classes, v)
		}
		return
	}
}

// eachCPU reads a positive number of every CPU.
func (b *treeBuilder) eachCPU(fsys fs.FS, file string) map[int]int {
	values := map[int]int{}
	for c := range b.online.All() {
		n := readID(fsys, cpuFile(c, file))
		if n <= 0 {
			return nil
		}
		values[c] = n
	}
	return values
}

func (b *treeBuilder) units(fsys fs.FS) map[int]int {
	values := map[int]int{}
	for i, unit := range []string{"cpu_lowpower", "cpu_atom", "cpu_core"} {
		set, _ := readList(fsys, "sys/devices/"+unit+"/cpus")
		for c := range set.And(b.online).All() {
			values[c] = i
		}
	}
	return values
}
