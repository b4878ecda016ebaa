package veth

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Of either host.
const (
	Device = "veth0"
	Subnet = "10.77.0.0/24"
)

// Addrs are the hosts' addresses.
var Addrs = [2]string{"10.77.0.1", "10.77.0.2"}

// The token bucket: how much may leave at once, and how much may wait; what does not fit is lost
// and sent again, so there is room for more than any sender has under way.
const (
	burst   = "128kb"
	backlog = "16mb"
	// largest is how much the sender's kernel hands to the device at once: less than the bucket,
	// which otherwise would have to cut it.
	largest = "65536"
)

// congestion is the congestion control of both hosts: the simplest there is, so that what an
// administrator has chosen for the machine does not matter.
const congestion = "reno"

// Link is two hosts and the link between them: this process is on the first one. Not for concurrent use.
type Link struct {
	space *os.File // the other host's network namespace, which lives as long as this is open
	do    chan func()
}

// New makes the other host, and the link to it, with no limit but the machine's. This process must
// be the one that Enter started.
func New() (_ *Link, err error) {
	l := &Link{do: make(chan func())}
	made := make(chan error)
	go l.live(made)
	if err := <-made; err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	steps := []struct {
		host int
		line string
	}{
		{0, "ip link set lo up"},
		{1, "ip link set lo up"},
		{0, "ip link add " + Device + " type veth peer name " + Device + " netns " + l.path()},
	}
	for host, addr := range Addrs {
		for _, line := range []string{
			"ip address add " + addr + "/24 dev " + Device,
			"ip link set " + Device + " gso_max_size " + largest + " up",
		} {
			steps = append(steps, struct {
				host int
				line string
			}{host, line})
		}
	}
	for _, step := range steps {
		if err := l.on(step.host, step.line); err != nil {
			return nil, err
		}
	}
	for host := range Addrs {
		var err error
		l.at(host, func() { err = os.WriteFile("/proc/sys/net/ipv4/tcp_congestion_control", []byte(congestion), 0o644) })
		if err != nil {
			return nil, fmt.Errorf("choose the congestion control %s: %w", congestion, err)
		}
	}
	return l, nil
}

// live is the thread on the other host.
func (l *Link) live(made chan<- error) {
	runtime.LockOSThread() // and ends locked: the thread goes with its namespace
	err := unix.Unshare(unix.CLONE_NEWNET)
	if err == nil {
		l.space, err = os.Open("/proc/thread-self/ns/net")
	}
	made <- err
	if err != nil {
		return
	}
	for f := range l.do {
		f()
	}
}

// at runs f on a host.
func (l *Link) at(host int, f func()) {
	if host == 0 {
		f()
		return
	}
	done := make(chan struct{})
	l.do <- func() { f(); close(done) }
	<-done
}

// on runs a command on a host.
func (l *Link) on(host int, line string) error {
	words := strings.Fields(line)
	var out []byte
	var err error
	l.at(host, func() { out, err = exec.Command(words[0], words[1:]...).CombinedOutput() })
	if err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// path names the other host's namespace for other processes.
func (l *Link) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), l.space.Fd()) }

// Enter is the command that runs another command on the other host.
func (l *Link) Enter() []string { return []string{"nsenter", "--net=" + l.path(), "--"} }

// Shape limits the link to so many Mbit/s in each direction.
func (l *Link) Shape(mbps int) error {
	for host := range Addrs {
		line := "tc qdisc replace dev " + Device + " root tbf rate " + strconv.Itoa(mbps) + "mbit burst " + burst + " limit " + backlog
		if err := l.on(host, line); err != nil {
			return err
		}
	}
	return nil
}

// Close lets go of the other host, which is gone when no process is on it any more.
func (l *Link) Close() {
	close(l.do)
	l.space.Close()
}
