package nmad

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
)

// hostIdentity names this host and the pid name space in it: processes with
// equal ones see each other's pids. The boot id is unique per start of a kernel.
func hostIdentity() string {
	boot, _ := kernel.Boot()
	return boot + "/" + kernel.Space("pid")
}

// boundByParent says whether what has started this process has bound it: it may use fewer CPUs than its parent.
func boundByParent() bool {
	var own, parents unix.CPUSet
	return unix.SchedGetaffinity(os.Getpid(), &own) == nil && unix.SchedGetaffinity(os.Getppid(), &parents) == nil && own != parents
}

// ownerOf is the number of the user that owns a file.
func ownerOf(info os.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
