package topo

// failer is what testing and rapid have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkTree fails unless the topology keeps what the documentation of Topology and
// Item promises.
func checkTree(t failer, m *Topology) {
	t.Helper()
	count := [kinds]int{}
	m.Root.Walk(func(it *Item) {
		if m.At(it.Kind)[it.Index] != it || it.Index != count[it.Kind] {
			t.Fatalf("%v %d is not in its place among its kind", it.Kind, it.Index)
		}
		count[it.Kind]++
		if it.CPUs.Empty() {
			t.Fatalf("%v %d has no CPU", it.Kind, it.Index)
		}
		if (it.Kind == PU) != (len(it.Children) == 0) {
			t.Fatalf("%v %d has %d children", it.Kind, it.Index, len(it.Children))
		}
		var together CPUSet
		for _, c := range it.Children {
			if c.Parent != it || c.Depth != it.Depth+1 {
				t.Fatalf("%v %d in %v %d does not know its parent", c.Kind, c.Index, it.Kind, it.Index)
			}
			if c.CPUs.Intersects(together) {
				t.Fatalf("children of %v %d share CPUs", it.Kind, it.Index)
			}
			together = together.Or(c.CPUs)
			if c.Kind < it.Kind && c.CPUs.Equal(it.CPUs) && it.Kind != Machine && m.Forbidden.Empty() && c.Kind != Package {
				t.Fatalf("%v %d is inside %v %d of the same CPUs", c.Kind, c.Index, it.Kind, it.Index)
			}
		}
		if it.Kind == PU {
			together = CPUs(it.OS)
		}
		if !together.Equal(it.CPUs) {
			t.Fatalf("%v %d has CPUs %v, its children %v", it.Kind, it.Index, it.CPUs, together)
		}
		var of CPUSet
		for i, pu := range it.PUs() {
			if pu.Index != it.PUs()[0].Index+i {
				t.Fatalf("the PUs of %v %d do not follow one another", it.Kind, it.Index)
			}
			of.Add(pu.OS)
		}
		if !of.Equal(it.CPUs) {
			t.Fatalf("%v %d has CPUs %v, and PUs %v", it.Kind, it.Index, it.CPUs, of)
		}
		if out := it.Outermost(); !out.CPUs.Equal(it.CPUs) || m.Covering(it.CPUs) != out {
			t.Fatalf("%v %d: outermost %v %d, covering %v", it.Kind, it.Index, out.Kind, out.Index, m.Covering(it.CPUs))
		}
	})
	for k, n := range count {
		if n != len(m.At(Kind(k))) {
			t.Fatalf("%d items of kind %v in the tree, %d in the list", n, Kind(k), len(m.At(Kind(k))))
		}
	}
	if m.Root.CPUs.Intersects(m.Forbidden) || m.Root.CPUs.Intersects(m.Offline) || len(m.PUs()) != m.Root.CPUs.Count() {
		t.Fatalf("usable CPUs %v, forbidden %v, offline %v", m.Root.CPUs, m.Forbidden, m.Offline)
	}
	for _, it := range m.Outside {
		if it.Kind != NUMA && it.Kind != Package || !m.Root.CPUs.Contains(it.CPUs) {
			t.Fatalf("%v %d with CPUs %v is outside of the tree", it.Kind, it.OS, it.CPUs)
		}
	}
	if n := m.Parallelism(); n < 1 || n > len(m.PUs()) {
		t.Fatalf("%d PUs, parallelism %d", len(m.PUs()), n)
	}
}
