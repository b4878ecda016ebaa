package topo

import (
	"fmt"
	"math"
)

// Topology is a machine as far as this process may use it: a tree of items whose leaves are the usable PUs. It does not
// change once it is made: any number of threads may read it.
type Topology struct {
	// Name says what was described: "this machine", the description, the archive.
	Name string

	// Root is the machine.
	Root *Item

	// Outside lists the packages and NUMA nodes from which the process can use memory, but that have no place in the
	// tree: it may use none of their CPUs, or they have none of their own. In CPUs they have the usable ones nearest to
	// their memory, where the system says which those are. [Topology.At] does not list them; their indices are those of
	// this list.
	Outside []*Item

	// Forbidden are the CPUs that work and that an affinity mask or a cgroup forbids; Offline those that are there and
	// switched off. Neither is in the tree.
	Forbidden, Offline CPUSet

	// Quota is how many CPUs' worth of time the cgroup grants, such as 1.5; 0: all.
	Quota float64

	// Model is the name of the processor, if it is known.
	Model string

	// Remarks lists inconsistencies in the system's own description, one line each.
	Remarks []string

	levels    [kinds][]*Item
	byCPU     map[int]*Item
	distances map[[2]int]int // by the OS numbers of NUMA nodes
}

// PUs lists the usable processing units, near ones near each other. The caller must not change the slice.
func (t *Topology) PUs() []*Item { return t.levels[PU] }

// At lists the items of one kind in order. There may be none: no cache is listed where neither the system nor the
// processor tells of any. The caller must not change the slice.
func (t *Topology) At(k Kind) []*Item {
	if int(k) >= len(t.levels) {
		return nil
	}
	return t.levels[k]
}

// CPU returns the PU with that number of the operating system; nil if the process may not use it, or there is none.
func (t *Topology) CPU(os int) *Item { return t.byCPU[os] }

// Common returns the nearest common ancestor of two items of the topology's tree: the innermost item that contains both
// (one of them, if it contains the other). It is nil if one is nil, or they are of different topologies.
func (t *Topology) Common(a, b *Item) *Item {
	for ; a != nil; a = a.Parent {
		for c := b; c != nil; c = c.Parent {
			if c == a {
				return a
			}
		}
	}
	return nil
}

// Covering returns the innermost item that contains every usable CPU of the set; of items with the same CPUs, the
// outermost ([Item.Outermost]). If no CPU of the set is usable, it returns nil.
func (t *Topology) Covering(set CPUSet) *Item {
	set = set.And(t.Root.CPUs)
	if set.Empty() {
		return nil
	}
	at := t.byCPU[set.First()]
	for !at.CPUs.Contains(set) {
		at = at.Parent
	}
	return at.Outermost()
}

// Pruned returns a copy without the levels that have no siblings: of items with the same CPUs only the outermost
// remains ([Item.Outermost]), but a PU at every leaf. Indices count anew within what remains.
func (t *Topology) Pruned() *Topology {
	p := *t
	p.Root = prune(t.Root)
	p.index()
	return &p
}

// prune copies an item and what is in it.
func prune(it *Item) *Item {
	inner := it
	for len(inner.Children) == 1 {
		inner = inner.Children[0]
	}
	if len(inner.Children) == 0 && it.Kind != Machine {
		it = inner // a PU
	}
	c := *it
	c.Children = nil
	for _, child := range inner.Children {
		c.Children = append(c.Children, prune(child))
	}
	if it.Kind == Machine && len(inner.Children) == 0 { // of one PU
		pu := *inner
		c.Children = []*Item{&pu}
	}
	return &c
}

// Distance is the relative latency from the CPUs of one NUMA node to the memory of another as the firmware states it
// (10 is local, 20 twice as slow), and whether it is known. Nodes of Outside may be asked for.
func (t *Topology) Distance(from, to *Item) (int, bool) {
	if from == nil || to == nil || from.Kind != NUMA || to.Kind != NUMA {
		return 0, false
	}
	d, ok := t.distances[[2]int{from.OS, to.OS}]
	return d, ok
}

// Parallelism is how many CPUs can work for the process at once: the usable ones, or fewer if the quota is smaller; at
// least 1.
func (t *Topology) Parallelism() int {
	n := len(t.PUs())
	if t.Quota > 0 && t.Quota < float64(n) {
		n = int(math.Ceil(t.Quota))
	}
	return max(n, 1)
}

// String is one line: how many items of every kind that the tree has.
func (t *Topology) String() string {
	s := t.Name
	for k, level := range t.levels {
		if k > 0 && len(level) > 0 {
			s += fmt.Sprintf(" %s:%d", Kind(k), len(level))
		}
	}
	return s
}

// index fills in what follows from the shape of the tree: parents, depths, indices, levels and lists of PUs.
func (t *Topology) index() {
	t.levels = [kinds][]*Item{}
	t.byCPU = map[int]*Item{}
	t.indexItem(t.Root, nil)
	for _, level := range t.levels {
		for _, it := range level {
			first := t.byCPU[it.CPUs.First()]
			// The PUs of an item follow one another, but the first in order need not have the lowest number.
			start := first.Index
			for start > 0 && it.CPUs.Has(t.levels[PU][start-1].OS) {
				start--
			}
			end := start + it.CPUs.Count()
			it.pus = t.levels[PU][start:end:end]
		}
	}
}

func (t *Topology) indexItem(it, parent *Item) {
	it.Parent, it.Depth, it.Index = parent, 0, len(t.levels[it.Kind])
	if parent != nil {
		it.Depth = parent.Depth + 1
	}
	t.levels[it.Kind] = append(t.levels[it.Kind], it)
	if it.Kind == PU {
		t.byCPU[it.OS] = it
	}
	for _, c := range it.Children {
		t.indexItem(c, it)
	}
}
