package am

import (
	"errors"
	"fmt"
	"maps"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// find returns the handler of an id; nil if there is none.
func (h *handlers) find(id ID) Handler {
	if int(id) < len(h.few) {
		return h.few[id]
	}
	return h.more[id]
}

// Open opens the active messages of a session. Each process that takes part opens its own World, with the same Config
// but for OnError, Mask and Budget; messages that come before are handled once it is open. It does not block. The
// program closes the World before the session. Errors: ErrConfig, ErrClosed.
func Open(s *nmad.Session, cfg Config) (*World, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	all := s.Domains()
	if len(all) == 0 {
		return nil, fmt.Errorf("am: %w: no session", ErrClosed)
	}
	if a := all[0].Access(); a != nmad.Shared && a != nmad.Serialized {
		return nil, fmt.Errorf("am: %w: the session's own domain is %v", ErrConfig, a)
	}
	if m := cfg.Memory; m != nil && m.Session() != s {
		return nil, fmt.Errorf("am: open: %w: Memory is a World of another session", ErrConfig)
	}
	w := &World{session: s, cfg: cfg, earlyGreetings: map[int][]domainAddress{}, closedNumbers: map[int]bool{}}
	w.handlers.Store(&handlers{})
	w.calls.init(w)
	w.served.init(w)
	var err error
	if w.control, err = all[0].OpenContext(cfg.Context+2, w.ranks()...); err == nil {
		if w.calls.longContext, err = all[0].OpenContext(cfg.Context+3, w.ranks()...); err == nil {
			w.defaultDomain, err = w.open(all[0], nmad.Shared)
		}
	}
	if err != nil {
		_ = w.control.Close()
		_ = w.calls.longContext.Close()
		return nil, fmt.Errorf("am: open: %w", err)
	}
	w.listen()
	w.stopMonitor = s.Monitor(nmad.GateEnded, w.lost)
	return w, nil
}

// ranks lists all ranks of the job.
func (w *World) ranks() []int {
	all := make([]int, w.session.Size())
	for i := range all {
		all[i] = i
	}
	return all
}

// open opens the domain over nm, and takes in the greetings that have come for it.
func (w *World) open(nm *nmad.Domain, access nmad.Access) (*Domain, error) {
	d := &Domain{
		world: w, nmadDomain: nm, ownsNmad: nm.Number() != 0, number: nm.Number(), access: access,
		peers: map[domainAddress]*peer{}, homePeers: make([]atomic.Pointer[peer], w.session.Size()),
	}
	for i := range d.tasks {
		d.tasks[i].Init("active messages", d.runTask, pioman.OneShot)
	}
	var err error
	if d.longContext, err = nm.OpenContext(w.cfg.Context+1, w.ranks()...); err == nil && !d.ownsNmad {
		d.shortContext, err = nm.OpenContext(w.cfg.Context, w.ranks()...)
	}
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, fmt.Errorf("am: %w", ErrClosed)
	}
	w.domains.Add(d)
	early := w.earlyGreetings[d.number]
	delete(w.earlyGreetings, d.number)
	w.mu.Unlock()
	for _, from := range early {
		d.greeted(from)
	}
	return d, nil
}

// Domain opens a domain. Its requests go to the domain of the same number at the target, and are handled once the
// target has opened that; those of a Private domain go to the default domain there. It does not block. A session has up
// to nmad.MaxDomains.
func (w *World) Domain(cfg DomainConfig) (*Domain, error) {
	if cfg.Access != nmad.Shared && cfg.Access != nmad.Serialized && cfg.Access != nmad.Private {
		return nil, fmt.Errorf("am: %w: access %v", ErrConfig, cfg.Access)
	}
	nm, err := w.session.Domain(nmad.DomainConfig{Number: cfg.Number, Access: cfg.Access})
	if err != nil {
		return nil, fmt.Errorf("am: %w", err)
	}
	d, err := w.open(nm, cfg.Access)
	if err != nil {
		return nil, errors.Join(err, nm.Close())
	}
	return d, nil
}

// Default returns the domain over the session's own one, which any thread may use, and the engine moves on.
func (w *World) Default() *Domain { return w.defaultDomain }

// Handle makes h the handler of that id, for the messages of all domains; if h is nil, there is none any more. The
// program calls it before messages for that id may come: a request without a handler fails with ErrHandler if its
// answer is awaited, and otherwise OnError gets that error. It does not block.
func (w *World) Handle(id ID, h Handler) error {
	if id >= firstReserved {
		return fmt.Errorf("am: %w: handler %d: up to %d", ErrConfig, id, firstReserved-1)
	}
	w.handle(id, h)
	return nil
}

// handle is Handle for any id, those of the package included.
func (w *World) handle(id ID, h Handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := *w.handlers.Load()
	if int(id) < len(all.few) {
		all.few[id] = h
	} else if all.more = maps.Clone(all.more); h == nil {
		delete(all.more, id)
	} else {
		if all.more == nil {
			all.more = map[ID]Handler{}
		}
		all.more[id] = h
	}
	w.handlers.Store(&all)
}

// tell reports an error that no call returns.
func (w *World) tell(err error) {
	if w.cfg.OnError != nil {
		w.cfg.OnError(err)
	}
}

// failed is called when a peer has failed. It ends the calls to and from its process if that is the default domain's.
func (w *World) failed(p *peer, why error) {
	if p.domain == w.defaultDomain && p.domainNumber == 0 {
		w.calls.lost(p.rank, why)
		w.served.lost(p.rank, why)
	}
}

// lost is called when a gate has ended. With the gate of the default domain all peers of its rank fail, since greetings
// go by that gate.
func (w *World) lost(e nmad.Event) {
	rank := e.Gate.Rank()
	if rank < 0 || rank >= w.session.Size() || e.Gate != w.session.Gate(rank) || rank == w.session.Rank() {
		return
	}
	why := e.Gate.Err()
	if why == nil {
		why = e.Err
	}
	for _, d := range w.domains.All() {
		for _, p := range d.peerList.All() {
			if p.rank == rank && why != nil {
				p.fail(why)
			}
		}
	}
}

// pollOthers polls the other domains that are not Private; neglected: those of them that are neglected.
func (w *World) pollOthers(d *Domain, neglected bool) {
	if !neglected && w.cfg.adapts {
		w.lookAround()
	}
	for _, o := range w.domains.All() {
		if o != d && o.access != nmad.Private && (!neglected || o.neglected.Load()) {
			o.begin()
			o.poll()
		}
	}
}

// neglect is the time, in ns, after which threads of other domains poll a domain that no thread polls as its own.
const neglect = 100_000

// lookAround finds out which domains are neglected: no thread has polled them as its own since the last lookAround. It
// does so once in the time neglect.
func (w *World) lookAround() {
	now, last := asm.Cycles(), w.lastLook.Load()
	if now-last < asm.ToCycles(neglect) || !w.lastLook.CompareAndSwap(last, now) {
		return
	}
	some := false
	for _, o := range w.domains.All() {
		n := o.polls.Load()
		alone := n == o.pollsSeen.Swap(n) && o.access != nmad.Private
		if o.neglected.Load() != alone {
			o.neglected.Store(alone)
		}
		some = some || alone
	}
	if w.neglects.Load() != some {
		w.neglects.Store(some)
	}
}

// Stats returns the counters of all domains that are open.
func (w *World) Stats() (s Stats) {
	for _, d := range w.domains.All() {
		one := d.Stats()
		s.Handled += one.Handled
		s.Dropped += one.Dropped
	}
	s.Dropped += w.dropped.Load()
	return s
}

// forget takes a closed domain out of domains.
func (w *World) forget(d *Domain) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closedNumbers[d.number] = true
	w.domains.Delete(func(x *Domain) bool { return x == d })
}

// Close ends the world: it closes its domains, ends calls with ErrClosed, cancels the contexts of the functions that it
// serves, blocks the calling thread until they have returned, and cancels its receives. Messages that have come and
// were not handled are lost: the processes of a job agree on the end before. The session stays open. In a handler Close
// fails with ErrInHandler. Calling it again does nothing, and returns the same error.
func (w *World) Close() error {
	if w == nil || w.session == nil {
		return nil
	}
	if nmad.InCallback() {
		return fmt.Errorf("am: close: %w", ErrInHandler)
	}
	w.close.Do(w.shutdown)
	return w.failure
}

// shutdown is Close, once.
func (w *World) shutdown() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.calls.end()
	w.served.end()
	for _, d := range w.domains.All() {
		w.failure = errors.Join(w.failure, d.Close())
	}
	w.ended.Store(true)
	w.stopMonitor()
	d := w.defaultDomain
	d.closed.Store(true)
	for tries := 0; !w.silent(); tries++ {
		d.poll()
		rest(tries)
	}
	d.cancelTasks()
	w.forget(d)
	for _, c := range []*nmad.Context{d.shortContext, d.longContext, w.control, w.calls.longContext} {
		_ = c.Close() // it fails if messages lie in it: then its number stays taken
	}
}

// silent cancels the receives, and reports whether all have ended.
func (w *World) silent() bool {
	all := true
	end := func(under *atomic.Bool, r *nmad.Request) {
		if under.Load() {
			r.Cancel()
			all = all && !under.Load()
		}
	}
	for _, p := range w.defaultDomain.peerList.All() {
		for _, s := range p.receives {
			end(&s.active, &s.req)
		}
		for _, l := range p.bodies() {
			end(&l.posted, &l.req)
		}
		p.releaseAll()
	}
	for _, h := range w.greetingReceives {
		end(&h.active, &h.req)
	}
	return all
}

// listen posts receives for greetings.
func (w *World) listen() {
	for range 8 {
		h := &greetingReceive{world: w}
		h.op = nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Match{Context: w.control}, Done: h.arrived}
		w.greetingReceives = append(w.greetingReceives, h)
	}
	for _, h := range w.greetingReceives {
		h.active.Store(true)
		h.post()
	}
}

// post posts the receive.
func (h *greetingReceive) post() {
	if h.world.ended.Load() || h.world.session.Post(nmad.AnySource, &h.req, &h.op) != nil {
		h.active.Store(false)
	}
}

// arrived is called when the receive has ended.
func (h *greetingReceive) arrived(r *nmad.Request) {
	if _, err := r.Test(); err != nil && !errors.Is(err, nmad.ErrTruncated) {
		h.active.Store(false) // the session ends, or silent has canceled it
		return
	}
	h.world.greeted(r.Source(), r.Tag(), r.Size())
	h.post()
}

// agreement is the part of a greeting's tag that must be the same in all processes: Window and Medium.
func (w *World) agreement() uint64 { return uint64(w.cfg.Window)<<32 | uint64(w.cfg.Medium>>10)<<40 }

// greet sends a peer a greeting.
func (w *World) greet(p *peer) {
	p.greeting = &nmad.Request{}
	tag := uint64(p.domain.number) | uint64(p.domainNumber)<<16 | w.agreement()
	_ = w.control.IsendInto(p.greeting, p.rank, tag, nil) // fails with the peer
}

// greeted takes in a greeting: for its domain, or, if that is not open yet, for the Domain that opens it.
func (w *World) greeted(rank int, tag, size uint64) {
	from, number := domainAddress{rank, int(tag & lastNumber)}, int(tag>>16&lastNumber)
	if tag>>32<<32 != w.agreement() || size != 0 {
		w.dropped.Add(1)
		w.tell(fmt.Errorf("am: rank %d: %w: it has a window of %d, and bodies of %d KiB: give all processes the same",
			rank, ErrConfig, tag>>32&255, tag>>40))
		return
	}
	w.mu.Lock()
	var d *Domain
	for _, o := range w.domains.All() {
		if o.number == number {
			d = o
		}
	}
	if d == nil && !w.closedNumbers[number] {
		list, known := w.earlyGreetings[number]
		if (known || len(w.earlyGreetings) < nmad.MaxDomains) && len(list) < nmad.MaxDomains*w.session.Size() {
			w.earlyGreetings[number] = append(list, from)
		}
	}
	w.mu.Unlock()
	if d != nil {
		d.greeted(from)
	}
}
