package nmad

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// Domain opens a domain. Its links are made when they are first needed, whatever Config.Link says, and only to those
// processes to which messages are sent. Domain blocks only while a worker starts (Progress Worker). It fails with
// ErrClosed after Close, and with ErrConfig for a number that is out of range or was used before, or when MaxDomains
// domains are open, that of the job included.
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

// Domains returns the open domains, that of the job first; after Close none.
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
	return slices.Clone(x.open.All())
}

// domains is the list of the open domains of a session. Safe for concurrent use.
type domains struct {
	mu      sync.Mutex              // guards the other fields, and serializes changes of open
	open    shelf.Snapshot[*Domain] // that of the job first
	used    map[int]struct{}        // numbers of domains that are, or were, open
	highest int                     // the highest number in used
	gone    map[int]roster.Event    // the news of processes that have left or died, by rank, for domains that are opened later
	why     error                   // what opening a domain fails with; nil until close
	changed chan struct{}           // closed, and replaced, when a domain is opened, and by close; welcome waits for it
}

func (ds *domains) init(job *Domain) {
	ds.used, ds.gone, ds.changed = map[int]struct{}{0: {}}, map[int]roster.Event{}, make(chan struct{})
	ds.open.Add(job)
}

// add adds a domain, and gives it a number if it has none. It returns the news of the processes that have ended so far,
// which the caller passes to the domain.
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
	case len(ds.open.All()) == MaxDomains:
		return nil, fmt.Errorf("%w: %d domains are open, which is the limit: close one first", ErrConfig, MaxDomains)
	}
	ds.used[d.number], ds.highest = struct{}{}, max(ds.highest, d.number)
	ds.open.Add(d)
	ds.announce()
	return slices.Collect(maps.Values(ds.gone)), nil
}

// announce wakes the goroutines that wait for changed. The caller holds mu.
func (ds *domains) announce() {
	close(ds.changed)
	ds.changed = make(chan struct{})
}

// remove removes a domain that was closed. Its number stays used.
func (ds *domains) remove(d *Domain) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.open.Delete(func(o *Domain) bool { return o == d })
}

// close makes opening a domain fail with why from here on, and returns the open domains.
func (ds *domains) close(why error) []*Domain {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.why == nil {
		ds.why = why
		ds.announce()
	}
	return ds.open.All()
}

// lost keeps the news of a process for domains that are opened later, and returns the open ones.
func (ds *domains) lost(e roster.Event) []*Domain {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.gone[e.Rank] = e
	return ds.open.All()
}

// find returns the domain of a number, to which a peer links. If the domain was not opened yet, find returns a channel
// that is closed when the caller should look again. It returns nil twice if the domain was closed, or will never be
// opened.
func (ds *domains) find(number int) (*Domain, <-chan struct{}) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, d := range ds.open.All() {
		if d.number == number {
			return d, nil
		}
	}
	if _, used := ds.used[number]; used || ds.why != nil {
		return nil, nil
	}
	return nil, ds.changed
}

// closers closes the private domains of a thread of marcel when the thread ends.
var closers = marcel.NewKey(func(all []*Domain) {
	for _, d := range all {
		_ = d.Close() // the error is about sends that were given up, whose requests have it, too
	}
})

// closeWithThread makes the calling thread close its private domain when it ends, if it is a thread of marcel.
func (d *Domain) closeWithThread() {
	if d.access.ownerID == 0 || !marcel.OnThread() {
		return
	}
	all, _ := closers.Get()
	_ = closers.Set(append(all, d)) // fails only outside of threads
}
