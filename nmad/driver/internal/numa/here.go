package numa

import (
	"net"
	"os"
	"strings"
	"sync"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/sched/topo"
)

// machine is this one, nil if it has one node, which a glance at one file tells.
var machine = sync.OnceValue(func() *topo.Topology {
	text, err := os.ReadFile("/sys/devices/system/node/online")
	if err != nil {
		return nil // no nodes, or nobody to tell of them
	}
	if nodes, err := topo.ParseCPUList(strings.TrimSpace(string(text))); err == nil && nodes.Count() <= 1 {
		return nil
	}
	t, err := topo.Discover()
	if err != nil {
		return nil
	}
	return t
})

// Here is Home for this process and the calling thread.
func Here() driver.Place {
	t := machine()
	if t == nil {
		return one
	}
	return Home(t, t.Root.CPUs, asm.CPU())
}

// Through is Device for the network device of this host that has the address.
func Through(local net.Addr) driver.Place {
	t := machine()
	if t == nil {
		return one
	}
	a, ok := local.(*net.TCPAddr)
	if !ok {
		return driver.Place{Node: -1, Why: "it goes through no network device"}
	}
	if a.IP.IsLoopback() {
		return driver.Place{Node: -1, Why: "it does not leave the host"}
	}
	return Device(os.DirFS("/sys"), t, t.Root.CPUs, deviceOf(a.IP))
}

// deviceOf names the device that has an address; "" if there is none.
func deviceOf(ip net.IP) string {
	devices, _ := net.Interfaces() // without any, none has it
	for _, d := range devices {
		addrs, _ := d.Addrs()
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
				return d.Name
			}
		}
	}
	return ""
}
