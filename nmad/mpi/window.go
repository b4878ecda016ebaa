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

// Errors of windows, for errors.Is.
var (
	// ErrWindow: the window is nil, was freed, or lacks this call.
	ErrWindow = errors.New("window cannot be used")
	// ErrEpoch: the call does not go with the open epochs: an access outside of an epoch, an end without a beginning.
	ErrEpoch = errors.New("not in this epoch")
	// ErrRange: the access goes beyond the memory of the target, or to memory that is not attached.
	ErrRange = errors.New("beyond the memory of the window")
)

// Window is memory of all processes of a communicator that each of them reads, writes and combines with, without a call
// of the process that has the memory. NewAllocatedWindow, NewSharedWindow, NewWindow and NewDynamicWindow make one. Any
// number of threads and goroutines may use it at once, except for calls that all processes make.
//
// An access is made within an epoch: between two calls of Fence; between Start and Complete, with the targets of the
// group; between Lock and Unlock, with that target; or between LockAll and UnlockAll. It is done, and has stored what
// it has read, when the epoch ends, or a Flush within it returns. Until then its buffers belong to the window.
//
// Put and Get are not atomic. Accumulate, GetAccumulate, FetchAndOp and CompareAndSwap are atomic towards each other,
// element by element, if they give elements of one kind. Accesses of these kinds from one process to one element of a
// target happen in their order.
type Window struct {
	comm     *Comm // of the window alone; it has its name, hints and attributes
	windows  *windowGroup
	memory   *rma.World  // of windows
	domain   *rma.Domain // of the window alone
	kind     windowKind
	bytes    []byte       // the memory of this process
	part     *rma.Region  // by which other processes access it; in a window of NewSharedWindow rank 0 has that of all ranks
	words    wordPlace    // of the words of this process (window_words.go)
	table    *rma.Region  // of the words and the table of this process, in a window of NewDynamicWindow
	peers    []windowPeer // by rank
	serialMu marcel.Mutex // held by accumulates that rely on serial
	serial   atomic.Bool  // the program has promised Serialize; written under serialMu
	unmapped bool         // for tests: accesses do not use mappings of other processes' memory

	freed  atomic.Bool
	fenced atomic.Bool // Fence has opened an epoch

	mu            sync.Mutex // guards the fields below, and windowPeer.holds
	accessEpoch   groupEpoch // between Start and Complete
	exposureEpoch groupEpoch // between Post and Wait
	lockAlls      int        // how many LockAll have no UnlockAll yet
	noCheck       bool       // the first of these has the assertion NoCheck
	signals       []uint64   // two for each rank: how many of its posts Start has used, and how many of its completions Wait has
	attached      []attachedMemory
	handler       func(*Window, error) // of the program, for errors; or nil
	stop          func()               // ends the monitor of lost processes
	loss          context.Context      // ends when a process of the window is lost; then watch makes another one
	lose          context.CancelFunc   // ends loss; waiters then look which process is lost
}

// windowPeer is a process of a window as this process sees it.
type windowPeer struct {
	open      atomic.Int32                // how many epochs of this process allow accesses to the peer, not counting those of Fence
	runs      atomic.Uint64               // how many runs this process has begun to combine there by messages (combineRun)
	runsDone  atomic.Uint64               // how many of these are known to be done; at most runs
	unit      int                         // how many bytes a displacement counts there
	size      int                         // of its memory, in bytes
	ref       rma.Ref                     // of the first byte of its memory
	words     rma.Ref                     // of its words
	lost      atomic.Pointer[error]       // why the process is lost; nil: it lives
	holds     []hold                      // of its lock, by threads of this process; under Window.mu
	mu        marcel.Mutex                // guards joined
	joined    bool                        // the epoch of LockAll has its lock
	unchecked atomic.Bool                 // this process has set lockUnchecked in its lock
	seen      atomic.Pointer[attachments] // the table of a window of NewDynamicWindow, as it was read last
}

// groupEpoch is an epoch between Start and Complete, or Post and Wait.
type groupEpoch struct {
	open  bool
	ready bool // the call that opens it has returned, and no call is ending it
	ranks []int
}

// windowKind says which function has made a window.
type windowKind uint8

const (
	allocatedWindow windowKind = iota
	createdWindow
	sharedWindow
	dynamicWindow
)

// windowKindNames are the functions that make windows of each kind.
var windowKindNames = [...]string{allocatedWindow: "NewAllocatedWindow", createdWindow: "NewWindow", sharedWindow: "NewSharedWindow", dynamicWindow: "NewDynamicWindow"}

// Bytes returns the memory of this process; nil of a window of NewDynamicWindow. Memory that NewAllocatedWindow or
// NewSharedWindow has made must not be used after Free.
func (w *Window) Bytes() []byte {
	if w.usable() != nil {
		return nil
	}
	return w.bytes
}

// Comm returns a communicator of the window's processes that belongs to the window. It has the window's hints
// (Comm.SetInfo), and its attributes: k.Set(w.Comm(), v) attaches a value until Free. It must not be freed.
func (w *Window) Comm() *Comm { return w.comm }

// Group returns the processes of the window.
func (w *Window) Group() Group { return w.comm.group }

// Name returns what SetName has set.
func (w *Window) Name() string { return w.comm.Name() }

// SetName sets the name that String and error texts have.
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

// Extent returns how many bytes the memory of a rank has, and how many bytes a displacement counts there.
func (w *Window) Extent(rank int) (bytes, unit int, err error) {
	p, err := w.peer("extent", rank)
	if err != nil {
		return 0, 0, err
	}
	return p.size, p.unit, nil
}

// SetErrorHandler has f called with each error of the window, before the call returns it. Several threads may call f at
// once. Without a function (nil, as from the start) errors are only returned.
func (w *Window) SetErrorHandler(f func(w *Window, err error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handler = f
}

// handled passes an error to the handler of the program, if there is one, and returns it.
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

// Free ends the window. All its processes call it, and it returns when all have done so and their accesses are done. If
// an epoch is open here it returns ErrEpoch; the window is freed nevertheless.
func (w *Window) Free() error {
	if err := w.usable(); err != nil {
		return w.fails("free", err)
	}
	return w.unless("free", errors.Join(w.checkNoEpoch("free"), w.release()))
}

// release is Free without the check of epochs; it also ends a window that could not be made.
func (w *Window) release() error {
	w.mu.Lock()
	if w.stop != nil {
		w.stop()
		w.lose()
	}
	w.mu.Unlock()
	err := w.domain.FlushAll()
	clean, failed := w.leaveWindowGroup()
	w.freed.Store(true)
	err = errors.Join(err, failed, w.closeRegions())
	if clean && w.words.region != nil {
		w.comm.job.giveBackWords(w.windows, w.words)
	}
	w.comm.Free()
	return err
}

// closeRegions closes the regions by which other processes access the memory of this one.
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

// checkNoEpoch returns ErrEpoch if an epoch is open that Fence has not opened. what is the name of the call that asks.
func (w *Window) checkNoEpoch(what string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	open := ""
	switch {
	case w.accessEpoch.open:
		open = "Start, without Complete"
	case w.exposureEpoch.open:
		open = "Post, without Wait"
	case w.lockAlls > 0:
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

// usable returns why w cannot be used; nil: it can.
func (w *Window) usable() error {
	if w == nil {
		return fmt.Errorf("%w: it is nil", ErrWindow)
	}
	if w.freed.Load() {
		return fmt.Errorf("%w: it was freed", ErrWindow)
	}
	return nil
}

// peer returns the process of a rank, or an error. what is the name of the call that asks.
func (w *Window) peer(what string, rank int) (*windowPeer, error) {
	if err := w.usable(); err != nil {
		return nil, w.fails(what, err)
	}
	if uint(rank) >= uint(len(w.peers)) {
		return nil, w.fails(what, fmt.Errorf("%w: %d of %d", ErrRank, rank, len(w.peers)))
	}
	return &w.peers[rank], nil
}

// fails returns an error with the call and the window that it belongs to, and tells the error handler.
func (w *Window) fails(what string, err error) error {
	return w.handled(fmt.Errorf("mpi: %s, %v: %w", what, w, err))
}

// failsAt is fails of a call for a target.
func (w *Window) failsAt(what string, target int, err error) error {
	return w.handled(fmt.Errorf("mpi: %s, target %d, %v: %w", what, target, w, err))
}

// unless is fails, nil of nil.
func (w *Window) unless(what string, err error) error {
	if err == nil {
		return nil
	}
	return w.fails(what, err)
}

// unlessAt is failsAt, nil of nil.
func (w *Window) unlessAt(what string, target int, err error) error {
	if err == nil {
		return nil
	}
	return w.failsAt(what, target, err)
}

// watch begins to note which processes of the window are lost, until stop.
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
	for rank := range w.peers { // gates that have ended before
		if err := w.comm.gates[rank].Err(); err != nil && rank != w.comm.rank {
			w.peers[rank].lost.Store(&err)
		}
	}
}

// anyLost returns why a process of the window is lost; nil: all live.
func (w *Window) anyLost() error {
	for rank := range w.peers {
		if why := w.peers[rank].lost.Load(); why != nil {
			return fmt.Errorf("rank %d of the window may have it: %w", rank, *why)
		}
	}
	return nil
}
