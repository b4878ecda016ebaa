package mpi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// What can go wrong with windows, for errors.Is.
var (
	// ErrWindow: there is no window, it was freed, or it is not one for that.
	ErrWindow = errors.New("window cannot be used")
	// ErrEpoch: the call does not go with the epochs that are open: an access outside of one, an end without a beginning.
	ErrEpoch = errors.New("not in this epoch")
	// ErrRange: the access goes beyond the memory of the target.
	ErrRange = errors.New("beyond the memory of the window")
)

// Window is memory of all processes of a communicator that each of them reads, writes and combines with, without a
// call of the process whose memory it is. NewAllocatedWindow, NewSharedWindow, NewWindow and NewDynamicWindow make one.
// Any number of threads and goroutines may use it at once, but for calls that all processes make.
//
// An access is made within an epoch: between two calls of Fence; between Start and Complete, with the targets of the
// group; between Lock and Unlock, with that target; or between LockAll and UnlockAll. It is done, and what it has
// read is there, when the epoch ends, or a Flush within it has returned. Until then its buffers are the window's.
//
// Put and Get are not atomic. Accumulate, GetAccumulate, FetchAndOp and CompareAndSwap are, element by element,
// towards each other, when all that meet give elements of one kind. Those of one process to one element of a target
// happen in their order.
type Window struct {
	comm   *Comm // of the window's own, with its name, hints and attributes
	ground *ground
	memory *rma.World  // of the ground
	domain *rma.Domain // of the window's own
	form   windowKind
	own    []byte // memory of this process
	part   *rma.Region
	words  wordPlace   // those by which the processes agree; see window_words.go
	table  *rma.Region // likewise, of a window of NewDynamicWindow
	peers  []windowPeer
	plain  marcel.Mutex // of accumulates that rely on serial
	serial atomic.Bool  // the threads of this process use it one at a time; written under plain; see Serialize
	apart  bool         // what others have is not copied by way of mappings; for tests

	freed  atomic.Bool
	fenced atomic.Bool // Fence has opened an epoch

	mu       sync.Mutex
	started  groupEpoch // by Start; under mu
	exposed  groupEpoch // by Post; under mu
	all      int        // LockAll without an UnlockAll; under mu
	noCheck  bool       // of these; under mu
	used     []uint64   // of each rank: posts that Start has used, and ends that Wait has; under mu
	attached []attachedMemory
	handler  func(*Window, error)
	stop     func() // the monitor
	loss     context.Context
	lose     context.CancelFunc // ends loss, and with it all waits, which look again
}

// windowPeer is a process of a window.
type windowPeer struct {
	open      atomic.Int32  // epochs of this process in which it may be accessed, but for those of Fence
	runs      atomic.Uint64 // accumulates of many words by messages that have begun there
	waited    atomic.Uint64 // of these, how many are known to be done
	unit      int
	size      int // bytes
	ref       rma.Ref
	words     rma.Ref
	lost      atomic.Pointer[error]
	holds     []hold       // of its lock; under Window.mu
	mu        marcel.Mutex // of joined
	joined    bool         // LockAll has taken its lock
	unchecked atomic.Bool  // its lock says that this process may have it without having taken it
	seen      atomic.Pointer[attachments]
}

// groupEpoch is an epoch between Start and Complete, or Post and Wait.
type groupEpoch struct {
	open  bool
	ready bool // it is no longer being opened
	ranks []int
}

// windowKind is how a window has its memory.
type windowKind uint8

const (
	allocated windowKind = iota
	created
	shares
	dynamic
)

var windowKindNames = [...]string{allocated: "NewAllocatedWindow", created: "NewWindow", shares: "NewSharedWindow", dynamic: "NewDynamicWindow"}

// Bytes returns the memory of this process, nil of a window of NewDynamicWindow. What NewAllocatedWindow and NewSharedWindow
// have made must not be used any more after Free.
func (w *Window) Bytes() []byte {
	if w.usable() != nil {
		return nil
	}
	return w.own
}

// Comm returns the communicator of the window's own. It has the window's hints (Comm.SetInfo) and the values of its
// attributes: k.Set(w.Comm(), v) keeps one under a Key until Free. Its collective operations are those of the window.
func (w *Window) Comm() *Comm { return w.comm }

// Group returns the processes of the window.
func (w *Window) Group() Group { return w.comm.group }

// Name returns what SetName has set.
func (w *Window) Name() string { return w.comm.Name() }

// SetName sets a name for people.
func (w *Window) SetName(name string) { w.comm.SetName(name) }

// String describes the window for people.
func (w *Window) String() string {
	if w == nil {
		return "no window"
	}
	if name := w.Name(); name != "" {
		return fmt.Sprintf("window %q, rank %d of %d", name, w.comm.rank, w.comm.Size())
	}
	return fmt.Sprintf("window %d, rank %d of %d", w.comm.number, w.comm.rank, w.comm.Size())
}

// Extent returns how many bytes the memory of a rank has, and how many of them a displacement counts.
func (w *Window) Extent(rank int) (bytes, unit int, err error) {
	p, err := w.peer("extent", rank)
	if err != nil {
		return 0, 0, err
	}
	return p.size, p.unit, nil
}

// SetErrorHandler has f told of each error of the window before the call returns it; nil: it is returned only, as
// from the start.
func (w *Window) SetErrorHandler(f func(w *Window, err error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handler = f
}

func (w *Window) handled(err error) error {
	if w == nil || err == nil {
		return err
	}
	w.mu.Lock()
	f := w.handler
	w.mu.Unlock()
	if f != nil {
		f(w, err)
	}
	return err
}

// Free ends the window at all processes, which all call it, when their accesses are done. It returns once all have.
// It is ErrEpoch if an epoch is open here; the window is freed all the same.
func (w *Window) Free() error {
	if err := w.usable(); err != nil {
		return w.fails("free", err)
	}
	return w.unless("free", errors.Join(w.within("free"), w.release()))
}

// release ends the window, once its processes all call it.
func (w *Window) release() error {
	w.mu.Lock()
	if w.stop != nil {
		w.stop()
		w.lose()
	}
	w.mu.Unlock()
	err := w.domain.FlushAll()
	clean, failed := w.leaveGround()
	w.freed.Store(true)
	err = errors.Join(err, failed, w.closeRegions())
	if clean && w.words.region != nil {
		w.comm.job.giveBackWords(w.ground, w.words)
	}
	w.comm.Free()
	return err
}

// closeRegions takes the memory back that other processes reach.
func (w *Window) closeRegions() (err error) {
	w.mu.Lock()
	all := []*rma.Region{w.part, w.table}
	for _, x := range w.attached {
		all = append(all, x.region)
	}
	w.attached = nil
	w.mu.Unlock()
	for _, r := range all {
		if r != nil {
			err = errors.Join(err, r.Close())
		}
	}
	return err
}

// within says which epoch is open that is not one of Fence; nil: there is none.
func (w *Window) within(what string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	open := ""
	switch {
	case w.started.open:
		open = "Start, without Complete"
	case w.exposed.open:
		open = "Post, without Wait"
	case w.all > 0:
		open = "LockAll, without UnlockAll"
	}
	for rank := range w.peers {
		if len(w.peers[rank].holds) > 0 {
			open = fmt.Sprintf("Lock of rank %d, without Unlock", rank)
		}
	}
	if open == "" {
		return nil
	}
	return fmt.Errorf("%w: %s after %s", ErrEpoch, what, open)
}

// usable says why w cannot be used; nil: it can.
func (w *Window) usable() error {
	if w == nil {
		return fmt.Errorf("%w: there is none", ErrWindow)
	}
	if w.freed.Load() {
		return fmt.Errorf("%w: it was freed", ErrWindow)
	}
	return nil
}

// peer is a process of the window.
func (w *Window) peer(what string, rank int) (*windowPeer, error) {
	if err := w.usable(); err != nil {
		return nil, w.fails(what, err)
	}
	if uint(rank) >= uint(len(w.peers)) {
		return nil, w.fails(what, fmt.Errorf("%w: %d of %d", ErrRank, rank, len(w.peers)))
	}
	return &w.peers[rank], nil
}

// fails is the error of a call.
func (w *Window) fails(what string, err error) error {
	return w.handled(fmt.Errorf("mpi: %s, %v: %w", what, w, err))
}

// failsAt is the error of a call for a target.
func (w *Window) failsAt(what string, target int, err error) error {
	return w.handled(fmt.Errorf("mpi: %s, target %d, %v: %w", what, target, w, err))
}

// unless is fails if there is an error.
func (w *Window) unless(what string, err error) error {
	if err == nil {
		return nil
	}
	return w.fails(what, err)
}

// unlessAt is failsAt if there is an error.
func (w *Window) unlessAt(what string, target int, err error) error {
	if err == nil {
		return nil
	}
	return w.failsAt(what, target, err)
}

// watch hears which processes of the window are lost.
func (w *Window) watch() {
	w.loss, w.lose = context.WithCancel(context.Background())
	s := w.comm.job.session
	w.stop = s.Monitor(nmad.GateEnded, func(e nmad.Event) {
		p := e.Gate.Rank()
		if p < 0 || p >= len(w.comm.rankOf) || e.Gate != s.Gate(p) || w.comm.rankOf[p] == Undefined || w.comm.rankOf[p] == int32(w.comm.rank) {
			return
		}
		why := e.Gate.Err()
		if why == nil {
			why = e.Err
		}
		if why != nil {
			w.peers[w.comm.rankOf[p]].lost.Store(&why)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lose()
		w.loss, w.lose = context.WithCancel(context.Background())
	})
	for rank := range w.peers { // what has ended before
		if err := w.comm.gates[rank].Err(); err != nil && rank != w.comm.rank {
			w.peers[rank].lost.Store(&err)
		}
	}
}

// anyLost is why a process of the window is lost; nil: all live.
func (w *Window) anyLost() error {
	for rank := range w.peers {
		if why := w.peers[rank].lost.Load(); why != nil {
			return fmt.Errorf("rank %d of the window may have it: %w", rank, *why)
		}
	}
	return nil
}
