package main

import (
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"
)

// toporows FILE [PACKAGES NODES L3 L2 L1 CORES PUS]: the rows are a tree whose
// parents come before their children, with these numbers of items.
func toporows(ts *testscript.TestScript, neg bool, args []string) {
	d := readDocument(ts, args[0], "topo")
	count := map[string]int{}
	depth := map[string]float64{"": -1}
	for _, row := range d.Rows {
		name, _ := row["name"].(string)
		kind, _ := row["kind"].(string)
		parent, _ := row["parent"].(string)
		above, known := depth[parent]
		if _, twice := depth[name]; twice || !known || row["depth"] != above+1 {
			ts.Fatalf("%s of depth %v is in %q of depth %v", name, row["depth"], parent, above)
		}
		depth[name] = above + 1
		count[kind]++
		if kind != "NUMA" && (row["cpus"] == "" || row["pus"] == 0.0) {
			ts.Fatalf("%s has CPUs %v, %v PUs", name, row["cpus"], row["pus"])
		}
	}
	if count["Machine"] != 1 || count["PU"] == 0 {
		ts.Fatalf("%d machines, %d PUs", count["Machine"], count["PU"])
	}
	for i, kind := range []string{"Package", "NUMA", "L3", "L2", "L1", "Core", "PU"} {
		if len(args) > 1 && fmt.Sprint(count[kind]) != args[1+i] {
			ts.Fatalf("%d items of kind %s, want %s", count[kind], kind, args[1+i])
		}
	}
}
