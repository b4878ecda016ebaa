package crosscheck

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/jaypipes/ghw"

	"github.com/pm2-go/pm2/sched/topo"
)

// Result is what ghw reports.
type Result struct {
	// Product is the vendor's name of the machine; "" if the firmware states none.
	Product string

	// Agree and Differ name what was compared, such as "packages (2)" and "cores: ghw 8, sysfs 16". Both are empty if
	// ghw knows nothing.
	Agree, Differ []string

	// Err says why ghw could not be asked, or not about everything. It is no reason to stop.
	Err error
}

// Run asks ghw about the machine whose root directory is given ("/": this one) and compares with t, CPUs that are in t
// only. It prints nothing, and does not panic even if ghw does.
func Run(t *topo.Topology, root string) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r.Err = fmt.Errorf("crosscheck: ghw panicked: %v", p)
		}
	}()
	options := []any{ghw.WithChroot(root), ghw.WithDisableTools(), ghw.WithLogger(slog.New(slog.DiscardHandler))}
	if p, err := ghw.Product(options...); err == nil {
		for _, name := range []string{p.Vendor, p.Name} {
			if name != "" && name != "unknown" {
				r.Product = strings.TrimSpace(r.Product + " " + name)
			}
		}
	}
	c := checker{t: t, r: &r}
	if info, err := ghw.CPU(options...); err != nil {
		r.Err = fmt.Errorf("crosscheck: ask ghw about CPUs: %w", err)
	} else {
		c.processors(info)
	}
	if info, err := ghw.Topology(options...); err != nil {
		r.Err = fmt.Errorf("crosscheck: ask ghw about nodes: %w", err)
	} else {
		c.nodes(info)
	}
	return r
}

type checker struct {
	t *topo.Topology
	r *Result
}

// sized is a set of CPUs with a size in bytes.
type sized struct {
	cpus topo.CPUSet
	size int64
}

func (c *checker) processors(info *ghw.CPUInfo) {
	var packages, cores []sized
	for _, p := range info.Processors {
		var in topo.CPUSet
		for _, core := range p.Cores {
			cpus := topo.CPUs(core.LogicalProcessors...)
			cores = append(cores, sized{cpus: cpus})
			in = in.Or(cpus)
		}
		packages = append(packages, sized{cpus: in})
	}
	c.compare("packages", topo.Package, packages)
	c.compare("cores", topo.Core, cores)
}

func (c *checker) nodes(info *ghw.TopologyInfo) {
	var nodes []sized
	caches := map[topo.Kind][]sized{}
	for _, n := range info.Nodes {
		var in topo.CPUSet
		for _, core := range n.Cores {
			in = in.Or(topo.CPUs(core.LogicalProcessors...))
		}
		nodes = append(nodes, sized{cpus: in})
		for _, cache := range n.Caches {
			kind, ok := map[uint8]topo.Kind{1: topo.L1, 2: topo.L2, 3: topo.L3}[cache.Level]
			if !ok || cache.Type == ghw.MemoryCacheTypeInstruction {
				continue
			}
			var cpus []int
			for _, p := range cache.LogicalProcessors {
				cpus = append(cpus, int(p))
			}
			caches[kind] = append(caches[kind], sized{topo.CPUs(cpus...), int64(cache.SizeBytes)})
		}
	}
	c.compare("NUMA nodes", topo.NUMA, nodes)
	for _, k := range []topo.Kind{topo.L3, topo.L2, topo.L1} {
		c.compare(k.String()+" caches", k, caches[k])
	}
}

// compare compares ghw's items of one kind with ours.
func (c *checker) compare(what string, k topo.Kind, theirs []sized) {
	for i := range theirs {
		theirs[i].cpus = theirs[i].cpus.And(c.t.Root.CPUs)
	}
	theirs = slices.DeleteFunc(theirs, func(s sized) bool { return s.cpus.Empty() })
	ours := c.t.At(k)
	if len(ours) == 0 && len(theirs) == 0 {
		return
	}
	if len(ours) != len(theirs) {
		c.r.Differ = append(c.r.Differ, fmt.Sprintf("%s: ghw %d, sysfs %d", what, len(theirs), len(ours)))
		return
	}
	for _, it := range ours {
		i := slices.IndexFunc(theirs, func(s sized) bool { return s.cpus.Equal(it.CPUs) })
		if i < 0 {
			c.r.Differ = append(c.r.Differ, fmt.Sprintf("%s: sysfs has one with CPUs %v, ghw has not", what, it.CPUs))
			return
		}
		if s := theirs[i].size; s != 0 && it.Size != 0 && s != it.Size {
			c.r.Differ = append(c.r.Differ, fmt.Sprintf("%s: of CPUs %v, ghw says %s, sysfs %s", what, it.CPUs, topo.FormatSize(s), topo.FormatSize(it.Size)))
			return
		}
	}
	c.r.Agree = append(c.r.Agree, fmt.Sprintf("%s (%d)", what, len(ours)))
}
