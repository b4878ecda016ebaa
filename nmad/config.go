package nmad

import (
	"cmp"
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
	"github.com/pm2-go/pm2/nmad/internal/crossover"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/presence"
	"github.com/pm2-go/pm2/nmad/internal/roster"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
)

// Config tells Open which rank this process has and how to reach the others. Size, Rendezvous and Secret must be set;
// all other fields have usable defaults. A job of one process needs Size alone.
type Config struct {
	Rank int // this process: 0 to Size-1
	Size int // processes in the job

	Rendezvous string // host:port at which rank 0 listens while the job starts

	// Listener is, for rank 0, a socket that listens there already, so that no other process can take the port. Open
	// closes it.
	Listener net.Listener

	Secret []byte // the secret of the job, the same in all processes, 16 to 1024 bytes; 32 random bytes are enough

	// Driver names the network: "shm"; "tcp"; "unix"; or "auto", which takes shm on one host, unix where shm does not
	// work, and tcp between hosts. The default is DefaultDriver. Several names, separated by commas, make as many
	// rails, up to MaxRails, between each two processes: "tcp,tcp". One rail carries all packets: the one with the
	// least latency if rank 0 has a profile that tells, else the first one. Long messages are shared out among all
	// rails, as Strategy says. Driver must be the same in all processes.
	Driver string
	Custom driver.Driver   // a network that is not registered under a name; overrides Driver
	Rails  []driver.Driver // such a network for each rail; overrides Custom

	// Strategy names what decides about messages that wait for the network, and how rails share long messages: see
	// package strategy. The default is "default", and "split-balance" with several rails.
	Strategy string

	// Listen is the address, host:port, at which this process accepts links. The default is loopback and any free port.
	// With several rails it may be one address for each, separated by commas, of which some may be empty:
	// "10.0.0.1:0,10.1.0.1:0". One address is for all rails.
	Listen string

	// Link says when links are made. With LinkLazy two processes make theirs when one of them first sends something to
	// the other. With LinkAll Open makes all links, and fails if one cannot be made. Link must be the same in all
	// processes. The default is LinkLazy, in a job of two processes LinkAll.
	Link string

	Engine *pioman.Engine // makes progress; default pioman.Default()

	// Timeout bounds Open, and making the links to a process later. Only time counts in which this process could run,
	// not that of a stop (SIGSTOP, a machine that sleeps). Default 30 s; in a job that a process manager, or
	// Kubernetes, starts, 5 min until all processes are there.
	Timeout time.Duration

	// Heartbeat is how long a process may give no sign of life, though its connections stand, before the others take it
	// for lost: because it was stopped, or its host has vanished. Then requests that involve it fail with ErrPeerLost.
	// 100 ms to 1 h, the same in all processes of the job; 0: the others wait for ever. Each process exchanges a few
	// bytes with rank 0 in each fifth of this time, so a process may be detected up to a fifth later. A process that
	// was stopped itself takes no other process for lost because of that.
	Heartbeat time.Duration

	// Stall is the time after which a job whose processes all wait reports what they wait for: in each living process a
	// thread has waited for a message for that long, no message has begun or ended, and the process has used less than
	// a tenth of a processor. The lowest living rank writes the report to standard error, once; the job goes on. 100 ms
	// to 1 h, the same in all processes; 0: never. It takes the context 65535 of domain 0. Each process checks itself
	// four times in this time.
	Stall time.Duration

	// Linger is how long Close waits for sends to leave, and then again for peers to take them in; default 5 s.
	Linger time.Duration

	// Spin is how long a wait polls before it leaves the work to the engine, whatever pioman.Params.BusyWait says;
	// default 10 us; below 0: not at all.
	Spin time.Duration

	// SharedCPUs says that other processes use the CPUs of this one, so that a tight polling loop would keep the peer
	// from answering. Then a wait yields to the kernel after every few polls, whatever Spin says, unless it is below 0.
	// Open sets SharedCPUs by itself if the job has more processes on this host than processors that they may use.
	SharedCPUs bool

	// Unbound leaves this process on all processors that it may use. Without it Open binds the process to its share of
	// the processors of its host (one processor, if there are more processes than processors), provided that the
	// environment tells of the job, that its processes were not bound, and that no scheduler of threads runs yet.
	Unbound bool

	// Eager is the longest message that is sent without asking the receiver, in bytes. The default is what Profile
	// says, else what the driver takes in a packet, which is also the most.
	Eager int

	// Profile is a file with measurements of the network (see the type Profile). It sets the default of Eager, chooses
	// the rail that carries the packets, and tells how rails share long messages. The default is no profile.
	Profile string

	// Measured is a profile in place of the file Profile, such as Gate.Sample returns.
	Measured *Profile

	hosts        []int         // number of the host of each rank, as the manager says; nil if there is one host
	bind         string        // address of this host on the first network of the job; "" if no process manager has told it
	rankZeroName string        // Rendezvous of an indexed job of Kubernetes: rank 0 is met by its name; "" in any other job
	startTimeout time.Duration // how long Open waits for the other processes; 0 stands for Timeout
	fromEnv      *jobIdentity  // what the environment has told of the job; nil if the Config was not made of it
	byJoin       bool          // Join has made the Config
	manager      *managed      // has started this process, which meets the others by it; nil if there is none

	oversubscribed *atomic.Bool // SharedCPUs, or what the cards of all processes say; drivers ask when they make a link
	jobDomain      DomainConfig // of the job's domain; only tests set it

	presence *presence.Teller // tells the launcher where this process stands in the job; nil if no launcher asks

	eagerSource string // what has set Eager, if not the caller
	eagerSet    bool   // Eager was set, not measured

	// Unexpected is the memory for eager messages without a receive, in bytes per peer; default 4 MiB.
	Unexpected int

	// Announced is how many announced messages without a receive this process keeps per peer. It keeps more while a
	// receive waits for a message behind them; default 262144, at most 2^24.
	Announced int

	// Loans is the memory of the buffers of Gate.Alloc, in bytes per peer; default 64 MiB, at least 4 KiB, at most 16
	// GiB.
	Loans int

	// Set by complete, by rail.
	drivers     []driver.Driver
	railNames   []string
	listen      []string
	costs       map[string]strategy.Cost // by name, if measured
	eagerLimits map[string]int           // likewise, Rail.Eager
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

// check checks the ranges of what the caller has set. Errors are ErrConfig.
func (cfg *Config) check() error {
	switch {
	case cfg.Size < 1 || cfg.Size > driver.MaxSize:
		return fmt.Errorf("nmad: %w: a job of %d processes: give 1 to %d", ErrConfig, cfg.Size, driver.MaxSize)
	case cfg.Rank < 0 || cfg.Rank >= cfg.Size:
		return fmt.Errorf("nmad: %w: rank %d in a job of %d: give 0 to %d", ErrConfig, cfg.Rank, cfg.Size, cfg.Size-1)
	case cfg.Size > 1 && cfg.Rendezvous == "" && cfg.Listener == nil:
		return fmt.Errorf("nmad: %w: no rendezvous: give host:port of rank 0 (PM2_RENDEZVOUS), or have a launcher start the processes: demo run -n %d PROGRAM",
			ErrConfig, cfg.Size)
	case cfg.Size > 1 && (len(cfg.Secret) < roster.MinSecret || len(cfg.Secret) > roster.MaxSecret):
		return fmt.Errorf("nmad: %w: a secret of %d bytes: give %d to %d, the same to all processes, such as by %s",
			ErrConfig, len(cfg.Secret), roster.MinSecret, roster.MaxSecret, EnvSecretFile)
	case cfg.Heartbeat != 0 && (cfg.Heartbeat < 100*time.Millisecond || cfg.Heartbeat > time.Hour):
		return fmt.Errorf("nmad: %w: a heartbeat of %v: give 100ms to 1h, or 0 for none", ErrConfig, cfg.Heartbeat)
	case cfg.Stall != 0 && (cfg.Stall < 100*time.Millisecond || cfg.Stall > time.Hour):
		return fmt.Errorf("nmad: %w: a stall of %v: give 100ms to 1h, or 0 for none", ErrConfig, cfg.Stall)
	case cfg.Eager < 0 || cfg.Unexpected < 0 || int64(cfg.Unexpected) > math.MaxUint32 || cfg.Announced < 0:
		return fmt.Errorf("nmad: %w: bounds must not be below 0, nor Unexpected above 4 GiB - 1", ErrConfig)
	case cfg.Announced > flow.MaxCookies:
		return fmt.Errorf("nmad: %w: %d announced messages: give at most %d", ErrConfig, cfg.Announced, flow.MaxCookies)
	case cfg.Loans != 0 && (cfg.Loans < pageBytes || cfg.Loans > maxLoanBytes):
		return fmt.Errorf("nmad: %w: %d bytes for buffers that can be loaned: give %d to %d",
			ErrConfig, cfg.Loans, pageBytes, maxLoanBytes)
	case cfg.Timeout < 0 || cfg.Linger < 0:
		return fmt.Errorf("nmad: %w: a time-out of %v, a linger of %v: give more than 0, or 0 for the default",
			ErrConfig, cfg.Timeout, cfg.Linger)
	}
	return nil
}

// complete checks cfg and fills in the defaults. Errors are ErrConfig.
func (cfg *Config) complete() error {
	if err := cfg.check(); err != nil {
		return err
	}
	switch {
	case cfg.Link == "" && cfg.Size > 2:
		cfg.Link = LinkLazy
	case cfg.Link == "":
		cfg.Link = LinkAll
	case cfg.Link != LinkLazy && cfg.Link != LinkAll:
		return fmt.Errorf("nmad: %w: links %q: give %s or %s", ErrConfig, cfg.Link, LinkLazy, LinkAll)
	}
	if err := cfg.completeRails(); err != nil {
		return err
	}
	if _, err := strategy.Lookup(cfg.Strategy); err != nil {
		return fmt.Errorf("nmad: %w: %w", ErrConfig, err)
	}
	cfg.eagerSet = cfg.Eager > 0
	if cfg.Eager > 0 && cfg.eagerSource == "" {
		cfg.eagerSource = "configuration"
	}
	if err := cfg.readProfile(); err != nil {
		return err
	}
	if cfg.Engine == nil {
		cfg.Engine = pioman.Default()
	}
	cfg.oversubscribed = &atomic.Bool{}
	cfg.oversubscribed.Store(cfg.SharedCPUs)
	cfg.Timeout, cfg.Linger = cmp.Or(cfg.Timeout, DefaultTimeout), cmp.Or(cfg.Linger, DefaultLinger)
	cfg.Spin = cmp.Or(cfg.Spin, DefaultSpin)
	cfg.startTimeout = cmp.Or(cfg.startTimeout, cfg.Timeout)
	cfg.Unexpected, cfg.Announced = cmp.Or(cfg.Unexpected, DefaultUnexpected), cmp.Or(cfg.Announced, DefaultAnnounced)
	cfg.Loans = cmp.Or(cfg.Loans, DefaultLoans)
	return nil
}

// derive returns 32 bytes for a purpose that only processes with the secret can compute, and that do not reveal it.
func (cfg *Config) derive(purpose string) []byte {
	m := hmac.New(sha256.New, cfg.Secret)
	m.Write([]byte(purpose))
	return m.Sum(nil)
}

// completeRails finds the driver of each rail, and gives each rail a name and an address.
func (cfg *Config) completeRails() error {
	cfg.drivers = cfg.Rails
	if cfg.drivers == nil && cfg.Custom != nil {
		cfg.drivers = []driver.Driver{cfg.Custom}
	}
	if cfg.Driver == "" {
		cfg.Driver = DefaultDriver
	}
	if cfg.drivers == nil {
		networks, err := driver.LookupAll(cfg.Driver)
		if err != nil {
			return fmt.Errorf("nmad: %w: %w", ErrConfig, err)
		}
		if cfg.Size > 1 { // else there is no other process
			cfg.drivers = networks
		}
	}
	if len(cfg.drivers) > MaxRails || cfg.Size > 1 && len(cfg.drivers) == 0 {
		return fmt.Errorf("nmad: %w: %d rails: give 1 to %d", ErrConfig, len(cfg.drivers), MaxRails)
	}
	count := map[string]int{}
	cfg.railNames = nil
	for _, d := range cfg.drivers {
		name := d.Name()
		if count[name]++; count[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, count[name])
		}
		cfg.railNames = append(cfg.railNames, name)
	}
	cfg.listen = strings.Split(cfg.Listen, ",")
	if n := len(cfg.listen); n > 1 && n != len(cfg.drivers) {
		return fmt.Errorf("nmad: %w: %d addresses %q for %d rails: give one, or one for each", ErrConfig, n, cfg.Listen, len(cfg.drivers))
	}
	if cfg.Strategy == "" {
		cfg.Strategy = strategy.Default.Name()
		if len(cfg.drivers) > 1 {
			cfg.Strategy = strategy.SplitBalance.Name()
		}
	}
	return nil
}

// readProfile reads the profile, and sets what follows from it: the order of the rails, their costs, and the eager
// limit.
func (cfg *Config) readProfile() error {
	if cfg.Profile == "" && cfg.Measured == nil {
		return nil
	}
	p, err := cfg.Measured, error(nil)
	if p != nil {
		err = p.check("")
	} else {
		p, err = LoadProfile(cfg.Profile)
	}
	if err != nil {
		return err
	}
	if len(cfg.drivers) == 0 {
		return nil
	}
	cfg.putFirst(cfg.nearest(p))
	cfg.costs, cfg.eagerLimits = map[string]strategy.Cost{}, map[string]int{}
	limits, costs := make([]int, len(cfg.railNames)), make([]strategy.Cost, len(cfg.railNames))
	for i, name := range cfg.railNames {
		costs[i] = strategy.DefaultCost
		r := p.Rails[name]
		if r.Bandwidth > 0 {
			costs[i] = strategy.Cost{Latency: r.LatencyNs, Bandwidth: r.Bandwidth}
			cfg.costs[name] = costs[i]
		}
		limits[i], cfg.eagerLimits[name] = r.Eager, r.Eager
	}
	s, err := strategy.Lookup(cfg.Strategy)
	if err != nil {
		return err // complete has looked it up
	}
	if limit, rail := crossover.Limit(s, costs, limits); cfg.Eager == 0 && limit > 0 {
		cfg.Eager, cfg.eagerSource = limit, cfg.measured()
		if rail > 0 {
			cfg.eagerSource += ", beside a rendezvous over " + cfg.railNames[rail]
		}
	}
	return nil
}

// nearest returns the rail with the least latency, the first one of several with the same; 0 unless all rails were
// measured. A measured latency is that of a rendezvous. Its packets go the same way for all rails, so the latencies
// differ as those of the rails do.
func (cfg *Config) nearest(p *Profile) (best int) {
	for i, name := range cfg.railNames {
		r := p.Rails[name]
		if r.Bandwidth == 0 {
			return 0
		}
		if r.LatencyNs < p.Rails[cfg.railNames[best]].LatencyNs {
			best = i
		}
	}
	return best
}

// putFirst makes a rail the first one. The others keep their order, and all keep their names.
func (cfg *Config) putFirst(rail int) {
	if rail == 0 {
		return
	}
	cfg.drivers, cfg.railNames = toFront(cfg.drivers, rail), toFront(cfg.railNames, rail)
	if len(cfg.listen) > 1 {
		cfg.listen = toFront(cfg.listen, rail)
	}
}

// toFront returns a copy of list in which element i comes first.
func toFront[T any](list []T, i int) []T {
	return slices.Concat(list[i:i+1], list[:i], list[i+1:])
}

// measured returns where the measurements come from, for people.
func (cfg *Config) measured() string {
	if cfg.Measured != nil {
		return "measured, just now"
	}
	return "measured, " + cfg.Profile
}

// driverConfig returns the configuration of the driver of a rail. Drivers get a secret of their own, derived from the
// job's, so that a proof that is exchanged on a link is of no use on the control connection.
func (cfg *Config) driverConfig(rail int) driver.Config {
	return driver.Config{
		Rank: cfg.Rank, Size: cfg.Size, Job: hex.EncodeToString(cfg.derive("pm2 job")[:8]), Secret: cfg.derive("pm2 driver"),
		Listen: cfg.listen[min(rail, len(cfg.listen)-1)], SharedCPUs: cfg.oversubscribed.Load,
	}
}
