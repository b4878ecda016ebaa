package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine is what the machine allows.
type machine struct {
	noHosts  error // why there are no other hosts
	noGroups error // why there are no control groups of memory
}

func look() *machine {
	m := &machine{}
	h, err := newHosts()
	if err != nil {
		m.noHosts = fmt.Errorf("no other hosts: %w", err)
	} else {
		h.close()
	}
	g, err := newGroup()
	if err != nil {
		m.noGroups = fmt.Errorf("no control groups: %w", err)
	} else {
		g.close()
	}
	return m
}

const device = "pm2f0"

// hosts is two name spaces of the net, with a virtual Ethernet pair between them. They have no names, and are gone with
// the last process in them.
type hosts struct {
	at    [2]*host
	addrs [2]string
}

// host is one of them: a thread that is in it, and a file that stands for it.
type host struct {
	space *os.File
	do    chan func()
}

func newHost() (*host, error) {
	h := &host{do: make(chan func())}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // and ends locked: the thread goes with its name space
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			h.space, err = os.Open("/proc/thread-self/ns/net")
		}
		made <- err
		if err != nil {
			return
		}
		for f := range h.do {
			f()
		}
	}()
	return h, <-made
}

// run runs f on the host.
func (h *host) run(f func()) {
	done := make(chan struct{})
	h.do <- func() { f(); close(done) }
	<-done
}

// path names the host's name space for other processes.
func (h *host) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), h.space.Fd()) }

// ip runs the command ip there.
func (h *host) ip(words string) (err error) {
	h.run(func() {
		out, e := exec.Command("ip", strings.Fields(words)...).CombinedOutput()
		if e != nil {
			err = fmt.Errorf("ip %s: %w: %s", words, e, strings.TrimSpace(string(out)))
		}
	})
	return err
}

func newHosts() (_ *hosts, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("only root may make name spaces of the net")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return nil, errors.New("the command ip is missing (package iproute2)")
	}
	h := &hosts{addrs: [2]string{"10.78.0.1", "10.78.0.2"}}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	for i := range h.at {
		x, err := newHost()
		if err != nil {
			return nil, err
		}
		h.at[i] = x
	}
	err = errors.Join(
		h.at[0].ip("link set lo up"), h.at[1].ip("link set lo up"),
		h.at[0].ip("link add "+device+" type veth peer name "+device+" netns "+h.at[1].path()))
	for i, x := range h.at {
		if err == nil {
			err = errors.Join(x.ip("address add "+h.addrs[i]+"/24 dev "+device), x.ip("link set "+device+" up"))
		}
	}
	return h, err
}

func (h *hosts) close() {
	for _, x := range h.at {
		if x != nil {
			close(x.do)
			x.space.Close()
		}
	}
}

// group is a control group of memory.
type group struct{ path, limit string }

func newGroup() (*group, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("only root may make control groups")
	}
	name := fmt.Sprintf("pm2-faults-%d", os.Getpid())
	for _, g := range []group{{"/sys/fs/cgroup/memory/" + name, "memory.limit_in_bytes"}, {"/sys/fs/cgroup/" + name, "memory.max"}} {
		if _, err := os.Stat(filepath.Dir(g.path)); err != nil {
			continue
		}
		if err := os.Mkdir(g.path, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(g.path, g.limit)); err != nil {
			_ = os.Remove(g.path)
			continue
		}
		return &g, nil
	}
	return nil, errors.New("there is no controller of memory")
}

// take puts a process into the group and limits what that may use from now on, in bytes.
func (g *group) take(pid int, limit uint64) error {
	return errors.Join(
		os.WriteFile(filepath.Join(g.path, g.limit), []byte(strconv.FormatUint(limit, 10)), 0o644),
		os.WriteFile(filepath.Join(g.path, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644))
}

// close removes the group, whose processes have ended. The kernel takes a moment to notice.
func (g *group) close() {
	for range 100 {
		if err := os.Remove(g.path); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
