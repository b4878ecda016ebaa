package nmad

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/bootstrap"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
)

// Config tells Open who we are and how to reach the others. Zero fields other
// than Size, Rendezvous and Secret have usable defaults; a job of one process
// needs none at all but Size.
type Config struct {
	Rank int // this process: 0 to Size-1
	Size int // processes in the job

	Rendezvous string       // host:port at which rank 0 listens while the job starts
	Listener   net.Listener // rank 0: listens there already, so that no other process can take the port; Open closes it
	Secret     []byte       // shared by the job, at least 16 bytes; 32 random ones are right

	Driver   string        // name of the network: "auto", which is shm on one host and tcp between hosts, "shm", "tcp", "unix"; default DefaultDriver
	Custom   driver.Driver // a network that is not registered under a name; goes before Driver
	Strategy string        // what to make of messages that wait for the network: see package strategy; default "default"
	Listen   string        // address at which this process accepts links; default loopback, any free port

	Engine *pioman.Engine // makes progress; default pioman.Default()

	Timeout time.Duration // for the whole of Open; default 30 s

	// Heartbeat is how long a process may give no sign of life before the others take it for
	// lost, though its connections stand: it was stopped, or its host has
	// vanished. Requests that involve it then fail with ErrPeerLost. 100 ms to 1 h,
	// the same in all processes of the job; 0: they wait for ever. A few
	// bytes go to rank 0 and back in each fifth of it.
	Heartbeat time.Duration

	Linger time.Duration // how long Close waits for sends to leave, and then for peers to take them in; default 5 s
	Spin   time.Duration // how long a wait polls before it leaves the work to the engine; default 5 us; below 0: not at all

	// Shared says that other processes use our CPUs, so that to poll in a loop
	// keeps the peer from answering. Then a wait yields to the kernel between
	// a few polls, whatever Spin says, unless it is below 0.
	Shared bool

	Eager     int    // longest message that is sent without asking the receiver, in bytes; default, and at most, what the driver takes
	Profile   string // file with what was measured of the network (Profile), for the default of Eager; default none
	eagerFrom string // who has set Eager, if not the caller

	Unexpected int // memory for messages without a receive, in bytes per peer; default 4 MiB
	Announced  int // long messages without a receive, per peer; default and at most 262144
}

// Defaults of Config.
const (
	DefaultDriver     = "auto"
	DefaultTimeout    = 30 * time.Second
	DefaultLinger     = 5 * time.Second
	DefaultSpin       = 5 * time.Microsecond
	DefaultUnexpected = 4 << 20
	DefaultAnnounced  = maxCookies
)

// complete checks c and fills in the defaults. Errors are ErrConfig.
func (c *Config) complete() error {
	switch {
	case c.Size < 1 || c.Size > bootstrap.MaxSize:
		return fmt.Errorf("nmad: %w: a job of %d processes: give 1 to %d", ErrConfig, c.Size, bootstrap.MaxSize)
	case c.Rank < 0 || c.Rank >= c.Size:
		return fmt.Errorf("nmad: %w: rank %d in a job of %d: give 0 to %d", ErrConfig, c.Rank, c.Size, c.Size-1)
	case c.Size > 1 && c.Rendezvous == "" && c.Listener == nil:
		return fmt.Errorf("nmad: %w: no rendezvous: give host:port of rank 0", ErrConfig)
	case c.Size > 1 && len(c.Secret) < bootstrap.MinSecret:
		return fmt.Errorf("nmad: %w: a secret of %d bytes: give at least %d, the same to all processes", ErrConfig, len(c.Secret), bootstrap.MinSecret)
	case c.Heartbeat != 0 && (c.Heartbeat < 100*time.Millisecond || c.Heartbeat > time.Hour):
		return fmt.Errorf("nmad: %w: a heartbeat of %v: give 100ms to 1h, or 0 for none", ErrConfig, c.Heartbeat)
	case c.Eager < 0 || c.Unexpected < 0 || int64(c.Unexpected) > math.MaxUint32 || c.Announced < 0:
		return fmt.Errorf("nmad: %w: bounds must not be below 0, nor Unexpected above 4 GiB - 1", ErrConfig)
	}
	if c.Custom == nil {
		if c.Driver == "" {
			c.Driver = DefaultDriver
		}
		if c.Size > 1 {
			d, err := driver.Lookup(c.Driver)
			if err != nil {
				return fmt.Errorf("nmad: %w: %w", ErrConfig, err)
			}
			c.Custom = d
		}
	}
	if c.Strategy == "" {
		c.Strategy = strategy.Default.Name()
	}
	if _, err := strategy.Lookup(c.Strategy); err != nil {
		return fmt.Errorf("nmad: %w: %w", ErrConfig, err)
	}
	if c.Eager > 0 && c.eagerFrom == "" {
		c.eagerFrom = "configuration"
	}
	if c.Eager == 0 && c.Profile != "" && c.Custom != nil {
		p, err := LoadProfile(c.Profile)
		if err != nil {
			return err
		}
		if r, ok := p.Rails[c.Custom.Name()]; ok {
			c.Eager, c.eagerFrom = r.Eager, "measured, "+c.Profile
		}
	}
	if c.Engine == nil {
		c.Engine = pioman.Default()
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Linger <= 0 {
		c.Linger = DefaultLinger
	}
	if c.Spin == 0 {
		c.Spin = DefaultSpin
	}
	if c.Unexpected == 0 {
		c.Unexpected = DefaultUnexpected
	}
	if c.Announced == 0 {
		c.Announced = DefaultAnnounced
	}
	c.Announced = min(c.Announced, maxCookies)
	return nil
}

// job identifies the job to drivers, without giving the secret away.
func (c *Config) job() string {
	m := hmac.New(sha256.New, c.Secret)
	m.Write([]byte("pm2 job"))
	return hex.EncodeToString(m.Sum(nil)[:8])
}

// driverConfig is what the driver is opened with. Its secret is one of its own, so
// that nothing that is proven on a link can be used on the control connection.
func (c *Config) driverConfig() driver.Config {
	m := hmac.New(sha256.New, c.Secret)
	m.Write([]byte("pm2 driver"))
	return driver.Config{Rank: c.Rank, Size: c.Size, Job: c.job(), Secret: m.Sum(nil), Listen: c.Listen}
}
