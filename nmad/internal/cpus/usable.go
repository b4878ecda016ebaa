package cpus

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/sched/topo"
)

// Usable lists the processors that this process may use now, by package, then by core, so that near ones are next to
// each other.
func Usable() ([]int, error) {
	set, err := topo.ProcessAffinity()
	if errors.Is(err, errors.ErrUnsupported) {
		set, err = topo.ProcessMask(), nil
	}
	if err != nil {
		return nil, err
	}
	type place struct{ cpu, pack, core int }
	var places []place
	for cpu := range set.All() {
		places = append(places, place{cpu, topology(cpu, "physical_package_id"), topology(cpu, "core_id")})
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(a.pack-b.pack, a.core-b.core, a.cpu-b.cpu)
	})
	cpus := make([]int, len(places))
	for i, p := range places {
		cpus[i] = p.cpu
	}
	return cpus, nil
}

// topology returns a number from the kernel's description of a processor; 0 if the kernel does not tell.
func topology(cpu int, what string) int {
	text, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what))
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

// Inherited reports whether this process may use the same processors as its parent, which means that the parent has not
// bound it. It returns false if that is not known: the kernel does not tell, or the parent is outside this process's
// container.
func Inherited() bool {
	parent := os.Getppid()
	if parent == 0 {
		return false
	}
	own, err := topo.ProcessAffinity()
	parents, err2 := topo.Affinity(parent)
	return err == nil && err2 == nil && own.Equal(parents)
}
