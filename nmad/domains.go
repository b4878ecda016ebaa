package nmad

import (
	"fmt"
	"slices"
	"sync"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// Domain opens a domain. Its links are made when they are first needed, whatever Config.Link says, and then with those
// processes only to which messages are sent. It does not block. It fails with ErrClosed after Close, and with ErrConfig
// for a number that is out of its bounds or was used before, or when MaxDomains are open, that of the job included.
func (s *Session) Domain(cfg DomainConfig) (*Domain, error) {
	if !s.valid() {
		return nil, errNoSession
	}
	d := &Domain{cfg: cfg.resolved()}
	d.init(s, cfg.Number)
	access, err := newAccess(&cfg, d.all, s.cfg.SharedCPUs)
	if err != nil {
		return nil, fmt.Errorf("nmad: rank %d opens a domain: %w", s.cfg.Rank, err)
	}
	if d.access = access; cfg.Progress == Worker {
		err = d.startWorker(&cfg.Worker)
	}
	var gone []roster.Event
	if err == nil {
		gone, err = s.domains.add(d)
	}
	if err == nil {
		d.closeWithThread()
	}
	if err != nil {
		d.free()
		return nil, fmt.Errorf("nmad: rank %d opens a domain: %w", s.cfg.Rank, err)
	}
	for _, e := range gone {
		d.lost(e)
	}
	return d, nil
}

// Domains returns those that are open, that of the job first; after Close none. Session.Stats sums over them, after Close
// over those that were open then.
func (s *Session) Domains() []*Domain {
	if !s.valid() {
		return nil
	}
	x := &s.domains
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.why != nil {
		return nil
	}
	return slices.Clone(x.open)
}

// domains are those of a session.
type domains struct {
	mu      sync.Mutex
	open    []*Domain
	used    map[int]struct{}     // numbers
	highest int                  // of them
	gone    map[int]roster.Event // the news of processes that have left or died, by rank
	why     error                // no more are opened
	changed chan struct{}        // closed when a domain was opened, or no more will be; links of peers that came before wait for that
}

func (ds *domains) init(job *Domain) {
	ds.open, ds.used, ds.gone = []*Domain{job}, map[int]struct{}{0: {}}, map[int]roster.Event{}
	ds.changed = make(chan struct{})
}

// add opens a domain, and returns the news of processes that it has to be told.
func (ds *domains) add(d *Domain) (gone []roster.Event, err error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if d.number == 0 {
		d.number = ds.highest + 1
	}
	_, used := ds.used[d.number]
	switch {
	case ds.why != nil:
		return nil, ds.why
	case d.number < 0 || d.number > lastDomain:
		return nil, fmt.Errorf("%w: number %d: give 1 to %d", ErrConfig, d.number, lastDomain)
	case used:
		return nil, fmt.Errorf("%w: the number %d was used before: give each domain one of its own", ErrConfig, d.number)
	case len(ds.open) == MaxDomains:
		return nil, fmt.Errorf("%w: %d domains are open, which is the limit: close one first", ErrConfig, MaxDomains)
	}
	ds.open, ds.used[d.number], ds.highest = append(ds.open, d), struct{}{}, max(ds.highest, d.number)
	ds.announce()
	for _, e := range ds.gone {
		gone = append(gone, e)
	}
	return gone, nil
}

// announce has what waits for a change look again. Under mu.
func (ds *domains) announce() {
	close(ds.changed)
	ds.changed = make(chan struct{})
}

// remove takes out a domain that was closed.
func (ds *domains) remove(d *Domain) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	open := make([]*Domain, 0, len(ds.open)) // others walk over the old one
	for _, o := range ds.open {
		if o != d {
			open = append(open, o)
		}
	}
	ds.open = open
}

// close has no more domains opened, and returns those that are.
func (ds *domains) close(why error) []*Domain {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.why == nil {
		ds.why = why
		ds.announce()
	}
	return ds.open
}

// all returns those that are open.
func (ds *domains) all() []*Domain {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return ds.open
}

// lost keeps the news of a process for domains to come, and returns those that are open.
func (ds *domains) lost(e roster.Event) []*Domain {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.gone[e.Rank] = e
	return ds.open
}

// find looks for a domain that a peer links to. If it returns nil and a channel, the domain was not opened yet; the
// channel is closed when there is reason to look again. If it returns nil alone, the domain was closed, or will not be
// opened.
func (ds *domains) find(number int) (*Domain, <-chan struct{}) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, d := range ds.open {
		if d.number == number {
			return d, nil
		}
	}
	if _, used := ds.used[number]; used || ds.why != nil {
		return nil, nil
	}
	return nil, ds.changed
}

// closers close the private domains of threads of marcel when these end.
var closers = marcel.NewKey(func(all []*Domain) {
	for _, d := range all {
		_ = d.Close() // its error is that of sends that were given up: their requests have it
	}
})

// closeWithThread has the domain closed at the end of the calling thread, if that is one of marcel.
func (d *Domain) closeWithThread() {
	if d.access.ownerID == 0 || !marcel.OnThread() {
		return
	}
	all, _ := closers.Get()
	_ = closers.Set(append(all, d)) // fails only outside of threads
}
