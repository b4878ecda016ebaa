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

// to returns the peer for requests that name no domain: the domain of the same number at that rank; from a Private
// domain the default one.
func (d *Domain) to(rank int) (*peer, error) {
	if uint(rank) < uint(len(d.homePeers)) {
		if p := d.homePeers[rank].Load(); p != nil {
			return p, nil
		}
	}
	far := d.number
	if d.access == nmad.Private && rank != d.world.session.Rank() {
		far = 0
	}
	p, err := d.peer(domainAddress{rank, far}, true)
	if err == nil {
		d.homePeers[rank].Store(p)
	}
	return p, err
}

// peer returns the peer at that address, and makes it at the first call. With greets it then sends the peer a greeting.
func (d *Domain) peer(to domainAddress, greets bool) (*peer, error) {
	if d == nil || d.world == nil {
		return nil, fmt.Errorf("am: %w: no domain", ErrConfig)
	}
	w := d.world
	if to.rank < 0 || to.rank >= w.session.Size() || to.domain < 0 || to.domain > lastNumber || to.rank == w.session.Rank() && to.domain != d.number {
		return nil, fmt.Errorf("am: %w: rank %d, domain %d, seen from domain %d of rank %d of %d",
			nmad.ErrRank, to.rank, to.domain, d.number, w.session.Rank(), w.session.Size())
	}
	if p, err := d.known(to); p != nil || err != nil {
		return p, err
	}
	p := &peer{
		domain: d, rank: to.rank, domainNumber: to.domain, sameNumber: to.domain == d.number,
		gate: d.nmadDomain.To(to.rank, to.domain),
	}
	if p.sameNumber {
		p.shortContext = d.shortContext
	}
	p.ended, p.cancelEnded = context.WithCancel(context.Background())
	p.prepare() // before others see p
	d.mu.Lock()
	if other := d.peers[to]; other != nil {
		d.mu.Unlock()
		p.cancelEnded()
		return other, nil
	}
	d.peers[to] = p
	d.peerList.Add(p)
	d.mu.Unlock()
	p.open()
	if why := w.session.Gate(to.rank).Err(); why != nil { // World.lost may have run before p was in peerList
		p.fail(why)
	}
	if greets && to.rank != w.session.Rank() {
		w.greet(p)
	}
	return p, nil
}

// known returns the peer if it was made. The error says that the domain is closed, and makes no more.
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

// errClosed returns the error of a domain that was closed.
func errClosed(d *Domain) error { return fmt.Errorf("am: domain %d: %w", d.number, ErrClosed) }

// Number returns the number of the domain of nmad; that of the default domain is 0.
func (d *Domain) Number() int { return d.number }

// Limits returns the bounds for messages of the domain.
func (d *Domain) Limits() Limits {
	return Limits{Args: MaxArgs, Medium: d.world.cfg.Medium, Window: d.world.cfg.Window}
}

// Stats returns the counters of the domain.
func (d *Domain) Stats() (s Stats) {
	for _, p := range d.peerList.All() {
		s.Handled += p.ranEver.Load()
		s.Dropped += p.droppedEver.Load()
	}
	return s
}

// fits returns an ErrConfig for more arguments, or a longer body, than a message has.
func (d *Domain) fits(args, body int) error {
	if args > MaxArgs || body > d.world.cfg.Medium {
		return fmt.Errorf("am: %w: %d arguments and %d bytes: a message has at most %d and %d",
			ErrConfig, args, body, MaxArgs, d.world.cfg.Medium)
	}
	return nil
}

// Request runs the handler of that id at a rank, which may be the own one, with copies of args and body, of up to
// Limits().Medium bytes. It returns once the message is copied. While too many requests are under way (Config.Window)
// it waits for room, and runs handlers meanwhile; in a handler it then fails with ErrInHandler: handlers call
// TryRequest. Requests of this domain to one rank are handled in their order. Errors: ErrConfig, nmad.ErrRank,
// ErrClosed, nmad.ErrOwner; a *nmad.PeerError if the target has died or left. If the target dies after Request has
// returned no error says whether the request was handled.
func (d *Domain) Request(rank int, id ID, args []uint64, body []byte) error {
	p, err := d.to(rank)
	if err == nil {
		_, err = d.start(p, nil, id, args, body, true)
	}
	return err
}

// TryRequest is Request that never waits: it returns false if there is no room now. It is allowed in handlers.
func (d *Domain) TryRequest(rank int, id ID, args []uint64, body []byte) (bool, error) {
	p, err := d.to(rank)
	if err != nil {
		return false, err
	}
	return d.start(p, nil, id, args, body, false)
}

// RequestFor is Request whose handler's Token.Reply is awaited: by r.Wait and its other forms. r must not be under way
// (ErrActive).
func (d *Domain) RequestFor(r *Reply, rank int, id ID, args []uint64, body []byte) error {
	if r == nil {
		return fmt.Errorf("am: %w: no reply", ErrConfig)
	}
	p, err := d.to(rank)
	if err == nil {
		_, err = d.start(p, r, id, args, body, true)
	}
	return err
}

// RequestTo is Request, or, if r is not nil, RequestFor, to the domain of that number at the target. In a Private
// domain the handler runs when its owner polls next, and not before; no other call reaches a Private domain of another
// process. If the target has not opened the domain yet the request is handled once it has.
func (d *Domain) RequestTo(r *Reply, rank, domain int, id ID, args []uint64, body []byte) error {
	p, err := d.peer(domainAddress{rank, domain}, true)
	if err == nil {
		_, err = d.start(p, r, id, args, body, true)
	}
	return err
}

// start sends a request, whose answer r gets, if it is not nil. It returns false if there was no room; with waits it
// waits for room.
func (d *Domain) start(p *peer, r *Reply, id ID, args []uint64, body []byte, waits bool) (bool, error) {
	if r != nil {
		if err := r.prepare(p, id); err != nil {
			return false, err
		}
	}
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
		r.sent = true
	}
	if err := p.sendCopy(m, h.tag(), front-8*h.args, body); err != nil {
		return false, p.orFailed(err)
	}
	return true, nil
}

// Prepare reserves a request whose body, of up to size bytes, the caller then writes in place, into Message.Body; the
// body is not copied in this process. It waits for room as Request does. Until Commit or Cancel the message counts as
// under way (Config.Window).
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

// room reserves a request. If there is no room, it waits if waits is set, and else returns nil. If h is not nil the
// caller sends the request at once: h then has its number, and r, which may be nil, gets its answer.
func (p *peer) room(r *Reply, h *head, long, waits bool) (*Message, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	if m := p.reserve(r, h, long); m != nil {
		return m, nil
	}
	return p.roomLater(r, h, long, waits)
}

// roomLater is room once reserve has found none: it looks again after it has taken the credit of answers, and runs
// handlers while it waits.
//
//go:noinline
func (p *peer) roomLater(r *Reply, h *head, long, waits bool) (*Message, error) {
	p.harvest(nil)
	m := p.reserve(r, h, long)
	if m == nil && waits && nmad.InCallback() {
		return nil, fmt.Errorf("am: no room for a request of rank %d: %w", p.rank, ErrInHandler)
	}
	for tries := 0; m == nil && waits; tries++ {
		p.domain.Poll()
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

// usable returns an error if no request can go to the peer any more.
func (p *peer) usable() error {
	if p.domain.closed.Load() {
		return errClosed(p.domain)
	}
	return p.failed()
}

// rest is a pause of a waiter between two polls of its own: it spins 64 times, then yields 192 times, and then sleeps,
// 20 to 500 us.
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

// polledByWaiters reports whether only threads that poll move the answers of the peer: those in a Private domain, and
// long messages to the own process.
func (p *peer) polledByWaiters() bool {
	return p.domain.access == nmad.Private || p.rank == p.domain.world.session.Rank()
}

// outlives reports whether the peer has a gate of its own, which may live on when the gate of the default domain has
// lost the process. The target then does not hear of this domain, so waiters cancel the receives of its answers.
func (p *peer) outlives() bool { return p.gate != p.domain.world.session.Gate(p.rank) }

// waitFor waits for an answer of the peer, which r receives.
func (d *Domain) waitFor(ctx context.Context, p *peer, r *nmad.Request) error {
	if !p.polledByWaiters() || p.rank != d.world.session.Rank() && d.world.session.Engine().Hooked() {
		if !p.outlives() {
			return r.WaitContext(ctx)
		}
		both := p.ended
		if ctx != nil && ctx.Done() != nil {
			var stop context.CancelFunc
			both, stop = context.WithCancel(ctx)
			defer stop()
			defer context.AfterFunc(p.ended, stop)()
		}
		err := r.WaitContext(both)
		if r.IsDone() || p.failed() == nil {
			return err
		}
		r.Cancel()
		return r.WaitContext(ctx)
	}
	for tries := 0; ; tries++ {
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

// Poll moves the domain on, runs the handlers for messages that have come, at most Config.Budget of each peer, and
// returns how many have run meanwhile, those that other threads have run included. Now and then (Config.Mask) it does
// the same with the other domains that are not Private. In a handler it does nothing. It never blocks.
func (d *Domain) Poll() int {
	if d == nil || d.world == nil || nmad.InCallback() {
		return 0
	}
	before := d.begin()
	d.poll()
	switch n := d.polls.Add(1); {
	case n&d.world.cfg.Mask == 0:
		d.world.pollOthers(d, false)
	case n&1 == 0 && d.world.neglects.Load():
		d.world.pollOthers(d, true)
	}
	return int(d.Stats().Handled - before)
}

// begin begins a poll, for Config.Budget, and returns how many handlers have run before.
func (d *Domain) begin() (handled uint64) {
	for _, p := range d.peerList.All() {
		handled += p.ranEver.Load()
		if p.ranThisPoll.Load() != 0 {
			p.ranThisPoll.Store(0)
		}
	}
	return handled
}

// poll polls the domain alone, after what earlier polls have left to do.
func (d *Domain) poll() {
	if d.greetings.All() != nil {
		d.answerGreetings()
	}
	if d.hasParked.Load() {
		d.post()
	}
	if d.access != nmad.Private {
		d.nmadDomain.Poll()
		return
	}
	asm.StoreRelease32(&d.polling, 1)
	d.nmadDomain.Poll()
	asm.StoreRelease32(&d.polling, 0)
}

// bounded reports whether receives may be parked, because a later poll posts them. In a Private domain only Poll does;
// the owner also polls in waits of nmad, which do not.
func (d *Domain) bounded() bool { return d.access != nmad.Private || d.polling.Load() != 0 }

// parked notes that a receive was parked. The next poll posts it, or, if the engine moves the domain, a task.
func (d *Domain) parked() {
	if d.hasParked.Swap(true) || d.access == nmad.Private {
		return
	}
	for i := range d.tasks { // the first may be running, perhaps on this thread, and have posted what was parked before
		if d.world.session.Engine().Submit(&d.tasks[i]) == nil {
			return
		}
	}
}

// post posts all parked receives. It counts as the beginning of a poll.
func (d *Domain) post() {
	d.hasParked.Store(false)
	d.begin()
	for _, p := range d.peerList.All() {
		p.unpark()
	}
}

// cancelTasks ends the tasks. The caller is no handler of the engine.
func (d *Domain) cancelTasks() {
	for i := range d.tasks {
		_ = d.tasks[i].Cancel()
	}
}

// runTask is the handler of the tasks.
func (d *Domain) runTask(*pioman.Task) pioman.Status {
	d.post()
	return pioman.Done
}

// greeted takes a greeting in: it opens the peer, or leaves that to the owner of a Private domain. A callback calls it.
func (d *Domain) greeted(from domainAddress) {
	if d.access != nmad.Private {
		_, _ = d.peer(from, false) // fails if the domain is closed
		return
	}
	d.mu.Lock()
	d.greetings.Add(from)
	d.mu.Unlock()
}

// answerGreetings opens the peers whose greetings have come to a Private domain.
func (d *Domain) answerGreetings() {
	d.mu.Lock()
	all := d.greetings.All()
	d.greetings.Delete(func(domainAddress) bool { return true })
	d.mu.Unlock()
	for _, from := range all {
		_, _ = d.peer(from, false)
	}
}

// Close ends the domain, as nmad.Domain.Close does: it blocks the calling thread until the messages under way have
// left. Requests that have come, and were not handled, are lost. Of the default domain, which is closed with its world,
// Close does nothing. In a handler it fails with ErrInHandler.
func (d *Domain) Close() error {
	if d == nil || d.world == nil || !d.ownsNmad {
		return nil
	}
	if nmad.InCallback() {
		return fmt.Errorf("am: close domain %d: %w", d.number, ErrInHandler)
	}
	d.close.Do(func() {
		d.world.forget(d)
		d.closed.Store(true)
		d.failure = d.nmadDomain.Close()
		for _, p := range d.peerList.All() {
			p.releaseAll()
		}
		d.cancelTasks()
	})
	return d.failure
}
