package mpi

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/rma"
)

// All processes of the communicator call the same function to make a window. Each may give another size, and another
// unit, which is how many bytes a displacement counts. Every window has a communicator of its own. It shares a World of
// package rma with other windows of the same processes (windowGroup), so other processes take no part in making it.
// While there is a window, messages progress in the background.

// NewWindow makes a window of memory of the program, which must stay where it is until Free. Accesses of other
// processes to it cost a system call, or messages; memory of NewAllocatedWindow is faster.
func NewWindow(c *Comm, memory []byte, unit int) (*Window, error) {
	return c.window(createdWindow, len(memory), unit, func(w *Window, m *rma.World) (err error) {
		w.bytes = memory
		w.part, err = m.Register(memory)
		return err
	})
}

// NewAllocatedWindow makes a window with new memory, all zero. Processes of one host map it: accesses are loads and
// stores there.
func NewAllocatedWindow(c *Comm, bytes, unit int) (*Window, error) {
	return c.window(allocatedWindow, bytes, unit, func(w *Window, m *rma.World) (err error) {
		if w.part, err = m.Make(bytes); err == nil {
			w.bytes = w.part.Bytes()
		}
		return err
	})
}

// NewSharedWindow makes a window with new memory that all its processes read and write as their own: Window.Shared
// returns that of each rank. The parts of successive ranks lie behind each other without gaps. All processes are on one
// host, as in a communicator of Comm.SplitByHost; else ErrComm.
func NewSharedWindow(c *Comm, bytes, unit int) (*Window, error) {
	return c.window(sharedWindow, bytes, unit, nil)
}

// NewDynamicWindow makes a window without memory: Attach adds memory, and returns where it is.
func NewDynamicWindow(c *Comm) (*Window, error) {
	return c.window(dynamicWindow, 0, 1, func(*Window, *rma.World) error { return nil })
}

// windowCard is what a process tells the others of its part when a window is made.
type windowCard struct {
	Failed bool  // the process cannot take part
	Kind   uint8 // a windowKind
	Size   int64 // of its memory, in bytes
	Unit   int64 // how many bytes a displacement counts
	Memory [rma.RefBytes]byte
	Words  [rma.RefBytes]byte
}

// window makes a window. own makes the memory of this process; nil: rank 0 makes the memory of all ranks.
func (c *Comm) window(kind windowKind, bytes, unit int, own func(*Window, *rma.World) error) (*Window, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	fails := func(err error) (*Window, error) {
		return nil, c.handled(fmt.Errorf("mpi: new window (%s), %v: %w", windowKindNames[kind], c, err))
	}
	d, err := c.Create(c.group)
	if err != nil {
		return fails(err)
	}
	g, err := c.windowGroup()
	if err != nil {
		d.Free()
		return fails(err)
	}
	w := &Window{comm: d, windows: g, memory: g.memory, kind: kind, peers: make([]windowPeer, c.Size()), signals: make([]uint64, 2*c.Size())}
	w.domain, err = g.memory.Domain(rma.DomainConfig{})
	if err = w.make(c, bytes, unit, own, err); err != nil {
		return fails(errors.Join(err, w.release()))
	}
	return w, nil
}

// make makes the memory of this process, and learns where that of the others is. c is the communicator from which the
// window is made. err is why this process cannot take part; nil: it can. If make fails at one process it fails at all.
func (w *Window) make(c *Comm, bytes, unit int, own func(*Window, *rma.World) error, err error) error {
	var words rma.Ref
	card, all := windowCard{Kind: uint8(w.kind), Size: int64(bytes), Unit: int64(unit)}, make([]windowCard, w.comm.Size())
	if err == nil && (bytes < 0 || unit < 1) {
		err = fmt.Errorf("%w: %d B in units of %d: give 0 or more, and 1 or more", ErrCount, bytes, unit)
	}
	if err == nil {
		words, err = w.makeWords()
	}
	if err == nil && own != nil {
		err = own(w, w.memory)
	}
	_, _ = words.AppendBinary(card.Words[:0])
	if w.part != nil {
		_, _ = w.part.Ref(0).AppendBinary(card.Memory[:0])
	}
	card.Failed = err != nil
	if lost := Allgather(c, []windowCard{card}, all); lost != nil || err != nil {
		return errors.Join(err, lost)
	}
	for rank := range all {
		if err := w.learn(rank, &all[rank]); err != nil {
			return err
		}
	}
	if w.kind == sharedWindow {
		if err := w.share(c); err != nil {
			return err
		}
	}
	w.watch()
	return nil
}

// learn checks and keeps the card of a rank.
func (w *Window) learn(rank int, x *windowCard) error {
	p := &w.peers[rank]
	switch {
	case x.Failed:
		return fmt.Errorf("%w: rank %d has no memory for it", ErrElsewhere, rank)
	case windowKind(x.Kind) != w.kind:
		return fmt.Errorf("%w: rank %d makes another kind of window", ErrCall, rank)
	case x.Size < 0 || x.Size > rma.MaxBytes || x.Unit < 1:
		return fmt.Errorf("%w: rank %d has %d B in units of %d", ErrCount, rank, x.Size, x.Unit)
	}
	p.size, p.unit = int(x.Size), int(x.Unit)
	p.ref, _ = rma.ParseRef(x.Memory[:])
	p.words, _ = rma.ParseRef(x.Words[:])
	if p.words.Rank() != w.comm.group.job[rank] || w.part != nil && p.ref.Rank() != p.words.Rank() {
		return fmt.Errorf("%w: rank %d tells of memory of another process", ErrCall, rank)
	}
	return nil
}

// share makes the memory of all ranks at rank 0, and maps it at the others.
func (w *Window) share(c *Comm) (err error) {
	total := 0
	for rank := range w.peers {
		total += w.peers[rank].size
	}
	var ref [rma.RefBytes]byte
	if w.comm.rank == 0 {
		if w.part, err = w.memory.Make(total); err == nil {
			_, _ = w.part.Ref(0).AppendBinary(ref[:0])
		}
	}
	if lost := Bcast(c, ref[:], 0); lost != nil {
		return errors.Join(err, lost)
	}
	first, _ := rma.ParseRef(ref[:])
	all, mapped := w.domain.Local(first, total)
	shared, lost := agree(c.agree).all(mapped)
	if lost != nil || err != nil {
		return errors.Join(err, lost)
	}
	if !shared {
		return fmt.Errorf("%w: its processes share no memory: Comm.SplitByHost has those that can", ErrComm)
	}
	at := 0
	for rank := range w.peers {
		p := &w.peers[rank]
		p.ref = first.Add(int64(at))
		if rank == w.comm.rank {
			w.bytes = all[at : at+p.size : at+p.size]
		}
		at += p.size
	}
	return nil
}

// Shared returns the memory of a rank of a window of NewSharedWindow, for loads and stores. Of another window it
// returns the memory of this process only; other ranks are ErrWindow. A process sees the stores of another one after
// that one has called Sync, both have called Barrier (or one has sent the other a message), and the process itself has
// called Sync.
func (w *Window) Shared(rank int) ([]byte, error) {
	p, err := w.peer("shared", rank)
	switch {
	case err != nil:
		return nil, err
	case rank == w.comm.rank:
		return w.bytes, nil
	case w.kind != sharedWindow:
		return nil, w.failsAt("shared", rank, fmt.Errorf("%w: %s has made it, only NewSharedWindow makes memory that all use", ErrWindow, windowKindNames[w.kind]))
	}
	b, ok := w.domain.Local(p.ref, p.size)
	if !ok {
		return nil, w.failsAt("shared", rank, fmt.Errorf("%w: it is not mapped any more", ErrWindow))
	}
	return b, nil
}
