package hosts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pair is two hosts.
type pair struct {
	spaces [2]string // names of the name spaces
	addrs  [2]string
	rsh    string // runs a command line on the host that an address belongs to
}

// newPair makes two hosts that see each other. They are gone when the test ends.
func newPair(t *testing.T) *pair {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may make network name spaces")
	}
	for _, tool := range []string{"ip", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the network name spaces are made with %s, which is not here (package iproute2)", tool)
		}
	}
	id := os.Getpid() % 100000
	p := &pair{addrs: [2]string{"10.77.0.1", "10.77.0.2"}}
	for i := range p.spaces {
		p.spaces[i] = fmt.Sprintf("pm2-%d-%d", id, i)
	}
	t.Cleanup(func() {
		for _, s := range p.spaces {
			_ = exec.Command("ip", "netns", "delete", s).Run() // the devices go with it; it may never have come up
		}
	})
	for _, s := range p.spaces {
		if out, err := exec.Command("ip", "netns", "add", s).CombinedOutput(); err != nil {
			t.Skipf("network name spaces are forbidden here: %v: %s", err, out)
		}
	}
	steps := []string{fmt.Sprintf("link add veth0 netns %s type veth peer name veth0 netns %s", p.spaces[0], p.spaces[1])}
	for i, s := range p.spaces {
		steps = append(steps,
			fmt.Sprintf("-n %s address add %s/24 dev veth0", s, p.addrs[i]),
			fmt.Sprintf("-n %s link set veth0 up", s),
			fmt.Sprintf("-n %s link set lo up", s))
	}
	for _, step := range steps {
		if out, err := exec.Command("ip", strings.Fields(step)...).CombinedOutput(); err != nil {
			t.Skipf("ip %s: %v: %s", step, err, out)
		}
	}
	p.rsh = filepath.Join(t.TempDir(), "rsh")
	script := fmt.Sprintf(`#!/bin/sh
# as a remote shell does: the name of the host, then words that make one command line
case "$1" in
%s) space=%s ;;
%s) space=%s ;;
*) echo "rsh: no host $1" >&2; exit 255 ;;
esac
shift
exec ip netns exec "$space" sh -c "$*"
`, p.addrs[0], p.spaces[0], p.addrs[1], p.spaces[1])
	if err := os.WriteFile(p.rsh, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// on makes a command that runs on host i.
func (p *pair) on(i int, words ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", p.spaces[i]}, words...)...)
}
