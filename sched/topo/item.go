package topo

import (
	"fmt"
	"math"
	"strconv"
)

// Item is one part of a machine: a package, a cache, a core... Items are made by the functions that return a [Topology]
// and do not change after that: any number of threads may read them.
type Item struct {
	Kind Kind

	// Index counts the items of this kind in the order of the tree, from 0: of two PUs, those with near indices are
	// near each other.
	Index int

	// OS is the number that the operating system gives it, -1 if it gives none. A core's is unique in its package only.
	OS int

	Parent   *Item   // nil for the machine
	Children []*Item // in order; empty for PUs; their CPUs are disjoint and make up those of the parent
	Depth    int     // number of items above it

	// CPUs are the usable CPUs in it; never empty in the tree.
	CPUs CPUSet

	// Size is the memory of a machine or NUMA node, or the capacity of a cache, in bytes. 0: unknown, or nothing that
	// has a size.
	Size int64

	// Efficiency tells kinds of PUs and cores apart where a machine has several: 0 for the most economical, the higher
	// the faster. -1 in other items, and where a core's PUs differ.
	Efficiency int

	pus []*Item // the part of Topology.PUs that is in it
}

// String names the item by its kind and Index, such as "L3 1"; it does not go into what is around it, which is the
// whole tree.
func (it *Item) String() string {
	if it == nil {
		return "no item"
	}
	return fmt.Sprintf("%v %d", it.Kind, it.Index)
}

// PUs lists the processing units in the item, in order. Their indices follow one another. The caller must not change
// the slice.
func (it *Item) PUs() []*Item { return it.pus }

// Ancestor returns the item of that kind that contains it, or itself if it is of that kind; nil if there is none.
func (it *Item) Ancestor(k Kind) *Item {
	for ; it != nil; it = it.Parent {
		if it.Kind == k {
			return it
		}
	}
	return nil
}

// Outermost returns the outermost item with the same CPUs, perhaps itself: the one to which a run queue belongs, where
// a cache of one core, that core and its only hardware thread do not need one each.
func (it *Item) Outermost() *Item {
	for it.Parent != nil && len(it.Parent.Children) == 1 {
		it = it.Parent
	}
	return it
}

// Walk calls visit for the item and everything in it, outer ones first.
func (it *Item) Walk(visit func(*Item)) {
	visit(it)
	for _, c := range it.Children {
		c.Walk(visit)
	}
}

// FormatSize writes bytes for people: "512 KiB", "1.25 MiB", "31 GiB".
func FormatSize(bytes int64) string {
	unit, value := "B", float64(bytes)
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		unit, value = u, value/1024
	}
	if value != math.Trunc(value) {
		value = math.Round(value*100) / 100
		if value >= 10 {
			value = math.Round(value)
		}
	}
	return strconv.FormatFloat(value, 'f', -1, 64) + " " + unit
}
