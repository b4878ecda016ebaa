package managers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// hosts are network name spaces of this machine, numbered from 0, each joined to one bridge or two by a link of its
// own, and a remote shell that enters them.
type hosts struct {
	prefix string // of their names
	n      int
	rsh    string
}

func (h *hosts) space(i int) string   { return fmt.Sprintf("%s%d", h.prefix, i) }
func (h *hosts) addr(k, i int) string { return fmt.Sprintf("10.%d.0.%d", 78+k, i+1) }

// madeHosts counts the calls of newHosts: each has names of its own.
var madeHosts atomic.Int64

// newHosts makes n hosts that share that many networks. They are gone when the test ends.
func newHosts(t *testing.T, n, networks int) *hosts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may make network name spaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("the network name spaces are made with ip, which is not here (Debian: iproute2)")
	}
	h := &hosts{prefix: fmt.Sprintf("pm2m%d-%d-", os.Getpid()%100000, madeHosts.Add(1)), n: n}
	hub := h.prefix + "hub" // the switch that joins them
	t.Cleanup(func() {
		for i := range n {
			_ = exec.Command("ip", "netns", "delete", h.space(i)).Run() // it may never have come up
		}
		_ = exec.Command("ip", "netns", "delete", hub).Run()
	})
	steps := []string{"netns add " + hub}
	for k := range networks {
		steps = append(steps, fmt.Sprintf("-n %s link add br%d type bridge", hub, k), fmt.Sprintf("-n %s link set br%d up", hub, k))
	}
	for i := range n {
		s := h.space(i)
		steps = append(steps, "netns add "+s, "-n "+s+" link set lo up")
		for k := range networks {
			steps = append(steps,
				fmt.Sprintf("link add eth%d netns %s type veth peer name port%d-%d netns %s", k, s, k, i, hub),
				fmt.Sprintf("-n %s link set port%d-%d master br%d up", hub, k, i, k),
				fmt.Sprintf("-n %s address add %s/24 dev eth%d", s, h.addr(k, i), k),
				fmt.Sprintf("-n %s link set eth%d up", s, k))
		}
	}
	for _, step := range steps {
		if out, err := exec.Command("ip", strings.Fields(step)...).CombinedOutput(); err != nil {
			t.Skipf("ip %s: %v: %s", step, err, out)
		}
	}
	h.rsh = filepath.Join(t.TempDir(), "rsh")
	script := "#!/bin/sh\n# as a remote shell does: options, the address of the host, then a command line\n" +
		"while [ \"${1#-}\" != \"$1\" ]; do shift; done\nhost=$1\nshift\n" +
		"exec ip netns exec " + h.prefix + "$((${host##*.} - 1)) sh -c \"$*\"\n"
	if err := os.WriteFile(h.rsh, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

// job is a job of hydra's on all hosts, that many processes on each.
func (h *hosts) job(t *testing.T, each int, words ...string) *exec.Cmd {
	t.Helper()
	names := make([]string, h.n)
	for i := range names {
		names[i] = h.addr(0, i)
	}
	c := hydra(t, append([]string{
		"-launcher", "ssh", "-launcher-exec", h.rsh, "-localhost", names[0], "-iface", "eth0", "-disable-hostname-propagation",
		"-hosts", strings.Join(names, ","), "-ppn", fmt.Sprint(each), "-n", fmt.Sprint(each * h.n),
	}, words...)...)
	return exec.Command("ip", append([]string{"netns", "exec", h.space(0)}, c.Args...)...)
}

// TestNamespaces: a job of hydra's on four hosts.
func TestNamespaces(t *testing.T) {
	if testing.Short() {
		t.Skip("hosts that vanish take seconds to notice")
	}
	t.Parallel() // most of it is waiting for launchers and silences
	hydra(t)
	h := newHosts(t, 4, 1)
	t.Run("ring", func(t *testing.T) {
		t.Parallel()
		status, text := outcome(t, h.job(t, 2, self("ring")...), time.Minute)
		if status != 0 || strings.Count(text, " of 8\n") != 8 {
			t.Errorf("status %d: %s", status, text)
		}
	})
	t.Run("networks", func(t *testing.T) {
		t.Parallel()
		status, text := outcome(t, h.job(t, 2, self("networks")...), time.Minute)
		if near, far := strings.Count(text, ": auto shm\n"), strings.Count(text, ": auto tcp\n"); status != 0 || near != 8 || far != 48 {
			t.Errorf("status %d, %d links by shm, %d by tcp: %s", status, near, far, text)
		}
	})
	t.Run("ping-pong", func(t *testing.T) {
		t.Parallel()
		status, text := outcome(t, h.job(t, 1, build(t, "../../cmd/demo"), "pingpong", "--sizes", "1,64K", "--iters", "200"), time.Minute)
		if status != 0 {
			t.Errorf("status %d: %s", status, text)
		}
		t.Log(text)
	})
	t.Run("conformance", func(t *testing.T) {
		t.Parallel()
		c := h.job(t, 1, build(t, "../../nmad", "-c"))
		c.Env = append(os.Environ(), "NMAD_TEST=goroutine-explicit mixed 2 10")
		if status, text := outcome(t, c, 2*time.Minute); status != 0 {
			t.Errorf("status %d: %s", status, text)
		}
	})
	t.Run("no such interface", func(t *testing.T) {
		t.Parallel()
		c := h.job(t, 1, self("ring")...)
		c.Env = append(os.Environ(), "PM2_IFACE=ib0")
		status, text := outcome(t, c, time.Minute)
		if status == 0 || !strings.Contains(text, `no interface "ib0"`) {
			t.Errorf("status %d: %s", status, text)
		}
	})
	t.Run("demo", func(t *testing.T) {
		t.Parallel()
		demo := build(t, "../../cmd/demo")
		if status, text := outcome(t, h.job(t, 1, demo, "explain-start"), time.Minute); status != 0 || !strings.Contains(text, " at "+h.addr(0, 3)+", pid ") {
			t.Errorf("explain-start: status %d, and rank 3 is not at %s: %s", status, h.addr(0, 3), text)
		}
		for each, network := range map[int]string{2: "1 to N, 1 B, shm", 1: "1 to N, 1 B, tcp"} { // with one rank a host, 0 and 1 are on two
			status, text := outcome(t, h.job(t, each, demo, "experiment", "E21", "--format", "json", "--peers", "none", "--iters", "256", "--rounds", "1"), 2*time.Minute)
			if status != 0 || strings.Count(text, network) != 2*9 {
				t.Errorf("status %d, and not 18 rows %q: %s", status, network, text)
			}
		}
		status, text := outcome(t, h.job(t, 1, demo, "experiment", "E13", "--peers", "none", "--iters", "16", "--rounds", "1"), time.Minute)
		if want := "measures shared memory, and the ranks 0 and 1 are in different network namespaces"; status == 0 || !strings.Contains(text, want) {
			t.Errorf("E13 between hosts: status %d, and not %q: %s", status, want, text)
		}
	})
	for _, heartbeat := range []string{"", "2s"} {
		t.Run("a host vanishes, heartbeat "+heartbeat, func(t *testing.T) { vanish(t, heartbeat, false) })
	}
	t.Run("a host is killed", func(t *testing.T) { vanish(t, "", true) })
}

// vanish cuts a host with two of eight ranks off, which the others wait for; its processes are killed at the same time,
// or go on. The others end in time, and say which ranks are lost.
func vanish(t *testing.T, heartbeat string, killed bool) {
	t.Parallel()
	h := newHosts(t, 4, 1)
	c := h.job(t, 2, self("doomed", "wait", "4")...)
	c.Env = append(os.Environ(), "PM2_HEARTBEAT="+heartbeat)
	j := begin(t, c, 8)
	// All have met, and wait for rank 4: a rank that still meets others hears of rank 5, too.
	for end := time.Now().Add(time.Minute); strings.Count(j.text.String(), "together\n") < 8; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the ranks have not met: %s", j.text)
		}
	}
	if out, err := exec.Command("ip", "-n", h.space(2), "link", "set", "eth0", "down").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	began := time.Now()
	kill := func() {
		out, _ := exec.Command("ip", "netns", "pids", h.space(2)).Output()
		for word := range strings.FieldsSeq(string(out)) {
			if pid, err := strconv.Atoi(word); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	if killed {
		kill()
	}
	for rank, pid := range j.pids {
		for alive(pid) && (killed || rank/2 != 2) { // a lost host's manager hears nothing, and leaves its ranks running
			if time.Since(began) > 4*endLimit {
				t.Fatalf("rank %d is still there: %s", rank, j.text)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	took := time.Since(began)
	if took > endLimit { // what takes this long at rest; a loaded machine may take several times as long, which the loop above bounds
		t.Logf("it took %v, more than %v", took, endLimit)
	}
	want := "rank 4: peer lost" // which reaches us through two processes of the manager, after the ranks have ended
	for !strings.Contains(j.text.String(), want) && time.Since(began) < 4*endLimit {
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("after %v: %s", took, j.text)
	if !strings.Contains(j.text.String(), want) {
		t.Errorf("no rank has said %q", want)
	}
	kill()
	_ = c.Process.Kill()
	ctx, stop := context.WithTimeout(context.Background(), endLimit)
	defer stop()
	go func() { _ = c.Wait(); stop() }()
	<-ctx.Done()
}

// TestRails: with one process on each of two hosts that share two networks there are two rails; PM2_IFACE chooses.
func TestRails(t *testing.T) {
	hydra(t)
	h := newHosts(t, 2, 2)
	both := []string{"0 to 1: tcp \n", "0 to 1: tcp#2 \n"}
	for _, c := range []struct {
		env  string
		want []string
	}{
		{"", both},
		{"PM2_IFACE=eth1", []string{"0 to 1: auto tcp\n"}},
		{"PM2_IFACE=10.79.0.0/16,eth0", both},
		{"PM2_DRIVER=tcp", both[:1]},
	} {
		job := h.job(t, 1, self("networks")...)
		job.Env = append(os.Environ(), c.env)
		status, text := outcome(t, job, time.Minute)
		found := strings.Count(text, "0 to 1:") == len(c.want)
		for _, line := range c.want { // those of the other rank may come between
			found = found && strings.Contains(text, line)
		}
		if status != 0 || !found {
			t.Errorf("%s: status %d, %s; want %q", c.env, status, text, c.want)
		}
	}
}
