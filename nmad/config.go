package nmad

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/presence"
	"github.com/pm2-go/pm2/nmad/internal/roster"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
)

// Config tells Open which rank this process is and how to reach the others. Size, Rendezvous and Secret
// must be set; all other fields have usable defaults. A job of one process
// needs Size alone.
type Config struct {
	Rank int // this process: 0 to Size-1
	Size int // processes in the job

	Rendezvous string       // host:port at which rank 0 listens while the job starts
	Listener   net.Listener // rank 0: listens there already, so that no other process can take the port; Open closes it
	Secret     []byte       // shared by the job, 16 to 1024 bytes; 32 random ones are right

	// Driver names the network: "shm", "tcp", "unix", or "auto", which is shm on one host, unix where shm does not
	// work, and tcp between hosts. The default is DefaultDriver. Several names, separated by commas, make as
	// many rails, up to MaxRails, between each two processes: "tcp,tcp". One rail carries all packets: the
	// one with the least latency if rank 0 has a profile that says which, else the first one. Long
	// messages are shared out among all rails, as Strategy says. Driver is the same in
	// all processes.
	Driver string
	Custom driver.Driver   // a network that is not registered under a name; overrides Driver
	Rails  []driver.Driver // likewise, one for each rail; overrides Custom

	// Strategy says what to make of messages that wait for the network, and how rails
	// share long ones: see package strategy; default "default", and
	// "split-balance" with several rails.
	Strategy string

	// Listen is the address at which this process accepts links; default loopback, any
	// free port. With several rails it may be as many addresses, separated by commas, of
	// which some may be empty: "10.0.0.1:0,10.1.0.1:0". One address is for all rails.
	Listen string

	// Link says when links are made: LinkLazy, between two processes when one of them first
	// sends something to the other; LinkAll, between all of them in Open, which
	// then fails if one cannot be made. It is the same in all processes. Default LinkLazy, in
	// a job of two LinkAll.
	Link string

	Engine *pioman.Engine // makes progress; default pioman.Default()

	// Timeout is for the whole of Open, and for the links to a process that are made later. Only time counts in which
	// this process could run, not that of a stop (SIGSTOP, a machine that sleeps). Default 30 s; 5 min until all processes
	// of a job that a process manager, or Kubernetes, starts are there.
	Timeout time.Duration

	// Heartbeat is how long a process may give no sign of life before the others take it for
	// lost, though its connections stand: it was stopped, or its host has
	// vanished. Requests that involve it then fail with ErrPeerLost. 100 ms to 1 h,
	// the same in all processes of the job; 0: they wait for ever. A few
	// bytes go to rank 0 and back in each fifth of it, in which the silence is counted, up to a
	// fifth more: a process that was stopped itself in the meantime takes no other for lost.
	Heartbeat time.Duration

	// Stall is after how long a job whose processes all wait says so, and for what: a thread waits for a message in each that lives, and for so long none has begun or ended, and
	// no process has used a tenth of a processor. The lowest rank that lives writes it to standard error, once; the job goes on. 100 ms to 1 h, the same
	// in all processes; 0: never. It takes the context 65535 of the job, and a look of each process at itself in each quarter of it.
	Stall time.Duration

	Linger time.Duration // how long Close waits for sends to leave, and then for peers to take them in; default 5 s
	Spin   time.Duration // how long a wait polls before it leaves the work to the engine, whatever pioman.Params.BusyWait says; default 10 us; below 0: not at all

	// Shared says that other processes use our CPUs, so that to poll in a loop
	// keeps the peer from answering. Then a wait yields to the kernel between
	// a few polls, whatever Spin says, unless it is below 0. Open finds out itself whether the processes of the job on this
	// host are more than the processors that they may use.
	Shared bool

	// Unbound leaves this process on all processors that it may use. Otherwise, in a job that the environment tells of, and whose processes
	// were not bound, Open binds each to its share of the processors of its host, if no scheduler of threads runs yet: to one of them if the processes are more.
	Unbound bool

	Eager   int    // longest message that is sent without asking the receiver, in bytes; default, and at most, what the driver takes
	Profile string // file with what was measured of the network (Profile), for the default of Eager, which of several rails comes first, and their shares; default none

	// Measured is a profile that no file holds, such as Gate.Sample returns, in place of Profile.
	Measured *Profile

	hosts   []int         // number of the host of each rank, as the manager says; nil: one
	bind    string        // address of this host on the first network of the job, if a process manager has told; empty: not known
	named   string        // Rendezvous of an indexed job of Kubernetes: rank 0 is met by its name; empty: it is no such job
	start   time.Duration // how long Open waits for the other processes; 0: Timeout
	told    *told         // what the environment has said of the job; nil: the Config was not made of it
	joins   bool          // it is Join's
	manager *managed      // that has started this process, and by which it meets the others; nil: none

	crowded *atomic.Bool // Shared, or what the cards of all processes say; drivers ask when they make a link
	kind    DomainConfig // of the job's domain, for tests of that

	presence *presence.Teller // tells the launcher where this process stands in the job; nil: none asks

	eagerFrom string // what has set Eager, if not the caller
	eagerSet  bool   // it was set, not measured

	Unexpected int // memory for messages without a receive, in bytes per peer; default 4 MiB
	Announced  int // long messages without a receive, per peer; more are kept while a receive waits for a message behind them; default 262144, at most 2^24 (more is ErrConfig)

	Loans int // memory of the buffers that Gate.Alloc gives, in bytes per peer; default 64 MiB, at least 4 KiB, at most 16 GiB

	// What complete makes of it, by rail.
	networks []driver.Driver
	names    []string
	listen   []string
	costs    map[string]strategy.Cost // by name, if measured
	limits   map[string]int           // likewise, up to which size eager is not slower than a rendezvous over that rail; 0: not measured
}

// Values of Config.Link.
const (
	LinkLazy = "lazy"
	LinkAll  = "all"
)

// Defaults of Config.
const (
	DefaultDriver     = "auto"
	DefaultTimeout    = 30 * time.Second
	DefaultLinger     = 5 * time.Second
	DefaultSpin       = 10 * time.Microsecond
	DefaultUnexpected = 4 << 20
	DefaultAnnounced  = 1 << 18
)

// check looks at the bounds of what the caller has set. Errors are ErrConfig.
func (c *Config) check() error {
	switch {
	case c.Size < 1 || c.Size > roster.MaxSize:
		return fmt.Errorf("nmad: %w: a job of %d processes: give 1 to %d", ErrConfig, c.Size, roster.MaxSize)
	case c.Rank < 0 || c.Rank >= c.Size:
		return fmt.Errorf("nmad: %w: rank %d in a job of %d: give 0 to %d", ErrConfig, c.Rank, c.Size, c.Size-1)
	case c.Size > 1 && c.Rendezvous == "" && c.Listener == nil:
		return fmt.Errorf("nmad: %w: no rendezvous: give host:port of rank 0 (PM2_RENDEZVOUS), or have a launcher start the processes: demo run -n %d PROGRAM", ErrConfig, c.Size)
	case c.Size > 1 && (len(c.Secret) < roster.MinSecret || len(c.Secret) > roster.MaxSecret):
		return fmt.Errorf("nmad: %w: a secret of %d bytes: give %d to %d, the same to all processes, such as by %s", ErrConfig, len(c.Secret), roster.MinSecret, roster.MaxSecret, EnvSecretFile)
	case c.Heartbeat != 0 && (c.Heartbeat < 100*time.Millisecond || c.Heartbeat > time.Hour):
		return fmt.Errorf("nmad: %w: a heartbeat of %v: give 100ms to 1h, or 0 for none", ErrConfig, c.Heartbeat)
	case c.Stall != 0 && (c.Stall < 100*time.Millisecond || c.Stall > time.Hour):
		return fmt.Errorf("nmad: %w: a stall of %v: give 100ms to 1h, or 0 for none", ErrConfig, c.Stall)
	case c.Eager < 0 || c.Unexpected < 0 || int64(c.Unexpected) > math.MaxUint32 || c.Announced < 0:
		return fmt.Errorf("nmad: %w: bounds must not be below 0, nor Unexpected above 4 GiB - 1", ErrConfig)
	case c.Announced > flow.MaxCookies:
		return fmt.Errorf("nmad: %w: %d announced messages: give at most %d", ErrConfig, c.Announced, flow.MaxCookies)
	case c.Loans != 0 && (c.Loans < pageBytes || c.Loans > maxLoans):
		return fmt.Errorf("nmad: %w: %d bytes for buffers that can be loaned: give %d to %d", ErrConfig, c.Loans, pageBytes, maxLoans)
	case c.Timeout < 0 || c.Linger < 0:
		return fmt.Errorf("nmad: %w: a time-out of %v, a linger of %v: give more than 0, or 0 for the default", ErrConfig, c.Timeout, c.Linger)
	}
	return nil
}

// complete checks c and fills in the defaults. Errors are ErrConfig.
func (c *Config) complete() error {
	if err := c.check(); err != nil {
		return err
	}
	switch {
	case c.Link == "" && c.Size > 2:
		c.Link = LinkLazy
	case c.Link == "":
		c.Link = LinkAll
	case c.Link != LinkLazy && c.Link != LinkAll:
		return fmt.Errorf("nmad: %w: links %q: give %s or %s", ErrConfig, c.Link, LinkLazy, LinkAll)
	}
	if err := c.completeRails(); err != nil {
		return err
	}
	if _, err := strategy.Lookup(c.Strategy); err != nil {
		return fmt.Errorf("nmad: %w: %w", ErrConfig, err)
	}
	c.eagerSet = c.Eager > 0
	if c.Eager > 0 && c.eagerFrom == "" {
		c.eagerFrom = "configuration"
	}
	if err := c.readProfile(); err != nil {
		return err
	}
	if c.Engine == nil {
		c.Engine = pioman.Default()
	}
	c.crowded = &atomic.Bool{}
	c.crowded.Store(c.Shared)
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.start == 0 {
		c.start = c.Timeout
	}
	if c.Linger == 0 {
		c.Linger = DefaultLinger
	}
	if c.Spin == 0 {
		c.Spin = DefaultSpin
	}
	if c.Unexpected == 0 {
		c.Unexpected = DefaultUnexpected
	}
	if c.Loans == 0 {
		c.Loans = DefaultLoans
	}
	if c.Announced == 0 {
		c.Announced = DefaultAnnounced
	}
	return nil
}

// job identifies the job to drivers, without giving the secret away.
func (c *Config) job() string {
	m := hmac.New(sha256.New, c.Secret)
	m.Write([]byte("pm2 job"))
	return hex.EncodeToString(m.Sum(nil)[:8])
}

// completeRails finds the networks, and gives each a name and an address.
func (c *Config) completeRails() error {
	c.networks = c.Rails
	if c.networks == nil && c.Custom != nil {
		c.networks = []driver.Driver{c.Custom}
	}
	if c.Driver == "" {
		c.Driver = DefaultDriver
	}
	if c.networks == nil {
		networks, err := driver.LookupAll(c.Driver)
		if err != nil {
			return fmt.Errorf("nmad: %w: %w", ErrConfig, err)
		}
		if c.Size > 1 { // else there is no other process
			c.networks = networks
		}
	}
	if len(c.networks) > MaxRails || c.Size > 1 && len(c.networks) == 0 {
		return fmt.Errorf("nmad: %w: %d rails: give 1 to %d", ErrConfig, len(c.networks), MaxRails)
	}
	count := map[string]int{}
	c.names = nil
	for _, d := range c.networks {
		name := d.Name()
		if count[name]++; count[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, count[name])
		}
		c.names = append(c.names, name)
	}
	c.listen = strings.Split(c.Listen, ",")
	if n := len(c.listen); n > 1 && n != len(c.networks) {
		return fmt.Errorf("nmad: %w: %d addresses %q for %d rails: give one, or one for each", ErrConfig, n, c.Listen, len(c.networks))
	}
	if c.Strategy == "" {
		c.Strategy = strategy.Default.Name()
		if len(c.networks) > 1 {
			c.Strategy = strategy.SplitBalance.Name()
		}
	}
	return nil
}

// readProfile takes over what was measured of the rails.
func (c *Config) readProfile() error {
	if c.Profile == "" && c.Measured == nil {
		return nil
	}
	p, err := c.Measured, error(nil)
	if p != nil {
		err = p.check("")
	} else {
		p, err = LoadProfile(c.Profile)
	}
	if err != nil {
		return err
	}
	if len(c.networks) == 0 {
		return nil
	}
	c.putFirst(c.nearest(p))
	c.costs, c.limits = map[string]strategy.Cost{}, map[string]int{}
	limits, costs := make([]int, len(c.names)), make([]strategy.Cost, len(c.names))
	for i, name := range c.names {
		costs[i] = strategy.DefaultCost
		r := p.Rails[name]
		if r.Bandwidth > 0 {
			costs[i] = strategy.Cost{Latency: r.LatencyNs, Bandwidth: r.Bandwidth}
			c.costs[name] = costs[i]
		}
		limits[i], c.limits[name] = r.Eager, r.Eager
	}
	s, err := strategy.Lookup(c.Strategy)
	if err != nil {
		return err // complete has looked it up
	}
	if limit, rail := eagerLimit(s, costs, limits); c.Eager == 0 && limit > 0 {
		c.Eager, c.eagerFrom = limit, c.measured()
		if rail > 0 {
			c.eagerFrom += ", beside a rendezvous over " + c.names[rail]
		}
	}
	return nil
}

// nearest is the rail with the least latency, of several with the same the first; 0 unless all of them were measured.
// What was measured is that of a rendezvous, whose packets took the same way for all rails: so they differ as the
// rails do.
func (c *Config) nearest(p *Profile) (best int) {
	for i, name := range c.names {
		r := p.Rails[name]
		if r.Bandwidth == 0 {
			return 0
		}
		if r.LatencyNs < p.Rails[c.names[best]].LatencyNs {
			best = i
		}
	}
	return best
}

// putFirst makes a rail the first one. The others keep their order, and all their names.
func (c *Config) putFirst(rail int) {
	if rail == 0 {
		return
	}
	c.networks, c.names = toFront(c.networks, rail), toFront(c.names, rail)
	if len(c.listen) > 1 {
		c.listen = toFront(c.listen, rail)
	}
}

// toFront is a copy of list that begins with its i-th element.
func toFront[T any](list []T, i int) []T {
	return slices.Concat(list[i:i+1], list[:i], list[i+1:])
}

// measured says where what was measured comes from.
func (c *Config) measured() string {
	if c.Measured != nil {
		return "measured, just now"
	}
	return "measured, " + c.Profile
}

// driverConfig is what the driver of a rail is opened with. Its secret is one of its own, so
// that nothing that is proven on a link can be used on the control connection.
func (c *Config) driverConfig(rail int) driver.Config {
	m := hmac.New(sha256.New, c.Secret)
	m.Write([]byte("pm2 driver"))
	return driver.Config{Rank: c.Rank, Size: c.Size, Job: c.job(), Secret: m.Sum(nil), Listen: c.listen[min(rail, len(c.listen)-1)], Shared: c.crowded.Load}
}
