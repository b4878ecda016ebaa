package topology

import (
	"fmt"
	"strings"

	"github.com/pm2-go/pm2/sched/topo"
)

// Label is an item's name and number, such as "NUMA 1": the number is the operating system's, or there is none. A
// level-1 cache is called L1d, for it is the one for data.
func Label(it *topo.Item) string {
	switch it.Kind {
	case topo.Machine, topo.L3, topo.L2:
		return it.Kind.String()
	case topo.L1:
		return "L1d"
	}
	if it.OS < 0 {
		return it.Kind.String()
	}
	return fmt.Sprintf("%s %d", it.Kind, it.OS)
}

// Text writes the tree, and what there is to say beside it.
func Text(t *topo.Topology) string {
	var b strings.Builder
	writeItem(&b, t, t.Root, "")
	b.WriteString("\n" + strings.Join(Facts(t), "\n") + "\n")
	if matrix := distances(t); matrix != "" {
		b.WriteString("\n" + matrix)
	}
	return b.String()
}

// writeItem writes the line that begins with an item, and those of what is in it.
func writeItem(b *strings.Builder, t *topo.Topology, it *topo.Item, indent string) {
	var names []string
	for ; ; it = it.Children[0] {
		name := Label(it)
		if it.Size > 0 {
			name += " (" + topo.FormatSize(it.Size) + ")"
		}
		if it.Kind == topo.PU && hybrid(t) {
			name += fmt.Sprintf(" [class %d]", it.Efficiency)
		}
		names = append(names, name)
		if len(it.Children) != 1 {
			break
		}
	}
	fmt.Fprintf(b, "%s%s\n", indent, strings.Join(names, " + "))
	for _, c := range it.Children {
		writeItem(b, t, c, indent+"  ")
	}
}

// hybrid reports whether there are several kinds of CPUs.
func hybrid(t *topo.Topology) bool {
	for _, pu := range t.PUs() {
		if pu.Efficiency != t.PUs()[0].Efficiency {
			return true
		}
	}
	return false
}

// Facts lists what the tree does not show, one line each.
func Facts(t *topo.Topology) []string {
	facts := []string{counts(t)}
	add := func(format string, args ...any) { facts = append(facts, fmt.Sprintf(format, args...)) }
	if t.Model != "" {
		add("processor: %s", t.Model)
	}
	if !t.Forbidden.Empty() {
		add("forbidden by affinity mask or cgroup: CPUs %s", t.Forbidden)
	}
	if !t.Offline.Empty() {
		add("offline: CPUs %s", t.Offline)
	}
	if t.Quota > 0 {
		add("quota of the cgroup: %.4g CPUs' worth of time", t.Quota)
	}
	for _, it := range t.Outside {
		add("%s", Outside(it))
	}
	if hybrid(t) {
		for class, cpus := range classes(t) {
			add("class %d%s: CPUs %s", class, classWord(class, len(classes(t))), cpus)
		}
	}
	for _, r := range t.Remarks {
		add("odd: %s", r)
	}
	return facts
}

// Outside says what an item of [topo.Topology.Outside] is.
func Outside(it *topo.Item) string {
	s := Label(it)
	if it.Size > 0 {
		s += " (" + topo.FormatSize(it.Size) + ")"
	}
	if it.CPUs.Empty() {
		return s + ": no usable CPUs, only memory"
	}
	return fmt.Sprintf("%s: memory beside that of CPUs %s", s, it.CPUs)
}

// classes lists the CPUs of every class of efficiency.
func classes(t *topo.Topology) (sets []topo.CPUSet) {
	for _, pu := range t.PUs() {
		for len(sets) <= pu.Efficiency {
			sets = append(sets, topo.CPUSet{})
		}
		sets[pu.Efficiency].Add(pu.OS)
	}
	return sets
}

func classWord(class, of int) string {
	switch class {
	case 0:
		return ", the most economical"
	case of - 1:
		return ", the fastest"
	}
	return ""
}

// counts is a line such as "4 NUMA nodes, 16 cores, 16 PUs".
func counts(t *topo.Topology) string {
	var parts []string
	for _, k := range topo.Kinds()[1:] {
		n := len(t.At(k))
		if n == 0 {
			continue
		}
		name := map[topo.Kind]string{
			topo.Package: "package", topo.NUMA: "NUMA node", topo.Die: "die", topo.L3: "L3 cache", topo.Cluster: "cluster",
			topo.L2: "L2 cache", topo.L1: "L1d cache", topo.Core: "core", topo.PU: "usable PU",
		}[k]
		if n > 1 {
			name += "s"
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, name))
	}
	return strings.Join(parts, ", ")
}

// nodes are the NUMA nodes of the tree and outside of it.
func nodes(t *topo.Topology) []*topo.Item {
	all := append([]*topo.Item(nil), t.At(topo.NUMA)...)
	for _, it := range t.Outside {
		if it.Kind == topo.NUMA {
			all = append(all, it)
		}
	}
	return all
}

// distances is the matrix of the NUMA nodes, "" if it is not known.
func distances(t *topo.Topology) string {
	all := nodes(t)
	if len(all) < 2 {
		return ""
	}
	var b strings.Builder
	b.WriteString("distances of NUMA nodes (10: local)\n      ")
	for _, to := range all {
		fmt.Fprintf(&b, "%5d", to.OS)
	}
	for _, from := range all {
		fmt.Fprintf(&b, "\n%6d", from.OS)
		for _, to := range all {
			d, known := t.Distance(from, to)
			if !known {
				return ""
			}
			fmt.Fprintf(&b, "%5d", d)
		}
	}
	b.WriteString("\n")
	return b.String()
}
