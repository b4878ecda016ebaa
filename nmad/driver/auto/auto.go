package auto

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/ofi"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
	"github.com/pm2-go/pm2/nmad/driver/unix"
)

// Name of the driver.
const Name = "auto"

// none stands in an address for a network that its process does not have.
const none = "-"

// Driver chooses a network for each link. The zero value is ready.
type Driver struct {
	host func() string // tells this host's identity, for tests; nil: identity
}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

func init() { driver.MustRegister(Driver{}) }

// networks are those to choose from, the best one first. The first ones work within a host, the last one works
// everywhere, and what is between them, in a program built with it, between hosts that have the hardware.
var networks = slices.Concat([]driver.Driver{shm.Driver{}, unix.Driver{}}, ofi.Between(), []driver.Driver{tcp.Driver{}})

// localNetworks is how many of the networks are for links within a host. They come first.
const localNetworks = 2

// lastNetwork is the number of the network that works everywhere.
var lastNetwork = len(networks) - 1

// Open implements driver.Driver. Config.Listen is for TCP, or, if it is a name ("@name"), for shared memory.
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("auto: open: %w", err)
	}
	tell := d.host
	if tell == nil {
		tell = identity
	}
	e := &endpoint{host: tell(), ends: make([]driver.Endpoint, len(networks)), unavailable: make([]error, len(networks)), linked: map[int]linkChoice{}}
	for i := lastNetwork; i >= 0; i-- {
		if i < localNetworks && e.host == none {
			continue
		}
		own := c
		if strings.HasPrefix(c.Listen, "@") != (i == 0) {
			own.Listen = ""
		}
		end, err := networks[i].Open(own)
		if err != nil && (i == lastNetwork || errors.Is(err, driver.ErrConfig)) {
			_ = e.Close() // what is wrong with the configuration is not another network's matter
			return nil, err
		}
		if err != nil {
			e.unavailable[i] = err // what is left works everywhere
			continue
		}
		e.ends[i] = end
	}
	return e, nil
}

// identity names this host; none if it cannot be told from others.
func identity() string {
	words := make([]string, 0, 3)
	boot, sure := kernel.Boot()
	if !sure {
		return none
	}
	words = append(words, strings.ReplaceAll(boot, "-", ""))
	for _, space := range sharedSpaces {
		link := kernel.Space(space)
		if link == "" {
			return none
		}
		words = append(words, strings.Trim(link, space+":[]"))
	}
	return strings.Join(words, "-")
}

// sharedSpaces are the name spaces that processes must share to be on one host.
var sharedSpaces = []string{"net", "pid"}

// difference says, for people, why two identities are not of one host; empty: they are.
func difference(a, b string) string {
	if a == none || b == none {
		return "it cannot be told whether both are on one host"
	}
	x, y := strings.Split(a, "-"), strings.Split(b, "-")
	if len(x) != 1+len(sharedSpaces) || len(y) != len(x) || x[0] != y[0] {
		return "they are on different hosts"
	}
	for i, space := range sharedSpaces {
		if x[1+i] != y[1+i] {
			return fmt.Sprintf("they are in different %s name spaces of one host", space)
		}
	}
	return ""
}

// parse splits an address into the host and the address in each network.
func parse(text string) (host string, at []string, err error) {
	words := strings.Split(text, " ")
	for _, w := range words {
		if w == "" || len(words) != 1+len(networks) {
			return "", nil, fmt.Errorf("%w: an address of this driver is the host, and where it accepts links by each of its %d networks", driver.ErrConfig, len(networks))
		}
	}
	return words[0], words[1:], nil
}
