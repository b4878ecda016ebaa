package topo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// description draws a synthetic machine of up to 512 PUs.
func description(t *rapid.T) string {
	order := []Kind{Package, NUMA, Die, L3, Cluster, L2, L1, Core}
	if rapid.Bool().Draw(t, "nodes outside packages") {
		order[0], order[1] = order[1], order[0]
	}
	var fields []string
	left := 512
	for _, k := range order {
		if !rapid.Bool().Draw(t, k.String()) {
			continue
		}
		n := rapid.IntRange(1, min(left, 5)).Draw(t, "number")
		left /= n
		fields = append(fields, fmt.Sprintf("%s:%d", strings.ToLower(k.String()), n))
	}
	return strings.Join(append(fields, fmt.Sprintf("pu:%d", rapid.IntRange(1, min(left, 4)).Draw(t, "threads"))), " ")
}

func TestTreeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := description(t)
		m, err := Synthetic(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		checkTree(t, m)
		p := m.Pruned()
		checkTree(t, p)
		if len(p.PUs()) != len(m.PUs()) {
			t.Fatalf("%q: %d PUs pruned to %d", text, len(m.PUs()), len(p.PUs()))
		}
		p.Root.Walk(func(it *Item) {
			if len(it.Children) == 1 && len(p.PUs()) > 1 {
				t.Fatalf("%q: pruned, %v %d still has one child", text, it.Kind, it.Index)
			}
		})
		if again := p.Pruned(); again.String() != p.String() {
			t.Fatalf("%q: pruned %v, pruned again %v", text, p, again)
		}

		pus := m.PUs()
		pick := func(name string) *Item { return pus[rapid.IntRange(0, len(pus)-1).Draw(t, name)] }
		a, b, c := pick("a"), pick("b"), pick("c")
		ab := m.Common(a, b)
		if m.Common(b, a) != ab || m.Common(a, a) != a || m.Common(a, ab) != ab {
			t.Fatalf("%q: common ancestors of %d and %d", text, a.Index, b.Index)
		}
		if !ab.CPUs.Contains(CPUs(a.OS, b.OS)) {
			t.Fatalf("%q: the common ancestor of %d and %d has %v", text, a.Index, b.Index, ab.CPUs)
		}
		for _, child := range ab.Children {
			if child.CPUs.Contains(CPUs(a.OS, b.OS)) && a != b {
				t.Fatalf("%q: %v %d is nearer", text, child.Kind, child.Index)
			}
		}
		// Of the three common ancestors, two are the same, and the third is inside.
		if ac, bc := m.Common(a, c), m.Common(b, c); !(ab == ac && ab.Depth <= bc.Depth || ab == bc && ab.Depth <= ac.Depth || ac == bc && ac.Depth <= ab.Depth) {
			t.Fatalf("%q: distances of %d, %d, %d are those of no tree", text, a.Index, b.Index, c.Index)
		}
		set := CPUs(a.OS, b.OS, c.OS)
		if got, want := m.Covering(set), m.Common(m.Common(a, b), c).Outermost(); got != want {
			t.Fatalf("%q: %v is covered by %v %d, want %v %d", text, set, got.Kind, got.Index, want.Kind, want.Index)
		}
	})
}

// TestSetProperties compares CPUSet with a map.
func TestSetProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.SliceOf(rapid.IntRange(0, 300))
		x, y := cpus.Draw(t, "x"), cpus.Draw(t, "y")
		a, b := CPUs(x...), CPUs(y...)
		has := func(list []int, c int) bool { return slices.Contains(list, c) }
		check := func(name string, s CPUSet, want func(c int) bool) {
			n, first := 0, -1
			for c := range 320 {
				if s.Has(c) != want(c) {
					t.Fatalf("%s of %v and %v: CPU %d", name, a, b, c)
				}
				if want(c) {
					if n++; first < 0 {
						first = c
					}
				}
			}
			if s.Count() != n || s.First() != first || s.Empty() != (n == 0) || len(slices.Collect(s.All())) != n {
				t.Fatalf("%s of %v and %v counts %d from %d, want %d from %d", name, a, b, s.Count(), s.First(), n, first)
			}
			again, err := ParseCPUList(s.String())
			if err != nil || !again.Equal(s) {
				t.Fatalf("%q is read as %v, %v", s.String(), again, err)
			}
		}
		check("union", a.Or(b), func(c int) bool { return has(x, c) || has(y, c) })
		check("intersection", a.And(b), func(c int) bool { return has(x, c) && has(y, c) })
		check("difference", a.Minus(b), func(c int) bool { return has(x, c) && !has(y, c) })
		added := a
		for _, c := range y {
			added.Add(c)
		}
		check("sum", added, func(c int) bool { return has(x, c) || has(y, c) })
		check("what was added to", a, func(c int) bool { return has(x, c) })
		if a.Contains(b) != a.Or(b).Equal(a) || a.Intersects(b) == a.And(b).Empty() {
			t.Fatalf("%v contains %v: %v, intersects: %v", a, b, a.Contains(b), a.Intersects(b))
		}
	})
}
