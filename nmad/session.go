package nmad

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/bootstrap"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/internal/presence"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
)

// Session is the membership of this process in a job of Size processes. Safe for
// concurrent use. Several sessions may live in one process.
type Session struct {
	cfg     Config
	control *bootstrap.Control
	linker  *linker
	gates   gateTable // by rank; see to
	any     *match.Any[flow.Request]
	watch   monitors
	queues  queueWaiters

	consensus *consensus

	mu         sync.Mutex     // serializes install and retire
	registered []registration // by rank

	orphan atomic.Bool // a process that passes on news has gone: of some others only links tell; see linking.go
	meshes atomic.Bool // and links to all others are made, or will be

	met     atomic.Bool           // the cards of all processes are there
	closing atomic.Pointer[error] // what requests fail with; nil: the session is open

	others atomic.Int32   // other processes that have neither left nor died
	work   sync.WaitGroup // goroutines that end gates
	close  sync.Once
	failed error // what Close returned
}

// Open meets the other processes of the job and, if Config.Link says so, links to each of
// them. It returns once all of them have done so, or fails when ctx ends, when the time
// is up, when another process fails, or when the configuration cannot work. It blocks
// the calling thread or goroutine only. Until the session is closed a process whose GOMAXPROCS is 1 has 2.
func Open(ctx context.Context, cfg Config) (*Session, error) {
	ctx = orBackground(ctx)
	var s *Session
	var err error
	offThread(func() { s, err = open(ctx, cfg) })
	return s, kernel.Explain(err)
}

// offThread runs f, which blocks in Go's own ways, where it holds up no VP.
func offThread(f func()) {
	if !marcel.OnThread() {
		f()
		return
	}
	var over marcel.Semaphore
	over.Uninterruptible() // what f makes must reach the caller
	go func() {
		defer over.Release()
		f()
	}()
	over.Acquire()
}

func open(ctx context.Context, cfg Config) (*Session, error) {
	if err := cfg.takePlace(); err != nil {
		return nil, err
	}
	s, err := meetAndLink(ctx, cfg)
	if err != nil {
		cfg.leavePlace(false)
	}
	return s, err
}

func meetAndLink(ctx context.Context, cfg Config) (*Session, error) {
	var err error
	if cfg.manager != nil {
		err = cfg.meet(ctx)
	} else if cfg.named != "" && cfg.Size > 1 {
		err = cfg.meetByName(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := cfg.complete(); err != nil {
		if cfg.Listener != nil {
			cfg.Listener.Close()
		}
		return nil, err
	}
	s := &Session{
		cfg: cfg, linker: newLinker(cfg.Timeout), gates: make(gateTable, cfg.Size), any: newAny(match.All(cfg.Size), cfg.Rank),
		registered: make([]registration, cfg.Size),
	}
	s.others.Store(int32(cfg.Size - 1))
	s.consensus = newConsensus(s, cfg.Rank, cfg.Size)
	takeSpare()
	ctx, stop := limit.Context(ctx, cfg.start)
	defer stop()
	if err := s.connect(ctx); err != nil {
		s.abandon(err)
		return nil, fmt.Errorf("nmad: rank %d of %d: %w", cfg.Rank, cfg.Size, err)
	}
	return s, nil
}

// connect makes all gates, and their links if they are not to wait.
func (s *Session) connect(ctx context.Context) error {
	cfg := &s.cfg
	card := bootstrap.Card{
		PID: os.Getpid(), StartTime: bootstrap.StartTime(os.Getpid()), Host: hostIdentity(),
		Window: uint64(cfg.Unexpected), Records: uint32(cfg.Announced), Lazy: cfg.Link == LinkLazy,
	}
	l := s.linker
	if cfg.Size > 1 {
		if err := l.open(cfg); err != nil {
			if cfg.Listener != nil {
				cfg.Listener.Close()
			}
			return err
		}
		card.Rails = l.addresses()
	}
	control, err := bootstrap.Join(ctx, bootstrap.Config{
		Rank: cfg.Rank, Size: cfg.Size,
		Addr: cfg.Rendezvous, Listener: cfg.Listener, Secret: cfg.Secret,
		Hosts: cfg.hosts, Bind: cfg.bind, Card: card, Notify: s.notice, Timeout: cfg.start, Silence: cfg.Heartbeat,
	})
	if err != nil {
		return err
	}
	s.control = control
	l.cards = control.Cards()
	if err := agree(l.cards, cfg.Rank); err != nil {
		return err
	}
	if cfg.Size > 1 {
		cfg.presence.Tell(presence.Present) // before the first event: see notice
	}
	l.sort(cfg)
	s.to(cfg.Rank)
	s.met.Store(true)
	s.acceptAll()
	if cfg.Link == LinkAll {
		if err := s.linkAll(ctx, control.Context()); err != nil {
			return err
		}
		l.stop()
	}
	return control.Ready(ctx)
}

// agree checks that all processes use the same drivers, the same heartbeat, and make their
// links at the same time.
func agree(cards []bootstrap.Card, own int) error {
	for _, c := range cards {
		if !slices.Equal(sorted(c), sorted(cards[own])) {
			return fmt.Errorf("%w: rank %d uses the driver %q, rank %d uses %q: give all processes the same %s",
				ErrConfig, own, cards[own].Drivers(), c.Rank, c.Drivers(), EnvDriver)
		}
		if c.Silence != cards[own].Silence {
			return fmt.Errorf("%w: rank %d has a heartbeat of %d ms, rank %d one of %d ms: give all processes the same %s",
				ErrConfig, own, cards[own].Silence, c.Rank, c.Silence, EnvHeartbeat)
		}
		if c.Lazy != cards[own].Lazy {
			return fmt.Errorf("%w: of the ranks %d and %d one makes its links when they are needed, one when the job starts: give all processes the same %s",
				ErrConfig, own, c.Rank, EnvLink)
		}
	}
	return nil
}

// sorted is the names of the rails that a process has, whatever their order there.
func sorted(c bootstrap.Card) (names []string) {
	for _, r := range c.Rails {
		names = append(names, r.Driver)
	}
	slices.Sort(names)
	return names
}

// gateTable is the gates of a session by rank. Each is made when a thread, a peer that links, or the news of its end asks for
// it: a process pays for the peers that it has to do with.
type gateTable []atomic.Pointer[Gate]

// at is the gate to a rank; nil: it was not made.
func (t gateTable) at(rank int) *Gate { return t[rank].Load() }

// all goes through those that were made.
func (t gateTable) all(yield func(int, *Gate) bool) {
	for rank := range t {
		if g := t.at(rank); g != nil && !yield(rank, g) {
			return
		}
	}
}

// to is the gate to a rank, which is made if there is none. It takes no lock, so callbacks may call it: of two threads that make
// one at once the second one forgets its own. Close stores what requests fail with and then looks for gates; here a gate is
// stored before the look at that, so that one of the two sees the other.
func (s *Session) to(rank int) *Gate {
	if g := s.gates.at(rank); g != nil {
		return g
	}
	g := s.gate(rank, s.linker.cards[rank])
	if !s.gates[rank].CompareAndSwap(nil, g) {
		return s.gates.at(rank)
	}
	if why := s.closing.Load(); why != nil {
		g.life.beginClose(*why)
		g.life.sayBye()
	}
	return g
}

func (s *Session) gate(rank int, card bootstrap.Card) *Gate {
	b := bounds{
		eager:       s.cfg.Eager,
		window:      int64(s.cfg.Unexpected),
		records:     s.cfg.Announced,
		peerWindow:  int64(min(card.Window, 1<<32-1)),
		peerRecords: int(min(card.Records, flow.MaxCookies)),
		loans:       s.cfg.Loans,
		notes:       noteLimit(s.cfg.Size),
	}
	var g *Gate
	if rank == s.cfg.Rank {
		g = newOwnGate(rank, s.cfg.Engine, b)
	} else {
		none := make([]driver.Link, len(s.cfg.networks))
		for i := range none {
			none[i] = &nowhere{}
		}
		g = newGate(s.cfg.Rank, rank, none[0], s.cfg.Engine, b, none[1:]...)
		for i := range none {
			none[i].(*nowhere).g = g
		}
		l := &g.linking
		l.s, l.stage, l.eager = s, unlinked, b.eager
		l.setGuarded()
		g.life.onEnd, g.routes.why, g.routes.fixed = s.ended, s.cfg.eagerFrom, s.cfg.eagerSet
		for i := range g.rails.all {
			r := &g.rails.all[i]
			r.name = s.cfg.names[i]
			if c, ok := s.cfg.costs[r.name]; ok {
				g.flow.Rails[i].Cost, r.why = c, s.cfg.measured()
			}
			r.limit = s.cfg.limits[r.name]
		}
	}
	g.consensus = s.consensus
	g.news.observe(&s.watch)
	if s.any.Group().Has(rank) {
		g.join(s.any)
	}
	g.flow.Strategy, _ = strategy.Lookup(s.cfg.Strategy) // complete has found it
	if s.cfg.Spin > 0 {
		g.waits.spin, g.waits.shared = s.cfg.Spin, s.cfg.Shared
	}
	return g
}

// registration says whether the engine looks after a gate: its sources and its task.
//
//	unregistered --- install ---> registered --- retire ---> retired
//	unregistered --- retire: it has never had links ---> retired
type registration uint8

const (
	unregistered registration = iota
	registered
	retired
)

// install registers a gate that has its links with the engine.
func (s *Session) install(g *Gate) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.registered[g.rank] == retired {
		return nil
	}
	s.registered[g.rank] = registered
	opt := pioman.Repeat
	for i := range g.rails.all {
		l := &g.rails.all[i]
		if l.link.Descriptor() < 0 {
			opt |= pioman.Blind
		} else if err := s.cfg.Engine.AddSource(source{l}); err != nil {
			return fmt.Errorf("watch rail %s to rank %d: %w", l.name, g.rank, err)
		}
	}
	g.task.Init("nmad gate", g.tick, opt)
	g.task.SetCPUs(g.rails.near())
	if err := s.cfg.Engine.Submit(&g.task); err != nil {
		return fmt.Errorf("poll the link to rank %d: %w", g.rank, err)
	}
	return nil
}

// Rank returns the number of this process in the job.
func (s *Session) Rank() int {
	if s == nil {
		return 0
	}
	return s.cfg.Rank
}

// Size returns how many processes the job has.
func (s *Session) Size() int {
	if s == nil {
		return 0
	}
	return s.cfg.Size
}

// Host returns the address of this host at which the first rail accepts links: where other processes of the job reach it.
func (s *Session) Host() string {
	if !s.made() || s.cfg.Size == 1 {
		return loopbackHost
	}
	host, _, err := net.SplitHostPort(s.cfg.listen[0])
	if err != nil || host == "" {
		return loopbackHost
	}
	return host
}

// Gate returns the gate to a rank, own rank included. For a rank that does not
// exist it returns one on which everything fails with ErrRank.
func (s *Session) Gate(rank int) *Gate {
	if !s.made() {
		return &Gate{rank: rank}
	}
	if rank >= 0 && rank < len(s.gates) {
		return s.to(rank)
	}
	g := newGate(s.cfg.Rank, rank, nowhere{}, s.cfg.Engine, bounds{})
	how := ""
	if s.cfg.Size == 1 && rank > 0 {
		how = fmt.Sprintf(": this process was started alone, a launcher starts more: demo run -n %d PROGRAM", rank+1)
	}
	g.life.die(fmt.Errorf("nmad: %w: %d, the job has 0 to %d%s", ErrRank, rank, s.cfg.Size-1, how))
	return g
}
