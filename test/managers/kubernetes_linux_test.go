package managers

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cluster has hosts that are pods, with the names, files and variables that Kubernetes gives those of an indexed job
// called pm2, whose subdomain is the headless service pm2.
type cluster struct {
	*hosts
	names     *nameServer
	dir       string
	variables []string // "NAME=value", of the example in docs/many-machines.md
}

// inExample finds the variables PM2_... and their values in the example of docs/many-machines.md.
var inExample = regexp.MustCompile(`\{name: (PM2_[A-Z_]+), value: "?([^"}]+)"?\}`)

const clusterDomain = ".default.svc.cluster.local"

func newCluster(t *testing.T, pods int) *cluster {
	t.Helper()
	c := &cluster{hosts: newHosts(t, pods, 1)}
	dir, err := os.MkdirTemp("/tmp", "pm2k") // other users enter it
	if err != nil {
		t.Fatal(err)
	}
	c.dir = dir
	page, err := os.ReadFile("../../docs/many-machines.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range inExample.FindAllSubmatch(page, -1) {
		c.variables = append(c.variables, fmt.Sprintf("%s=%s", found[1], found[2]))
	}
	if want := []string{fmt.Sprint("PM2_SIZE=", pods), "PM2_RENDEZVOUS=pm2-0.pm2:7070", "PM2_SECRET_FILE=/pm2/hex"}; !slices.Equal(c.variables, want) {
		t.Fatalf("the example has the variables %q, and this test is about %q", c.variables, want)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "program"), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	hub := c.prefix + "hub"
	if out, err := exec.Command("ip", "-n", hub, "address", "add", "10.78.0.254/24", "dev", "br0").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.names = newNameServer(t, hub, "10.78.0.254:53")
	for i := range pods {
		etc := filepath.Join("/etc/netns", c.space(i)) // what is in it is in /etc for what ip netns exec starts
		t.Cleanup(func() { _ = os.RemoveAll(etc) })
		if err := os.MkdirAll(etc, 0o755); err != nil {
			t.Skipf("no names for network name spaces here: %v", err)
		}
		pod := fmt.Sprintf("pm2-%d", i)
		for name, text := range map[string]string{
			"resolv.conf": "nameserver 10.78.0.254\nsearch default.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n",
			"hosts":       "127.0.0.1\tlocalhost\n" + c.addr(0, i) + "\t" + pod + ".pm2" + clusterDomain + "\t" + pod + "\n",
		} {
			if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// secret mounts the job's, with a mode, and returns the name of the file.
func (c *cluster) secret(t *testing.T, mode os.FileMode) string {
	t.Helper()
	mount, err := os.MkdirTemp(c.dir, "secret")
	if err == nil {
		err = os.Chmod(mount, 0o755)
	}
	data := filepath.Join(mount, "..2026_11_25")
	file := filepath.Join(data, "hex")
	for _, step := range []func() error{
		func() error { return os.Mkdir(data, 0o755) },
		func() error { return os.WriteFile(file, []byte(strings.Repeat("5a", 32)), 0o600) },
		func() error { return os.Chown(file, 0, podGroup) },
		func() error { return os.Chmod(file, mode) },
		func() error { return os.Symlink("..2026_11_25", filepath.Join(mount, "..data")) },
		func() error { return os.Symlink("..data/hex", filepath.Join(mount, "hex")) },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(mount, "hex")
}

// Of pods without privileges.
const (
	podUser  = 4711
	podGroup = 2000 // fsGroup
)

// pod makes the command of a pod; user 0 is root, as in a pod that says nothing else.
func (c *cluster) pod(index, size, user int, secret string, action ...string) *exec.Cmd {
	words := []string{"netns", "exec", c.space(index)}
	if user != 0 {
		words = append(words, "setpriv", fmt.Sprint("--reuid=", user), fmt.Sprint("--regid=", user), fmt.Sprint("--groups=", podGroup))
	}
	p := exec.Command("ip", append(append(words, filepath.Join(c.dir, "program")), action...)...)
	p.Env = []string{"PATH=" + os.Getenv("PATH"), fmt.Sprint("HOSTNAME=pm2-", index), fmt.Sprint("JOB_COMPLETION_INDEX=", index)}
	p.Env = append(append(p.Env, c.variables...), fmt.Sprint("PM2_SIZE=", size), "PM2_SECRET_FILE="+secret)
	if user != 0 {
		p.Env = append(p.Env, "PM2_IFACE=10.0.0.0/8")
	}
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return p
}

// nameServer is the name server of a cluster. It answers for the pods once they are published.
type nameServer struct {
	mu      sync.Mutex
	hosts   map[string]net.IP
	vain    map[string]bool // the addresses that have asked for a pod that was not published
	served  map[string]bool // those that have got the address of one
	changed chan struct{}   // closed, and made anew, at each change
}

func newNameServer(t *testing.T, space, where string) *nameServer {
	t.Helper()
	s := &nameServer{hosts: map[string]net.IP{}, vain: map[string]bool{}, served: map[string]bool{}, changed: make(chan struct{})}
	type opened struct {
		conn net.PacketConn
		err  error
	}
	done := make(chan opened)
	go func() {
		runtime.LockOSThread() // and ends locked: the thread goes with its name space
		var o opened
		file, err := os.Open(filepath.Join("/run/netns", space))
		if o.err = err; err == nil {
			if o.err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); o.err == nil {
				o.conn, o.err = net.ListenPacket("udp", where)
			}
			file.Close()
		}
		done <- o
	}()
	o := <-done
	if o.err != nil {
		t.Skipf("no name server in a network name space here: %v", o.err)
	}
	t.Cleanup(func() { o.conn.Close() })
	go func() {
		for buf := make([]byte, 1500); ; {
			n, from, err := o.conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := s.answer(buf[:n], from.(*net.UDPAddr).IP.String()); reply != nil {
				_, _ = o.conn.WriteTo(reply, from)
			}
		}
	}()
	return s
}

// answer makes the answer to a question, which is a DNS message (RFC 1035) with one question in it.
func (s *nameServer) answer(question []byte, from string) []byte {
	const head, typeA, noSuchName = 12, 1, 3
	if len(question) < head {
		return nil
	}
	var labels []string
	at := head
	for at < len(question) && question[at] != 0 && at+1+int(question[at]) < len(question) {
		labels = append(labels, string(question[at+1:at+1+int(question[at])]))
		at += 1 + int(question[at])
	}
	if at+5 > len(question) {
		return nil
	}
	kind := binary.BigEndian.Uint16(question[at+1:])
	name := strings.ToLower(strings.Join(labels, "."))
	reply := slices.Clone(question[:at+5])
	binary.BigEndian.PutUint16(reply[2:], 0x8580) // an answer, with authority
	for i, n := range []uint16{1, 0, 0, 0} {
		binary.BigEndian.PutUint16(reply[4+2*i:], n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ip, known := s.hosts[name]
	switch {
	case !known:
		reply[3] |= noSuchName
		if strings.HasSuffix(name, ".pm2"+clusterDomain) {
			s.vain[from] = true
		}
	case kind == typeA:
		reply[7] = 1
		reply = append(reply, 0xc0, head, 0, typeA, 0, 1, 0, 0, 0, 5, 0, 4) // the name of the question, for 5 s
		reply = append(reply, ip.To4()...)
		s.served[from] = true
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return reply
}

// publish lets a pod be known from now on.
func (s *nameServer) publish(pod string, addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[pod+".pm2"+clusterDomain] = net.ParseIP(addr)
}

// forget begins anew.
func (s *nameServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.hosts)
	clear(s.vain)
	clear(s.served)
}

// await waits until n pods have asked, in vain or not.
func (s *nameServer) await(t *testing.T, seen map[string]bool, n int) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		s.mu.Lock()
		changed, asked := s.changed, slices.Sorted(maps.Keys(seen))
		s.mu.Unlock()
		if len(asked) >= n {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("of %d pods %v have asked", n, asked)
		}
	}
}

// started is a pod under way.
type started struct {
	*exec.Cmd
	text output
}

func (c *cluster) begin(t *testing.T, p *exec.Cmd) *started {
	t.Helper()
	s := &started{Cmd: p}
	p.Stdout, p.Stderr = &s.text, &s.text
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL) })
	return s
}

// end waits for the end of a pod, and returns its status.
func (s *started) end(t *testing.T, limit time.Duration) int {
	t.Helper()
	late := time.AfterFunc(limit, func() {
		t.Errorf("%v has not ended after %v: %s", s.Env[2], limit, &s.text)
		_ = syscall.Kill(-s.Process.Pid, syscall.SIGKILL)
	})
	defer late.Stop()
	_ = s.Wait()
	return s.ProcessState.ExitCode()
}

// TestKubernetes: the pods of an indexed job, with nothing but what Kubernetes and the example in docs/many-machines.md
// give them.
func TestKubernetes(t *testing.T) {
	if testing.Short() {
		t.Skip("hosts that vanish take seconds to notice")
	}
	t.Parallel() // most of it is waiting for processes and silences
	const pods = 4
	c := newCluster(t, pods)
	publish := func() {
		for i := range pods {
			c.names.publish(fmt.Sprintf("pm2-%d", i), c.addr(0, i))
		}
	}
	for name, user := range map[string]int{"as root": 0, "without privileges, fsGroup": podUser} {
		t.Run("the name is not known at first, a pod is late, "+name, func(t *testing.T) {
			mode := os.FileMode(0o400)
			if user != 0 {
				mode = 0o440
				if _, err := exec.LookPath("setpriv"); err != nil {
					t.Skip("no setpriv here (Debian: util-linux)")
				}
			}
			c.names.forget()
			secret := c.secret(t, mode)
			var all []*started
			for i := range pods - 1 {
				all = append(all, c.begin(t, c.pod(i, pods, user, secret, "networks")))
			}
			c.names.await(t, c.names.vain, pods-1)
			if user == 0 { // an earlier rank 0 is still known
				c.names.publish("pm2-0", "10.78.0.99")
				c.names.await(t, c.names.served, pods-1)
				c.names.forget()
			}
			publish()
			c.names.await(t, c.names.served, pods-1)
			all = append(all, c.begin(t, c.pod(pods-1, pods, user, secret, "networks")))
			for i, p := range all {
				if status, n := p.end(t, time.Minute), strings.Count(p.text.String(), ": auto tcp\n"); status != 0 || n != pods-1 {
					t.Errorf("pod %d: status %d, %d links by tcp: %s", i, status, n, &p.text)
				}
			}
		})
	}
	publish()
	for name, action := range map[string][]string{"a pod is killed": {"kill", "2"}, "rank 0's pod is killed": {"kill", "0"}, "a pod's network is gone": {"wait", "2"}} {
		t.Run(name, func(t *testing.T) {
			secret := c.secret(t, 0o400)
			var all []*started
			for i := range pods {
				all = append(all, c.begin(t, c.pod(i, pods, 0, secret, append([]string{"doomed"}, action...)...)))
			}
			victim := int(action[1][0] - '0')
			for _, p := range all {
				p.says(t, "pid ")
			}
			if action[0] == "wait" {
				for _, p := range all {
					p.says(t, "together\n")
				}
				if out, err := exec.Command("ip", "-n", c.space(victim), "link", "set", "eth0", "down").CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				t.Cleanup(func() {
					_ = exec.Command("ip", "-n", c.space(victim), "link", "set", "eth0", "up").Run()
				})
			} else if all[victim].end(t, time.Minute) == 0 {
				t.Errorf("the pod that was killed has the status 0: %s", &all[victim].text)
			}
			began := time.Now()
			for i, p := range all {
				if i == victim {
					continue
				}
				want := fmt.Sprintf("rank %d: nmad: rank %d: peer lost", i, victim)
				if status := p.end(t, 4*endLimit); status == 0 || !strings.Contains(p.text.String(), want) {
					t.Errorf("pod %d: status %d, and not %q: %s", i, status, want, &p.text)
				}
			}
			if d := time.Since(began); d > endLimit {
				t.Logf("it took %v to end", d)
			} else {
				t.Logf("all over after %v: %s", d, &all[1].text)
			}
		})
	}
	t.Run("a pod in the place of another one", func(t *testing.T) { // as without backoffLimit: 0
		secret := c.secret(t, 0o400)
		var all []*started
		for i := range pods {
			all = append(all, c.begin(t, c.pod(i, pods, 0, secret, "doomed", "wait", "0")))
		}
		for _, p := range all {
			p.says(t, "together\n")
		}
		second := c.begin(t, c.pod(2, pods, 0, secret, "ring"))
		if status, want := second.end(t, time.Minute), "refused: the job is complete already: another process may have this rank"; status != 1 || !strings.Contains(second.text.String(), want) {
			t.Errorf("status %d, and not %q: %s", status, want, &second.text)
		}
		for _, p := range all {
			if !alive(p.Process.Pid) {
				t.Errorf("%v has ended: %s", p.Env[2], &p.text)
			}
		}
		for _, p := range all {
			_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
			p.end(t, time.Minute)
		}
	})
	for name, x := range map[string]struct {
		mode   os.FileMode
		change string // of the environment
		says   string
	}{
		"a secret that all can read": {0o644, "", "its mode is 0644, other users have access to it: chmod 600 (in Kubernetes defaultMode: 0400)"},
		"no size":                    {0o400, "PM2_SIZE=", "PM2_SIZE is missing: give the number of its completions"},
		"a size that is too small":   {0o400, "PM2_SIZE=1", "rank 1 in a job of 1: give 0 to 0"},
		"no secret":                  {0o400, "PM2_SECRET_FILE=", "a secret of 0 bytes: give 16 to 1024, the same to all processes, such as by PM2_SECRET_FILE"},
		"no number of a port":        {0o400, "PM2_RENDEZVOUS=pm2-0.pm2:pm2", "give rank 0 by its name and a port"},
		"no name":                    {0o400, "PM2_RENDEZVOUS=:7070", "give rank 0 by its name and a port"},
		"no such interface":          {0o400, "PM2_IFACE=ib0", `this host has no interface "ib0" that is up`},
		"no port":                    {0o400, "PM2_RENDEZVOUS=pm2-0.pm2", "give rank 0 by its name and a port"},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.pod(1, 2, 0, c.secret(t, x.mode), "ring")
			if x.change != "" {
				p.Env = append(p.Env, x.change)
			}
			s := c.begin(t, p)
			if status := s.end(t, time.Minute); status != 1 || !strings.Contains(s.text.String(), x.says) {
				t.Errorf("status %d, and not %q: %s", status, x.says, &s.text)
			}
		})
	}
}

// says waits until a pod has said something.
func (s *started) says(t *testing.T, want string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(s.text.String(), want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%v does not say %q: %s", s.Env[2], want, &s.text)
		}
	}
}
