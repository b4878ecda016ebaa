package kernel

import (
	"os"
	"strings"
)

// Boot returns a name of this start of the kernel. sure: no other start, on any host, has that name. If the kernel does
// not tell one, the name is that of the host, and sure is false.
func Boot() (name string, sure bool) {
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(id)), true
	}
	name, _ = os.Hostname()
	return name, false
}

// Space returns the name of the name space of this process of a kind, such as net or pid; empty: the kernel does not
// tell.
func Space(kind string) string {
	name, _ := os.Readlink("/proc/self/ns/" + kind)
	return name
}
