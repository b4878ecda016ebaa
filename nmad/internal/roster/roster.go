package roster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// DefaultHandshake is how long a dialer has to prove itself.
const DefaultHandshake = 5 * time.Second

// leaveLimit bounds each of the four waits of Leave for other processes to take notice.
const leaveLimit = time.Second

// Config tells Join which rank this process is and where the processes meet. Rank, Size, Secret and Card are
// needed, Addr in a job of several processes.
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
	Timeout    time.Duration // from Join to the end of Ready; above 0
	Handshake  time.Duration // for one dialer to prove itself; 0: DefaultHandshake
}

// MinSecret and MaxSecret bound the length of a secret, in bytes. In hexadecimal the longest fits into any pipe, by
// which a launcher tells it.
const (
	MinSecret = 16
	MaxSecret = 1024
)

// ErrAborted is the error of Join and Ready when a process of the job failed to start.
var ErrAborted = errors.New("the job could not start")

// phase is how far the job has come, as this process knows it. It never goes back.
type phase uint8

const (
	gathering phase = iota // cards are coming in
	linking                // the table is out, the processes make their links
	running                // all are ready
	closing                // this process leaves
	failed                 // the job could not start
)

// state is the place of a process in the tree of control connections. README.md draws the transitions.
type state uint8

const (
	attached  state = iota // it has a parent
	searching              // it looks for one
	rootless               // there is none, and no rank is left that could be the root
	isRoot                 // it is the root
	excluded               // the others have taken it for lost
)

// Roster is the membership of this process in a job. Safe for concurrent use.
type Roster struct {
	cfg  Config
	tree controlTree

	ctx    context.Context // ends when the job cannot start, and in Leave; its cause says why
	cancel context.CancelCauseFunc

	starting context.Context // that of Join, until the time of the start is up, or the start is over
	endStart func()          // ends starting

	leaveCtx context.Context    // ends in Leave: no probe, search or watcher goes on
	stopAll  context.CancelFunc // ends leaveCtx

	over       [2]chan struct{} // closed when the round of that phase is over, gathering and linking
	announced  chan struct{}    // closed when this process announces that it leaves: a search then begins without its pause
	parentTold chan struct{}    // closed, by parentIsTold, when the parent knows that, or there is none

	parentIsTold func()
	leaveOnce    sync.Once // runs Leave

	serving   sync.WaitGroup // goroutines that read from members
	following sync.WaitGroup // the goroutine that reads from the parent
	wg        sync.WaitGroup // all other goroutines

	ticks atomic.Uint32 // beats that this process has made since the job runs

	notifyMu sync.Mutex // serializes Notify
	muted    bool       // Leave has begun: no more events; under notifyMu

	// mu is taken before that of an acceptor or a connection. It is given up by release wherever ranks may have
	// departed.
	mu     sync.Mutex
	phase  phase
	state  state
	cards  []Card  // by rank; complete from phase linking on, and then never written
	order  []int   // of succession
	gone   []Event // by rank, how it has gone; of Kind 0: it is there. Only depart writes
	events []Event // that Notify is still to get

	// acceptors are first that for the members of the start, unless there are none, and then that for processes that have
	// lost their parent, if this process may become root. At rank 0 the first one serves for both.
	acceptors []*meet.Acceptor

	parentWire *wire           // nil: there is no parent
	members    map[int]*member // by rank
	missing    map[int]uint32  // at the root: ranks for which no member speaks, and the tick after which they are lost
	pending    int             // how many of the members and this process itself are still to be counted in this round of the start
	failure    string          // why the job could not start
}

// Join meets the other processes of the job. It returns once the cards of all of them are there, or fails when ctx
// ends, when the time of the start is up, or when one of them fails. Leave must be called in the end.
func Join(ctx context.Context, cfg Config) (*Roster, error) {
	err := cfg.complete()
	if cfg.Listener != nil && (cfg.Size == 1 || err != nil) {
		cfg.Listener.Close()
	}
	if err != nil {
		return nil, err
	}
	r := &Roster{
		cfg: cfg, tree: newTree(cfg.Hosts, cfg.Rank, cfg.Size),
		over: [...]chan struct{}{make(chan struct{}), make(chan struct{})}, announced: make(chan struct{}), parentTold: make(chan struct{}),
		cards: make([]Card, cfg.Size), gone: make([]Event, cfg.Size),
		members: map[int]*member{}, missing: map[int]uint32{},
	}
	r.pending = len(r.tree.subtrees) + 1
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	r.leaveCtx, r.stopAll = context.WithCancel(context.Background())
	r.starting, r.endStart = limit.Context(ctx, cfg.Timeout)
	r.parentIsTold = sync.OnceFunc(func() { close(r.parentTold) })
	r.cards[cfg.Rank] = cfg.Card
	if err = r.connect(); err == nil {
		err = r.await(r.over[gathering])
	}
	if err != nil {
		r.Abort(err)
		r.Leave()
		return nil, err
	}
	return r, nil
}

// connect makes this process part of the tree: it opens its listeners and connects to its parent.
func (r *Roster) connect() error {
	if r.tree.relays[r.cfg.Rank] { // before the dial: the other ranks of the host may connect already
		if err := r.listen(); err != nil {
			return err
		}
	}
	var w *wire
	if r.cfg.Rank > 0 {
		var err error
		if w, err = r.dial(); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.release()
	if w == nil {
		r.state = isRoot
	} else {
		r.openStandby(w.Conn.LocalAddr())
		r.parentWire = w
		r.following.Go(func() { r.follow(w) })
	}
	if r.phase == gathering {
		r.countUp()
	} else if w != nil { // a member has failed while this process looked for its parent, which is to hear why
		w.send(kindAbort, notice(r.cfg.Rank, r.failure))
	}
	return nil
}

// complete fills in the defaults and checks the card. The caller has checked the other fields: nmad.Config.
func (cfg *Config) complete() error {
	cfg.Card.Rank = cfg.Rank
	cfg.Card.Silence = uint32(min(cfg.Silence.Milliseconds(), math.MaxUint32))
	cfg.Handshake = cmp.Or(cfg.Handshake, DefaultHandshake)
	return cfg.Card.check()
}

// await blocks until done is closed. It fails if the job cannot start, or starting ends before.
func (r *Roster) await(done <-chan struct{}) (err error) {
	select {
	case <-done:
		return nil
	case <-r.ctx.Done():
		err = context.Cause(r.ctx)
	case <-r.starting.Done():
		err = fmt.Errorf("waited in vain for %s: %w", r.describeAbsent(), context.Cause(r.starting))
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

// Ready tells the others that this process has made its links, and waits until all have. It fails as Join does, also
// when the context of Join ends; then the job cannot start, and only Leave remains to be called. What the caller has
// set up before is visible to Notify.
func (r *Roster) Ready() error {
	defer r.endStart()
	r.mu.Lock()
	if r.phase == linking {
		r.countUp()
	}
	r.release()
	if err := r.await(r.over[linking]); err != nil {
		r.Abort(err)
		return err
	}
	if r.cfg.Silence > 0 && r.cfg.Size > 1 {
		r.wg.Go(r.keepBeating)
	}
	return nil
}

// runs reports whether all processes have called Ready. The caller holds mu.
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
	close(r.announced)
	r.toAll(kindLeave, encodeRanks(r.cfg.Rank), nil)
	r.tellParent()
}

// tellParent tells the parent, if there is one, that this process leaves. The caller holds mu.
func (r *Roster) tellParent() {
	if r.parentWire != nil {
		r.parentWire.send(kindLeave, encodeRanks(r.cfg.Rank))
		r.parentIsTold()
	}
}

// Leave announces, unless that was done, and frees everything: after it, no more events come, and no goroutine and no
// descriptor is left. It waits for up to leaveLimit each for a parent that it can tell, until the members close their
// connections, until everything is sent to the parent, and until the parent closes. A second call waits for the first.
func (r *Roster) Leave() {
	r.leaveOnce.Do(func() {
		r.notifyMu.Lock()
		r.muted = true
		r.notifyMu.Unlock()
		r.Announce()
		r.disconnect()
		r.endStart()
		r.cancel(errors.New("the session was closed"))
		r.wg.Wait()
	})
}

// disconnect ends all connections of this process, after it has told the others.
func (r *Roster) disconnect() {
	r.mu.Lock()
	if r.phase == closing && r.cfg.Rank > 0 { // a process that has no parent just now finds one and tells it that it leaves
		r.mu.Unlock()
		select {
		case <-r.parentTold:
		case <-time.After(leaveLimit):
		}
		r.mu.Lock()
	}
	r.stopAll()
	r.fail(fmt.Sprintf("rank %d gave up", r.cfg.Rank), nil)
	r.closeListeners()
	acceptors := r.acceptors
	r.release()
	for _, acceptor := range acceptors {
		_ = acceptor.Close()
	}
	// The other side closes once it has read the notice. Closing first could destroy it on its way, because data that
	// we have not read turns a close into a reset. The members come first: what they say goes to the parent.
	within(r.serving.Wait, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, m := range r.members {
			if m.wire != nil {
				_ = m.wire.Conn.Close()
			}
		}
	})
	r.mu.Lock()
	w := r.parentWire
	r.mu.Unlock()
	if w != nil {
		end := func() { _ = w.Conn.Close() }
		within(w.Flush, end)
		if half, ok := w.Conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // it may have ended
		}
		defer limit.After(leaveLimit, end).Stop()
	}
	r.following.Wait()
}

// within calls wait. If that takes longer than leaveLimit it calls end, which has to make wait return.
func within(wait, end func()) {
	late := limit.After(leaveLimit, end)
	defer late.Stop()
	wait()
}

// closeListeners closes the listeners and the connections whose exchange is under way. The caller holds mu.
func (r *Roster) closeListeners() {
	for _, acceptor := range r.acceptors {
		_ = acceptor.Stop()
	}
}
