package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// Defaults of Config.
const (
	DefaultTimeout   = 30 * time.Second
	DefaultHandshake = 5 * time.Second
)

// leaveLimit bounds how long Leave waits for the other side to take notice.
const leaveLimit = time.Second

// Config tells Join which rank we are and where the others are to be met.
type Config struct {
	Rank, Size int
	Addr       string        // host:port of rank 0; a job of one needs none
	Listener   net.Listener  // rank 0 only: listens at Addr already; nil: Join listens. Join closes it
	Secret     []byte        // at least MinSecret bytes, the same in all processes
	Hosts      []int         // number of the host of each rank, the same in all processes; nil: one host
	Bind       string        // address of this host at which others reach this process, where its connection does not tell; empty: it is not known
	Card       Card          // what to publish; its Rank is filled in
	Silence    time.Duration // how long a process may say nothing before it is taken for lost, the same for all; 0: for ever
	Notify     func(Event)   // told about the others from Ready on; calls do not overlap; must not block for long
	Timeout    time.Duration // from Join to the end of Ready; 0: DefaultTimeout
	Handshake  time.Duration // for one dialler to prove itself; 0: DefaultHandshake
}

// MinSecret is the shortest secret that is accepted, in bytes.
const MinSecret = 16

// MaxSecret is the longest, in bytes: in hexadecimal it fits into any pipe, by which a launcher tells it.
const MaxSecret = 1024

// What can happen to another process.
const (
	Left EventKind = 1 + iota // it closed its session
	Died                      // it ended, or broke the control protocol, without having left
)

// EventKind says what an Event is about.
type EventKind uint8

// Event is news about another process. There is at most one per rank.
type Event struct {
	Rank      int
	Kind      EventKind
	Reason    string // for people
	LinksOnly bool   // it passed the news of others on, and no process takes its place: from here on the deaths of some show on links only
}

// ErrAborted is what the start of a job fails with when one of its processes
// failed to start.
var ErrAborted = errors.New("the job could not start")

// Control is this process's membership in a job. Safe for concurrent use.
type Control struct {
	cfg   Config
	tree  tree
	cards []Card
	role  role // nil in a job of one

	ctx    context.Context // ends when the job cannot start, with the cause
	cancel context.CancelCauseFunc

	starting context.Context // ends when the time of the start is up, or when it is over
	started  func()

	ticks atomic.Uint32 // beats that this process has made, since the job runs

	left sync.Once

	notifyMu sync.Mutex // serializes Notify
	beats    sync.WaitGroup

	told   []bool // by rank: its event was passed on; under news
	begun  bool   // Ready has been called; under news
	silent bool   // Leave has begun: no more events; under news
}

// role is what differs between rank 0 and the others.
type role interface {
	gathered() <-chan struct{} // closed once the table is there
	table() []Card             // after gathered
	ready()                    // this process has made its links; a failure ends Control.ctx
	going() <-chan struct{}    // closed once all are ready
	absent() string            // which ranks have not come yet, for people
	abort(reason string)       // tells the others that the job cannot start
	beat()                     // tells the others that this process lives, and looks which do not
	announce()                 // tells the others that this process leaves
	leave()                    // frees everything, waits for the goroutines
}

// Join meets the other processes of the job. It returns once the cards of all
// of them are there, or fails when ctx ends, when the time of the start is up,
// or when one of them fails. Leave must be called in the end.
func Join(ctx context.Context, cfg Config) (*Control, error) {
	if err := cfg.complete(); err != nil {
		if cfg.Listener != nil {
			cfg.Listener.Close()
		}
		return nil, err
	}
	c := &Control{cfg: cfg, told: make([]bool, cfg.Size)}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.starting, c.started = limit.Context(context.Background(), cfg.Timeout)
	if cfg.Size == 1 {
		if cfg.Listener != nil {
			cfg.Listener.Close()
		}
		c.cards = []Card{cfg.Card}
		c.started()
		return c, nil
	}
	ctx, stop := c.bound(ctx)
	defer stop()
	var err error
	c.tree = newTree(cfg.Hosts, cfg.Rank, cfg.Size)
	switch {
	case cfg.Rank == 0:
		c.role, err = newRoot(c)
	default:
		c.role, err = newSpoke(ctx, c)
	}
	if err != nil {
		c.started()
		c.cancel(err)
		return nil, err
	}
	if err := c.await(ctx, c.role.gathered()); err != nil {
		c.role.abort(err.Error())
		c.Leave()
		return nil, err
	}
	c.cards = c.role.table()
	return c, nil
}

func (cfg *Config) complete() error {
	switch {
	case cfg.Size < 1 || cfg.Size > MaxSize:
		return fmt.Errorf("a job of %d processes: must be 1 to %d", cfg.Size, MaxSize)
	case cfg.Rank < 0 || cfg.Rank >= cfg.Size:
		return fmt.Errorf("rank %d in a job of %d processes: must be 0 to %d", cfg.Rank, cfg.Size, cfg.Size-1)
	case cfg.Size > 1 && (len(cfg.Secret) < MinSecret || len(cfg.Secret) > MaxSecret):
		return fmt.Errorf("a secret of %d bytes: needs %d to %d", len(cfg.Secret), MinSecret, MaxSecret)
	case cfg.Hosts != nil && len(cfg.Hosts) != cfg.Size:
		return fmt.Errorf("the hosts of %d ranks in a job of %d", len(cfg.Hosts), cfg.Size)
	case cfg.Size > 1 && cfg.Addr == "" && cfg.Listener == nil:
		return errors.New("no rendezvous address: give host:port of rank 0")
	}
	cfg.Card.Rank = cfg.Rank
	cfg.Card.Silence = uint32(min(cfg.Silence.Milliseconds(), math.MaxUint32))
	if err := cfg.Card.check(); err != nil {
		return err
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Handshake <= 0 {
		cfg.Handshake = DefaultHandshake
	}
	return nil
}

// bound limits ctx to what is left of the time of the start.
func (c *Control) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(c.starting, func() { cancel(context.Cause(c.starting)) })
	return ctx, func() {
		release()
		cancel(context.Canceled)
	}
}

func (c *Control) await(ctx context.Context, done <-chan struct{}) (err error) {
	select {
	case <-done:
		return nil
	case <-c.ctx.Done():
		err = context.Cause(c.ctx)
	case <-ctx.Done():
		err = fmt.Errorf("waited in vain for %s: %w", c.role.absent(), context.Cause(ctx))
	}
	select {
	case <-done: // both: another process has found the same fault first, in the table, say. This process finds it, too, and reports it itself
		return nil
	default:
		return err
	}
}

// Cards returns what each process has published, by rank.
func (c *Control) Cards() []Card { return c.cards }

// Context ends when the job cannot start, or after Leave; context.Cause says why.
func (c *Control) Context() context.Context { return c.ctx }

// Ready says that this process has made its links and waits until all have.
// After an error the job cannot start, and only Leave remains to be called.
func (c *Control) Ready(ctx context.Context) error {
	if c.role == nil {
		return nil
	}
	c.begin()
	defer c.started()
	ctx, stop := c.bound(ctx)
	defer stop()
	c.role.ready()
	err := c.await(ctx, c.role.going())
	if err != nil {
		c.role.abort(err.Error())
		return err
	}
	if c.cfg.Silence > 0 {
		c.beats.Go(c.keepBeating)
	}
	return nil
}

// beatsPerSilence is how many beats fit into the silence that is allowed: all of
// them must be late for a process to be taken for lost.
const beatsPerSilence = 5

// keepBeating sends a beat to the others again and again until this process leaves, and looks which of them have been silent for too
// long. A process that is stopped sends none; one whose threads all hang does. It counts the silence of the others in its own
// beats: while it is stopped itself it counts nothing.
func (c *Control) keepBeating() {
	t := time.NewTicker(c.cfg.Silence / beatsPerSilence)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			c.ticks.Add(1)
			c.role.beat()
		case <-c.ctx.Done():
			return
		}
	}
}

// expireSilent ends the reading of a connection on which no frame has come for too long: it fails with
// os.ErrDeadlineExceeded. The beat during which the last one came is not over yet when that silence begins.
func (c *Control) expireSilent(w *wire) {
	if c.ticks.Load()-w.heard.Load() > beatsPerSilence {
		_ = w.conn.SetReadDeadline(limit.Past) // closed meanwhile: as well
	}
}

// silenceText says whether a connection has ended because of silence, and puts that into words.
func (c *Control) silenceText(err error, silent string) (string, bool) {
	if c.cfg.Silence <= 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return "", false
	}
	return fmt.Sprintf("%s said nothing for %v: it is stopped, or its host cannot be reached", silent, c.cfg.Silence), true
}

// Abort tells the others, before Ready has returned, that the job cannot start.
func (c *Control) Abort(why error) {
	if c.role != nil {
		c.role.abort(why.Error())
	}
}

// Announce tells the others that this process leaves. Events may still come.
func (c *Control) Announce() {
	if c.role != nil {
		c.role.announce()
	}
}

// Leave announces, unless that was done, and frees everything: after it, no more
// events come, and no goroutine and no descriptor is left. It blocks for at most about
// leaveLimit. Idempotent.
func (c *Control) Leave() {
	c.left.Do(func() {
		c.notifyMu.Lock()
		c.silent = true
		c.notifyMu.Unlock()
		if c.role != nil {
			c.role.announce()
			c.role.leave()
		}
		c.started()
		c.cancel(errors.New("the session was closed"))
		c.beats.Wait()
	})
}

// begin lets events through from now on. What the caller has set up before is visible to Notify.
func (c *Control) begin() {
	c.notifyMu.Lock()
	defer c.notifyMu.Unlock()
	c.begun = true
}

// tell passes an event on, the first one per rank.
func (c *Control) tell(e Event) {
	c.notifyMu.Lock()
	defer c.notifyMu.Unlock()
	if c.silent || !c.begun || c.told[e.Rank] {
		return
	}
	c.told[e.Rank] = true
	e.LinksOnly = c.tree.relays[e.Rank] && c.cards[c.cfg.Rank].Standby == ""
	if c.cfg.Notify != nil {
		c.cfg.Notify(e)
	}
}

// departed says whether an event about that rank was passed on.
func (c *Control) departed(rank int) bool {
	c.notifyMu.Lock()
	defer c.notifyMu.Unlock()
	return c.told[rank]
}
