// Package topology writes machines, as package sched/topo describes them, for people and for programs: [Text] is an
// indented tree, [Rows] has one row for each item.
//
// In the tree, items that have the same CPUs and nothing beside them stand on one line, outermost first:
//
//	Machine (16 GiB)
//	  Package 0 + NUMA 0 (8 GiB) + L3 (2 MiB)
//	    L2 (512 KiB) + L1d (64 KiB) + Core 0 + PU 0
//	    L2 (512 KiB) + L1d (64 KiB) + Core 1 + PU 1
package topology
