package nmad

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// linker makes the links of a process: it dials other processes, and accepts the links that they dial as long as the
// session is open, so that it does not matter which side needs a link first. Gates decide what becomes of each link
// (linkstage.go).
type linker struct {
	ends  []driver.Endpoint // endpoint of each rail; constant after sort
	names []string          // name of each rail; constant after sort
	cards []roster.Card     // card of each rank; constant after sort
	limit time.Duration     // how long making the links of a gate may take

	ctx       context.Context // ends when no more links are to be made
	cancel    context.CancelFunc
	dialSlots chan struct{} // holds an element for each gate that is being dialed

	changes   chan struct{}  // tells linkAll that a gate has got its links, or has ended; has room for one element
	acceptors sync.WaitGroup // goroutines that accept
	stopped   sync.Once

	lost    atomic.Pointer[PeerError] // why the first gate has ended; nil before. noteLost writes it
	refused atomic.Pointer[error]     // why the last Accept has failed; acceptors write it
}

// dialsAtOnce is the largest number of gates that a process dials at once.
const dialsAtOnce = 16

// Pauses of a dialer that has got the answer LATER, before it dials again: the first, and the longest one.
const (
	firstAsk = 20 * time.Millisecond
	lastAsk  = time.Second
)

// dialTries is how often dialRail tries a dial that fails, if waiting longer would not help: a moment later the peer's
// kernel may have room in its queue, or the peer may have its listener.
const dialTries = 4

// newLinker makes a linker. limit bounds the time in which the links of a gate are made.
func newLinker(limit time.Duration) *linker {
	l := &linker{limit: limit, dialSlots: make(chan struct{}, dialsAtOnce), changes: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.refused.Store(new(error))
	return l
}

// open opens the endpoints of all rails.
func (lk *linker) open(cfg *Config) error {
	for i, d := range cfg.drivers {
		end, err := d.Open(cfg.driverConfig(i))
		if err != nil {
			return fmt.Errorf("open the driver %s: %w", d.Name(), err)
		}
		lk.ends = append(lk.ends, end)
		lk.names = append(lk.names, cfg.railNames[i])
	}
	return nil
}

// addresses returns, by rail, what the other processes need in order to dial this one.
func (lk *linker) addresses() []roster.Rail {
	rails := make([]roster.Rail, len(lk.ends))
	for i, end := range lk.ends {
		rails[i] = roster.Rail{Driver: lk.names[i], Addr: end.Addr()}
	}
	return rails
}

// sort puts the rails of all processes into the order of rank 0's, whose profile decides which rail is the first. All
// processes have the same rails (checkCards).
func (lk *linker) sort(cfg *Config) {
	first := lk.cards[0].Rails
	lk.cards = slices.Clone(lk.cards) // the control connection uses the original
	for rank := range lk.cards {
		c := &lk.cards[rank]
		theirs := c.Rails
		c.Rails = make([]roster.Rail, len(theirs))
		for i, r := range first {
			at := slices.IndexFunc(theirs, func(x roster.Rail) bool { return x.Driver == r.Driver })
			c.Rails[i] = theirs[at]
		}
	}
	ends, names := slices.Clone(lk.ends), slices.Clone(lk.names)
	for i, r := range first {
		at := slices.Index(names, r.Driver)
		lk.ends[i], lk.names[i] = ends[at], names[at]
	}
	cfg.railNames = lk.names
}

// stop ends all dials and exchanges, and accepts no more links. It waits for the goroutines that accept. A second call
// does nothing.
func (lk *linker) stop() {
	lk.stopped.Do(func() {
		lk.cancel()
		lk.acceptors.Wait()
		for _, end := range lk.ends {
			end.Close()
		}
	})
}

// changed wakes the caller of linkAll.
func (lk *linker) changed() {
	select {
	case lk.changes <- struct{}{}:
	default:
	}
}

// noteLost notes that a gate has ended, for linkAll; the first one counts.
func (lk *linker) noteLost(why *PeerError) {
	lk.lost.CompareAndSwap(nil, why)
	lk.changed()
}

// acceptAll starts to accept links of all rails.
func (s *Session) acceptAll() {
	for i, end := range s.linker.ends {
		s.linker.acceptors.Go(func() { s.accept(i, end) })
	}
}

// accept accepts the links of one rail that others dial, until the linker stops, and starts welcome for each.
func (s *Session) accept(rail int, end driver.Endpoint) {
	l := s.linker
	for {
		rank, link, err := end.Accept(l.ctx)
		if err != nil {
			l.refused.Store(&err)
			if !pause(l.ctx, 10*time.Millisecond) || errors.Is(err, driver.ErrClosed) {
				return
			}
			continue
		}
		if rank < 0 || rank >= s.cfg.Size || rank == s.cfg.Rank {
			link.Close()
			continue
		}
		s.job.work.Go(func() { s.welcome(rank, rail, link) })
	}
}

// welcome gives a link that a peer has dialed to its gate, when the domain that the peer asks for is open. On the
// first rail it also tells the dialer what becomes of the link, and after YES waits for the other rails and attaches
// all of them.
func (s *Session) welcome(rank, rail int, link driver.Link) {
	ctx, stop := limit.Context(s.linker.ctx, s.linker.limit)
	defer stop()
	d, g, err := s.asked(ctx, rank, link)
	answer := uint64(linkNever)
	if g != nil {
		h := g.lock()
		if rail > 0 {
			taken := h.acceptRail(rail, link)
			h.unlock()
			if !taken {
				link.Close()
			}
			return
		}
		answer = h.verdict(link)
		h.unlock()
	}
	if err == nil && rail == 0 {
		err = sendLinkPart(ctx, link, &driver.Header{Size: answer})
	}
	if answer != linkYes {
		link.Close()
		return
	}
	for err == nil {
		h := g.lock()
		gone := h.endErr != nil || h.stage != stageAccepting
		ready := !gone && !slices.Contains(h.accepted, nil)
		rails := h.accepted
		h.unlock()
		if ready && d.attach(g, stageAccepting, rails) {
			return
		}
		if gone {
			err = driver.ErrClosed
		} else if !pause(ctx, time.Millisecond) {
			err = fmt.Errorf("its other rails did not come: %w", context.Cause(ctx))
		}
	}
	d.giveUp(g, stageAccepting, err)
}

// asked receives the dialer's packet, waits until the domain is open for which the link is, and returns the domain and
// its gate. g is nil if the domain was closed.
func (s *Session) asked(ctx context.Context, rank int, link driver.Link) (d *Domain, g *Gate, err error) {
	h, err := hear(ctx, link, linkAsk, linkAsk)
	if err != nil {
		return nil, nil, err
	}
	if h.Tag > lastDomain || h.Cookie > lastDomain {
		return nil, nil, fmt.Errorf("%w: a link to domain %d from domain %d", driver.ErrProtocol, h.Tag, h.Cookie)
	}
	for {
		d, changed := s.domains.find(int(h.Tag))
		if d != nil {
			return d, d.gateTo(remoteDomain{rank, int(h.Cookie)}), nil
		}
		if changed == nil {
			return nil, nil, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// giveUp ends a gate whose links could not be made in the stage at, because of err, unless it has left that stage. It
// closes the links that were accepted. Before, it waits up to newsLimit for the news that the peer has ended, which
// explain more than err.
func (d *Domain) giveUp(g *Gate, at linkStage, err error) {
	var rails []driver.Link
	why := peerFailure(g.rank, fmt.Errorf("cannot link: %w", err))
	if why.Err == ErrPeerLost && !errors.Is(err, driver.ErrRefused) {
		retryUntil(newsLimit, func() bool {
			h := g.lock()
			defer h.unlock()
			if h.peerNews != "" {
				why.Reason = h.peerNews
			}
			return h.peerNews != "" || h.endErr != nil || h.stage != at
		})
	}
	h := g.lock()
	if at == stageAccepting {
		rails, h.accepted = h.accepted, nil
	}
	if h.stage == at {
		h.fail(why)
	}
	h.unlock()
	closeLinks(rails)
}

// closeLinks closes links, of which some may be nil.
func closeLinks(links []driver.Link) {
	for _, link := range links {
		if link != nil {
			link.Close()
		}
	}
}

// reach dials the links of a gate in the stage dialing, until it has them, or gives up, or the gate leaves that stage.
func (d *Domain) reach(g *Gate) {
	ctx, stop := limit.Context(d.ctx, d.session.linker.limit)
	defer stop()
	for wait := firstAsk; g.isDialing(); wait = min(2*wait, lastAsk) {
		links, later, err := d.session.linker.dial(ctx, d.number, g)
		if err == nil && !later {
			if !d.attach(g, stageDialing, links) {
				closeLinks(links)
			}
			return
		}
		for end := time.Now().Add(wait); err == nil && g.isDialing() && time.Now().Before(end); {
			if !pause(ctx, time.Millisecond) {
				err = fmt.Errorf("it says that it dials, but its link does not come: %w", context.Cause(ctx))
			}
		}
		if err != nil {
			d.giveUp(g, stageDialing, err)
			return
		}
	}
}

// dial dials all rails from a domain of this process to that of a gate. later reports whether the peer has answered
// LATER.
func (lk *linker) dial(ctx context.Context, domain int, g *Gate) (links []driver.Link, later bool, err error) {
	select {
	case lk.dialSlots <- struct{}{}:
		defer func() { <-lk.dialSlots }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	defer func() {
		if err != nil || later {
			closeLinks(links)
			links = nil
		}
	}()
	for i := range lk.ends {
		link, err := lk.dialRail(ctx, i, g.rank)
		if err != nil {
			return links, false, err
		}
		links = append(links, link)
		if err := ask(ctx, link, domain, g.peerDomain); err != nil {
			return links, false, err
		}
		if i > 0 {
			continue
		}
		switch answer, err := hear(ctx, link, linkYes, linkNever); {
		case err != nil:
			return links, false, fmt.Errorf("no answer to our link: %w", err)
		case answer.Size == linkLater:
			return links, true, nil
		case answer.Size == linkNever:
			return links, false, fmt.Errorf("it has closed its session, or taken us for lost: %w", driver.ErrPeerLost)
		}
	}
	return links, false, nil
}

// dialRail dials one rail to a peer, up to dialTries times. As long as the peer is busy, or this machine lacks
// something for now (mayPass), it goes on until ctx ends.
func (lk *linker) dialRail(ctx context.Context, rail, rank int) (link driver.Link, err error) {
	addr := lk.cards[rank].Rails[rail].Addr
	for try := 0; try < dialTries; try++ {
		link, err = lk.ends[rail].Dial(ctx, rank, addr)
		if err == nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrClosed) {
			break
		}
		if errors.Is(err, driver.ErrBusy) || mayPass(err) {
			try = min(try, dialTries-2)
		}
		if !pause(ctx, time.Millisecond<<(2*try)) {
			break
		}
	}
	return link, err
}

// mayPass reports whether a dial has failed because this machine lacks something for now, which says nothing about the
// peer: a route, descriptors, ports, memory.
func mayPass(err error) bool {
	for _, want := range []error{
		syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN,
		syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM,
	} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

// ask sends the dialer's packet: the link leads from a domain of this process to one of the peer.
func ask(ctx context.Context, link driver.Link, from, to int) error {
	return sendLinkPart(ctx, link, &driver.Header{Size: linkAsk, Cookie: uint32(from), Tag: uint64(to)})
}

// sendLinkPart sends a packet LINK: that of the dialer, or the answer.
func sendLinkPart(ctx context.Context, link driver.Link, h *driver.Header) error {
	h.Kind = flow.KindLink
	return persist(ctx, func() (bool, error) {
		if h.Kind != 0 {
			if ok, err := link.Send(h, nil, nil, false); !ok || err != nil {
				return false, err
			}
			h.Kind = 0 // the packet is sent; only the flush may remain
		}
		return link.Flush()
	})
}

// hear receives the other side's packet LINK, whose Size must lie between least and most.
func hear(ctx context.Context, link driver.Link, least, most uint64) (h driver.Header, err error) {
	err = persist(ctx, func() (bool, error) {
		_, ok, err := link.Recv(&h)
		return ok, err
	})
	if err == nil && (h.Kind != flow.KindLink || h.Flags != 0 || h.Body != 0 || h.Size < least || h.Size > most) {
		err = fmt.Errorf("%w: a packet of kind %d, flags %#x, size %d in the exchange about a link",
			driver.ErrProtocol, h.Kind, h.Flags, h.Size)
	}
	return h, err
}

// persist calls f, with pauses that grow from 10 us to 1 ms, until it returns true or fails, or ctx ends.
func persist(ctx context.Context, f func() (bool, error)) error {
	for wait := 10 * time.Microsecond; ; wait = min(2*wait, time.Millisecond) {
		if ok, err := f(); ok || err != nil {
			return err
		}
		if !pause(ctx, wait) {
			return context.Cause(ctx)
		}
	}
}

// pause sleeps for d. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attach gives a gate its links, which were made in the stage from, and registers the gate with the engine. It returns
// false if the gate is not in that stage any more; then the caller closes the links.
func (d *Domain) attach(g *Gate, from linkStage, links []driver.Link) bool {
	linker := d.session.linker
	h := g.lock()
	for i, end := range linker.ends {
		l := &g.rails[i]
		l.chosenDriver, l.chosenWhy = end.Choice(g.rank, linker.cards[g.rank].Rails[i].Addr)
	}
	ok := h.attach(from, links)
	h.unlock()
	if !ok {
		return false
	}
	if err := d.install(g); err != nil {
		h := g.lock()
		h.loseTo(peerFailure(g.rank, err))
		h.unlock()
	}
	linker.changed()
	return true
}

// linkAll makes all links of domain 0: this process dials the lower ranks, and the higher ranks dial this process. It
// fails when ctx or job ends, or when a link cannot be made. job ends when the job fails.
func (s *Session) linkAll(ctx, job context.Context) error {
	for rank := range s.cfg.Rank {
		g := s.job.gateOf(rank)
		h := g.lock()
		h.wantLinks()
		h.unlock()
	}
	for {
		if lost := s.linker.lost.Load(); lost != nil {
			if job.Err() != nil {
				return fmt.Errorf("%w (%v)", context.Cause(job), lost)
			}
			return lost
		}
		if s.allLinked() {
			return nil
		}
		select {
		case <-s.linker.changes:
		case <-job.Done():
			return context.Cause(job)
		case <-ctx.Done():
			s.linker.cancel()
			s.linker.acceptors.Wait()
			return fmt.Errorf("link to all ranks: %w (%v)", context.Cause(ctx), *s.linker.refused.Load())
		}
	}
}

// allLinked reports whether all gates of domain 0 have their links.
func (s *Session) allLinked() bool {
	for rank := range s.job.gates {
		if g := s.job.gates.at(rank); g == nil || !g.holds((*lockedGate).linked) {
			return false
		}
	}
	return true
}

// linkWaiting makes links to the processes for which receives wait, when relayLost is set: only a link tells of the
// death of some of these. If a receive from any source waits, it makes links to all other processes; startAny does so
// for a receive that is posted later. The poster writes the count of receives, and notice writes Session.relayLost,
// before each reads what the other has written. So one of the two sees that links are needed.
func (d *Domain) linkWaiting() {
	waits := !d.anyList.Empty()
	for _, c := range d.contexts.All() {
		waits = waits || !c.anyList.Empty()
	}
	if waits {
		d.meshOnce()
	}
	for g := range d.all {
		h := g.lock()
		if h.flow.HasPosted() {
			h.wantLinks()
		}
		h.unlock()
	}
}

// meshOnce makes links, once, to all other processes that may send to a receive from any source, in all domains. It
// never waits for the lock of a gate: the goroutine of agreements makes the links.
func (d *Domain) meshOnce() {
	if !d.meshed.Swap(true) {
		d.session.agreements.post(func() {
			for _, o := range d.session.domains.open.All() {
				o.mesh()
			}
		})
	}
}

// mesh makes the links of meshOnce in one domain. It takes the locks of gates.
func (d *Domain) mesh() {
	for rank := range d.gates {
		if !d.meshed.Load() || !d.anyList.Group().Has(rank) {
			continue
		}
		g := d.gateOf(rank)
		h := g.lock()
		if !h.flow.Closing {
			h.wantLinks()
		}
		h.unlock()
	}
}
