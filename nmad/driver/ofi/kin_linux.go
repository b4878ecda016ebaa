//go:build ofi && cgo

package ofi

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// The provider shm has a file for each endpoint, which peers map, and which a process that is killed leaves behind. Its name is that of the process, from here,
// and what the provider adds: pm2-ofi-NAMESPACE-PID:UID:NUMBER.

const (
	scheme = "fi_shm://" // before a name that stands for an address
	folder = "/dev/shm/"
)

// all is what the names of processes begin with that have the same numbers of processes as this one.
func all() string {
	space := strings.Trim(kernel.Space("pid"), "pid:[]")
	return "pm2-ofi-" + space + "-"
}

// own is the name of this process.
func own() string { return all() + strconv.Itoa(os.Getpid()) }

// kin are ports that were closed, and whose memory other ports of this process may still use: the provider maps it
// once in a process. It goes when all of these are closed.
var kin struct {
	sync.Mutex
	open   int
	closed []*fabric
}

// isKin says whether an address is of this process.
func isKin(name []byte) bool { return bytes.HasPrefix(name, []byte(scheme+own()+":")) }

// readDirectly has a link read the memory of its peer, which has that address, by calls of the system.
func (l *link) readDirectly(name []byte) error {
	rest, ok := bytes.CutPrefix(name, []byte(scheme+all()))
	number, _, _ := bytes.Cut(rest, []byte(":"))
	pid, err := strconv.Atoi(string(number))
	if !ok || err != nil || pid <= 0 {
		return meet.Refused("its address %q is not that of a process in the name space of processes that this one is in", name)
	}
	l.in.direct.PID = pid
	if _, errno := l.in.direct.Read(l.word[:], 0); errno != unix.EFAULT {
		return meet.Refused("process %d may not be read by process_vm_readv: %v; use the network shm, or ofi:tcp", pid, errno)
	}
	return nil
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
		defer sweep() // of what peers have left that were killed
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

// sweep removes the files of processes that have ended without having done so.
func sweep() {
	prefix := folder + all()
	files, _ := filepath.Glob(prefix + "*:*")
	for _, file := range files {
		number, _, _ := strings.Cut(file[len(prefix):], ":")
		if pid, err := strconv.Atoi(number); err == nil && pid > 0 && ended(pid) {
			_ = os.Remove(file) // another process may have
		}
	}
}

// ended says whether a process has ended, whether its parent has waited for it or not.
func ended(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err == unix.ESRCH
	}
	defer unix.Close(fd)
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return n == 1
}
