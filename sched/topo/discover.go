package topo

import (
	"fmt"
	"io/fs"
	"os"
)

// Discover describes this machine as far as the process may use it: the CPUs that its affinity mask (as it was when the
// program started) and its cgroup's cpuset allow, arranged as sysfs says, with the caches that the processor states
// where sysfs lists none. It reads some dozen small files for each CPU, which takes 1.5 ms with two CPUs: keep the
// result.
//
// If sysfs cannot be read, the topology has no levels between the machine and its PUs, and Remarks
// says so. Discover fails only if it cannot find the usable CPUs.
func Discover() (*Topology, error) {
	const name = "this machine"
	mask := processMask
	t, err := readMachine(os.DirFS("/"), name, &mask, processorCaches)
	if err == nil {
		return t, nil
	}
	if mask.Empty() {
		return nil, err
	}
	t = &Topology{Name: name}
	b := &treeBuilder{topology: t, online: mask, allowed: mask}
	b.remark("no levels are known: %v", err)
	b.build()
	return t, nil
}

// Recorded describes the machine whose /sys and /proc were copied into a tree: fsys has sys/devices/system/cpu at its
// root. It leaves out the CPUs that were offline, and those that the cgroup of the recording process forbade.
func Recorded(fsys fs.FS) (*Topology, error) {
	t, err := readMachine(fsys, "recorded machine", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: is it the copy of a root directory?", err)
	}
	return t, nil
}
