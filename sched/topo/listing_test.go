package topo

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listing is what hwloc's own tool printed about a recorded machine.
type listing struct {
	objects   []*object
	pus       []int // in its order
	missing   CPUSet
	distances [][]int // nil, or by logical NUMA index
	depths    map[Kind]int
	mainframe bool // has drawers and books, which we have not: they change the order
}

// object is one line of it.
type object struct {
	name   string
	kind   Kind
	known  bool // a kind that we have, too
	index  int  // L#
	os     int  // P#, -1 if it has none
	cpus   CPUSet
	size   string // "32KiB"
	rank   int    // of a core; -1
	parent *object
	indent int
}

var (
	objectLine = regexp.MustCompile(`^( *)(\w+)(?:\([^)]*\))?(?: L#(\d+))?(?: \((.*)\))?`)
	osNumber   = regexp.MustCompile(`^P#(\d+)`)
	capacity   = regexp.MustCompile(`\b(?:size|local)=(\d+[KMG]iB)`)
	cpuKind    = regexp.MustCompile(`\bcpukind=(\d+)`)
	missing    = regexp.MustCompile(`^\d+ processors not represented in topology: (0x.*)`)
	depthLine  = regexp.MustCompile(`^ *(?:depth \d+|Special depth -\d+): +(\d+) (\w+) \(type`)
	matrixLine = regexp.MustCompile(`^Relative latency matrix \(name NUMALatency`)
)

var listedKinds = map[string]Kind{
	"Machine": Machine, "Package": Package, "NUMANode": NUMA, "Die": Die,
	"L3Cache": L3, "L2Cache": L2, "L1dCache": L1, "Core": Core, "PU": PU,
}

// readListing parses a .console file.
func readListing(name string) (*listing, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	l := &listing{depths: map[Kind]int{}}
	var stack []*object
	lines := strings.Split(string(text), "\n")
	tree := true
	for i, line := range lines {
		if m := depthLine.FindStringSubmatch(line); m != nil {
			tree = false
			if k, ok := listedKinds[m[2]]; ok {
				l.depths[k], _ = strconv.Atoi(m[1])
			}
			continue
		}
		if m := missing.FindStringSubmatch(line); m != nil {
			if l.missing, err = ParseCPUMask(m[1]); err != nil {
				return nil, err
			}
		}
		if matrixLine.MatchString(line) {
			if l.distances, err = readMatrix(lines[i+1:]); err != nil {
				return nil, err
			}
		}
		if !tree {
			continue
		}
		m := objectLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("%s:%d: no object: %q", name, i+1, line)
		}
		o := &object{name: m[2], os: -1, rank: -1, indent: len(m[1])}
		o.index, _ = strconv.Atoi(m[3])
		o.kind, o.known = listedKinds[o.name]
		if n := osNumber.FindStringSubmatch(m[4]); n != nil {
			o.os, _ = strconv.Atoi(n[1])
		}
		l.mainframe = l.mainframe || strings.Contains(line, "(Drawer)")
		if s := capacity.FindStringSubmatch(m[4]); s != nil {
			o.size = s[1]
		}
		if r := cpuKind.FindStringSubmatch(m[4]); r != nil {
			o.rank, _ = strconv.Atoi(r[1])
		}
		for len(stack) > 0 && stack[len(stack)-1].indent >= o.indent {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			o.parent = stack[len(stack)-1]
		}
		stack = append(stack, o)
		l.objects = append(l.objects, o)
		if o.known && o.kind == PU {
			l.pus = append(l.pus, o.os)
			for p := o; p != nil; p = p.parent {
				p.cpus.Add(o.os)
			}
		}
	}
	// Memory hangs beside the CPUs that are near it.
	for _, o := range l.objects {
		if o.known && o.kind == NUMA {
			at := o.parent
			for !at.known && !strings.HasPrefix(at.name, "Group") || at.kind == NUMA {
				at = at.parent // a cache of the memory itself
			}
			o.cpus = at.cpus
		}
	}
	return l, nil
}

// readMatrix reads the lines of a matrix up to the first that is none, and puts
// its rows and columns in the order of the indices.
func readMatrix(lines []string) ([][]int, error) {
	var order []int
	for _, f := range strings.Fields(lines[0])[1:] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, err
		}
		order = append(order, n)
	}
	matrix := make([][]int, len(order))
	for i := range order {
		f := strings.Fields(lines[1+i])
		if len(f) != 1+len(order) {
			return nil, fmt.Errorf("a row of %d fields in a matrix of %d", len(f), len(order))
		}
		matrix[order[i]] = make([]int, len(order))
		for j := range order {
			d, err := strconv.Atoi(f[1+j])
			if err != nil {
				return nil, err
			}
			matrix[order[i]][order[j]] = d
		}
	}
	return matrix, nil
}

// listedSize writes bytes as the listings do.
func listedSize(bytes int64) string {
	switch {
	case bytes >= 10<<30:
		return fmt.Sprintf("%dGiB", (bytes>>29+1)/2)
	case bytes >= 10<<20:
		return fmt.Sprintf("%dMiB", (bytes>>19+1)/2)
	}
	return fmt.Sprintf("%dKiB", (bytes>>9+1)/2)
}

// compare reports where a topology and a listing disagree.
func (l *listing) compare(t *testing.T, m *Topology) {
	t.Helper()
	listed := map[Kind][]*object{}
	for _, o := range l.objects {
		if o.known {
			listed[o.kind] = append(listed[o.kind], o)
		}
	}
	for kind, n := range l.depths {
		if len(listed[kind]) != n {
			t.Fatalf("the listing counts %d %v and shows %d: the test misreads it", n, kind, len(listed[kind]))
		}
	}
	for _, kind := range []Kind{Package, NUMA, Die, L3, L2, L1, Core, PU} {
		ours := append([]*Item(nil), m.At(kind)...)
		for _, it := range m.Outside {
			if it.Kind == kind {
				ours = append(ours, it)
			}
		}
		theirs := listed[kind]
		if len(theirs) == 0 {
			// Some listings leave out levels that add nothing.
			for _, it := range ours {
				if !l.hasSet(it.CPUs) {
					t.Errorf("%v %d with CPUs %v: the listing has no such set", kind, it.OS, it.CPUs)
				}
			}
			continue
		}
		if len(ours) != len(theirs) {
			t.Errorf("%d %v, want %d", len(ours), kind, len(theirs))
		}
		for _, o := range theirs {
			found := false
			for i, it := range ours {
				if it.CPUs.Equal(o.cpus) && (kind != NUMA && !o.cpus.Empty() || it.OS == o.os) {
					ours = append(ours[:i], ours[i+1:]...)
					l.compareOne(t, o, it)
					found = true
					break
				}
			}
			if !found {
				t.Errorf("no %v %d with CPUs %v", kind, o.os, o.cpus)
			}
		}
		for _, it := range ours {
			t.Errorf("%v %d with CPUs %v is not in the listing", kind, it.OS, it.CPUs)
		}
	}
	var order []int
	for _, pu := range m.PUs() {
		order = append(order, pu.OS)
	}
	if !l.mainframe && fmt.Sprint(order) != fmt.Sprint(l.pus) {
		t.Errorf("order of the PUs: %v, want %v", order, l.pus)
	}
	if left := m.Forbidden.Or(m.Offline); !left.Equal(l.missing) {
		t.Errorf("CPUs left out: %v, want %v", left, l.missing)
	}
	slices.SortFunc(listed[NUMA], func(a, b *object) int { return a.index - b.index })
	l.compareDistances(t, m, listed[NUMA])
}

func (l *listing) hasSet(cpus CPUSet) bool {
	for _, o := range l.objects {
		if o.cpus.Equal(cpus) {
			return true
		}
	}
	return false
}

func (l *listing) compareOne(t *testing.T, o *object, it *Item) {
	t.Helper()
	if o.os >= 0 && it.OS >= 0 && it.OS != o.os {
		t.Errorf("%v %v has the number %d, want %d", it.Kind, it.CPUs, it.OS, o.os)
	}
	if o.size != "" && listedSize(it.Size) != o.size {
		t.Errorf("%v %d of %v has %d bytes (%s), want %s", it.Kind, it.OS, it.CPUs, it.Size, listedSize(it.Size), o.size)
	}
	if o.rank >= 0 && it.Efficiency != o.rank {
		t.Errorf("%v %d has efficiency class %d, want %d", it.Kind, it.OS, it.Efficiency, o.rank)
	}
}

func (l *listing) compareDistances(t *testing.T, m *Topology, nodes []*object) {
	t.Helper()
	byOS := map[int]*Item{}
	for _, it := range append(append([]*Item(nil), m.At(NUMA)...), m.Outside...) {
		if it.Kind == NUMA {
			byOS[it.OS] = it
		}
	}
	for i, row := range l.distances {
		for j, want := range row {
			if got, ok := m.Distance(byOS[nodes[i].os], byOS[nodes[j].os]); !ok || got != want {
				t.Errorf("distance from NUMA node %d to %d: %d, %v; want %d", nodes[i].os, nodes[j].os, got, ok, want)
			}
		}
	}
}
