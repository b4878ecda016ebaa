package mpi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machine is a computer with a bridge and hosts that are joined to it, all of them in name spaces of their own, and
// in a user name space where the test is not root's:
//
//	test                           starts the machine, and reads what rank 0 prints
//	   └ machine                   a network, process ids, mounts: the bridge, and an address there
//	        ├ host, host, ...      the same of each one's own; joined to the bridge
//	        └ demo run --hosts     on no host
//	             └ nsenter         for each host, the remote shell; there:
//	                  └ demo run   the ranks of this host
//
// The kernel ends the machine with the test, the rest with the machine, whose process ids these have, and name spaces
// and devices with the processes that are in them.
type machine struct {
	dir   string // for files
	hosts []int  // their first processes
}

// forbidden is the status with which the machine ends if it cannot be made here.
const forbidden = 77

// address is that of a host, from 1 on; 0 is the machine's.
func address(host int) string { return fmt.Sprintf("10.79.0.%d", 100+host) }

// apart is the command that runs this program as what in name spaces of its own. The kernel ends it with the OS
// thread that starts it.
func apart(ctx context.Context, what string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "/proc/self/exe", args...)
	c.Env = append(os.Environ(), childVariable+"="+what)
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	return c
}

// inMachine runs jobs of demo on a machine, each on that many hosts with so many ranks each, and returns what they print.
func inMachine(t *testing.T, what string, limit time.Duration, jobs ...[2]int) string {
	t.Helper()
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("hosts are made with %s, which is not here (Debian: iproute2, util-linux)", tool)
		}
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "demo"), "../../cmd/demo").CombinedOutput(); err != nil {
		t.Fatalf("build the launcher: %v: %s", err, out)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{dir, program, what}
	for _, j := range jobs {
		args = append(args, strconv.Itoa(j[0]), strconv.Itoa(j[1]))
	}
	runtime.LockOSThread() // the machine ends with this thread
	defer runtime.UnlockOSThread()
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	c := apart(ctx, "machine", args...)
	if id := os.Geteuid(); id != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: id, Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		t.Skipf("name spaces are forbidden here: %v", err)
	}
	err = c.Wait()
	switch {
	case ctx.Err() != nil:
		t.Fatalf("the jobs do not end within %v; they say: %s%s", limit, &out, &errs)
	case err != nil && c.ProcessState.ExitCode() == forbidden:
		t.Skipf("hosts are forbidden here: %s", &errs)
	case err != nil:
		t.Fatalf("%v: %s%s", err, &out, &errs)
	}
	return out.String()
}

// beMachine is the first process of a machine.
func beMachine(dir, program, what string, numbers []string) int {
	runtime.LockOSThread() // the hosts end with this thread
	m := machine{dir: dir}
	jobs, most := [][2]int{}, 0
	for i := 0; i+1 < len(numbers); i += 2 {
		hosts, _ := strconv.Atoi(numbers[i])
		ranks, _ := strconv.Atoi(numbers[i+1])
		jobs, most = append(jobs, [2]int{hosts, ranks}), max(most, hosts)
	}
	if err := m.make(most); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return forbidden
	}
	for i, j := range jobs {
		if err := m.run(7070+i, j[0], j[1], program, what); err != nil {
			fmt.Fprintf(os.Stderr, "%d hosts with %d ranks each: %v\n", j[0], j[1], err)
			return 1
		}
	}
	return 0
}

// settle gives this process the files that tell of its name spaces, and an empty /dev/shm.
func settle() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	for _, m := range [][2]string{{"proc", "/proc"}, {"tmpfs", "/dev/shm"}} {
		if err := syscall.Mount(m[0], m[1], m[0], 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m[1], err)
		}
	}
	return nil
}

// make makes the network and the hosts.
func (mc *machine) make(hosts int) error {
	if err := settle(); err != nil {
		return err
	}
	steps := []string{"ip link set lo up", "ip link add hub type bridge", "ip address add " + address(0) + "/24 dev hub", "ip link set hub up"}
	for host := 1; host <= hosts; host++ {
		pid, err := mc.host()
		if err != nil {
			return fmt.Errorf("host %d: %w", host, err)
		}
		mc.hosts = append(mc.hosts, pid)
		there := fmt.Sprintf("nsenter --target %d --net ip ", pid)
		steps = append(steps,
			fmt.Sprintf("ip link add port%d type veth peer name eth0 netns %d", host, pid),
			fmt.Sprintf("ip link set port%d master hub up", host),
			there+"link set lo up", there+"address add "+address(host)+"/24 dev eth0", there+"link set eth0 up")
	}
	for _, step := range steps {
		words := strings.Fields(step)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", step, err, out)
		}
	}
	shell := "#!/bin/sh\n# as a remote shell does: the address of the host, then a command line\ncase $1 in\n"
	for i, pid := range mc.hosts {
		shell += fmt.Sprintf("%s) pid=%d ;;\n", address(i+1), pid)
	}
	shell += "*) echo \"no host $1\" >&2; exit 255 ;;\nesac\nshift\nexec nsenter --target $pid --net --pid --mount --ipc -- sh -c \"$*\"\n"
	return os.WriteFile(mc.path("rsh"), []byte(shell), 0o755)
}

func (mc *machine) path(name string) string { return filepath.Join(mc.dir, name) }

// host starts the first process of a host, and returns its id.
func (mc *machine) host() (pid int, err error) {
	c := apart(context.Background(), "host")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil && line != "up\n" {
		err = errors.New(line)
	}
	return c.Process.Pid, err
}

// beHost is the first process of a host, until the kernel ends it with its machine.
func beHost() {
	signal.Ignore(syscall.SIGCHLD) // the kernel then reaps those whose parents have ended
	if err := settle(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("up")
	select {}
}

// run runs a job on the first hosts. Of that nothing may be left.
func (mc *machine) run(port, hosts, ranks int, program, what string) error {
	var list string
	for i := range hosts {
		list += fmt.Sprintf("%s slots=%d\n", address(i+1), ranks)
	}
	if err := os.WriteFile(mc.path("hosts"), []byte(list), 0o644); err != nil {
		return err
	}
	c := exec.Command(mc.path("demo"), "run", "-n", strconv.Itoa(hosts*ranks), "--hosts", mc.path("hosts"), "--rsh", mc.path("rsh"), "--demo", mc.path("demo"),
		"--rendezvous", fmt.Sprintf("%s:%d", address(1), port), "--plain", "--export", childVariable+"="+what, "--", program)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return err
	}
	var left []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) { // a process that was killed takes a moment
		if left = mc.left(); len(left) == 0 {
			return nil
		}
	}
	return fmt.Errorf("the job leaves %v", left)
}

// left are the processes of the machine that are neither its own first one nor that of a host, and the files in
// shared memory, here and there.
func (mc *machine) left() (all []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
		text, err := os.ReadFile(name)
		if err != nil || pid == os.Getpid() || slices.Contains(mc.hosts, pid) || bytes.Contains(text, []byte(") Z ")) {
			continue
		}
		all = append(all, string(bytes.TrimSpace(text)))
	}
	for _, pid := range append([]int{os.Getpid()}, mc.hosts...) {
		files, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "root", "dev", "shm", "*")) // as that process sees it
		all = append(all, files...)
	}
	return all
}
