package nmad

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/consensus"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/internal/roster"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
)

// Domain is a part of a session that shares nothing with the other domains: it has gates, links, matching, receives
// from any source, request pools, counters and engine tasks of its own (a communication domain: Ibrahim and Yelick, "On
// the conditions for efficient interoperability with threads", 2014). Messages that are sent through a domain are
// received through the domain to which its gate leads; between domains there is no order. The job is domain 0.
// Session.Domain opens more: with one for each thread, threads share no lock or cache line of nmad. Safe for concurrent
// use.
//
// Requests of several domains of a session may be in one WaitAll, WaitAny or Queue.
type Domain struct {
	session *Session
	number  int
	cfg     DomainConfig                 // as given to Session.Domain, except that Progress is never ByAccess
	access  domainAccess                 // which threads may use the domain, and its locks
	gates   gateTable                    // the gates to domains of the same number, by rank; see gateOf
	anyList *match.AnyList[flow.Request] // receives from any source

	contexts shelf.Snapshot[*Context] // the open contexts; changed under mu
	attached atomic.Pointer[attached] // memory for buffered sends; nil if there is none

	mu           sync.Mutex                             // guards usedContexts and Gate.registration; serializes changes of contexts and otherGates
	usedContexts []uint64                               // a bit for each number of a context that is, or was, open
	otherGates   atomic.Pointer[map[remoteDomain]*Gate] // the gates to domains of other numbers; the map does not change

	meshed  atomic.Bool           // links to all other processes were asked for (meshOnce)
	closing atomic.Pointer[error] // what requests fail with; nil while the domain is open

	ctx       context.Context // ends when no more links are to be made
	cancel    context.CancelFunc
	work      sync.WaitGroup // goroutines that make links and end gates
	closeOnce sync.Once
	ownerLeft sync.Once // the domain was taken from its owner (owners.leave)
	closeErr  error     // the result of Close
}

// remoteDomain identifies a domain of another process.
type remoteDomain struct{ rank, domain int }

// init sets up the domain of a number, without gates.
func (d *Domain) init(s *Session, number int) {
	d.session, d.number = s, number
	d.ctx, d.cancel = context.WithCancel(s.linker.ctx)
	d.gates, d.anyList = make(gateTable, s.cfg.Size), newAnyList(match.All(s.cfg.Size), s.cfg.Rank)
}

// valid reports whether a session has made this domain.
func (d *Domain) valid() bool { return d != nil && d.session != nil }

// accessError returns an error if the caller may not use this domain.
func (d *Domain) accessError() error {
	if !d.valid() {
		return errNoSession
	}
	return d.access.accessError()
}

// engine returns the engine that moves the domain on.
func (d *Domain) engine() *pioman.Engine { return cmp.Or(d.access.engine, d.session.cfg.Engine) }

// ownGate returns the gate to the own rank.
func (d *Domain) ownGate() *Gate { return d.gateOf(d.session.cfg.Rank) }

// name returns the part of the text of an error that names the domain, after the rank; "" for domain 0.
func (d *Domain) name() string {
	if d.number == 0 {
		return ""
	}
	return fmt.Sprintf(", domain %d", d.number)
}

// gateTable holds the gates of a domain by rank. A gate is made when a thread asks for it, when a peer links, or when
// news of the peer's end come. So a process pays only for the peers that it deals with.
type gateTable []atomic.Pointer[Gate]

// at returns the gate to a rank; nil if it was not made.
func (t gateTable) at(rank int) *Gate { return t[rank].Load() }

// all iterates over the gates that were made.
func (t gateTable) all(yield func(int, *Gate) bool) {
	for rank := range t {
		if g := t.at(rank); g != nil && !yield(rank, g) {
			return
		}
	}
}

// all iterates over the gates of the domain that were made, also those to domains of other numbers.
func (d *Domain) all(yield func(*Gate) bool) {
	for _, g := range d.gates.all {
		if !yield(g) {
			return
		}
	}
	if others := d.otherGates.Load(); others != nil {
		for _, g := range *others {
			if !yield(g) {
				return
			}
		}
	}
}

// gateOf returns the gate to a rank, and makes it if there is none. It takes no lock, so callbacks may call it. If two
// threads make the gate at the same time, the slower one drops its gate. Close stores closing and then looks for gates;
// gateOf stores the gate and then looks at closing. So one of the two sees what the other has stored, and the gate is
// closed.
func (d *Domain) gateOf(rank int) *Gate {
	if g := d.gates.at(rank); g != nil {
		return g
	}
	g := d.makeGate(remoteDomain{rank, d.number})
	h := g.fresh()
	if d.anyList.Group().Has(rank) {
		h.join(d.anyList)
	}
	open := d.contexts.All()
	h.openAll()
	if !d.gates[rank].CompareAndSwap(nil, g) {
		return d.gates.at(rank)
	}
	if !slices.Equal(d.contexts.All(), open) { // OpenContext may have missed this gate
		h = g.enter()
		h.openAll()
		h.unlock()
	}
	d.closeLate(g)
	return g
}

// gateTo is gateOf for any domain of another process. For a domain of another number it takes Domain.mu for a moment.
func (d *Domain) gateTo(to remoteDomain) *Gate {
	if to.domain == d.number {
		return d.gateOf(to.rank)
	}
	d.mu.Lock()
	all := map[remoteDomain]*Gate{}
	if old := d.otherGates.Load(); old != nil {
		all = maps.Clone(*old)
	}
	g := all[to]
	if g != nil {
		d.mu.Unlock()
		return g
	}
	g = d.makeGate(to)
	all[to] = g
	d.otherGates.Store(&all)
	d.mu.Unlock()
	d.closeLate(g)
	return g
}

// closeLate closes a gate that was made after its domain has begun to close.
func (d *Domain) closeLate(g *Gate) {
	if why := d.closing.Load(); why != nil {
		g.beginClose(*why)
		g.sayBye()
	}
}

// makeGate makes a gate without links. No other thread knows the gate yet.
func (d *Domain) makeGate(to remoteDomain) *Gate {
	s := d.session
	card := s.linker.cards[to.rank]
	b := bounds{flow.Bounds{
		Window: int64(s.cfg.Unexpected), Records: s.cfg.Announced,
		PeerWindow: int64(min(card.Window, 1<<32-1)), PeerRecords: int(min(card.Records, flow.MaxCookies)),
	}, cmp.Or(d.cfg.Eager, s.cfg.Eager), s.cfg.Loans}
	if d.number == 0 {
		b.NoteLimit = consensus.Limit(s.cfg.Size)
	}
	var g *Gate
	if to.rank == s.cfg.Rank {
		g = newOwnGate(to.rank, s.cfg.Engine, b)
	} else {
		none := &unlinkedLink{} // for all rails
		g = newGate(s.cfg.Rank, to.rank, none, s.cfg.Engine, b, slices.Repeat([]driver.Link{none}, len(s.cfg.drivers)-1)...)
		h := g.fresh()
		none.held, g.peerDomain, h.stage, h.eager = h, to.domain, stageUnlinked, b.eager
		h.setNoLinks()
		h.onEnd, h.eagerWhy, h.eagerFixed = d.gateEnded, s.cfg.eagerSource, s.cfg.eagerSet
		if d.cfg.Eager > 0 {
			h.eagerWhy, h.eagerFixed = "configuration of the domain", true
		}
		for i := range g.rails {
			r := &g.rails[i]
			r.name = s.cfg.railNames[i]
			if c, ok := s.cfg.costs[r.name]; ok {
				h.flow.Rails[i].Cost, r.costSource = c, s.cfg.measured()
			}
			r.eagerLimit = s.cfg.eagerLimits[r.name]
		}
	}
	g.domain = d
	if d.number == 0 {
		g.agreements = s.agreements
	}
	g.mu.Join(d.access.lock, d.access.lists)
	if d.access.ownerID != 0 {
		g.private = &d.access
	}
	if g.pollEngine, g.worker = d.engine(), d.access.worker; g.worker == nil {
		g.waitEngine = g.pollEngine
	}
	g.offload = offloading(g, &d.cfg)
	h := g.fresh()
	h.observe(&s.monitors)
	h.flow.Strategy, _ = strategy.Lookup(s.cfg.Strategy) // complete has found it
	if s.cfg.Spin > 0 {
		g.spin, g.shared = s.cfg.Spin, s.cfg.SharedCPUs
	}
	return g
}

// gateRegistration reports whether the engine has the sources and the task of a gate.
//
//	unregistered --- install ---> registered --- retire ---> retired
//	unregistered --- retire, of a gate that has never had links ---> retired
type gateRegistration uint8

const (
	unregistered gateRegistration = iota
	registered
	retired
)

// install registers a gate with the engine when it has got its links. It does nothing if the gate has ended.
func (d *Domain) install(g *Gate) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g.registration == retired {
		return nil
	}
	g.registration = registered
	opt := pioman.Repeat
	for i := range g.rails {
		l := &g.rails[i]
		if l.link.Descriptor() < 0 {
			opt |= pioman.Blind
		} else if err := g.pollEngine.AddSource(railSource{l}); err != nil {
			return fmt.Errorf("watch rail %s to rank %d: %w", l.name, g.rank, err)
		}
	}
	g.task.Init("nmad gate", g.tick, opt)
	g.task.SetCPUs(g.nearCPUs())
	if err := g.pollEngine.Submit(&g.task); err != nil {
		return fmt.Errorf("poll the link to rank %d: %w", g.rank, err)
	}
	return nil
}

// Number returns the number of the domain; that of the job is 0. It is -1 for a nil Domain.
func (d *Domain) Number() int {
	if !d.valid() {
		return -1
	}
	return d.number
}

// Access returns which threads may use the domain.
func (d *Domain) Access() Access {
	if !d.valid() {
		return Shared
	}
	return d.cfg.Access
}

// Progress returns what moves the domain on. It is never ByAccess, except for a nil Domain.
func (d *Domain) Progress() Progress {
	if !d.valid() {
		return ByAccess
	}
	return d.cfg.Progress
}

// String describes the domain for people, such as "domain 3: private, explicit".
func (d *Domain) String() string {
	if !d.valid() {
		return "no domain"
	}
	eager := ""
	if d.cfg.Eager > 0 {
		eager = fmt.Sprintf(", eager up to %d B", d.cfg.Eager)
	}
	return fmt.Sprintf("domain %d: %v, %v%s", d.number, d.cfg.Access, d.cfg.Progress, eager)
}

// Gate returns the gate to the domain of the same number of a rank, own rank included. For a rank that does not exist
// it returns a gate on which everything fails with ErrRank. It does not block; callbacks may call it.
func (d *Domain) Gate(rank int) *Gate {
	if !d.valid() {
		return &Gate{rank: rank}
	}
	if rank >= 0 && rank < len(d.gates) {
		return d.gateOf(rank)
	}
	how := ""
	if d.session.cfg.Size == 1 && rank > 0 {
		how = fmt.Sprintf(": this process was started alone, a launcher starts more: demo run -n %d PROGRAM", rank+1)
	}
	return d.deadGate(rank, fmt.Errorf("nmad: %w: %d, the job has 0 to %d%s", ErrRank, rank, d.session.cfg.Size-1, how))
}

// To returns the gate to any domain of another process. That process receives the messages by the To of its domain,
// with the rank of this process and the number of this domain. Receives from any source take messages only from gates
// between domains of the same number, in all contexts. For a rank or a domain that cannot exist, and for another domain
// of the own process, To returns a gate on which everything fails with ErrRank. Messages wait for a domain that is not
// open yet as for a link, up to Config.Timeout.
func (d *Domain) To(rank, domain int) *Gate {
	if !d.valid() || domain == d.number || rank < 0 || rank >= len(d.gates) {
		return d.Gate(rank)
	}
	if rank == d.session.cfg.Rank || domain < 0 || domain > lastDomain {
		return d.deadGate(rank, fmt.Errorf("nmad: %w: domain %d of rank %d, seen from domain %d of rank %d: between processes, the domains 0 to %d",
			ErrRank, domain, rank, d.number, d.session.cfg.Rank, lastDomain))
	}
	return d.gateTo(remoteDomain{rank, domain})
}

// deadGate makes a gate on which everything fails with why.
func (d *Domain) deadGate(rank int, why error) *Gate {
	g := newGate(d.session.cfg.Rank, rank, unlinkedLink{}, d.session.cfg.Engine, bounds{})
	g.domain = d
	g.fresh().die(why)
	return g
}

// lost handles the news that a process has left or has died. It starts no goroutine for a gate that has ended: once all
// gates have ended, free waits for work, to which nothing may be added any more.
func (d *Domain) lost(e roster.Event) {
	if d.gates.at(e.Rank) == nil {
		if d.closing.Load() != nil {
			return // this side leaves, too, and has no gate to that process
		}
		d.gateOf(e.Rank) // which ends, and tells the requests for any source, and agreements
	}
	for g := range d.all {
		if g.rank != e.Rank {
			continue
		}
		h := g.lock()
		if h.endErr == nil {
			d.work.Go(func() { g.lost(e) })
		}
		h.unlock()
	}
}

// gateEnded handles the end of a gate, whose lock the caller holds. After the last gate has ended, receives from any
// source that find no message end, too.
func (d *Domain) gateEnded(h *lockedGate) {
	g, why := h.gate, h.endErr
	d.work.Go(func() { d.retire(g, why) })
	h.endWaiters(h.flow.Dead)
	if d.number == 0 && g.peerDomain == 0 {
		d.session.linker.noteLost(h.endErr)
		d.session.agreements.each(func(p *consensus.Participant) { p.Lost(g.rank) })
	}
	if g.anyList == d.anyList && d.anyList.End(g.rank, h.flow.Dead) {
		d.work.Go(func() { d.lookLast(d.anyList) })
	}
	for _, c := range h.contexts {
		c.gateEnded(h)
	}
}

// retire frees what an ended gate holds. why is why it has ended.
func (d *Domain) retire(g *Gate, why *PeerError) {
	retryUntil(retireLimit, func() bool { return g.holds((*lockedGate).flushed) })
	d.mu.Lock()
	before := g.registration
	g.registration = retired
	d.mu.Unlock()
	if before == registered {
		for i := range g.rails {
			g.pollEngine.RemoveSource(railSource{&g.rails[i]})
		}
		g.task.Cancel() // not from its handler, so it cannot fail
	}
	g.offload.end()
	retryUntil(0, func() bool { return g.shut(why) })
	for i := range g.rails {
		g.rails[i].link.Close()
	}
}

// Close leaves the domain, as Session.Close leaves the job: it makes all requests of the domain but sends fail with
// ErrClosed; waits for the sends that are under way, for at most Config.Linger; tells the peers that this side leaves;
// waits, again for at most Config.Linger, until they have received everything; and frees what the domain has. Other
// domains go on. Close returns an error if it had to give sends up. A second call does nothing, and returns the same.
// Any thread may call it, also for a Private domain.
func (d *Domain) Close() error {
	if !d.valid() {
		return nil
	}
	d.closeOnce.Do(func() {
		own := d.access.others()
		offThread(func() { d.shutdown(own) })
	})
	return d.closeErr
}

// shutdown is Close, once, for a caller that may block in calls of Go. own is the owner that has called Close, if its
// other private domains are to be moved meanwhile; else nil.
func (d *Domain) shutdown(own *owner) {
	d.beginClose(fmt.Errorf("nmad: rank %d%s: %w", d.session.cfg.Rank, d.name(), ErrClosed))
	d.closeErr = d.session.leave([]*Domain{d}, own, func() {})
	d.end("this side closed its domain")
	d.cancel()
	d.free()
	d.session.domains.remove(d)
}

// free frees what the domain has. It runs after end, and waits for the goroutines that make links and end gates.
func (d *Domain) free() {
	d.work.Wait()
	if d.access.worker != nil {
		d.access.worker.stop()
	}
	switch x := &d.access; {
	case x.owner != nil:
		d.ownerLeft.Do(func() { owners.leave(x.owner) })
	case x.engine != nil:
		x.engine.Close()
	}
}

// beginClose ends the receives of the domain with why, and makes new requests fail with why. Sends go on.
func (d *Domain) beginClose(why error) {
	d.closing.Store(&why) // before the look at the gates; see gateOf
	for g := range d.all {
		g.beginClose(why)
	}
	d.anyList.Close(why)
	for _, c := range d.contexts.All() {
		c.anyList.Close(why)
	}
	own := d.ownGate()
	h := own.enter()
	h.failLost(0)
	h.unlock()
}

// end ends all gates, for a reason that is told to people.
func (d *Domain) end(why string) {
	for g := range d.all {
		if g.rank != g.ownRank {
			g.shut(&PeerError{Rank: g.rank, Reason: why, Err: ErrPeerLost})
		}
	}
}

// Poll polls all gates of the domain once, except those that another thread polls just now, and runs the callbacks that
// are due. It is for threads that wait for a condition of their own; a wait for a request polls by itself. In a
// callback, and for a Private domain of another thread, Poll does nothing. It never blocks.
func (d *Domain) Poll() {
	if d.accessError() == nil && !InCallback() {
		d.poll()
	}
}

// poll polls all gates once, except those that another thread polls just now.
func (d *Domain) poll() {
	for g := range d.all {
		g.poll()
	}
}

// pendingSends returns the ranks to which sends are under way, each after a blank; "" if there are none.
func (d *Domain) pendingSends() string {
	text := ""
	for g := range d.all {
		if !g.holds((*lockedGate).sendsDone) {
			text += fmt.Sprintf(" %d", g.rank)
		}
	}
	return text
}

// Stats returns the counters of all gates of the domain together.
func (d *Domain) Stats() Stats {
	var sum Stats
	if !d.valid() {
		return sum
	}
	for g := range d.all {
		sum.add(g.Stats())
	}
	return sum
}
