package nmad

import "github.com/pm2-go/pm2/internal/kernel"

// hostIdentity names this host and the pid name space in it: processes with
// equal ones see each other's pids. The boot id is unique per start of a kernel.
func hostIdentity() string {
	boot, _ := kernel.Boot()
	return boot + "/" + kernel.Space("pid")
}
