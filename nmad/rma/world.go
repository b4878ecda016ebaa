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

// The contexts of the job's domain that a World uses.
const (
	FirstContext    = contexts.FirstWorld
	contextRequests = FirstContext       // what others are asked for
	contextReplies  = FirstContext + 1   // what they answer, by the number of the request
	contextData     = FirstContext + 2   // long puts, likewise
	contextControl  = FirstContext + 3   // collective calls, of every second World of a session
	LastContext     = contexts.LastWorld // and of the others: a process that opens the next one may meet one that has not left the last one
)

// histories are those of the Worlds that sessions have had, by series.
var histories sync.Map

// series names the Worlds that a session has one after the other: in the contexts from first on, of the same processes.
// Only Worlds of one series have the same numbers at all their processes.
type series struct {
	session weak.Pointer[nmad.Session]
	first   int
	ranks   string
}

// history is what a World leaves to the next one of its series.
type history struct {
	worlds atomic.Uint32 // how many there were
	early  atomic.Pointer[earlyBreak]
}

// earlyBreak says that collective calls of a World fail that this process had not begun.
type earlyBreak struct {
	number   uint32 // of the World
	by, rank int    // lost it
}

// remember gives the World its number.
func (w *World) remember() {
	key := series{weak.Make(w.s), w.first, fmt.Sprint(w.members)}
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
	s       *nmad.Session
	options options
	engine  *pioman.Engine
	rank    int
	size    int    // of the job
	first   int    // of its contexts
	members []int  // its processes, this one among them, in the order of the tree of collective calls
	index   int    // of this one there
	peers   []peer // by rank
	far     bool   // some other process is not reached by what is mapped
	near    []int  // other ranks of the host whose pages are mapped here, or may be

	control   *nmad.Context
	contexts  []*nmad.Context
	collect   marcel.Mutex  // of collective calls
	calls     uint64        // collective ones, that this process has begun; under collect
	stop      func()        // the monitor
	slots     []requestSlot // receives of requests
	signalled bell          // threads that sleep until a signal comes
	served    bell          // threads that close memory, until no request uses it
	room      bell          // threads that wait until fewer operations are under way

	answered meeting // of what answers requests of others with fences and flushes of this process

	history *history // of the series
	number  uint32   // of the World in it, from 1

	announced atomic.Bool             // the others know that intact is done
	intact    context.Context         // done once this process has lost another one, or hears that one has; the cause says how
	broken    context.CancelCauseFunc // ends intact
	losses    atomic.Int32            // other processes that were lost
	last      atomic.Pointer[error]   // how the last one was; nil: some live

	copying atomic.Int64 // threads that have the kernel copy
	vacated atomic.Bool  // the pages are given back
	closing atomic.Bool  // no more operations are started by messages
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
	why   error                 // why it is not
	_     [96]byte
	waker waker

	// Of what goes by messages.
	number   atomic.Uint64 // of the last request that this process has sent
	underway atomic.Int32  // requests of this process that have no answer yet
	desk     desk          // what this process answers
	learning marcel.Mutex  // one thread asks how memory is reached
	held     atomic.Int32  // 1 + a descriptor of the process, which may have the kernel copy in memory of this one; 0: none; below: it may not
	kernel   atomic.Int32  // whether the kernel copies between the two: kernelUnknown, kernelCopies, kernelRefuses
	_        [64]byte
}

// options are what tests change.
type options struct {
	apart   bool   // no memory of others is mapped
	refuses bool   // the kernel does not copy
	starved bool   // there is no memory for the page
	inside  func() // is called by those that are about to have the kernel copy
}

// Open makes the World of a session. All processes of the job call it, in the same order as their other collective
// calls (Alloc, Segment.Free, World.Close); it returns once all of them have. A session has one at a time. It opens
// the contexts FirstContext to LastContext of the job's domain, and fails with nmad.ErrConfig if one of them is open
// already. If it fails at one process, for want of memory or of a context, it fails at all the others with
// ErrElsewhere, unless it is the context of the collective calls that is open there already. It waits as nmad does:
// for the calling thread only.
func Open(s *nmad.Session) (*World, error) { return open(s, options{}) }

// Contexts is how many contexts a World takes.
const Contexts = contexts.PerWorld

// OpenAmong is Open for some processes of the job, which alone call it, and the collective calls of that World, all
// with the same ranks in the same order. Its contexts are the Contexts from first on; Worlds of other ranks may come
// before and after it there, each once all its processes have closed the last one. A session has as many as it has
// contexts for.
func OpenAmong(s *nmad.Session, first int, ranks ...int) (*World, error) {
	return openAmong(s, options{}, first, ranks)
}

func open(s *nmad.Session, o options) (*World, error) {
	ranks := make([]int, s.Size())
	for r := range ranks {
		ranks[r] = r
	}
	return openAmong(s, o, FirstContext, ranks)
}

func openAmong(s *nmad.Session, o options, first int, ranks []int) (*World, error) {
	if s.Engine() == nil {
		return nil, fmt.Errorf("rma: open: %w: no session: nmad.Join gives one", nmad.ErrConfig)
	}
	w := &World{s: s, options: o, engine: s.Engine(), rank: s.Rank(), size: s.Size(), first: first, members: slices.Clone(ranks), index: slices.Index(ranks, s.Rank()), peers: make([]peer, s.Size())}
	if w.index < 0 {
		return nil, fmt.Errorf("rma: open: %w: the own rank %d is not among %v", nmad.ErrConfig, w.rank, ranks)
	}
	if w.another() {
		return nil, fmt.Errorf("rma: open: %w: a World of this session is open in these contexts: close it first", nmad.ErrConfig)
	}
	w.own = w.newDomain(nmad.Shared)
	w.intact, w.broken = context.WithCancelCause(context.Background())
	size := uint64(pageBytes)
	if o.starved {
		size = MaxBytes + 1
	}
	mem, err := makeMemory(size)
	defer mem.Hide()
	card := mapped.Card{}
	if err == nil {
		own := pageIn(mem)
		card = mem.Card()
		own.word(markAt).Store(newKey())
		w.peers[w.rank].page = own
	}
	if len(w.members) > 1 {
		if err = errors.Join(err, w.join()); w.control != nil { // else there is no way to tell the others
			err = w.enter(card, err)
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

// another says that there is one of the same session and contexts.
func (w *World) another() (is bool) {
	worlds.Range(func(key, _ any) bool {
		o := key.(*World)
		is = o.s == w.s && o.first == w.first && len(o.members) > 1 && len(w.members) > 1
		return !is
	})
	return is
}

// enter has the processes meet, or hear that one of them, this one if failed is not nil, has no part in the World.
func (w *World) enter(own mapped.Card, failed error) error {
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

// sharesMemory says whether messages between the processes of a host go through memory that these share. Other memory
// can then be shared, too.
func (w *World) sharesMemory() bool {
	for _, r := range w.s.Gate(w.members[(w.index+1)%len(w.members)]).Info().Rails {
		if !r.SharesMemory() {
			return false
		}
	}
	return true
}

// join opens the contexts; also if it fails control is there, if it can be opened.
func (w *World) join() (err error) {
	w.contexts = make([]*nmad.Context, contextControl-FirstContext+1)
	for i := range w.contexts {
		number := w.first + i
		if i == contextControl-FirstContext {
			w.remember()
			number += int(w.number % 2)
		}
		c, failed := w.s.OpenContext(number, w.members...)
		w.contexts[i], err = c, errors.Join(err, failed)
	}
	w.control = w.contexts[contextControl-FirstContext]
	w.stop = w.s.Monitor(nmad.GateEnded, w.ended)
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

// vacatePages gives the pages back to the system, once closed is set. A copier that has not looked at the page of its
// target yet finds nothing live there; one that has looked has a hazard in its own page.
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
	for w.copying.Load() != 0 { // it is not asked by the hazards, which others can write
		marcel.Yield()
	}
	_ = own.m.Vacate()
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

// meet has the processes of each host map each other's pages, unless one has failed.
func (w *World) meet(own mapped.Card, failed error) error {
	cards, err := w.exchange(own)
	err = errors.Join(failed, err)
	mapped := []int{}
	seen := map[uint64]bool{own.File: true}
	for i, rank := range w.near {
		p := &w.peers[rank]
		if x := cards[i]; x.PID != 0 && (x.Size != pageBytes || seen[x.File]) {
			p.why = fmt.Errorf("%w: what it gives for its page, %d B, is none of its own", nmad.ErrProtocol, x.Size)
			continue
		}
		seen[cards[i].File] = true
		if m, no := cards[i].Open("memory", true); no != nil {
			p.why = no
		} else {
			p.page, p.pid = pageIn(m), cards[i].PID
			mapped = append(mapped, rank)
		}
	}
	w.far = len(mapped) < len(w.members)-1
	w.mu.Lock()
	w.used.mapped += uint64(len(mapped)) * pageBytes
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
	return w.await(&w.room, met)
}

// Close ends the World, at all processes: it waits until the operations of this process are remotely complete, and
// for the other processes; when it returns no process writes into memory of this one any more. All memory that is
// open is closed, and what Segment.Bytes, Domain.Local and Region.Bytes of Make have given must not be used any more.
// Operations after it, and waits for signals, fail with ErrClosed. Its error is that of a process that was lost; the
// World is closed all the same. Calling it again does nothing.
func (w *World) Close() error {
	w.collect.Lock()
	defer w.collect.Unlock()
	if w.closed.Load() {
		return nil
	}
	w.closing.Store(true)
	err := w.quiet()
	if len(w.members) > 1 {
		if w.intact.Err() != nil {
			w.spread(context.Cause(w.intact)) // others may be in a call before
		}
		w.calls = lastCall
		_, failed := w.combine(context.Background(), collectiveRecord{}, nil)
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
				switch x := (*t)[i].Swap(nil); {
				case x == nil:
				case rank == w.rank: // also one that another thread is closing: the pages are needed for that
					x.closed.Store(true)
					own[uint32(i)] = x
				default:
					_ = x.mem.Vacate()
				}
			}
		}
	}
	w.mu.Unlock()
	for index, x := range own {
		err = errors.Join(err, w.retire(index, x))
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
