package topo_test

import (
	"fmt"

	"github.com/pm2-go/pm2/sched/topo"
)

func ExampleSynthetic() {
	m, err := topo.Synthetic("package:2 l3:1 core:2 pu:2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(m.At(topo.Core)), "cores,", len(m.PUs()), "PUs")
	_, err = topo.Synthetic("package:2 core:4")
	fmt.Println(err)
	// Output:
	// 4 cores, 8 PUs
	// topo: synthetic machine "package:2 core:4": its last level is not pu: add pu:1 for one hardware thread in each core
}

func ExampleTopology_Common() {
	m, _ := topo.Synthetic("package:2 l3:1 core:2 pu:2")
	pus := m.PUs()
	for _, b := range []int{1, 2, 4} {
		it := m.Common(pus[0], pus[b])
		fmt.Printf("PUs 0 and %d share %v %d\n", b, it.Kind, it.Index)
	}
	// Output:
	// PUs 0 and 1 share Core 0
	// PUs 0 and 2 share L3 0
	// PUs 0 and 4 share Machine 0
}

func ExampleTopology_Covering() {
	m, _ := topo.Synthetic("package:2 l3:1 core:2 pu:2")
	it := m.Covering(topo.CPUs(4, 6))
	fmt.Println(it.Kind, it.Index, it.CPUs) // not the L3 in it: no queue of its own is needed there
	// Output: Package 1 4-7
}

func ExampleTopology_Pruned() {
	m, _ := topo.Synthetic("package:2 l3:1 core:2 pu:1")
	m.Pruned().Root.Walk(func(it *topo.Item) {
		fmt.Printf("%*s%v %d\n", 2*it.Depth, "", it.Kind, it.Index)
	})
	// Output:
	// Machine 0
	//   Package 0
	//     PU 0
	//     PU 1
	//   Package 1
	//     PU 2
	//     PU 3
}

func ExampleParseCPUList() {
	set, err := topo.ParseCPUList("0-3,8")
	fmt.Println(set.Count(), set.Has(8), err)
	_, err = topo.ParseCPUList("8-4")
	fmt.Println(err)
	// Output:
	// 5 true <nil>
	// topo: CPU list "8-4": "8-4" runs backwards: write it as 4-8
}
