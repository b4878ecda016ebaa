package kernel

import (
	"os"
	"strings"
)

// Boot names this start of the kernel; sure: no other one has that name. Where the kernel does not tell it is the name of the host.
func Boot() (name string, sure bool) {
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(id)), true
	}
	name, _ = os.Hostname()
	return name, false
}

// Space names the name space of this process of a kind, such as net or pid; empty: the kernel does not tell.
func Space(kind string) string {
	name, _ := os.Readlink("/proc/self/ns/" + kind)
	return name
}
