//go:build ofi && cgo

package ofi

import (
	"bytes"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/internal/meet"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// The provider shm has a file for each endpoint, which its peers map. The file's name is that of the process,
// from here, and what the provider adds: pm2-SPACE-PID:UID:NUMBER. A process that is killed leaves its files
// behind (docs/bounds.md).

// scheme stands before a name that is an address.
const scheme = "fi_shm://"

// own is the name of this process.
func own() string { return strings.TrimSuffix(process.FileName(os.Getpid()), ":") }

// kin are the ports of this process that are linked to each other. The provider maps the memory of an endpoint
// once in a process, so that of a port that is closed goes when all of its kin are closed.
var kin struct {
	sync.Mutex
	open   int
	closed []*fabric
}

// isKin reports whether an address is of this process.
func isKin(name []byte) bool { return bytes.HasPrefix(name, []byte(scheme+own()+":")) }

// readDirectly has a link read the memory of the peer at that address by calls of the system, and looks whether
// this process may, and whether it can open the peer's file.
func (l *link) readDirectly(name []byte) error {
	file, ok := strings.CutPrefix(string(name), scheme)
	pid, ours := process.FileOwner(file)
	if !ok || !ours {
		return meet.Refused("its address %q is not that of a process in the name space of processes that this one is in", name)
	}
	l.in.direct.PID = pid
	if _, errno := l.in.direct.Read(l.signal[:], 0); errno != unix.EFAULT {
		return meet.Refused("process %d may not be read by process_vm_readv: %v; use the network shm, or ofi:tcp", pid, errno)
	}
	// The provider of 1.17 crashes where it cannot open the file.
	fd, err := unix.Open(process.Folder+strings.TrimRight(file, "\x00"), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return meet.Lacking(err)
	}
	return unix.Close(fd)
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
	if p.f.shm() {
		defer process.RemoveFiles() // of peers that were killed
	}
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
