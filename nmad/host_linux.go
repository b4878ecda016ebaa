package nmad

import (
	"os"
	"syscall"

	"github.com/pm2-go/pm2/internal/kernel"
)

// hostIdentity names this host and the pid name space in it: processes with
// equal ones see each other's pids. The boot id is unique per start of a kernel.
func hostIdentity() string {
	boot, _ := kernel.Boot()
	return boot + "/" + kernel.Space("pid")
}

// ownerOf is the number of the user that owns a file.
func ownerOf(info os.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
