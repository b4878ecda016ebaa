package topo

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// leaves is what CPUID answers, by leaf and subleaf; zeros where nothing is recorded.
type leaves map[[2]uint32][4]uint32

func (lv leaves) read(leaf, sub uint32) (eax, ebx, ecx, edx uint32) {
	r := lv[[2]uint32{leaf, sub}]
	return r[0], r[1], r[2], r[3]
}

// Recorded registers, of the leaves that matter here.
var (
	// Intel Xeon Platinum 8370C in a Hyper-V guest.
	xeon = leaves{
		{0, 0}:          {0x15, 0x756e6547, 0x6c65746e, 0x49656e69},
		{4, 0}:          {0x7c004121, 0x02c0003f, 0x0000003f, 0},
		{4, 1}:          {0x7c004122, 0x01c0003f, 0x0000003f, 0},
		{4, 2}:          {0x7c004143, 0x04c0003f, 0x000003ff, 0},
		{4, 3}:          {0x7c0fc163, 0x02c0003f, 0x0000ffff, 0},
		{7, 0}:          {0, 0xd09f2fb9, 0, 0x00000400},
		{0x80000000, 0}: {0x80000008, 0, 0, 0},
		{0x80000001, 0}: {0, 0, 0x00000121, 0x2c100800},
	}
	// The guest on which this was written (Firecracker): one L3 of 480 MiB for two CPUs.
	firecracker = leaves{
		{0, 0}:          {0x24, 0x756e6547, 0x6c65746e, 0x49656e69},
		{4, 0}:          {0x04000121, 0x02c0003f, 0x0000003f, 0},
		{4, 1}:          {0x04000122, 0x03c0003f, 0x0000003f, 0},
		{4, 2}:          {0x04000143, 0x03c0003f, 0x000007ff, 0},
		{4, 3}:          {0x04004163, 0x03c0003f, 0x00077fff, 0},
		{7, 0}:          {2, 0xf1bf2ffb, 0x1a415f46, 0x23c14010},
		{0x80000000, 0}: {0x80000008, 0, 0, 0},
		{0x80000001, 0}: {0, 0, 0x00000121, 0x2c100800},
	}
	// Intel Alder Lake: its economical cores have other caches.
	alderLake = leaves{
		{0, 0}: {0x20, 0x756e6547, 0x6c65746e, 0x49656e69},
		{4, 0}: {0xfc004121, 0x02c0003f, 0x0000003f, 0},
		{7, 0}: {2, 0x239c27eb, 0x98c027bc, 0xfc1cc410},
	}
	// AMD Ryzen 5 3600: two L3 caches of three cores each.
	ryzen = leaves{
		{0, 0}:          {0x10, 0x68747541, 0x444d4163, 0x69746e65},
		{7, 0}:          {0, 0x219c91a9, 0x00400004, 0},
		{0x80000000, 0}: {0x80000020, 0x68747541, 0x444d4163, 0x69746e65},
		{0x80000001, 0}: {0x00870f10, 0x20000000, 0x75c237ff, 0x2fd3fbff},
		{0x8000001d, 0}: {0x00004121, 0x01c0003f, 0x0000003f, 0},
		{0x8000001d, 1}: {0x00004122, 0x01c0003f, 0x0000003f, 0},
		{0x8000001d, 2}: {0x00004143, 0x01c0003f, 0x000003ff, 2},
		{0x8000001d, 3}: {0x00014163, 0x03c0003f, 0x00003fff, 1},
	}
	// AMD EPYC in a Firecracker guest that calls itself an Intel of family 6.
	epyc = leaves{
		{0, 0}:          {0x10, 0x68747541, 0x444d4163, 0x69746e65},
		{7, 0}:          {0, 0x001007ab, 0, 0x8c000000},
		{0x80000000, 0}: {0x8000001f, 0x68747541, 0x444d4163, 0x69746e65},
		{0x80000001, 0}: {0x00a00f11, 0x40000000, 0x00c00237, 0x2813fbff},
		{0x8000001d, 0}: {0x00000121, 0x01c0003f, 0x0000003f, 0},
		{0x8000001d, 1}: {0x00000122, 0x01c0003f, 0x0000003f, 0},
		{0x8000001d, 2}: {0x00000143, 0x01c0003f, 0x000003ff, 2},
		{0x8000001d, 3}: {0x00004163, 0x03c0003f, 0x00007fff, 1},
	}
)

func TestStatedCaches(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	with := func(l leaves, leaf, sub, register, value uint32) leaves {
		c := leaves{}
		for k, v := range l {
			c[k] = v
		}
		r := c[[2]uint32{leaf, sub}]
		r[register] = value
		c[[2]uint32{leaf, sub}] = r
		return c
	}
	intel := []statedCache{{L1, 48 * kib, 2}, {L2, 1280 * kib, 2}, {L3, 48 * mib, 64}}
	for _, c := range []struct {
		name string
		read cpuidFunc
		want []statedCache
	}{
		{"Intel", xeon.read, intel},
		{"Intel, the L3 states two instances", firecracker.read, []statedCache{{L1, 48 * kib, 1}, {L2, 2 * mib, 1}, {L3, 480 * mib, 2}}},
		{"Intel, hybrid", alderLake.read, nil},
		{"AMD", ryzen.read, []statedCache{{L1, 32 * kib, 2}, {L2, 512 * kib, 2}, {L3, 16 * mib, 6}}},
		{"AMD, a guest", epyc.read, []statedCache{{L1, 32 * kib, 1}, {L2, 512 * kib, 1}, {L3, 32 * mib, 2}}},
		{"AMD without topology extensions", with(ryzen, 0x80000001, 0, 2, 0x758237ff).read, nil},
		{"AMD with cores of two kinds", with(with(ryzen, 0x80000000, 0, 0, 0x80000026), 0x80000026, 0, 0, 1<<30).read, nil},
		{"no processor", leaves{}.read, nil},
		{"all registers ones", func(uint32, uint32) (a, b, c, d uint32) { return ^a, ^b, ^c, ^d }, nil},
		{"one answer for ever", func(leaf, sub uint32) (a, b, c, d uint32) {
			if leaf == 4 {
				sub = 2
			}
			return xeon.read(leaf, sub)
		}, intel[1:2]},
		{"a size that cannot be", with(xeon, 4, 3, 2, 0xffffffff).read, intel[:2]},
		{"level 4", with(xeon, 4, 3, 0, 0x7c0fc183).read, intel[:2]},
	} {
		if got := statedCaches(c.read); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestStatedCachesAnything: registers can hold anything.
func TestStatedCachesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		register := rapid.Uint32()
		got := statedCaches(func(leaf, _ uint32) (a, b, c, d uint32) {
			n++
			if leaf == 0 || leaf == 0x80000000 {
				return leaf | register.Draw(t, "most")&0xff, 0, 0, 0
			}
			return register.Draw(t, "eax"), register.Draw(t, "ebx"), register.Draw(t, "ecx"), register.Draw(t, "edx")
		})
		if n > 5+maxCaches || len(got) > 3 {
			t.Fatalf("%d leaves read, caches %v", n, got)
		}
		for _, c := range got {
			if c.kind != L1 && c.kind != L2 && c.kind != L3 || c.size < 1 || c.size > maxStated || c.shared < 1 {
				t.Fatalf("cache %v", c)
			}
		}
	})
}

// TestCompletedCaches: what the caches that a processor states make of machines without
// caches in sysfs, or with some.
func TestCompletedCaches(t *testing.T) {
	stated := func(l leaves) func() []statedCache { return func() []statedCache { return statedCaches(l.read) } }
	// cpus is /proc/cpuinfo with the APIC IDs of CPUs 0, 1, ..., -1 for none.
	cpus := func(ids ...int) string {
		s := "I="
		for c, id := range ids {
			s += fmt.Sprintf(`processor : %d\n`, c)
			if id >= 0 {
				s += fmt.Sprintf(`apicid : %d\n`, id)
			}
		}
		return s
	}
	dual := []string{"0/topology/package_cpus=3", "0/topology/core_cpus=1", "1/topology/core_cpus=2"}
	// Two threads per core, the second ones numbered after all first ones.
	eight := []string{"0/topology/package_cpus=ff", "0/topology/core_cpus=11", "1/x=", "2/x=", "3/x=", "4/x=", "5/x=", "6/x=", "7/x="}
	smt := append(slices.Clip(eight), "1/topology/core_cpus=22", "2/topology/core_cpus=44", "3/topology/core_cpus=88")
	for _, c := range []struct {
		name      string
		tree      []string
		processor leaves
		want      string
	}{
		{"a guest of two cores", append(slices.Clip(dual), cpus(0, 1)), firecracker,
			"Machine(Package(NUMA#0(L3(L2(L1(Core(PU#0))) L2(L1(Core(PU#1)))))))"},
		{"APIC IDs unknown", dual, firecracker,
			"Machine(Package(NUMA#0(L3(L2(L1(Core(PU#0))) L2(L1(Core(PU#1)))))))"},
		{"nothing in sysfs but the CPUs", []string{"O=0-1"}, firecracker,
			"Machine(NUMA#0(L3(L2(L1(PU#0)) L2(L1(PU#1)))))"},
		{"each CPU is a package: no cache reaches further", []string{"0/topology/package_cpus=1", "1/topology/package_cpus=2", cpus(0, 1)}, xeon,
			"Machine(NUMA#0(Package(L3(L2(L1(PU#0)))) Package(L3(L2(L1(PU#1))))))"},
		{"caches of six CPUs, IDs with gaps", append(slices.Clip(smt), cpus(0, 2, 8, 10, 1, 3, 9, 11)), ryzen,
			"Machine(Package(NUMA#0(L3(L2(L1(Core(PU#0 PU#4))) L2(L1(Core(PU#1 PU#5)))) L3(L2(L1(Core(PU#2 PU#6))) L2(L1(Core(PU#3 PU#7)))))))"},
		{"caches of six CPUs, one ID unknown", append(slices.Clip(smt), cpus(0, 2, 8, -1, 1, 3, 9, 11)), ryzen,
			"Machine(Package(NUMA#0(L3(L2(L1(Core(PU#0 PU#4))) L2(L1(Core(PU#1 PU#5))) L2(L1(Core(PU#2 PU#6)))) L3(L2(L1(Core(PU#3 PU#7)))))))"},
		{"the threads of a core share its caches, whatever the hypervisor says", append(slices.Clip(eight), cpus(0, 1, 2, 3, 4, 5, 6, 7)), epyc,
			"Machine(Package(NUMA#0(L3(L2(L1(Core(PU#0 PU#4))) L2(L1(PU#1))) L3(L2(L1(PU#2)) L2(L1(PU#3))) L3(L2(L1(PU#5))) L3(L2(L1(PU#6)) L2(L1(PU#7))))))"},
		{"sysfs knows the L2", append(slices.Clip(dual), "0/cache/index2/level=2", "0/cache/index2/type=Unified", "0/cache/index2/shared_cpu_map=3"), firecracker,
			"Machine(Package(NUMA#0(L3(L2(L1(Core(PU#0)) L1(Core(PU#1)))))))"},
		{"a hybrid processor", dual, alderLake, "Machine(Package(NUMA#0(Core(PU#0) Core(PU#1))))"},
	} {
		m, err := readMachine(tree(c.tree...), "test", nil, stated(c.processor))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		checkTree(t, m)
		if got := outline(m.Root); got != c.want || len(m.Remarks) > 0 {
			t.Errorf("%s:\n got %s, remarks %q\nwant %s", c.name, got, m.Remarks, c.want)
		}
		for _, l2 := range m.At(L2) {
			if l2.Size == 0 {
				t.Errorf("%s: %v has no size", c.name, l2)
			}
		}
	}
}

// TestSharers: whatever a processor and /proc/cpuinfo state, each CPU is in one group of
// each kind, and no group leaves its package or divides a core.
func TestSharers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.IntRange(1, 40).Draw(t, "CPUs")
		b := &treeBuilder{topology: &Topology{}}
		for c := range cpus {
			b.online.Add(c)
		}
		var packages, cores []CPUSet
		for _, k := range []struct {
			kind Kind
			sets *[]CPUSet
		}{{Package, &packages}, {Core, &cores}} {
			var left CPUSet
			for left = b.online; !left.Empty() && rapid.IntRange(0, 9).Draw(t, "more") > 0; {
				all := slices.Collect(left.All())
				set := CPUs(rapid.SliceOfN(rapid.SampledFrom(all), 1, 8).Draw(t, "set")...)
				if k.kind == Core && len(packages) > 0 { // of one package
					if p := packages[rapid.IntRange(0, len(packages)-1).Draw(t, "package")].And(set); !p.Empty() {
						set = p
					} else {
						set = CPUs(set.First())
					}
				}
				left = left.Minus(set)
				*k.sets = append(*k.sets, set)
				b.add(machinePart{kind: k.kind, os: -1, cpus: set})
			}
		}
		ids := map[int]int{}
		for c := range rapid.IntRange(0, cpus).Draw(t, "with APIC IDs") {
			ids[c] = rapid.IntRange(0, 255).Draw(t, "APIC ID")
		}
		var all CPUSet
		groups := b.sharers(rapid.IntRange(-1, 5000).Draw(t, "sharers"), ids)
		for _, g := range groups {
			if g.Empty() || g.Intersects(all) {
				t.Fatalf("groups %v", groups)
			}
			all = all.Or(g)
			for _, p := range packages {
				if g.Intersects(p) && !p.Contains(g) {
					t.Fatalf("groups %v, package %v", groups, p)
				}
			}
			for _, c := range cores {
				if g.Intersects(c) && !g.Contains(c) && insideOne(packages, c) {
					t.Fatalf("groups %v, core %v, packages %v", groups, c, packages)
				}
			}
		}
		if !all.Equal(b.online) {
			t.Fatalf("CPUs %v in groups %v", b.online, groups)
		}
	})
}

// insideOne tells whether one of the sets contains all of s, or none any of it.
func insideOne(sets []CPUSet, s CPUSet) bool {
	for _, p := range sets {
		if p.Intersects(s) {
			return p.Contains(s)
		}
	}
	return true
}

// without is a file system that lacks some files.
type without struct {
	fs.FS
	lacks func(name string) bool
}

func (w without) Open(name string) (fs.File, error) {
	if w.lacks(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return w.FS.Open(name)
}

// TestCachesHere reads this machine, as it is and as if sysfs told of no caches, of no
// topology, and of no APIC IDs either. Processors and hypervisors may state what sysfs does
// not, so only the shape is checked; the log says what was seen.
func TestCachesHere(t *testing.T) {
	t.Logf("CPUID states %v", processorCaches())
	lacksCaches := func(name string) bool {
		return strings.HasPrefix(name, cpuDir+"/cpu") && strings.Contains(name, "/cache")
	}
	lacksTopology := func(name string) bool {
		return lacksCaches(name) || strings.HasPrefix(name, cpuDir+"/cpu") && path.Base(path.Dir(name)) == "topology"
	}
	for _, c := range []struct {
		name  string
		lacks func(string) bool
	}{
		{"as it is", func(string) bool { return false }},
		{"without caches in sysfs", lacksCaches},
		{"without caches and topology in sysfs", lacksTopology},
		{"without caches, topology and cpuinfo", func(name string) bool { return lacksTopology(name) || name == "proc/cpuinfo" }},
	} {
		mask := processMask
		m, err := readMachine(without{os.DirFS("/"), c.lacks}, "this machine", &mask, processorCaches)
		if err != nil {
			t.Logf("%s: %v", c.name, err) // no /sys, or not Linux
			continue
		}
		checkTree(t, m)
		t.Logf("%s: %v %s %q", c.name, m, outline(m.Root), m.Remarks)
		for _, k := range []Kind{L3, L2, L1} {
			for _, it := range m.At(k) {
				t.Logf("\t%v of CPUs %v: %s", it, it.CPUs, FormatSize(it.Size))
			}
		}
		for _, s := range processorCaches() {
			if len(m.At(s.kind)) == 0 {
				t.Errorf("%s: the processor states %v, and no %v is listed", c.name, s, s.kind)
			}
		}
	}
}

func BenchmarkProcessorCaches(b *testing.B) {
	for b.Loop() {
		processorCaches()
	}
}
