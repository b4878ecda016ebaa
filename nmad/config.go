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

	// Timeout is for the whole of Open, and for the links to a process that are made later. Only time in which this
	// process could run counts, not that of a stop (SIGSTOP, a machine that sleeps). Default 30 s;
	// 5 min until all processes of a job that a process manager, or Kubernetes, starts are there.
	Timeout time.Duration

	// Heartbeat is how long a process may give no sign of life before the others take it for
	// lost, though its connections stand: it was stopped, or its host has
	// vanished. Requests that involve it then fail with ErrPeerLost. 100 ms to 1 h,
	// the same in all processes of the job; 0: they wait for ever. A few
	// bytes go to rank 0 and back in each fifth of it, in which the silence is counted, up to a
	// fifth more: a process that was stopped itself in the meantime takes no other for lost.
	Heartbeat time.Duration

	// Stall is after how long a job whose processes all wait says so, and for what: a thread waits for a message in each
	// that lives, and for so long none has begun or ended, and no process has used a tenth of a processor. The lowest rank
	// that lives writes it to standard error, once; the job goes on. 100 ms to 1 h, the same in all processes; 0: never.
	// It takes the context 65535 of the job, and a look of each process at itself in each quarter of it.
	Stall time.Duration

	Linger time.Duration // how long Close waits for sends to leave, and then for peers to take them in; default 5 s
	Spin   time.Duration // how long a wait polls before it leaves the work to the engine, whatever pioman.Params.BusyWait says; default 10 us; below 0: not at all

	// SharedCPUs says that other processes use our CPUs, so that to poll in a loop keeps the peer from answering. Then a wait
	// yields to the kernel between a few polls, whatever Spin says, unless it is below 0. Open finds out itself whether
	// the processes of the job on this host are more than the processors that they may use.
	SharedCPUs bool

	// Unbound leaves this process on all processors that it may use. Otherwise, in a job that the environment tells of,
	// and whose processes were not bound, Open binds each to its share of the processors of its host, if no scheduler of
	// threads runs yet: to one of them if the processes are more.
	Unbound bool

	Eager   int    // longest message that is sent without asking the receiver, in bytes; default, and at most, what the driver takes
	Profile string // file with what was measured of the network (Profile), for the default of Eager, which of several rails comes first, and their shares; default none

	// Measured is a profile that no file holds, such as Gate.Sample returns, in place of Profile.
	Measured *Profile

	hosts        []int         // number of the host of each rank, as the manager says; nil: one
	bind         string        // address of this host on the first network of the job, if a process manager has told; empty: not known
	rankZeroName string        // Rendezvous of an indexed job of Kubernetes: rank 0 is met by its name; empty: it is no such job
	startTimeout time.Duration // how long Open waits for the other processes; 0: Timeout
	fromEnv      *jobIdentity  // what the environment has said of the job; nil: the Config was not made of it
	byJoin       bool          // it is Join's
	manager      *managed      // that has started this process, and by which it meets the others; nil: none

	oversubscribed *atomic.Bool // SharedCPUs, or what the cards of all processes say; drivers ask when they make a link
	jobDomain      DomainConfig // of the job's domain, for tests of that

	presence *presence.Teller // tells the launcher where this process stands in the job; nil: none asks

	eagerSource string // what has set Eager, if not the caller
	eagerSet    bool   // it was set, not measured

	Unexpected int // memory for messages without a receive, in bytes per peer; default 4 MiB
	Announced  int // long messages without a receive, per peer; more are kept while a receive waits for a message behind them; default 262144, at most 2^24 (more is ErrConfig)

	Loans int // memory of the buffers that Gate.Alloc gives, in bytes per peer; default 64 MiB, at least 4 KiB, at most 16 GiB

	// What complete makes of it, by rail.
	drivers     []driver.Driver
	railNames   []string
	listen      []string
	costs       map[string]strategy.Cost // by name, if measured
	eagerLimits map[string]int           // likewise, up to which size eager is not slower than a rendezvous over that rail; 0: not measured
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
func (cfg *Config) check() error {
	switch {
	case cfg.Size < 1 || cfg.Size > driver.MaxSize:
		return fmt.Errorf("nmad: %w: a job of %d processes: give 1 to %d", ErrConfig, cfg.Size, driver.MaxSize)
	case cfg.Rank < 0 || cfg.Rank >= cfg.Size:
		return fmt.Errorf("nmad: %w: rank %d in a job of %d: give 0 to %d", ErrConfig, cfg.Rank, cfg.Size, cfg.Size-1)
	case cfg.Size > 1 && cfg.Rendezvous == "" && cfg.Listener == nil:
		return fmt.Errorf("nmad: %w: no rendezvous: give host:port of rank 0 (PM2_RENDEZVOUS), or have a launcher start the processes: demo run -n %d PROGRAM", ErrConfig, cfg.Size)
	case cfg.Size > 1 && (len(cfg.Secret) < roster.MinSecret || len(cfg.Secret) > roster.MaxSecret):
		return fmt.Errorf("nmad: %w: a secret of %d bytes: give %d to %d, the same to all processes, such as by %s", ErrConfig, len(cfg.Secret), roster.MinSecret, roster.MaxSecret, EnvSecretFile)
	case cfg.Heartbeat != 0 && (cfg.Heartbeat < 100*time.Millisecond || cfg.Heartbeat > time.Hour):
		return fmt.Errorf("nmad: %w: a heartbeat of %v: give 100ms to 1h, or 0 for none", ErrConfig, cfg.Heartbeat)
	case cfg.Stall != 0 && (cfg.Stall < 100*time.Millisecond || cfg.Stall > time.Hour):
		return fmt.Errorf("nmad: %w: a stall of %v: give 100ms to 1h, or 0 for none", ErrConfig, cfg.Stall)
	case cfg.Eager < 0 || cfg.Unexpected < 0 || int64(cfg.Unexpected) > math.MaxUint32 || cfg.Announced < 0:
		return fmt.Errorf("nmad: %w: bounds must not be below 0, nor Unexpected above 4 GiB - 1", ErrConfig)
	case cfg.Announced > flow.MaxCookies:
		return fmt.Errorf("nmad: %w: %d announced messages: give at most %d", ErrConfig, cfg.Announced, flow.MaxCookies)
	case cfg.Loans != 0 && (cfg.Loans < pageBytes || cfg.Loans > maxLoans):
		return fmt.Errorf("nmad: %w: %d bytes for buffers that can be loaned: give %d to %d", ErrConfig, cfg.Loans, pageBytes, maxLoans)
	case cfg.Timeout < 0 || cfg.Linger < 0:
		return fmt.Errorf("nmad: %w: a time-out of %v, a linger of %v: give more than 0, or 0 for the default", ErrConfig, cfg.Timeout, cfg.Linger)
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
	cfg.Timeout, cfg.Linger, cfg.Spin = cmp.Or(cfg.Timeout, DefaultTimeout), cmp.Or(cfg.Linger, DefaultLinger), cmp.Or(cfg.Spin, DefaultSpin)
	cfg.startTimeout = cmp.Or(cfg.startTimeout, cfg.Timeout)
	cfg.Unexpected, cfg.Announced = cmp.Or(cfg.Unexpected, DefaultUnexpected), cmp.Or(cfg.Announced, DefaultAnnounced)
	cfg.Loans = cmp.Or(cfg.Loans, DefaultLoans)
	return nil
}

// job identifies the job to drivers, without giving the secret away.
func (cfg *Config) job() string {
	m := hmac.New(sha256.New, cfg.Secret)
	m.Write([]byte("pm2 job"))
	return hex.EncodeToString(m.Sum(nil)[:8])
}

// completeRails finds the networks, and gives each a name and an address.
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

// readProfile takes over what was measured of the rails.
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

// nearest is the rail with the least latency, of several with the same the first; 0 unless all of them were measured.
// What was measured is that of a rendezvous, whose packets took the same way for all rails: so they differ as the
// rails do.
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

// putFirst makes a rail the first one. The others keep their order, and all their names.
func (cfg *Config) putFirst(rail int) {
	if rail == 0 {
		return
	}
	cfg.drivers, cfg.railNames = toFront(cfg.drivers, rail), toFront(cfg.railNames, rail)
	if len(cfg.listen) > 1 {
		cfg.listen = toFront(cfg.listen, rail)
	}
}

// toFront is a copy of list that begins with its i-th element.
func toFront[T any](list []T, i int) []T {
	return slices.Concat(list[i:i+1], list[:i], list[i+1:])
}

// measured says where what was measured comes from.
func (cfg *Config) measured() string {
	if cfg.Measured != nil {
		return "measured, just now"
	}
	return "measured, " + cfg.Profile
}

// driverConfig is what the driver of a rail is opened with. Its secret is one of its own, so
// that nothing that is proven on a link can be used on the control connection.
func (cfg *Config) driverConfig(rail int) driver.Config {
	m := hmac.New(sha256.New, cfg.Secret)
	m.Write([]byte("pm2 driver"))
	return driver.Config{Rank: cfg.Rank, Size: cfg.Size, Job: cfg.job(), Secret: m.Sum(nil), Listen: cfg.listen[min(rail, len(cfg.listen)-1)], SharedCPUs: cfg.oversubscribed.Load}
}
