package rma

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// SignalOp is what PutSignal does to the signal's word.
type SignalOp uint8

// The signals.
const (
	SignalSet SignalOp = iota // the word becomes v
	SignalAdd                 // v is added to the word
)

// Compare is what WaitSignal waits for.
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

// PutSignal writes src to dst as Put does, and then changes the signal, a word of 8 bytes of the same process, so
// that what sees the signal sees src. It returns when both are remotely complete. src may be empty. A thread that
// waits for the signal (WaitSignal) is woken. Where both are mapped it is a copy, an atomic instruction and one look
// at a word of the other process.
func (d *Domain) PutSignal(dst Ref, src []byte, sig Ref, op SignalOp, v uint64) error {
	r, s := d.reach(dst, uint64(len(src))), d.reach(sig, 8)
	if r == nil || s == nil || dst.rank != sig.rank || !s.aligned(sig.offset, 8) || op > SignalAdd {
		return d.putSignal(dst, src, sig, op, v)
	}
	copyIn(r, dst.offset, src)
	d.signal(s, sig, op, v)
	return nil
}

// signal changes a word that is mapped, and wakes what sleeps for it.
func (d *Domain) signal(s *region, sig Ref, op SignalOp, v uint64) {
	word := s.word64(sig.offset)
	if op == SignalSet {
		word.Store(v) // a full fence, as Add is: it comes before the look at sleeping
	} else {
		word.Add(v)
	}
	runtime.KeepAlive(s) // and its addresses
	if d.peers[sig.rank].page.sleeping().Load() != 0 {
		d.w.wake(int(sig.rank))
	}
}

func (d *Domain) putSignal(dst Ref, src []byte, sig Ref, op SignalOp, v uint64) error {
	x := attempt{"put with signal", dst, uint64(len(src))}
	y := attempt{"signal", sig, 8}
	switch {
	case op > SignalAdd:
		return y.fails(fmt.Errorf("%w: %d: give SignalSet or SignalAdd", ErrOp, op))
	case dst.rank != sig.rank:
		return x.fails(fmt.Errorf("%w: the signal is at rank %d: give one of the same rank", ErrRef, sig.rank))
	}
	r, err := d.plan(x)
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
	o, err := d.begin(x, askPut)
	if err != nil {
		return err
	}
	o.q.signals, o.q.op, o.q.v, o.q.sig = true, Op(op), v, sig
	_, err = o.wait(src, nil)
	return err
}

// TestSignal says whether the word at sig, of this process, compares so with v, and what it is. It does not poll.
func (d *Domain) TestSignal(sig Ref, cmp Compare, v uint64) (word uint64, is bool, err error) {
	s, err := d.own(sig, cmp)
	if err != nil {
		return 0, false, err
	}
	word = s.word64(sig.offset).Load()
	runtime.KeepAlive(s)
	return word, cmp.holds(word, v), nil
}

// own is the memory of a signal of this process.
func (d *Domain) own(sig Ref, cmp Compare) (*region, error) {
	x := attempt{"wait for a signal", sig, 8}
	if cmp > LE {
		return nil, x.fails(fmt.Errorf("%w: comparison %d", ErrOp, cmp))
	}
	s, err := d.plan(x)
	switch {
	case err != nil:
		return nil, err
	case int(sig.rank) != d.w.rank:
		return nil, x.fails(fmt.Errorf("%w: a process waits for words of its own, this is rank %d", ErrRef, d.w.rank))
	case !s.aligned(sig.offset, 8):
		return nil, x.refusal(statusAlign, s.size)
	}
	return s, nil
}

// signalWait is one WaitSignal in progress.
type signalWait struct {
	w      *World
	s      *region
	offset uint64
	cmp    Compare
	v      uint64
	word   uint64
	met    func() bool // look
}

var signalWaits = sync.Pool{New: func() any {
	x := &signalWait{}
	x.met = x.look
	return x
}}

// look says whether to wait no longer.
func (sw *signalWait) look() bool {
	sw.word = sw.s.word64(sw.offset).Load()
	return sw.cmp.holds(sw.word, sw.v) || sw.w.closed.Load() || sw.s.closed.Load() || sw.w.last.Load() != nil
}

// WaitSignal waits until the word at sig, 8 bytes of this process, compares so with v, and returns the word. The data
// of a PutSignal that has brought it about is there. It polls as all waits do, and then the thread sleeps; PutSignal
// of any process wakes it, other stores need not: they are seen when it looks next. It ends when ctx is done, with
// the cause; when the memory or the World is closed; and with a *PeerError when all other processes are lost. Any
// number of threads may wait for one word.
func (d *Domain) WaitSignal(ctx context.Context, sig Ref, cmp Compare, v uint64) (uint64, error) {
	s, err := d.own(sig, cmp)
	if err != nil {
		return 0, err
	}
	if word := s.word64(sig.offset).Load(); cmp.holds(word, v) {
		return word, nil
	}
	x := signalWaits.Get().(*signalWait)
	x.w, x.s, x.offset, x.cmp, x.v = d.w, s, sig.offset, cmp, v
	err = x.wait(ctx)
	word := x.word
	x.w, x.s = nil, nil
	signalWaits.Put(x)
	if err != nil {
		return word, attempt{"wait for a signal", sig, 8}.fails(err)
	}
	return word, nil
}

func (sw *signalWait) wait(ctx context.Context) error {
	w := sw.w
	sleeping := w.peers[w.rank].page.sleeping()
	for !w.pollUntil(sw.met, w.far) {
		sleeping.Add(1) // before the look: a signaller stores, and then looks at this
		err := w.signalled.wait(ctx, w.engine, sw.met)
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
	case sw.s.closed.Load():
		return ErrKey
	}
	return *w.last.Load()
}
