package roster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// Defaults of Config.
const (
	DefaultTimeout   = 30 * time.Second
	DefaultHandshake = 5 * time.Second
)

// leaveLimit bounds each of the four waits of Leave for other processes to take notice.
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

// ErrAborted is what the start of a job fails with when one of its processes
// failed to start.
var ErrAborted = errors.New("the job could not start")

// phase is how far the job has come. It only grows.
type phase uint8

const (
	gathering phase = iota // cards are coming in
	linking                // the table is out, the processes make their links
	running                // all are ready
	closing                // this process leaves
	failed                 // the job could not start
)

// state is the place of a process in the tree of control connections. README.md draws it.
type state uint8

const (
	attached  state = iota // it has a parent
	searching              // it looks for one
	isRoot                 // it is the root
	excluded               // the others have taken it for lost
)

// Roster is this process's membership in a job: which ranks are there, have left, and have died. Safe for concurrent use.
type Roster struct {
	cfg  Config
	tree controlTree

	ctx    context.Context // ends when the job cannot start, with the cause
	cancel context.CancelCauseFunc

	starting context.Context // ends when the time of the start is up, or when it is over
	started  func()

	over context.Context // ends when this process leaves: no probe, search or watcher goes on
	stop context.CancelFunc

	gathered chan struct{} // closed when phase becomes linking
	going    chan struct{} // closed when phase becomes running
	hurry    chan struct{} // closed when this process announces that it leaves: then a search begins without its pause
	told     chan struct{} // closed when the parent knows that, or when there is none
	tellOne  sync.Once     // closes told
	left     sync.Once

	serving   sync.WaitGroup // goroutines: those that read what members say,
	following sync.WaitGroup // the one that reads what the parent says,
	wg        sync.WaitGroup // all others

	door    *meet.Acceptor // where the cards come; nil: this process takes none
	standby *meet.Acceptor // where processes connect that have lost their parent; nil: this process never becomes root. Rank 0's is its door

	ticks atomic.Uint32 // beats that this process has made, since the job runs

	notifyMu sync.Mutex // serializes Notify
	silent   bool       // Leave has begun: no more events; under notifyMu

	// mu is taken before that of an acceptor or a connection. It is given up by release wherever ranks may have departed.
	mu      sync.Mutex
	phase   phase
	state   state
	cards   []Card
	order   []int          // of succession
	gone    []EventKind    // by rank; 0: it is there. depart writes
	reasons map[int]string // of those that have died
	news    []Event        // what the program is to hear

	up      *wire           // to the parent; nil: there is none
	parent  int             // its rank
	members map[int]*member // by rank
	missing map[int]uint32  // root: ranks that no member speaks for, and the tick after which they are lost
	waiting int             // cards of members, then ready messages, that are still to come
	isReady bool            // Ready has been called
	why     string          // the job could not start
}

// Join meets the other processes of the job. It returns once the cards of all
// of them are there, or fails when ctx ends, when the time of the start is up,
// or when one of them fails. Leave must be called in the end.
func Join(ctx context.Context, cfg Config) (*Roster, error) {
	if cfg.Listener != nil && cfg.Size == 1 {
		cfg.Listener.Close()
	}
	if err := cfg.complete(); err != nil {
		if cfg.Listener != nil {
			cfg.Listener.Close()
		}
		return nil, err
	}
	r := &Roster{
		cfg: cfg, tree: newTree(cfg.Hosts, cfg.Rank, cfg.Size),
		gathered: make(chan struct{}), going: make(chan struct{}), hurry: make(chan struct{}), told: make(chan struct{}),
		cards: make([]Card, cfg.Size), gone: make([]EventKind, cfg.Size), reasons: map[int]string{},
		members: map[int]*member{}, missing: map[int]uint32{},
	}
	r.waiting = len(r.tree.subtrees)
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	r.over, r.stop = context.WithCancel(context.Background())
	r.starting, r.started = limit.Context(context.Background(), cfg.Timeout)
	r.cards[cfg.Rank] = cfg.Card
	ctx, stop := r.bound(ctx)
	defer stop()
	err := r.connect(ctx)
	if err == nil {
		err = r.await(ctx, r.gathered)
	}
	if err != nil {
		r.Abort(err)
		r.Leave()
		return nil, err
	}
	return r, nil
}

// connect brings this process into the tree: its listeners, its connection to its parent.
func (r *Roster) connect(ctx context.Context) (err error) {
	if r.cfg.Rank == 0 {
		r.state = isRoot
		if r.cfg.Size == 1 {
			r.phase = running
			close(r.gathered)
			close(r.going)
			return nil
		}
		return r.listen()
	}
	if r.tree.relays[r.cfg.Rank] { // before the dial: the other ranks of the host may connect already
		if err := r.lead(); err != nil {
			return err
		}
	}
	w, err := r.dial(ctx)
	if err != nil {
		return err
	}
	r.openStandby(w.Conn.LocalAddr())
	r.mu.Lock()
	defer r.release()
	r.up, r.parent = w, r.tree.up
	if r.phase == failed { // through a member, while this process looked for its parent, which is to hear why
		r.up.send(kindAbort, notice(r.cfg.Rank, r.why))
	} else {
		r.handIn()
	}
	r.following.Go(func() { r.follow(w, r.tree.up) })
	return nil
}

// complete fills in the defaults. The caller has checked the rest of a Config: nmad.Config.
func (cfg *Config) complete() error {
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
func (r *Roster) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(r.starting, func() { cancel(context.Cause(r.starting)) })
	return ctx, func() {
		release()
		cancel(context.Canceled)
	}
}

func (r *Roster) await(ctx context.Context, done <-chan struct{}) (err error) {
	select {
	case <-done:
		return nil
	case <-r.ctx.Done():
		err = context.Cause(r.ctx)
	case <-ctx.Done():
		err = fmt.Errorf("waited in vain for %s: %w", r.absent(), context.Cause(ctx))
	}
	select {
	case <-done: // both: another process has found the same fault first, in the table, say. This process finds it, too, and reports it itself
		return nil
	default:
		return err
	}
}

// Cards returns what each process has published, by rank.
func (r *Roster) Cards() []Card { return r.cards }

// Context ends when the job cannot start, or after Leave; context.Cause says why.
func (r *Roster) Context() context.Context { return r.ctx }

// Ready says that this process has made its links and waits until all have. After an error the job cannot start, and only
// Leave remains to be called. What the caller has set up before is visible to Notify.
func (r *Roster) Ready(ctx context.Context) error {
	defer r.started()
	ctx, stop := r.bound(ctx)
	defer stop()
	r.ready()
	if err := r.await(ctx, r.going); err != nil {
		r.Abort(err)
		return err
	}
	if r.cfg.Silence > 0 && r.cfg.Size > 1 {
		r.wg.Go(r.keepBeating)
	}
	return nil
}

// runs says whether all processes have been ready. The caller holds mu.
func (r *Roster) runs() bool { return r.phase == running || r.phase == closing }

// Abort tells the others, before Ready has returned, that the job cannot start.
func (r *Roster) Abort(why error) {
	r.mu.Lock()
	defer r.release()
	r.fail(fmt.Sprintf("rank %d: %v", r.cfg.Rank, why), nil)
}

// Announce tells the others that this process leaves. Events may still come.
func (r *Roster) Announce() {
	r.mu.Lock()
	defer r.release()
	if r.phase != running {
		return
	}
	r.phase = closing // from here on the end of a member's connection is no death
	close(r.hurry)
	r.toAll(kindLeave, encodeRanks(r.cfg.Rank), nil)
	r.tellParent()
}

// tellParent tells the parent, if there is one, that this process leaves. Under mu.
func (r *Roster) tellParent() {
	if r.up != nil {
		r.up.send(kindLeave, encodeRanks(r.cfg.Rank))
		r.tellOne.Do(func() { close(r.told) })
	}
}

// Leave announces, unless that was done, and frees everything: after it, no more
// events come, and no goroutine and no descriptor is left. It waits for a parent that it can
// tell, until the members close their connections, until everything is sent to the parent,
// and until the parent closes: for up to leaveLimit each, so for about four times that at most. A second call waits for
// the first.
func (r *Roster) Leave() {
	r.left.Do(func() {
		r.notifyMu.Lock()
		r.silent = true
		r.notifyMu.Unlock()
		r.Announce()
		r.leave()
		r.started()
		r.cancel(errors.New("the session was closed"))
		r.wg.Wait()
	})
}

func (r *Roster) leave() {
	r.mu.Lock()
	if r.phase == closing && r.cfg.Rank > 0 { // a process that has no parent just now finds one and tells it that it leaves
		r.mu.Unlock()
		select {
		case <-r.told:
		case <-time.After(leaveLimit):
		}
		r.mu.Lock()
	}
	r.stop()
	r.fail(fmt.Sprintf("rank %d gave up", r.cfg.Rank), nil)
	r.shut()
	members := maps.Clone(r.members)
	r.release()
	for _, d := range []*meet.Acceptor{r.door, r.standby} {
		if d != nil {
			_ = d.Close()
		}
	}
	// The other side closes once it has read the notice. Closing first
	// could destroy it on its way, because data that we have not read turns a
	// close into a reset. The members come first: what they say goes to the parent.
	within(r.serving.Wait, func() {
		for _, m := range members {
			if m.w != nil {
				_ = m.w.Conn.Close()
			}
		}
	})
	r.mu.Lock()
	w := r.up
	r.mu.Unlock()
	if w != nil {
		within(w.Flush, func() { _ = w.Conn.Close() })
		if half, ok := w.Conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // it may have ended
		}
	}
	within(r.following.Wait, func() {
		if w != nil {
			_ = w.Conn.Close()
		}
	})
}

// within calls wait, and end if that has not returned after leaveLimit.
func within(wait, end func()) {
	late := limit.After(leaveLimit, end)
	defer late.Stop()
	wait()
}

// shut closes the listeners, and the connections that are still in their handshake. Under mu.
func (r *Roster) shut() {
	for _, d := range []*meet.Acceptor{r.door, r.standby} {
		if d != nil {
			_ = d.Stop()
		}
	}
}
