package rma

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// region is memory of a process of the job, as this process reaches it. The fields before locator do not change once
// the region is in a table.
type region struct {
	base    pointer // where it is mapped here; nil: it is not
	size    uint64  // bytes
	key     uint64
	live    *atomic.Uint64 // its word in the owner's page: the key until the owner closes it; nil: of this process, from Alloc, or by messages
	address uint64         // its address in the owner, for copies of the kernel; 0: there are none
	mem     *mapped.Memory // what is mapped; nil: nothing is, or the program's own memory
	mapErr  error          // why it could not be mapped; nil: it was, or was not tried

	// Of memory of this process only.
	locator   mapped.Locator // by which others map it at their first use; zero: they do not
	uses      atomic.Int64   // requests of others under way in it, and Holds; callbacks and holders write, retire reads
	closed    atomic.Bool    // its owner closes it: no use begins any more; written before retire looks at uses
	lookAgain atomic.Bool    // World.retire is to look again; listen sets it, retire clears it
	pinner    runtime.Pinner

	retiring  marcel.Mutex // held by retire; guards what follows
	retired   bool         // retire has succeeded
	retireErr error        // the last error of retire
}

// reaches says that the n bytes from offset on are inside the memory.
func (rg *region) reaches(offset, n uint64) bool { return offset <= rg.size && n <= rg.size-offset }

// stale says that the owner, another process, has closed the memory.
func (rg *region) stale() bool { return rg.live != nil && rg.live.Load() != rg.key }

// table is the memory of a rank, by index: segments of Alloc have even indices, regions of Make and Register odd ones.
// Threads read it without a lock; set replaces it by a longer one.
type table []atomic.Pointer[region]

// MaxRegions is how many segments of Alloc a World may have at once, and how many regions of Make and Register.
const MaxRegions = 1 << 16

// find is the region of that index; nil: there is none.
func (pr *peer) find(index uint32) *region {
	if t := pr.table.Load(); t != nil && uint64(index) < uint64(len(*t)) {
		return (*t)[index].Load()
	}
	return nil
}

// set puts a region into the table; nil: takes it out. The caller holds World.mu.
func (pr *peer) set(index uint32, r *region) {
	t := pr.table.Load()
	if t == nil || int(index) >= len(*t) {
		n := 64
		for n <= int(index) {
			n *= 2
		}
		grown := make(table, n)
		if t != nil {
			for i := range *t {
				grown[i].Store((*t)[i].Load())
			}
		}
		pr.table.Store(&grown)
		t = &grown
	}
	(*t)[index].Store(r)
}

// free returns the lowest free index of the own table: for first 0 one of a segment, for 1 one of a region. ok is false
// if all are taken. The caller holds World.mu.
func (w *World) free(first uint32) (index uint32, ok bool) {
	own := &w.peers[w.rank]
	for index = max(w.vacant[first], first); index < 2*MaxRegions; index += 2 {
		if own.find(index) == nil {
			w.vacant[first] = index
			return index, true
		}
	}
	return 0, false
}

// vacate takes a region out of the own table. The caller holds World.mu.
func (w *World) vacate(index uint32) {
	w.peers[w.rank].set(index, nil)
	w.vacant[index%2] = min(w.vacant[index%2], index)
}

// newKey draws a random key, not 0.
func newKey() uint64 {
	var b [8]byte
	for {
		_, _ = rand.Read(b[:])
		if key := binary.LittleEndian.Uint64(b[:]); key != 0 {
			return key
		}
	}
}

// Region is memory of this process, from Make or Register, that others reach by its Refs. Safe for concurrent use.
type Region struct {
	w     *World
	index uint32 // in the table of this process
	r     *region
	bytes []byte

	closeFailed atomic.Bool // Close has failed, and must be called again
}

// Make makes memory of so many bytes, all zero. Other processes of the host map it when they first use a Ref to it, and
// then reach it by loads and stores; those of other hosts by messages. It takes a file descriptor until it is closed.
// It is not collective and does not wait. ErrSize: the system has no memory of that size, or MaxRegions are open;
// ErrClosed.
func (w *World) Make(bytes int) (*Region, error) {
	if bytes < 0 {
		return nil, fmt.Errorf("rma: make memory: %w: %d B: give 0 or more", ErrSize, bytes)
	}
	mem, err := makeMemory(uint64(bytes))
	if err != nil {
		return nil, fmt.Errorf("rma: make memory: %w", err)
	}
	rg := &region{base: baseOf(mem.Bytes()), size: uint64(bytes), mem: mem, locator: mem.Locator()}
	g, err := w.install(rg)
	if err != nil {
		_ = mem.Vacate()
		return nil, fmt.Errorf("rma: make memory: %w", err)
	}
	g.bytes = mem.Bytes()
	return g, nil
}

// Register lets other processes reach b, which stays the caller's: those of the host by copies of the kernel
// (process_vm_readv and its counterpart, 2 us and more each), where it allows them; those of other hosts, and
// atomics of all, by messages. b is pinned (runtime.Pinner) until Close. It is not collective and does not wait. b may
// be empty. ErrSize: MaxRegions are open; ErrClosed.
func (w *World) Register(b []byte) (*Region, error) {
	rg := &region{base: baseOf(b), size: uint64(len(b))}
	if len(b) > 0 {
		rg.pinner.Pin(&b[0])
		rg.address = process.AddressOf(b)
	}
	g, err := w.install(rg)
	if err != nil {
		rg.pinner.Unpin()
		return nil, fmt.Errorf("rma: register memory: %w", err)
	}
	g.bytes = b
	return g, nil
}

// install enters memory of this process into its table, where requests of others find it.
func (w *World) install(rg *region) (*Region, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed.Load() {
		return nil, ErrClosed
	}
	index, ok := w.free(1)
	if !ok {
		return nil, fmt.Errorf("%w: %d regions are open, which is the limit: close one first", ErrSize, MaxRegions)
	}
	rg.key = newKey()
	if live := w.peers[w.rank].page.live(index); live != nil {
		live.Store(rg.key)
	}
	w.peers[w.rank].set(index, rg)
	w.used.regions++
	w.used.bytes += rg.size
	return &Region{w: w, index: index, r: rg}, nil
}

// Bytes returns the memory. That of Make must not be used any more after Close.
func (g *Region) Bytes() []byte {
	if g == nil {
		return nil
	}
	return g.bytes
}

// Ref returns the Ref of the byte at that offset.
func (g *Region) Ref(offset uint64) Ref {
	if g == nil {
		return Ref{}
	}
	return Ref{g.r.key, offset, uint32(g.w.rank), g.index}
}

// Close takes the memory back: from then on operations on its Refs fail with ErrKey in all processes. It blocks the
// calling thread until the operations of others under way there have ended: no process writes there once it has
// returned nil. A process of the host that was taken for lost (nmad.Config.Heartbeat) inside a copy of the kernel,
// for instance because it is stopped, would write when it goes on, so Close ends it by SIGKILL after a second. Where
// that is forbidden the memory stays pinned, and the error, a *nmad.PeerError, names the rank: then Close can be called
// again. Otherwise calling it again does nothing.
func (g *Region) Close() error {
	if g == nil || g.r == nil {
		return fmt.Errorf("rma: close a region: %w: there is none", ErrRef)
	}
	w, again := g.w, g.r.closed.Swap(true)
	if err := w.retire(g.index, g.r); err != nil {
		g.closeFailed.Store(true)
		return fmt.Errorf("rma: close a region of %d B: %w", g.r.size, err)
	}
	if again && !g.closeFailed.Swap(false) { // another thread's, or that of the World
		return nil
	}
	w.mu.Lock()
	w.vacate(g.index) // only now: the index is free
	w.used.regions--
	w.used.bytes -= g.r.size
	w.mu.Unlock()
	return nil
}
