package am

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// to is the peer that requests go to which name no domain: the domain of the same number, or, from a Private one, the
// default one.
func (d *Domain) to(rank int) (*peer, error) {
	if uint(rank) < uint(len(d.home)) {
		if p := d.home[rank].Load(); p != nil {
			return p, nil
		}
	}
	far := d.number
	if d.access == nmad.Private && rank != d.w.s.Rank() {
		far = 0
	}
	p, err := d.peer(domainAddress{rank, far}, true)
	if err == nil {
		d.home[rank].Store(p)
	}
	return p, err
}

// peer is that domain of another process; greets: which is to hear of this one.
func (d *Domain) peer(to domainAddress, greets bool) (*peer, error) {
	if d == nil || d.w == nil {
		return nil, fmt.Errorf("am: %w: no domain", ErrConfig)
	}
	w := d.w
	if to.rank < 0 || to.rank >= w.s.Size() || to.far < 0 || to.far > lastNumber || to.rank == w.s.Rank() && to.far != d.number {
		return nil, fmt.Errorf("am: %w: rank %d, domain %d, seen from domain %d of rank %d of %d", nmad.ErrRank, to.rank, to.far, d.number, w.s.Rank(), w.s.Size())
	}
	if p, err := d.known(to); p != nil || err != nil {
		return p, err
	}
	p := &peer{d: d, rank: to.rank, far: to.far, near: to.far == d.number, gate: d.nm.To(to.rank, to.far)}
	if p.near {
		p.in = d.in
	}
	p.over, p.end = context.WithCancel(context.Background())
	p.prepare() // before others see it
	d.mu.Lock()
	if other := d.peers[to]; other != nil {
		d.mu.Unlock()
		p.end()
		return other, nil
	}
	d.peers[to] = p
	all := append(d.allPeers(), p)
	d.all.Store(&all)
	d.mu.Unlock()
	p.open()
	if why := w.s.Gate(to.rank).Err(); why != nil { // World.lost has not met p, perhaps
		p.fail(why)
	}
	if greets && to.rank != w.s.Rank() {
		w.greet(p)
	}
	return p, nil
}

// known returns the peer if it was made. The error says that none is made any more.
func (d *Domain) known(to domainAddress) (*peer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.peers[to]; p != nil {
		return p, nil
	}
	if d.closed.Load() {
		return nil, errClosed(d)
	}
	return nil, nil
}

func errClosed(d *Domain) error { return fmt.Errorf("am: domain %d: %w", d.number, ErrClosed) }

// allPeers returns the peers that were made, in a slice that its caller may append to.
func (d *Domain) allPeers() []*peer {
	if all := d.all.Load(); all != nil {
		return (*all)[:len(*all):len(*all)]
	}
	return nil
}

// Number is that of the domain of nmad; 0: the default one.
func (d *Domain) Number() int { return d.number }

// Limits are what its messages may be.
func (d *Domain) Limits() Limits {
	return Limits{Args: MaxArgs, Medium: d.w.cfg.Medium, Window: d.w.cfg.Window}
}

// Stats returns its counters.
func (d *Domain) Stats() (s Stats) {
	for _, p := range d.allPeers() {
		s.Handled += p.ran.Load()
		s.Dropped += p.lost.Load()
	}
	return s
}

func (d *Domain) fits(args, body int) error {
	if args > MaxArgs || body > d.w.cfg.Medium {
		return fmt.Errorf("am: %w: %d arguments and %d bytes: a message has at most %d and %d", ErrConfig, args, body, MaxArgs, d.w.cfg.Medium)
	}
	return nil
}

// Request has the handler of that id run at a rank, the own one included, with copies of args and body, of up to
// Limits().Medium bytes. It returns once the message is copied. If there is no room, for too many requests are under
// way, it waits, and runs handlers meanwhile; in a handler it then fails with ErrInHandler: there TryRequest is
// right. Requests of this domain to one rank are handled in their order. Errors: ErrConfig, nmad.ErrRank, ErrClosed,
// nmad.ErrOwner; a *nmad.PeerError if the target has died or left. What becomes of a request whose target dies later
// no error tells.
func (d *Domain) Request(rank int, id ID, args []uint64, body []byte) error {
	p, err := d.to(rank)
	if err == nil {
		_, err = d.start(p, nil, id, args, body, true)
	}
	return err
}

// TryRequest is Request that never waits: false if there is no room now. For handlers, and for all that have
// something else to do.
func (d *Domain) TryRequest(rank int, id ID, args []uint64, body []byte) (bool, error) {
	p, err := d.to(rank)
	if err != nil {
		return false, err
	}
	return d.start(p, nil, id, args, body, false)
}

// RequestFor is Request whose handler's Token.Reply is awaited: by r.Wait.
func (d *Domain) RequestFor(r *Reply, rank int, id ID, args []uint64, body []byte) error {
	p, err := d.to(rank)
	if err == nil {
		err = r.prepare(p, id)
	}
	if err == nil {
		_, err = d.start(p, r, id, args, body, true)
	}
	return err
}

// RequestTo is Request, or with r, which may be nil, RequestFor, to that domain of the target. If that is Private the
// handler runs when its owner polls next, and not before: the one way to reach a Private domain of another process. A
// domain that the target has not opened is waited for.
func (d *Domain) RequestTo(r *Reply, rank, domain int, id ID, args []uint64, body []byte) error {
	p, err := d.peer(domainAddress{rank, domain}, true)
	if err == nil && r != nil {
		err = r.prepare(p, id)
	}
	if err == nil {
		_, err = d.start(p, r, id, args, body, true)
	}
	return err
}

// start sends a request; false: there was no room.
func (d *Domain) start(p *peer, r *Reply, id ID, args []uint64, body []byte, waits bool) (bool, error) {
	if err := d.fits(len(args), len(body)); err != nil {
		return false, err
	}
	h := head{id: id, wants: r != nil, args: len(args)}
	m, err := p.room(r, &h, 8*len(args)+len(body) > shortSize, waits)
	if m == nil {
		return false, err
	}
	if h.args > 0 {
		putArgs(m.buf[front-8*h.args:], args)
	}
	if r != nil {
		if err := r.listen(h.seq); err != nil {
			return false, p.orFailed(err)
		}
		r.begun = true
	}
	if err := p.sendCopy(m, h.tag(), front-8*h.args, body); err != nil {
		return false, p.orFailed(err)
	}
	return true, nil
}

// Prepare takes room for a request whose body, of up to size bytes, is then written in place, in Message.Body: it is
// not copied here. It waits for room as Request does. Until Commit or Cancel it takes part of the Window.
func (d *Domain) Prepare(rank int, id ID, size int) (*Message, error) {
	p, err := d.to(rank)
	if err != nil {
		return nil, err
	}
	if err := d.fits(0, max(size, 0)); err != nil || size < 0 {
		return nil, fmt.Errorf("am: prepare %d bytes: %w", size, ErrConfig)
	}
	m, err := p.room(nil, nil, argsRoom+size > shortSize, true)
	if err != nil {
		return nil, err
	}
	m.id, m.size = id, size
	m.open.Store(true)
	return m, nil
}

// room reserves a request. With h it is sent at once: h has its number, and r, if it is not nil, will be its answer. nil: it
// does not wait, and there is no room.
func (p *peer) room(r *Reply, h *head, long, waits bool) (*Message, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	if m := p.reserve(r, h, long); m != nil {
		return m, nil
	}
	return p.roomLater(r, h, long, waits)
}

// roomLater is room after a look that has found none. It runs handlers while it waits.
//
//go:noinline
func (p *peer) roomLater(r *Reply, h *head, long, waits bool) (*Message, error) {
	p.harvest(nil)
	m := p.reserve(r, h, long)
	if m == nil && waits && nmad.InCallback() {
		return nil, fmt.Errorf("am: no room for a request of rank %d: %w", p.rank, ErrInHandler)
	}
	for tries := 0; m == nil && waits; tries++ {
		p.d.Poll()
		if err := p.usable(); err != nil {
			return nil, err
		}
		p.harvest(nil)
		if m = p.reserve(r, h, long); m == nil {
			rest(tries)
		}
	}
	return m, nil
}

// usable returns why no request can go to the peer; nil: one can.
func (p *peer) usable() error {
	if p.d.closed.Load() {
		return errClosed(p.d)
	}
	return p.failed()
}

// rest is what a waiter does between two polls of its own: nothing at first, then it lets others run, at last it sleeps.
func rest(tries int) {
	switch {
	case tries < 64:
		asm.Pause()
	case tries >= 256:
		marcel.Sleep(min(20*time.Microsecond<<min((tries-256)/64, 6), 500*time.Microsecond))
	case marcel.OnThread():
		marcel.Yield()
	default:
		runtime.Gosched()
	}
}

// waitFor waits for an answer of the peer. The process may be lost by the gate of its default domain while the peer's
// own gate lives on. The target then does not hear of this domain, so waitFor cancels the receive.
func (d *Domain) waitFor(ctx context.Context, p *peer, r *nmad.Request) error {
	if p.rank != d.w.s.Rank() && (d.access != nmad.Private || d.w.s.Engine().Hooked()) {
		if p.gate == d.w.s.Gate(p.rank) {
			return r.WaitContext(ctx)
		}
		both := p.over
		if ctx != nil && ctx.Done() != nil {
			var stop context.CancelFunc
			both, stop = context.WithCancel(ctx)
			defer stop()
			defer context.AfterFunc(p.over, stop)()
		}
		err := r.WaitContext(both)
		if r.IsDone() || p.failed() == nil {
			return err
		}
		r.Cancel()
		return r.WaitContext(ctx)
	}
	for tries := 0; ; tries++ { // nothing else moves the other domains, or long messages to the own process
		if done, err := r.Test(); done || err != nil {
			return err
		}
		if p.failed() != nil {
			r.Cancel()
		}
		if ctx != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		d.Poll()
		rest(tries)
	}
}

// Poll moves the domain on, runs the handlers that are due, at most Config.Budget of each peer's, and returns how
// many have run meanwhile, also by other threads. Every so often (Config.Mask) it does the same with the other
// domains that are not Private. In a handler it does nothing. It never blocks.
func (d *Domain) Poll() int {
	if d == nil || d.w == nil || nmad.InCallback() {
		return 0
	}
	before := d.begin()
	d.poll()
	switch n := d.polls.Add(1); {
	case n&d.w.cfg.Mask == 0:
		d.w.pollOthers(d, false)
	case n&1 == 0 && d.w.neglects.Load():
		d.w.pollOthers(d, true)
	}
	return int(d.Stats().Handled - before)
}

// begin begins a poll, and returns how many handlers have run before.
func (d *Domain) begin() (handled uint64) {
	for _, p := range d.allPeers() {
		handled += p.ran.Load()
		if p.spent.Load() != 0 {
			p.spent.Store(0)
		}
	}
	return handled
}

func (d *Domain) poll() {
	if d.greetings.Load() != nil {
		d.answerGreetings()
	}
	if d.due.Load() {
		d.post()
	}
	if d.access != nmad.Private {
		d.nm.Poll()
		return
	}
	asm.StoreRelease32(&d.polling, 1)
	d.nm.Poll()
	asm.StoreRelease32(&d.polling, 0)
}

// bounded says that another poll begins after this one. Only its owner polls a Private domain, also inside waits of
// nmad, and these post no receives.
func (d *Domain) bounded() bool { return d.access != nmad.Private || d.polling.Load() != 0 }

// parked has the parked receives posted by the next poll, or by the engine if the engine moves the domain.
func (d *Domain) parked() {
	if d.due.Swap(true) || d.access == nmad.Private {
		return
	}
	for i := range d.tasks { // one of them may run now, and be past post, perhaps on this thread; the engine runs one at a time
		if d.w.s.Engine().Submit(&d.tasks[i]) == nil {
			return
		}
	}
}

func (d *Domain) post() {
	d.due.Store(false)
	d.begin()
	for _, p := range d.allPeers() {
		p.unpark()
	}
}

func (d *Domain) cancelTasks() {
	for i := range d.tasks {
		_ = d.tasks[i].Cancel() // it is no handler of this engine
	}
}

func (d *Domain) runTask(*pioman.Task) pioman.Status {
	d.post()
	return pioman.Done
}

// greeted notes that a peer is about to send.
func (d *Domain) greeted(from domainAddress) {
	if d.access != nmad.Private {
		_, _ = d.peer(from, false) // fails if the domain is closed
		return
	}
	g := &greeting{from: from}
	for {
		g.next = d.greetings.Load()
		if d.greetings.CompareAndSwap(g.next, g) {
			return
		}
	}
}

func (d *Domain) answerGreetings() {
	for g := d.greetings.Swap(nil); g != nil; g = g.next {
		_, _ = d.peer(g.from, false)
	}
}

// Close ends the domain, as nmad.Domain.Close does: it waits for what is under way to leave. Requests that have come,
// and were not handled, are lost. The default domain is closed with its world. Not in a handler.
func (d *Domain) Close() error {
	if d == nil || d.w == nil || !d.own {
		return nil
	}
	if nmad.InCallback() {
		return fmt.Errorf("am: close domain %d: %w", d.number, ErrInHandler)
	}
	d.close.Do(func() {
		d.w.forget(d)
		d.closed.Store(true)
		d.failure = d.nm.Close()
		for _, p := range d.allPeers() {
			p.releaseAll()
		}
		d.cancelTasks()
	})
	return d.failure
}
