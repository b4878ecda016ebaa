package pingpong

import (
	"fmt"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/probe"
	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/sched"
)

// place says where the two ranks run.
type place struct {
	usable int // CPUs that this process may use
	cpu    [2]int
	apart  bool // rank i is to be bound to cpu[i]; else both run where the kernel lets them
	shared bool // one CPU for both, or other processes use theirs
}

// choosePlace looks for two CPUs, and says once if there is one only, or if binding is forbidden.
func choosePlace(warn func(format string, args ...any)) place {
	cpus := binding.Allowed()
	a, b, two := binding.Pair(cpus)
	told, err := setting.Shared()
	if err != nil {
		warn("%v", err)
	}
	p := place{usable: len(cpus), cpu: [2]int{a, b}, apart: two, shared: !two || told}
	if !two {
		warn("one CPU only: both processes share it, and each message waits for the kernel to switch between them")
	} else if err := binding.Permitted(); err != nil {
		warn("the kernel forbids to bind processes to CPUs (%v): both run where it puts them, and the distance of their cores is not probed", err)
		p.apart = false
	}
	return p
}

// probe measures one cache line from core to core; 0 if there is nothing to measure.
func (p *place) probe() (float64, error) {
	if !p.apart {
		return 0, nil
	}
	return probe.Measure(p.cpu[0], p.cpu[1])
}

// bind ties this process to the CPU of its rank, every thread of it.
func (p *place) bind(rank int) error {
	if !p.apart {
		return nil
	}
	return binding.Process(p.cpu[rank])
}

// configure prepares the default scheduler: one VP, for a rank is one CPU.
func (p *place) configure(rank int) error {
	c := sched.Config{VPs: 1, SharedCPUs: p.shared, Unbound: !p.apart}
	if p.apart {
		c.CPUs = []int{p.cpu[rank]}
	}
	return sched.Configure(c)
}

// String says it in the heading of a table.
func (p *place) String() string {
	switch {
	case p.usable == 1:
		return "both ranks on one CPU"
	case p.apart:
		return fmt.Sprintf("rank 0 on CPU %d, rank 1 on CPU %d", p.cpu[0], p.cpu[1])
	}
	return "ranks not bound"
}
