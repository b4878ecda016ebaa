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
	"github.com/pm2-go/pm2/pioman"
)

// The contexts of the job's domain that a World uses.
const (
	FirstContext    = 60000
	contextRequests = FirstContext     // what others are asked for
	contextReplies  = FirstContext + 1 // what they answer, by the number of the request
	contextData     = FirstContext + 2 // long puts, likewise
	contextControl  = FirstContext + 3 // collective calls, of every second World of a session
	LastContext     = FirstContext + 4 // and of the others: a process that opens the next one may meet one that has not left the last one
)

// opened counts the Worlds that a session has had in its contexts.
var opened sync.Map

// place is where a session has Worlds, one after the other: in the contexts from first on.
type place struct {
	session weak.Pointer[nmad.Session]
	first   int
}

// generation is the number of the next World there.
func generation(s *nmad.Session, first int) uint32 {
	key := place{weak.Make(s), first}
	n, known := opened.LoadOrStore(key, new(atomic.Uint32))
	if !known {
		runtime.AddCleanup(s, func(key place) { opened.Delete(key) }, key)
	}
	return n.(*atomic.Uint32).Add(1)
}

// World is the memory that the processes of a job let each other reach. Safe for concurrent use, but for the collective calls; see Alloc.
type World struct {
	s       *nmad.Session
	options options
	engine  *pioman.Engine
	rank    int
	size    int    // of the job
	first   int    // of its contexts
	turn    int    // of the Worlds in these contexts
	members []int  // its processes, this one among them, in the order of the tree of collective calls
	index   int    // of this one there
	peers   []peer // by rank
	far     bool   // some other process is not reached by what is mapped
	near    []int  // other ranks of the host whose pages are mapped here, or may be

	control   *nmad.Context
	contexts  []*nmad.Context
	collect   marcel.Mutex // of collective calls
	calls     uint64       // collective ones, that this process has begun; under collect
	stop      func()       // the monitor
	slots     []slot       // receives of requests
	signalled bell         // threads that sleep until a signal comes
	served    bell         // threads that close memory, until no request uses it
	room      bell         // threads that wait until fewer operations are under way

	answered meeting // of what answers requests of others with fences and flushes of this process

	intact context.Context         // done once another process was lost; the cause says how
	broken context.CancelCauseFunc // ends intact
	losses atomic.Int32            // other processes that were lost
	last   atomic.Pointer[error]   // how the last one was; nil: some live

	closing atomic.Bool // no more operations are started by messages
	closed  atomic.Bool
	mu      sync.Mutex // serializes changes of tables, and of used
	vacant  [2]uint32  // no index of that parity is free below
	used    struct {
		regions, segments int
		bytes, mapped     uint64
	}
	own *Domain // Default
}

// peer is a process as this one sees it.
type peer struct {
	table atomic.Pointer[table]
	lost  atomic.Pointer[error] // why nothing works with it any more; nil: it lives
	page  *page                 // nil: it is not mapped
	pid   uint32                // of one whose page is mapped
	_     [96]byte
	waker waker

	// Of what goes by messages.
	number   atomic.Uint64 // of the last request that this process has sent
	underway atomic.Int32  // requests of this process that have no answer yet
	desk     desk          // what this process answers
	learning marcel.Mutex  // one thread asks how memory is reached
	kernel   atomic.Int32  // whether the kernel copies between the two: kernelUnknown, kernelCopies, kernelRefuses
	_        [64]byte
}

// options are what tests change.
type options struct {
	apart   bool // no memory of others is mapped
	refuses bool // the kernel does not copy
}

// Open makes the World of a session. All processes of the job call it, in the same order as their other collective calls (Alloc, Segment.Free, World.Close); it returns once all of them have. A session has one at a time.
// It opens the contexts FirstContext to LastContext of the job's domain, and fails with nmad.ErrConfig if one of them is open already. It waits as nmad does: for the calling thread only.
func Open(s *nmad.Session) (*World, error) { return open(s, options{}) }

// Contexts is how many contexts a World takes.
const Contexts = LastContext - FirstContext + 1

// OpenAmong is Open for some processes of the job, which alone call it, and the collective calls of that World, all with the same ranks in the same order. Its contexts are the Contexts from first on. A session has as many as it has contexts for. turn is the same at all, and
// higher than of any World that one of them has had in these contexts: so what belongs to an earlier one is told from what belongs to this one, whichever of them have had that.
func OpenAmong(s *nmad.Session, first, turn int, ranks ...int) (*World, error) {
	return openAmong(s, options{}, first, turn, ranks)
}

func open(s *nmad.Session, o options) (*World, error) {
	ranks := make([]int, s.Size())
	for r := range ranks {
		ranks[r] = r
	}
	return openAmong(s, o, FirstContext, counted, ranks)
}

// counted is the turn of a World of all processes: each counts those that it has had.
const counted = -1

func openAmong(s *nmad.Session, o options, first, turn int, ranks []int) (*World, error) {
	if s.Engine() == nil {
		return nil, fmt.Errorf("rma: open: %w: no session: nmad.Join gives one", nmad.ErrConfig)
	}
	w := &World{s: s, options: o, engine: s.Engine(), rank: s.Rank(), size: s.Size(), first: first, turn: turn, members: slices.Clone(ranks), index: slices.Index(ranks, s.Rank()), peers: make([]peer, s.Size())}
	if w.index < 0 {
		return nil, fmt.Errorf("rma: open: %w: the own rank %d is not among %v", nmad.ErrConfig, w.rank, ranks)
	}
	w.own = w.newDomain(nmad.Shared)
	w.intact, w.broken = context.WithCancelCause(context.Background())
	mem, c, err := makeMemory(worldBytes)
	if err != nil {
		return nil, fmt.Errorf("rma: open: %w", err)
	}
	defer closeDescriptor(c.fd)
	w.peers[w.rank].page = &page{mem}
	if len(w.members) == 1 {
		worlds.Store(w, true)
		return w, nil
	}
	if err := w.join(); err != nil {
		return nil, fmt.Errorf("rma: open: %w", err)
	}
	if w.sharesMemory() && !o.apart {
		for _, rank := range w.members {
			if rank != w.rank && s.HostOf(rank) == s.HostOf(w.rank) {
				w.near = append(w.near, rank)
			}
		}
	} else {
		c.fd = -1
	}
	if err := w.meet(c); err != nil {
		if w.intact.Err() != nil {
			w.farewell()
		}
		w.leave()
		return nil, fmt.Errorf("rma: open: %w", err)
	}
	worlds.Store(w, true)
	return w, nil
}

// sharesMemory says whether messages between the processes of a host go through memory that these share: then other memory can be shared, too.
func (w *World) sharesMemory() bool {
	for _, r := range w.s.Gate(w.members[(w.index+1)%len(w.members)]).Info().Rails {
		if r.Name != "auto" && r.Name != "shm" {
			return false
		}
	}
	return true
}

// join opens the contexts.
func (w *World) join() error {
	if w.turn == counted {
		w.turn = int(generation(w.s, w.first))
	}
	for number := FirstContext; number <= contextControl; number++ {
		if number == contextControl {
			number += w.turn & 1
		}
		c, err := w.s.OpenContext(w.first+number-FirstContext, w.members...)
		if err != nil {
			w.leave()
			return err
		}
		w.contexts = append(w.contexts, c)
	}
	w.control = w.contexts[contextControl-FirstContext]
	w.stop = w.s.Monitor(nmad.GateEnded, w.ended)
	for _, rank := range w.members { // what has ended before
		if g := w.s.Gate(rank); g.Err() != nil {
			w.ended(nmad.Event{Gate: g})
		}
	}
	return w.serve()
}

// leave closes what join has opened.
func (w *World) leave() {
	w.closed.Store(true)
	if w.stop != nil {
		w.stop()
	}
	_ = w.end() // else the engine was closed, and with it all of this
	for _, c := range w.contexts {
		_ = c.Close() // what others have sent too late keeps it open, and then no other World comes after this one
	}
	w.vacatePages()
}

// vacatePages gives the system the pages back, once closed is set. A copier that has not looked at the page of the target yet finds nothing live there; those that have, have a hazard in the own page.
func (w *World) vacatePages() {
	for rank := range w.peers {
		if p := w.peers[rank].page; p != nil && rank != w.rank {
			p.m.vacate()
		}
	}
	own := w.peers[w.rank].page
	for i := range hazards {
		for own.hazard(i).Load() != 0 {
			marcel.Yield()
		}
	}
	own.m.vacate()
}

// ended hears that a gate has ended.
func (w *World) ended(e nmad.Event) {
	rank := e.Gate.Rank()
	if !slices.Contains(w.members, rank) || e.Gate != w.s.Gate(rank) {
		return // a gate of another domain, or of a process that has no part in this
	}
	why := e.Gate.Err()
	if why == nil {
		why = e.Err
	}
	if rank != w.rank && why != nil && w.peers[rank].lost.CompareAndSwap(nil, &why) {
		w.broken(why)
		if w.losses.Add(1) == int32(len(w.members))-1 {
			w.last.Store(&why)
		}
	}
	w.signalled.ring()
	w.served.ring()
	w.room.ring()
}

// meet has the processes of each host map each other's pages.
func (w *World) meet(c card) error {
	cards, err := w.exchange(&c)
	mapped := []int{}
	for i, rank := range w.near {
		if m, failed := cards[i].open(); failed == nil && cards[i].size == worldBytes {
			w.peers[rank].page, w.peers[rank].pid = &page{m}, cards[i].pid
			mapped = append(mapped, rank)
		}
	}
	w.far = len(mapped) < len(w.members)-1
	w.mu.Lock()
	w.used.mapped += uint64(len(mapped)) * worldBytes
	w.mu.Unlock()
	r, failed := w.agree(record{failed: err != nil}, nil)
	if r.failed && err == nil && failed == nil {
		failed = fmt.Errorf("%w: another process lacks memory", ErrSize)
	}
	return errors.Join(err, failed)
}

// Rank returns the rank of this process, 0 to Size-1.
func (w *World) Rank() int { return w.rank }

// Size returns how many processes the job has.
func (w *World) Size() int { return w.size }

// Session returns the session that the World is of.
func (w *World) Session() *nmad.Session { return w.s }

// Default returns the Domain that any thread may use.
func (w *World) Default() *Domain { return w.own }

// Limits are what can be, and what is, open and mapped.
type Limits struct {
	MaxBytes    uint64 // of one Alloc, Make or Register
	MaxRegions  int    // of Make and Register, at once, and as many segments of Alloc
	Regions     int    // that are open
	Segments    int    // that are open
	Bytes       uint64 // of this process that others reach
	Mapped      uint64 // of other processes that are mapped here, in bytes
	MappedRanks []int  // other processes whose memory can be mapped
}

// Limits returns those of this process. It does not block for long.
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

// worlds are those that are open: their memory stays, though a program may have nothing but slices of it.
var worlds sync.Map

// quiet waits until no operation of this process is under way by messages.
func (w *World) quiet() error {
	met := func() bool {
		for rank := range w.peers {
			if p := &w.peers[rank]; p.underway.Load() != 0 || p.waker.state.Load() != wakerIdle && p.lost.Load() == nil {
				return false
			}
		}
		return true
	}
	for !met() && !w.engine.PollUntil(met) {
		if err := w.room.wait(context.Background(), w.engine, met); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the World, at all processes: it waits until the operations of this process are remotely complete, and for the other processes; when it returns no process writes into memory of this one any more. All memory that is open is
// closed, and what Segment.Bytes, Domain.Local and Region.Bytes of Make have given must not be used any more. Operations after it, and waits for signals, fail with ErrClosed. Its error is that of a process that was lost; the World is closed all the same. Calling it again does nothing.
func (w *World) Close() error {
	w.collect.Lock()
	defer w.collect.Unlock()
	if w.closed.Load() {
		return nil
	}
	w.closing.Store(true)
	err := w.quiet()
	if len(w.members) > 1 {
		w.calls = lastCall
		_, failed := w.combine(context.Background(), record{}, nil)
		err = errors.Join(err, failed)
	}
	w.closed.Store(true)
	worlds.Delete(w)
	w.signalled.ring()
	w.mu.Lock()
	own := map[uint32]*region{}
	for rank := range w.peers {
		p := &w.peers[rank]
		if t := p.table.Load(); t != nil {
			for i := range *t {
				if x := (*t)[i].Swap(nil); x != nil && rank == w.rank && !x.closed.Swap(true) {
					own[uint32(i)] = x
				} else if x != nil && x.mem != nil && rank != w.rank {
					x.mem.vacate()
				}
			}
		}
	}
	w.mu.Unlock()
	for index, x := range own {
		w.retire(index, x)
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
