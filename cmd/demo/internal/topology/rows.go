package topology

import (
	"fmt"
	"strings"

	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/sched/topo"
)

// Row is one item in JSON and CSV.
type Row struct {
	Name       string `json:"name"` // kind and index, such as "L3 0": unique
	Kind       string `json:"kind"`
	Index      int    `json:"index"`
	OS         *int   `json:"os"`     // the operating system's number, null if it gives none
	Parent     string `json:"parent"` // its name; "" for the machine, and for memory outside the tree
	Depth      int    `json:"depth"`
	CPUs       string `json:"cpus"` // usable ones
	PUs        int    `json:"pus"`
	Size       *int64 `json:"size_bytes"` // of caches and memory, null if unknown
	Efficiency *int   `json:"efficiency"` // of cores and PUs: 0 the most economical, null where they differ
	Distances  string `json:"distances"`  // of NUMA nodes: to each, in the order of their rows; "" if unknown
}

// Head is there for report.Row: tables are written by [Text].
func (r *Row) Head() string { return "# Item  CPUs" }

// Line is there for report.Row.
func (r *Row) Line() string { return r.Name + "  " + r.CPUs }

// Rows lists the items, outer ones first, and after them the memory outside the tree.
func Rows(t *topo.Topology) (rows []report.Row) {
	t.Root.Walk(func(it *topo.Item) { rows = append(rows, row(t, it, len(it.PUs()), "")) })
	for _, it := range t.Outside {
		rows = append(rows, row(t, it, 0, " (outside)"))
	}
	return rows
}

func row(t *topo.Topology, it *topo.Item, pus int, suffix string) *Row {
	r := &Row{
		Name: fmt.Sprintf("%s %d%s", it.Kind, it.Index, suffix), Kind: it.Kind.String(), Index: it.Index,
		Depth: it.Depth, CPUs: it.CPUs.String(), PUs: pus,
	}
	if it.OS >= 0 {
		r.OS = &it.OS
	}
	if it.Size > 0 {
		r.Size = &it.Size
	}
	if it.Efficiency >= 0 {
		r.Efficiency = &it.Efficiency
	}
	if it.Parent != nil && suffix == "" {
		r.Parent = it.Parent.String()
	}
	if it.Kind == topo.NUMA {
		var all []string
		for _, to := range nodes(t) {
			d, known := t.Distance(it, to)
			if !known {
				all = nil
				break
			}
			all = append(all, fmt.Sprint(d))
		}
		r.Distances = strings.Join(all, " ")
	}
	return r
}

// Skips lists the CPUs that are not in the tree, and why.
func Skips(t *topo.Topology) (skips []report.Skip) {
	for _, s := range []struct {
		cpus topo.CPUSet
		why  string
	}{{t.Forbidden, "forbidden by the affinity mask or the cgroup"}, {t.Offline, "offline"}} {
		if !s.cpus.Empty() {
			skips = append(skips, report.Skip{Name: "CPUs " + s.cpus.String(), Why: s.why})
		}
	}
	return skips
}
