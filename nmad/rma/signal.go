package rma

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// SignalOp is how PutSignal changes the word of the signal.
type SignalOp uint8

// The changes.
const (
	SignalSet SignalOp = iota // the word becomes v
	SignalAdd                 // v is added to the word
)

// Compare is a comparison for WaitSignal and TestSignal.
type Compare uint8

// The comparisons of the word with v, both unsigned.
const (
	EQ Compare = iota // word == v
	NE                // word != v
	GT                // word > v
	GE                // word >= v
	LT                // word < v
	LE                // word <= v
)

// holds reports whether the word compares so with v.
func (c Compare) holds(word, v uint64) bool {
	switch c {
	case EQ:
		return word == v
	case NE:
		return word != v
	case GT:
		return word > v
	case GE:
		return word >= v
	case LT:
		return word < v
	}
	return word <= v
}

// PutSignal writes src to dst as Put does, and then changes the signal, a word of 8 bytes of the same process: a thread
// that sees the new word sees src. It returns when both are remotely complete, and wakes the threads that wait for the
// signal (WaitSignal). src may be empty. Where both are mapped PutSignal is a copy, an atomic instruction and one load
// of a word of the other process.
func (d *Domain) PutSignal(dst Ref, src []byte, sig Ref, op SignalOp, v uint64) error {
	r, s := d.reach(dst, uint64(len(src))), d.reach(sig, 8)
	if r == nil || s == nil || dst.rank != sig.rank || !s.aligned(sig.offset, 8) || op > SignalAdd {
		return d.putSignal(dst, src, sig, op, v)
	}
	copyIn(r, dst.offset, src)
	d.signal(s, sig, op, v)
	return nil
}

// signal changes a word that is mapped, and wakes the threads that sleep until a signal comes to its process.
func (d *Domain) signal(s *region, sig Ref, op SignalOp, v uint64) {
	d.w.raceOrder.pass()
	word := s.word64(sig.offset)
	if op == SignalSet {
		word.Store(v) // a full fence, as Add is: it comes before the look at sleeping
	} else {
		word.Add(v)
	}
	runtime.KeepAlive(s) // it keeps the memory mapped
	if d.peers[sig.rank].page.sleeping().Load() != 0 {
		d.w.wake(int(sig.rank))
	}
}

// putSignal is PutSignal where one of the two is not mapped, or something is wrong.
func (d *Domain) putSignal(dst Ref, src []byte, sig Ref, op SignalOp, v uint64) error {
	try := attempt{"put with signal", dst, uint64(len(src))}
	y := attempt{"signal", sig, 8}
	switch {
	case op > SignalAdd:
		return y.fails(fmt.Errorf("%w: %d: give SignalSet or SignalAdd", ErrOp, op))
	case dst.rank != sig.rank:
		return try.fails(fmt.Errorf("%w: the signal is at rank %d: give one of the same rank", ErrRef, sig.rank))
	}
	r, err := d.plan(try)
	if err != nil {
		return err
	}
	s, err := d.plan(y)
	if err != nil {
		return err
	}
	if s.base != nil {
		if !s.aligned(sig.offset, 8) {
			return y.refusal(statusAlign, s.size)
		}
		if r.base != nil {
			copyIn(r, dst.offset, src)
		} else if err := d.put(dst, src); err != nil {
			return err
		}
		d.signal(s, sig, op, v)
		return nil
	}
	if d.peers[dst.rank].ways.knows(dst, try.n) != nil { // the network first, and then the signal by itself
		if err := d.put(dst, src); err != nil {
			return err
		}
		try.n, src = 0, nil
	}
	o, err := d.begin(try, askPut)
	if err != nil {
		return err
	}
	o.request.signals, o.request.op, o.request.operand, o.request.signalAt = true, AtomicOp(op), v, sig
	_, err = o.wait(src, nil)
	return err
}

// TestSignal returns the word at sig, 8 bytes of this process, and whether it compares so with v. It neither blocks nor
// polls.
func (d *Domain) TestSignal(sig Ref, cmp Compare, v uint64) (word uint64, is bool, err error) {
	s, err := d.own(sig, cmp)
	if err != nil {
		return 0, false, err
	}
	word = s.word64(sig.offset).Load()
	d.w.raceOrder.pass()
	runtime.KeepAlive(s)
	return word, cmp.holds(word, v), nil
}

// own returns the memory of a signal that the caller waits for: it must be this process's.
func (d *Domain) own(sig Ref, cmp Compare) (*region, error) {
	try := attempt{"wait for a signal", sig, 8}
	if cmp > LE {
		return nil, try.fails(fmt.Errorf("%w: comparison %d", ErrOp, cmp))
	}
	s, err := d.plan(try)
	switch {
	case err != nil:
		return nil, err
	case int(sig.rank) != d.w.rank:
		return nil, try.fails(fmt.Errorf("%w: a process waits for words of its own, this is rank %d", ErrRef, d.w.rank))
	case !s.aligned(sig.offset, 8):
		return nil, try.refusal(statusAlign, s.size)
	}
	return s, nil
}

// signalWait is one WaitSignal in progress. It is the waiter's alone.
type signalWait struct {
	w      *World
	memory *region
	offset uint64 // of the word in memory
	cmp    Compare
	v      uint64
	word   uint64      // as of the last look
	met    func() bool // look; made once, so that a wait allocates nothing
}

// signalWaits is the pool of those that are not in use.
var signalWaits = sync.Pool{New: func() any {
	x := &signalWait{}
	x.met = x.look
	return x
}}

// look reads the word, and reports whether the wait is over: the comparison holds, the memory or the World is closed, or
// all other processes are lost.
func (sw *signalWait) look() bool {
	sw.word = sw.memory.word64(sw.offset).Load()
	return sw.cmp.holds(sw.word, sw.v) || sw.w.closed.Load() || sw.memory.closed.Load() || sw.w.lastLoss.Load() != nil
}

// WaitSignal blocks the calling thread or goroutine until the word at sig, 8 bytes of this process, compares so with v,
// and returns the word. The data of the PutSignal that has changed it is there. WaitSignal polls as all waits do, and
// then the thread sleeps; a PutSignal of any process wakes it, other stores need not: WaitSignal sees them at its next
// look. It returns the cause when ctx, which may be nil, is done; ErrKey or ErrClosed when the memory or the World is
// closed; and a *nmad.PeerError when all other processes are lost. Any number of threads may wait for one word.
func (d *Domain) WaitSignal(ctx context.Context, sig Ref, cmp Compare, v uint64) (uint64, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	s, err := d.own(sig, cmp)
	if err != nil {
		return 0, err
	}
	if word := s.word64(sig.offset).Load(); cmp.holds(word, v) {
		d.w.raceOrder.pass()
		return word, nil
	}
	sw := signalWaits.Get().(*signalWait)
	sw.w, sw.memory, sw.offset, sw.cmp, sw.v = d.w, s, sig.offset, cmp, v
	err = sw.wait(ctx)
	word := sw.word
	sw.w, sw.memory = nil, nil
	signalWaits.Put(sw)
	d.w.raceOrder.pass()
	if err != nil {
		return word, attempt{"wait for a signal", sig, 8}.fails(err)
	}
	return word, nil
}

// wait waits until look returns true, or ctx is done, and returns why the comparison does not hold.
func (sw *signalWait) wait(ctx context.Context) error {
	w := sw.w
	sleeping := w.peers[w.rank].page.sleeping()
	for !w.pollUntil(sw.met, w.hasFar) {
		sleeping.Add(1) // before the look at the word: a signaler changes the word before it looks at sleeping
		err := w.signaled.wait(ctx, w.engine, sw.met)
		sleeping.Add(^uint64(0))
		if err != nil {
			return err
		}
	}
	switch {
	case sw.cmp.holds(sw.word, sw.v):
		return nil
	case w.closed.Load():
		return ErrClosed
	case sw.memory.closed.Load():
		return ErrKey
	}
	return *w.lastLoss.Load()
}
