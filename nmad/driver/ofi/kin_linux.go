//go:build ofi && cgo

package ofi

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// The provider shm has a file for each endpoint, named by the process, which peers map.

// scheme begins the addresses of shm: fi_shm://PID:UID:NUMBER; behind it is the name of the file.
const scheme = "fi_shm://"

// kin are ports that were closed, and whose memory other ports of this process may still use: the provider maps it
// once in a process. It goes when all of these are closed.
var kin struct {
	sync.Mutex
	open   int
	closed []*fabric
}

// isKin says whether an address is of this process.
func isKin(name []byte) bool {
	return bytes.HasPrefix(name, fmt.Appendf(nil, "%s%d:", scheme, os.Getpid()))
}

// join counts a port that has links within this process.
func (p *port) join() {
	kin.Lock()
	defer kin.Unlock()
	if !p.kin {
		p.kin = true
		kin.open++
	}
}

// close closes the endpoint of libfabric, or has the last of the kin do it.
func (p *port) close() {
	if !p.kin {
		p.f.close()
		return
	}
	kin.Lock()
	defer kin.Unlock()
	kin.closed = append(kin.closed, p.f)
	if kin.open--; kin.open == 0 {
		for _, f := range kin.closed {
			f.close()
		}
		kin.closed = nil
	}
}

// sweep removes the file of a process that has ended without having done so.
func sweep(name string) {
	file, ok := strings.CutPrefix(strings.TrimRight(name, "\x00"), scheme)
	var pid int
	if _, err := fmt.Sscanf(file, "%d:", &pid); !ok || err != nil || pid <= 0 || strings.Contains(file, "/") {
		return
	}
	if unix.Kill(pid, 0) == unix.ESRCH {
		_ = os.Remove("/dev/shm/" + file) // another peer may have
	}
}
