package numa

import (
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/topo"
)

// machineOf reads a machine: levels, or a recording of package topo.
func machineOf(t *testing.T, what string) *topo.Topology {
	t.Helper()
	m, err := topo.Synthetic(what)
	if !strings.Contains(what, ":") {
		m, err = topo.RecordedFile("../../../../sched/topo/testdata/" + what + ".tar.bz2")
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cpus(t *testing.T, list string) topo.CPUSet {
	t.Helper()
	s, err := topo.ParseCPUList(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestHome(t *testing.T) {
	for _, c := range []struct {
		machine string
		cpus    string // of the process
		cpu     int    // on which it links
		node    int
		near    string
		why     string
	}{
		{"core:4 pu:1", "0-3", 2, -1, "", "one NUMA node"},
		{"numa:1 core:4 pu:1", "0-3", 2, -1, "", "one NUMA node"},
		{"numa:2 core:2 pu:2", "0-3", 1, 0, "0-3", "all processors"},
		{"numa:2 core:2 pu:2", "5-6", 6, 1, "5-6", "all processors"},
		{"numa:2 core:2 pu:2", "5-6", -1, 1, "5-6", "all processors"},
		{"numa:2 core:2 pu:2", "0-7", 6, 1, "4-7", "nodes 0, 1, and the link was made on processor 6"},
		{"numa:2 core:2 pu:2", "3-4", 3, 0, "3", "made on processor 3"},
		{"numa:2 core:2 pu:2", "0-7", -1, -1, "", "not known on which"},
		{"numa:2 core:2 pu:2", "9", 9, -1, "", "not known to which"},
		{"numa:4 l3:2 core:2 pu:1", "0-15", 9, 2, "8-11", "nodes 0, 1, 2, 3,"},
		// Recorded machines: nodes of two CPUs that are not neighbors' numbers, of six, of 24.
		{"16amd64-8n2c", "0-15", 5, 2, "4-5", "nodes 0, 1, 2"},
		{"16amd64-8n2c", "6,7", 6, 3, "6-7", "all processors"},
		{"96em64t-4no4pa3ca2co", "0-95", 1, 1, "", ""},
		{"2arm-2c", "0-1", 1, -1, "", "one NUMA node"},
		{"20em64t-hybrid-1p6c2t+2ca4co1t", "0-19", 3, -1, "", "one NUMA node"},
	} {
		m := machineOf(t, c.machine)
		got := Home(m, cpus(t, c.cpus), c.cpu)
		if c.near == "" && c.node >= 0 { // all of that node, as the recording has it
			c.near = m.CPU(c.cpu).Ancestor(topo.NUMA).CPUs.String()
			c.node = m.CPU(c.cpu).Ancestor(topo.NUMA).OS
		}
		if got.Node != c.node || got.CPUs.String() != c.near || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s, process on %s, linked on %d: node %d, processors %q (%s); want node %d, processors %q, and a word of %q",
				c.machine, c.cpus, c.cpu, got.Node, got.CPUs, got.Why, c.node, c.near, c.why)
		}
	}
}

// TestHomeIsNear: on any machine, whatever the process may use, the processors that poll are its own and of the
// node of the memory, among them the one on which it linked.
func TestHomeIsNear(t *testing.T) {
	for _, what := range []string{"numa:4 l3:2 core:2 pu:2", "16amd64-8n2c", "48amd64-4pa2n6c-sparse", "96em64t-4no4pa3ca2co", "128arm-2pa2n8cluster4co"} {
		m := machineOf(t, what)
		all := m.PUs()
		for from := 0; from < len(all); from += 3 {
			var own topo.CPUSet
			for i := from; i < len(all); i += 1 + from {
				own.Add(all[i].OS)
			}
			for cpu := range own.All() {
				p := Home(m, own, cpu)
				if p.Node < 0 {
					t.Fatalf("%s, process on %s: %s", what, own, p.Why)
				}
				node := m.CPU(cpu).Ancestor(topo.NUMA)
				if !p.CPUs.Has(cpu) || !own.Contains(p.CPUs) || !node.CPUs.Contains(p.CPUs) || node.OS != p.Node {
					t.Fatalf("%s, process on %s, linked on %d: node %d, processors %s", what, own, cpu, p.Node, p.CPUs)
				}
			}
		}
	}
}

func TestDevice(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	sys := fstest.MapFS{
		"class/net/eth0/device/numa_node":      file("0\n"),
		"class/net/eth1/device/numa_node":      file("1\n"),
		"class/net/usb0/device/numa_node":      file("-1\n"),
		"class/net/odd0/device/numa_node":      file("one\n"),
		"class/net/lo/mtu":                     file("65536\n"),
		"class/net/bond0/lower_eth1":           file(""),
		"class/net/bond1/lower_eth0":           file(""),
		"class/net/bond1/lower_eth1":           file(""),
		"class/net/bond0.7/lower_bond0":        file(""),
		"class/net/loop0/lower_loop0":          file(""),
		"class/net/deep/lower_bond0.7":         file(""),
		"class/net/mixed/lower_eth1":           file(""),
		"class/net/mixed/lower_veth0":          file(""),
		"class/net/veth0/mtu":                  file("1500\n"),
		"class/net/veth0/lower_../../etc/ever": file(""),
	}
	two := machineOf(t, "numa:2 core:2 pu:1")
	for _, c := range []struct {
		device, cpus string
		node         int
		near         string
		why          string
	}{
		{"eth0", "0-3", 0, "0-1", "eth0 is there"},
		{"eth1", "0-3", 1, "2-3", "eth1 is there"},
		{"eth1", "1-2", 1, "2", "eth1 is there"},
		{"eth1", "0-1", 1, "", "no processor of this process"},
		{"usb0", "0-3", -1, "", "no NUMA node"},
		{"odd0", "0-3", -1, "", "no NUMA node"},
		{"lo", "0-3", -1, "", "no NUMA node"},
		{"veth0", "0-3", -1, "", "no NUMA node"},
		{"bond0", "0-3", 1, "2-3", "bond0 is there"},
		{"bond0.7", "0-3", 1, "2-3", "bond0.7 is there"},
		{"bond1", "0-3", -1, "", "no NUMA node"}, // its ports disagree
		{"mixed", "0-3", -1, "", "no NUMA node"},
		{"loop0", "0-3", -1, "", "no NUMA node"},
		{"deep", "0-3", -1, "", "no NUMA node"}, // deeper than is looked
		{"", "0-3", -1, "", "no NUMA node"},
		{"../../../etc", "0-3", -1, "", "no NUMA node"},
	} {
		got := Device(sys, two, cpus(t, c.cpus), c.device)
		if got.Node != c.node || got.CPUs.String() != c.near || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s, process on %s: node %d, processors %q (%s); want node %d, processors %q, and a word of %q",
				c.device, c.cpus, got.Node, got.CPUs, got.Why, c.node, c.near, c.why)
		}
	}
	if got := Device(sys, machineOf(t, "core:4 pu:1"), cpus(t, "0-3"), "eth1"); got.Node != -1 || !got.CPUs.Empty() {
		t.Errorf("a machine of one node: %+v", got)
	}
}

// TestThisMachine: the decisions for this process agree with what the machine says.
func TestThisMachine(t *testing.T) {
	m, err := topo.Discover()
	if err != nil {
		t.Skip(err)
	}
	got := Here()
	if isSingle(m) {
		if got.Node != -1 || !got.CPUs.Empty() {
			t.Errorf("one node: %+v", got)
		}
	} else if got.Node >= 0 && !m.Root.CPUs.Contains(got.CPUs) {
		t.Errorf("processors %s of %s", got.CPUs, m.Root.CPUs)
	}
	if through := Through(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}); through.Node != -1 || !through.CPUs.Empty() {
		t.Errorf("loopback: %+v", through)
	}
	if asm.CPU() >= 0 && got.Why == "" {
		t.Error("no reason")
	}
}

// TestDeviceOf finds the loopback device by its address, and none by an address that no device has.
func TestDeviceOf(t *testing.T) {
	if _, err := fs.Stat(os.DirFS("/sys"), "class/net/lo"); err != nil {
		t.Skip(err)
	}
	if name := deviceOf(net.IPv4(127, 0, 0, 1)); name != "lo" {
		t.Errorf("127.0.0.1 belongs to %q", name)
	}
	if name := deviceOf(net.IPv4(192, 0, 2, 77)); name != "" {
		t.Errorf("an address for documentation belongs to %q", name)
	}
}
