package rma

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/contexts"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
	"github.com/pm2-go/pm2/pioman"
)

// The contexts of the job's domain that a World uses. Successive Worlds take contextControl and LastContext in turn for
// their collective calls: a process that opens the next World must not meet the messages of a process that is still
// in the last one.
const (
	FirstContext    = contexts.FirstWorld
	contextRequests = FirstContext     // requests
	contextReplies  = FirstContext + 1 // answers; the tag is the number of the request
	contextData     = FirstContext + 2 // the bytes of long puts, with the same tag
	contextControl  = FirstContext + 3 // collective calls
	LastContext     = contexts.LastWorld
)

// histories has the history of each series.
var histories sync.Map

// series names the Worlds that a session opens one after the other, for the same processes, in the contexts from first
// on. Their numbers agree at all these processes.
type series struct {
	session weak.Pointer[nmad.Session]
	first   int
	ranks   string
}

// history is what a World leaves to the next one of its series.
type history struct {
	worlds atomic.Uint32              // how many there were
	early  atomic.Pointer[earlyBreak] // for the next World; nil: none
}

// earlyBreak is a message of spread for a World that this process had not opened when it came.
type earlyBreak struct {
	number   uint32 // of the World
	by, rank int    // by has lost rank
}

// remember gives the World its number.
func (w *World) remember() {
	key := series{weak.Make(w.s), w.firstContext, fmt.Sprint(w.members)}
	h, known := histories.LoadOrStore(key, new(history))
	if !known {
		runtime.AddCleanup(w.s, func(key series) { histories.Delete(key) }, key)
	}
	w.history = h.(*history)
	w.number = w.history.worlds.Add(1)
}

// World is the memory that the processes of a job let each other reach. Safe for concurrent use, but for the
// collective calls; see Alloc.
type World struct {
	s            *nmad.Session
	options      options
	engine       *pioman.Engine
	rank         int    // of this process
	size         int    // of the job
	firstContext int    // the first of its contexts
	members      []int  // the ranks of its processes, this one's among them, in the order of the tree of collective calls
	memberIndex  int    // of this process in members
	peers        []peer // by rank; of this process, too
	hasFar       bool   // the page of some other member is not mapped here: its operations come by messages
	near         []int  // other members on this host whose messages go through shared memory

	control      *nmad.Context
	contexts     []*nmad.Context // by number, from FirstContext on
	collect      marcel.Mutex    // held during a collective call
	callNumber   uint64          // the number of the present collective call; under collect
	stopMonitor  func()          // ends the monitor of gates
	requestPosts []requestPost   // receives of requests
	signaled     bell            // of threads that sleep until a signal comes
	closers      bell            // of threads that close memory, or the World, until no request uses it
	starters     bell            // of threads that wait until fewer operations are under way

	raceOrder raceOrder // orders answers to requests of others with fences and flushes, for the race detector

	history *history // of the series
	number  uint32   // of the World in the series, from 1

	announced atomic.Bool             // spread has told the others that intact is done
	intact    context.Context         // done once this process has lost another one, or hears that one has; the cause says how
	broken    context.CancelCauseFunc // ends intact
	losses    atomic.Int32            // how many other members were lost
	lastLoss  atomic.Pointer[error]   // how the last other member was lost; nil: some live

	copying atomic.Int64 // threads in kernelMove
	vacated atomic.Bool  // the pages are unmapped, or about to be
	closing atomic.Bool  // Close has begun: no operation starts by messages any more
	closed  atomic.Bool
	mu      sync.Mutex // serializes changes of tables; guards vacant and used
	vacant  [2]uint32  // by parity: no lower index is free in the own table
	used    struct {
		regions, segments int    // that are open
		bytes, mapped     uint64 // see Limits
	}
	defaultDomain *Domain // see Default
}

// peer is a process, the own one included, as this process sees it.
type peer struct {
	table  atomic.Pointer[table]
	lost   atomic.Pointer[error] // why its gate has ended; nil: it lives; World.ended writes
	page   *page                 // nil: it is not mapped here
	pid    uint32                // of a process whose page is mapped
	mapErr error                 // why its page could not be mapped; nil: it is, or was not tried
	_      [96]byte
	waker  waker
	ways   remoteWays

	// For operations by messages.
	number   atomic.Uint64 // of the last request that this process has sent to it
	underway atomic.Int32  // operations of this process there that have not ended
	desk     desk          // the answers to its requests
	learning marcel.Mutex  // held by the thread in learn
	pidfd    atomic.Int32  // 1 + the pidfd of custody; 0: custody was not called; -1: there is none
	kernel   atomic.Int32  // whether the kernel copies between the two: kernelUnknown, kernelCopies, kernelRefuses
	_        [64]byte
}

// options are what tests change.
type options struct {
	apart      bool   // no memory of others is mapped
	refuses    bool   // the kernel does not copy
	messages   bool   // the network puts and gets nothing by itself
	remoteFrom int    // the shortest put or get by the network, in bytes; 0: as the link says
	starved    bool   // there is no memory for the page
	inside     func() // is called in kernelMove, before the copy
}

// Open makes the World of a session. All processes of the job call it, in the same order as their other collective
// calls (Alloc, Segment.Free, World.Close); it blocks the calling thread until all of them have. A session has one at a
// time. Open takes the contexts FirstContext to LastContext of the job's domain, and fails with nmad.ErrConfig if one
// of them is open already. If it fails at one process, for want of memory or of a context, it fails at all others with
// ErrElsewhere, unless that process could not open the context of the collective calls.
func Open(s *nmad.Session) (*World, error) { return open(s, options{}) }

// Contexts is how many contexts a World takes.
const Contexts = contexts.PerWorld

// OpenAmong is Open for the processes of some ranks. They alone make its collective calls, and all give OpenAmong the
// same ranks in the same order. It takes the Contexts contexts from first on. Worlds of other ranks may have these
// contexts before and after it, each once all its processes have closed the World before. A session has as many Worlds
// as it has contexts for.
func OpenAmong(s *nmad.Session, first int, ranks ...int) (*World, error) {
	return openAmong(s, options{}, first, ranks)
}

// open is Open for tests, which set options.
func open(s *nmad.Session, o options) (*World, error) {
	ranks := make([]int, s.Size())
	for r := range ranks {
		ranks[r] = r
	}
	return openAmong(s, o, FirstContext, ranks)
}

// openAmong is OpenAmong with options.
func openAmong(s *nmad.Session, o options, first int, ranks []int) (*World, error) {
	if s.Engine() == nil {
		return nil, fmt.Errorf("rma: open: %w: no session: nmad.Join gives one", nmad.ErrConfig)
	}
	w := &World{s: s, options: o, engine: s.Engine(), rank: s.Rank(), size: s.Size(), firstContext: first, members: slices.Clone(ranks), memberIndex: slices.Index(ranks, s.Rank()), peers: make([]peer, s.Size())}
	if w.memberIndex < 0 {
		return nil, fmt.Errorf("rma: open: %w: the own rank %d is not among %v", nmad.ErrConfig, w.rank, ranks)
	}
	if w.another() {
		return nil, fmt.Errorf("rma: open: %w: a World of this session is open in these contexts: close it first", nmad.ErrConfig)
	}
	w.defaultDomain = w.newDomain(nmad.Shared)
	w.intact, w.broken = context.WithCancelCause(context.Background())
	size := uint64(pageBytes)
	if o.starved {
		size = MaxBytes + 1
	}
	mem, err := makeMemory(size)
	defer mem.Hide()
	locator := mapped.Locator{}
	if err == nil {
		own := pageIn(mem)
		locator = mem.Locator()
		own.word(markAt).Store(newKey())
		w.peers[w.rank].page = own
	}
	if len(w.members) > 1 {
		if err = errors.Join(err, w.join()); w.control != nil { // else there is no way to tell the others
			err = w.enter(locator, err)
		}
		if err != nil {
			w.leave()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("rma: open: %w", err)
	}
	worlds.Store(w, true)
	return w, nil
}

// another reports whether a World of the same session in the same contexts is open.
func (w *World) another() (is bool) {
	worlds.Range(func(key, _ any) bool {
		o := key.(*World)
		is = o.s == w.s && o.firstContext == w.firstContext && len(o.members) > 1 && len(w.members) > 1
		return !is
	})
	return is
}

// enter finds out which members share memory with this process, and meets the others. failed is why this process cannot
// take part, or nil: then the others fail, too.
func (w *World) enter(own mapped.Locator, failed error) error {
	if w.sharesMemory() && !w.options.apart {
		for _, rank := range w.members {
			if rank != w.rank && w.s.HostOf(rank) == w.s.HostOf(w.rank) {
				w.near = append(w.near, rank)
			}
		}
	}
	err := w.meet(own, failed)
	if err != nil && w.intact.Err() != nil {
		w.farewell()
	}
	return err
}

// sharesMemory reports whether messages between the processes of a host go through shared memory. Then they can share
// other memory, too.
func (w *World) sharesMemory() bool {
	for _, r := range w.s.Gate(w.members[(w.memberIndex+1)%len(w.members)]).Info().Rails {
		if !r.SharesMemory() {
			return false
		}
	}
	return true
}

// join opens the contexts, watches the gates, and posts the receives of requests. control may be open also if it fails.
func (w *World) join() (err error) {
	w.contexts = make([]*nmad.Context, contextControl-FirstContext+1)
	for i := range w.contexts {
		number := w.firstContext + i
		if i == contextControl-FirstContext {
			w.remember()
			number += int(w.number % 2)
		}
		c, failed := w.s.OpenContext(number, w.members...)
		w.contexts[i], err = c, errors.Join(err, failed)
	}
	w.control = w.contexts[contextControl-FirstContext]
	w.stopMonitor = w.s.Monitor(nmad.GateEnded, w.ended)
	for _, rank := range w.members { // what has ended before
		if g := w.s.Gate(rank); g.Err() != nil {
			w.ended(nmad.Event{Gate: g})
		}
	}
	if err == nil {
		err = w.serve()
	}
	if e := w.history.early.Load(); e != nil && e.number == w.number {
		w.broken(lostElsewhere(e.by, e.rank))
	}
	return err
}

// leave closes what join has opened, and unmaps the pages.
func (w *World) leave() {
	w.closed.Store(true)
	if w.stopMonitor != nil {
		w.stopMonitor()
	}
	_ = w.end() // it fails if the engine was closed: then no receive is left
	for _, c := range w.contexts {
		_ = c.Close() // fails if messages lie in it that others have sent too late; then no World can be opened there
	}
	w.vacatePages()
}

// vacatePages unmaps the pages. closed is set before, so threads of this process find no region live in the page of a
// target; those that are in kernelMove still need the own page for their hazards, and vacatePages waits for them.
func (w *World) vacatePages() {
	w.vacated.Store(true)
	for rank := range w.peers {
		if p := w.peers[rank].page; p != nil && rank != w.rank {
			_ = p.m.Vacate()
		}
		w.peers[rank].relinquish()
	}
	own := w.peers[w.rank].page
	if own == nil { // there was no memory for it
		return
	}
	for w.copying.Load() != 0 { // not the hazards: other processes can write those
		marcel.Yield()
	}
	_ = own.m.Vacate()
}

// ended is called when a gate has ended: it notes that the process was lost, and wakes all waiters.
func (w *World) ended(e nmad.Event) {
	rank := e.Gate.Rank()
	if !slices.Contains(w.members, rank) || e.Gate != w.s.Gate(rank) {
		return // a gate of another domain, or to a process that is no member
	}
	why := e.Gate.Err()
	if why == nil {
		why = e.Err
	}
	if rank != w.rank && why != nil && w.peers[rank].lost.CompareAndSwap(nil, &why) {
		w.broken(why)
		if w.losses.Add(1) == int32(len(w.members))-1 {
			w.lastLoss.Store(&why)
		}
	}
	w.signaled.ring()
	w.closers.ring()
	w.starters.ring()
}

// meet exchanges the locators of the pages with the other processes of the host, maps theirs, and waits until all
// members have done so. failed is why this process cannot take part, or nil.
func (w *World) meet(own mapped.Locator, failed error) error {
	locators, err := w.exchange(own)
	err = errors.Join(failed, err)
	reached := []int{}
	seen := map[uint64]bool{own.File: true}
	for i, rank := range w.near {
		p := &w.peers[rank]
		if locator := locators[i]; locator.PID != 0 && (locator.Size != pageBytes || seen[locator.File]) {
			p.mapErr = fmt.Errorf("%w: what it gives for its page, %d B, is none of its own", nmad.ErrProtocol, locator.Size)
			continue
		}
		seen[locators[i].File] = true
		if m, no := locators[i].Open("memory", true); no != nil {
			p.mapErr = no
		} else {
			p.page, p.pid = pageIn(m), locators[i].PID
			reached = append(reached, rank)
		}
	}
	w.hasFar = len(reached) < len(w.members)-1
	w.mu.Lock()
	w.used.mapped += uint64(len(reached)) * pageBytes
	w.mu.Unlock()
	r, lost := w.agree(w.failing(err), nil)
	if r.failed != 0 && err == nil && lost == nil {
		err = fmt.Errorf("%w: rank %d", ErrElsewhere, r.failed-1)
	}
	return errors.Join(err, lost)
}

// Rank returns the rank of this process, 0 to Size-1.
func (w *World) Rank() int { return w.rank }

// Size returns how many processes the job has.
func (w *World) Size() int { return w.size }

// Session returns the session that the World is of.
func (w *World) Session() *nmad.Session { return w.s }

// Default returns the Domain that any thread may use.
func (w *World) Default() *Domain { return w.defaultDomain }

// Limits is how much memory can be, and is, open and mapped.
type Limits struct {
	MaxBytes    uint64 // of one Alloc, Make or Register
	MaxRegions  int    // of Make and Register, at once, and as many segments of Alloc
	Regions     int    // that are open
	Segments    int    // that are open
	Bytes       uint64 // of memory of this process that others reach
	Mapped      uint64 // bytes of memory of other processes that is mapped here
	MappedRanks []int  // other processes whose memory can be mapped
}

// Limits returns the limits and counts of this process. It takes a lock that is held for a short time only.
func (w *World) Limits() Limits {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := Limits{MaxBytes: MaxBytes, MaxRegions: MaxRegions, Regions: w.used.regions, Segments: w.used.segments, Bytes: w.used.bytes, Mapped: w.used.mapped}
	for _, rank := range w.near {
		if w.peers[rank].page != nil {
			l.MappedRanks = append(l.MappedRanks, rank)
		}
	}
	return l
}

// worlds are the Worlds that are open. They keep memory mapped of which the program has nothing but slices.
var worlds sync.Map

// quiet waits until no operation of this process by messages, and no message of a waker, is under way.
func (w *World) quiet() error {
	met := func() bool {
		for rank := range w.peers {
			if p := &w.peers[rank]; p.underway.Load() != 0 || p.waker.state.Load() != wakerIdle && p.lost.Load() == nil {
				return false
			}
		}
		return true
	}
	return w.await(&w.starters, met)
}

// Close ends the World. It is collective: it blocks the calling thread until the operations of this process are
// remotely complete, and all other processes have called it; when it returns no process writes into memory of this one
// any more. It closes all memory that is open: slices from Segment.Bytes, Domain.Local, and Region.Bytes of Make must
// not be used any more. Later operations, and waits for signals, fail with ErrClosed. An error is that of a process
// that was lost; the World is closed all the same. Calling it again does nothing.
func (w *World) Close() error {
	w.collect.Lock()
	defer w.collect.Unlock()
	if w.closed.Load() {
		return nil
	}
	w.closing.Store(true)
	err := w.quiet()
	if len(w.members) > 1 {
		w.returnKeys()
		if w.intact.Err() != nil {
			w.spread(context.Cause(w.intact)) // others may still be in an earlier call
		}
		w.callNumber = lastCall
		_, failed := w.combine(context.Background(), collectiveRecord{}, nil)
		err = errors.Join(err, failed, w.awaitKeys())
	}
	w.closed.Store(true)
	worlds.Delete(w)
	w.signaled.ring()
	w.mu.Lock()
	own := map[uint32]*region{}
	for rank := range w.peers {
		p := &w.peers[rank]
		if t := p.table.Load(); t != nil {
			for i := range *t {
				switch rg := (*t)[i].Swap(nil); {
				case rg == nil:
				case rank == w.rank: // also if another thread is closing it, which needs the pages: Close waits for that
					rg.closed.Store(true)
					own[uint32(i)] = rg
				default:
					_ = rg.mem.Vacate()
				}
			}
		}
	}
	w.mu.Unlock()
	for index, rg := range own {
		err = errors.Join(err, w.retire(index, rg))
	}
	if len(w.members) > 1 {
		w.leave()
	} else {
		w.vacatePages()
	}
	if err != nil {
		return fmt.Errorf("rma: close: %w", err)
	}
	return nil
}
