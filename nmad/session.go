package nmad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/presence"
	"github.com/pm2-go/pm2/nmad/internal/process"
	"github.com/pm2-go/pm2/nmad/internal/roster"
	"github.com/pm2-go/pm2/pioman"
)

// Session is the membership of this process in a job of Size processes. Open or Join makes it, and Close ends it. Safe
// for concurrent use. Several sessions may live in one process.
//
// The job is domain 0 of the session. The methods Gate, Post, Start, Irecv, Recv, OpenContext, Iprobe, Probe, Claim,
// Peek, Attach and Detach are those of Domain, for domain 0.
type Session struct {
	cfg          Config         // constant after Open
	control      *roster.Roster // the control connection; nil until the process has joined the job
	linker       *linker
	job          Domain  // domain 0
	domains      domains // the open domains, job included
	monitors     monitors
	queueWaiters queueWaiters

	agreements *agreements

	relayLost  atomic.Bool // a relay of the news of deaths has gone, so only links tell of some; notice sets it
	cardsKnown atomic.Bool // linker.cards has the cards of all processes; connect sets it
	peerLost   atomic.Bool // this process has lost another one; Abort reads it

	background background   // goroutines that watch the session while it is open
	serial     uint32       // number of the session in this process; see sessions
	program    program      // which program this process runs; see Program
	livePeers  atomic.Int32 // other processes that have neither left nor died
	closeOnce  sync.Once
	closeErr   error // the result of Close
}

// Open meets the other processes of the job, and links to each of them if Config.Link says so. It returns when all
// processes have done so. It fails when ctx ends, after Config.Timeout, when another process fails, and with ErrConfig
// for a configuration that cannot work. Open blocks the calling thread or goroutine only. While a session is open,
// GOMAXPROCS is at least 2.
func Open(ctx context.Context, cfg Config) (*Session, error) {
	ctx = orBackground(ctx)
	var s *Session
	var err error
	offThread(func() { s, err = open(ctx, cfg) })
	return s, kernel.Explain(err)
}

// offThread runs f, which blocks in calls of Go or of the kernel, so that it holds up no VP: if the caller is a thread
// of marcel, f runs in a goroutine, and the thread waits for its end.
func offThread(f func()) {
	if !marcel.OnThread() {
		f()
		return
	}
	var done marcel.Semaphore
	done.SetUninterruptible() // the caller needs the results of f
	go func() {
		defer done.Release()
		f()
	}()
	done.Acquire()
}

// open is Open for a caller that may block in calls of Go.
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

// meetAndLink is open for a process that has taken its place in the job (takePlace).
func meetAndLink(ctx context.Context, cfg Config) (*Session, error) {
	var err error
	if cfg.manager != nil {
		err = cfg.meet(ctx)
	} else if cfg.rankZeroName != "" && cfg.Size > 1 {
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
	s := &Session{cfg: cfg, linker: newLinker(cfg.Timeout)}
	if err := s.openJob(); err != nil {
		return nil, err
	}
	s.livePeers.Store(int32(cfg.Size - 1))
	sessions.add(s)
	s.agreements = newAgreements(s, cfg.Rank, cfg.Size)
	takeSpareProc()
	ctx, stop := limit.Context(ctx, cfg.startTimeout)
	defer stop()
	if err := s.connect(ctx); err != nil {
		sessions.remove(s)
		s.abandon(err)
		return nil, fmt.Errorf("nmad: rank %d of %d: %w", cfg.Rank, cfg.Size, err)
	}
	if err := s.watchStall(); err != nil {
		return nil, errors.Join(fmt.Errorf("nmad: rank %d of %d: %w", cfg.Rank, cfg.Size, err), s.Close())
	}
	if cfg.byJoin {
		s.dumpAtQuit()
	}
	return s, nil
}

// openJob opens domain 0.
func (s *Session) openJob() (err error) {
	s.job.init(s, 0)
	s.job.cfg = s.cfg.jobDomain.resolved()
	s.domains.init(&s.job)
	s.job.access, err = newAccess(&s.cfg.jobDomain, s.job.all, s.cfg.SharedCPUs)
	if err == nil && s.cfg.jobDomain.Progress == Worker {
		err = s.job.startWorker(&s.cfg.jobDomain.Worker)
	}
	return err
}

// connect joins the job over the control connection, and makes all links if Config.Link is LinkAll.
func (s *Session) connect(ctx context.Context) error {
	cfg := &s.cfg
	card := roster.Card{
		PID: os.Getpid(), StartTime: process.StartTime(os.Getpid()), Host: hostIdentity(), Name: ownName(), CPUs: ownCPUs(),
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
	control, err := roster.Join(ctx, roster.Config{
		Rank: cfg.Rank, Size: cfg.Size,
		Addr: cfg.Rendezvous, Listener: cfg.Listener, Secret: cfg.Secret,
		Hosts: cfg.hosts, Bind: cfg.bind, Card: card, Notify: s.notice, Timeout: cfg.startTimeout, Silence: cfg.Heartbeat,
	})
	if err != nil {
		return err
	}
	s.control = control
	l.cards = control.Cards()
	s.settleIn(l.cards)
	if err := checkCards(l.cards, cfg.Rank); err != nil {
		return err
	}
	if cfg.Size > 1 {
		cfg.presence.Tell(presence.Present) // before the first event: see notice
	}
	l.sort(cfg)
	s.job.gateOf(cfg.Rank)
	s.cardsKnown.Store(true)
	s.acceptAll()
	if cfg.Link == LinkAll {
		if err := s.linkAll(ctx, control.Context()); err != nil {
			return err
		}
	}
	return control.Ready()
}

// checkCards checks that all processes have the same drivers, Config.Heartbeat and Config.Link as the rank own.
func checkCards(cards []roster.Card, own int) error {
	for _, c := range cards {
		if !slices.Equal(sortedRails(c), sortedRails(cards[own])) {
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

// sortedRails returns the names of the rails of a process, sorted.
func sortedRails(c roster.Card) (names []string) {
	for _, r := range c.Rails {
		names = append(names, r.Driver)
	}
	slices.Sort(names)
	return names
}

// Rank returns the number of this process in the job, from 0 to Size-1.
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

// Engine returns the engine that makes progress: Config.Engine. It is nil for a nil Session.
func (s *Session) Engine() *pioman.Engine {
	if !s.valid() {
		return nil
	}
	return s.cfg.Engine
}

// HostOf returns the lowest rank that runs on the same host as a rank, so ranks of one host have the same HostOf. Each
// PID namespace counts as a host of its own. For a rank that does not exist, HostOf returns the rank of this process.
// It does not block.
func (s *Session) HostOf(rank int) int {
	if s == nil || !s.cardsKnown.Load() || rank < 0 || rank >= len(s.linker.cards) {
		return s.Rank()
	}
	cards := s.linker.cards
	return slices.IndexFunc(cards, func(c roster.Card) bool { return c.Host == cards[rank].Host })
}

// nameOf returns the name of the host of a rank, as that process has told it; "" if it is not known.
func (s *Session) nameOf(rank int) string {
	if s == nil || !s.cardsKnown.Load() || rank < 0 || rank >= len(s.linker.cards) {
		return ""
	}
	return s.linker.cards[rank].Name
}

// ownName returns the name of this host that the card tells the other processes; "" if it is not known.
func ownName() string {
	name, _ := os.Hostname()
	return name[:min(len(name), roster.MaxName)]
}

// Host returns the address of this host, without a port, at which the first rail accepts links from other processes of
// the job.
func (s *Session) Host() string {
	if !s.valid() || s.cfg.Size == 1 {
		return loopbackHost
	}
	host, _, _ := net.SplitHostPort(s.cfg.listen[0])
	return cmp.Or(host, loopbackHost)
}

// The methods below are those of domain 0.

// jobDomain returns domain 0; nil if Open has not made the session.
func (s *Session) jobDomain() *Domain {
	if !s.valid() {
		return nil
	}
	return &s.job
}

// Gate returns the gate to a rank; see Domain.Gate.
func (s *Session) Gate(rank int) *Gate {
	if !s.valid() {
		return &Gate{rank: rank}
	}
	return s.job.Gate(rank)
}

// Post starts an operation; see Domain.Post.
func (s *Session) Post(rank int, r *Request, op *Operation) error {
	return s.jobDomain().Post(rank, r, op)
}

// Start starts an operation with a new request; see Domain.Start.
func (s *Session) Start(rank int, op *Operation) *Request { return s.jobDomain().Start(rank, op) }

// Irecv starts to receive a message that m matches from any rank; see Domain.Irecv.
func (s *Session) Irecv(m Match, buf []byte) *Request { return s.jobDomain().Irecv(m, buf) }

// Recv receives a message that m matches from any rank; see Domain.Recv.
func (s *Session) Recv(m Match, buf []byte) (Envelope, error) { return s.jobDomain().Recv(m, buf) }

// OpenContext opens a context for messages between these ranks; see Domain.OpenContext.
func (s *Session) OpenContext(number int, ranks ...int) (*Context, error) {
	return s.jobDomain().OpenContext(number, ranks...)
}

// Iprobe looks for a message from any rank; see Gate.Iprobe.
func (s *Session) Iprobe(m Match) (Envelope, bool) { return s.jobDomain().Iprobe(m) }

// Probe waits for a message from any rank; see Gate.Probe.
func (s *Session) Probe(ctx context.Context, m Match) (Envelope, error) {
	return s.jobDomain().Probe(ctx, m)
}

// Claim takes a message from any rank; see Gate.Claim.
func (s *Session) Claim(m Match) *Message { return s.jobDomain().Claim(m) }

// Peek copies the beginning of a message from any rank; see Gate.Peek.
func (s *Session) Peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	return s.jobDomain().Peek(m, buf)
}

// Attach gives memory for buffered sends; see Domain.Attach.
func (s *Session) Attach(memory []byte) error { return s.jobDomain().Attach(memory) }

// Detach takes the memory for buffered sends back; see Domain.Detach.
func (s *Session) Detach(ctx context.Context) ([]byte, error) { return s.jobDomain().Detach(ctx) }

// background is the set of goroutines that watch a session. They end before the session closes.
type background struct {
	ctx    context.Context // ends when they are to end; nil if there are none
	cancel context.CancelFunc
	all    sync.WaitGroup
}

// Go starts a goroutine. Only Open calls it, before the program has the session.
func (as *background) Go(f func(context.Context)) {
	if as.ctx == nil {
		as.ctx, as.cancel = context.WithCancel(context.Background())
	}
	as.all.Go(func() { f(as.ctx) })
}

// stop ends all goroutines, and waits for them.
func (as *background) stop() {
	if as.ctx != nil {
		as.cancel()
		as.all.Wait()
	}
}

// Version is the version of the module, of its programs and of its library for C. Before 1.0.0 interfaces may change.
const Version = "0.1.0"
