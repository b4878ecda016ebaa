package topo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// machinePart is one thing that the system says the machine has, before it is known where in the tree it belongs.
type machinePart struct {
	kind Kind
	os   int    // the system's number; -1: none
	cpus CPUSet // its online CPUs, usable or not
	size int64  // bytes: see Item.Size
	near CPUSet // for memory without CPUs: the CPUs nearest to it

	count, first int // the number of cpus, and the lowest one: build sorts by them
}

// maxRemarks bounds the number of Topology.Remarks.
const maxRemarks = 20

// treeBuilder makes a tree from parts.
type treeBuilder struct {
	topology *Topology
	parts    []machinePart
	online   CPUSet
	allowed  CPUSet      // the CPUs of online that the process may use
	mems     CPUSet      // the NUMA nodes whose memory the process may use
	anyMem   bool        // it may use that of all nodes
	ranks    map[int]int // the Efficiency of each CPU
}

// remark adds a line to Topology.Remarks.
func (b *treeBuilder) remark(format string, args ...any) {
	if r := &b.topology.Remarks; len(*r) < maxRemarks {
		*r = append(*r, fmt.Sprintf(format, args...))
	}
}

// add records a part of the machine. It drops a part without online CPUs, unless that is memory.
func (b *treeBuilder) add(p machinePart) {
	p.cpus = p.cpus.And(b.online)
	if !p.cpus.Empty() || p.kind == NUMA {
		b.parts = append(b.parts, p)
	}
}

// build puts the parts into a tree. It makes the tree of all online CPUs, so that which item contains which does not
// depend on the CPUs that are allowed, and then cuts it down to the allowed ones.
func (b *treeBuilder) build() {
	t := b.topology
	for c := range b.online.All() {
		b.parts = append(b.parts, machinePart{kind: PU, os: c, cpus: CPUs(c)})
	}
	for i := range b.parts {
		p := &b.parts[i]
		p.count, p.first = p.cpus.Count(), p.cpus.First()
	}
	// Large before small: whatever contains a part is in the tree before it. Of equal sets, the order of the kinds
	// decides.
	slices.SortStableFunc(b.parts, func(x, y machinePart) int {
		return cmp.Or(
			cmp.Compare(y.count, x.count),
			cmp.Compare(x.kind, y.kind),
			cmp.Compare(x.first, y.first),
			cmp.Compare(x.os, y.os),
		)
	})
	root := &Item{Kind: Machine, OS: 0, CPUs: b.online, Efficiency: -1}
	owner := map[int]*Item{} // the innermost item so far with that CPU
	for c := range b.online.All() {
		owner[c] = root
	}
	for _, p := range b.parts {
		b.insert(p, owner)
	}
	t.Outside = b.cut(root)
	t.Root = root
	slices.SortStableFunc(t.Outside, func(x, y *Item) int { return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.OS, y.OS)) })
	t.index()
	for i, it := range t.Outside {
		it.Parent, it.Depth, it.Index = t.Root, 1, i
	}
	for _, it := range append(slices.Clone(t.Outside), t.At(NUMA)...) {
		if it.Kind == NUMA && it.Size < math.MaxInt64-t.Root.Size {
			t.Root.Size += it.Size
		}
	}
	t.Forbidden = b.online.Minus(b.allowed)
}

// insert adds a part as a child of the innermost item that contains it. A part that overlaps an item without being
// contained in it has no place in a tree: the larger one stays, and insert leaves the part out with a remark. owner has
// the innermost item so far of each CPU.
func (b *treeBuilder) insert(p machinePart, owner map[int]*Item) {
	it := &Item{Kind: p.kind, OS: p.os, CPUs: p.cpus, Size: p.size, Efficiency: -1}
	if p.kind == NUMA && !b.anyMem && !b.mems.Has(p.os) {
		return // its memory may not be used
	}
	if p.cpus.Empty() { // memory without CPUs
		it.CPUs = p.near.And(b.allowed)
		b.topology.Outside = append(b.topology.Outside, it)
		return
	}
	above := owner[p.first]
	fits := above.CPUs.Contains(p.cpus)
	for c := range p.cpus.All() {
		fits = fits && owner[c] == above
	}
	if same := above.Ancestor(p.kind); same != nil && fits && same.CPUs.Equal(p.cpus) {
		return // it is there already
	}
	if !fits {
		b.remark("%s %d with CPUs %s lies across %s %d with %s: left out", p.kind, p.os, p.cpus, above.Kind, above.OS, above.CPUs)
		if p.kind == NUMA {
			it.CPUs = p.cpus.And(b.allowed)
			b.topology.Outside = append(b.topology.Outside, it)
		}
		return
	}
	it.Parent = above
	above.Children = append(above.Children, it)
	for c := range p.cpus.All() {
		owner[c] = it
	}
}

// cut takes the CPUs that are not allowed, and the children without allowed CPUs, out of an item, and sorts its
// children. It returns the packages and NUMA nodes in the item of which only memory remains.
func (b *treeBuilder) cut(it *Item) (bare []*Item) {
	// The order is that of all CPUs that work, for it must not depend on what is allowed.
	slices.SortFunc(it.Children, func(x, y *Item) int { return cmp.Compare(x.CPUs.First(), y.CPUs.First()) })
	for _, c := range it.Children {
		bare = append(bare, b.cut(c)...)
	}
	if it.Parent == nil {
		bare = append(b.topology.Outside, bare...)
	}
	it.CPUs = it.CPUs.And(b.allowed)
	it.Children = slices.DeleteFunc(it.Children, func(c *Item) bool { return c.CPUs.Empty() })
	if it.CPUs.Empty() && (it.Kind == NUMA || it.Kind == Package && len(bare) > 0) {
		bare = append(bare, it)
	}
	it.Efficiency = -1
	if it.Kind == PU || it.Kind == Core && !it.CPUs.Empty() {
		it.Efficiency = b.ranks[it.CPUs.First()]
		for c := range it.CPUs.All() {
			if b.ranks[c] != it.Efficiency {
				it.Efficiency = -1
				break
			}
		}
	}
	return bare
}
