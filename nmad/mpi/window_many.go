package mpi

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/rma"
)

// manyBytes is from how many bytes of words on it pays to look whether no other process can access the target.
const manyBytes = 1 << 10

// many combines words.
func (w *Window) many(a aim, op *Op, of *datatype.Type, origin, result Buffer) error {
	if w.serial.Load() && a.size() >= manyBytes {
		if done, err := w.plainly(a, op, of, origin, result); done {
			return err
		}
	}
	return w.atomics(a, op, of.Uniform(), origin, result)
}

// plainly combines words without atomics, if nothing else can access the target.
func (w *Window) plainly(a aim, op *Op, of *datatype.Type, origin, result Buffer) (done bool, err error) {
	w.plain.Lock()
	defer w.plain.Unlock()
	if !w.serial.Load() {
		return false, nil
	}
	release, ok := w.alone(a.target)
	if !ok {
		return false, nil
	}
	if err = w.domain.Flush(w.process(a.target)); err == nil { // what goes by messages, of one word, comes first
		err = w.combine(a, op, of, origin, result)
	}
	return true, errors.Join(err, release())
}

// atomics combines words by an atomic each.
func (w *Window) atomics(a aim, op *Op, k datatype.Kind, origin, result Buffer) (err error) {
	values, ok := origin.Dense()
	if !ok {
		values = make([]byte, origin.Size())
		origin.Pack(0, values)
	}
	var olds []byte
	scattered := false
	if result.Type != nil {
		if olds, ok = result.Dense(); !ok {
			olds, scattered = make([]byte, len(values)), true
		}
	}
	if a.over == nil && datatype.Flat(a.count, a.t) {
		err = w.runOf(op, k, a.target, a.at, values, olds)
	} else {
		err = w.runsOf(op, k, a, values, olds)
	}
	if err != nil {
		return err
	}
	if olds != nil {
		if err := w.domain.Flush(w.process(a.target)); err != nil {
			return err
		}
	}
	if scattered {
		result.Unpack(0, olds)
	}
	return nil
}

// runsOf combines words that lie in several pieces.
func (w *Window) runsOf(op *Op, k datatype.Kind, a aim, values, olds []byte) (err error) {
	_, near := w.mapped(a)
	g := wordRuns{w: w, op: op, k: k, a: &a, values: values, olds: olds, alone: near || a.over != nil}
	i := 0
	datatype.Stretches(a.count, a.t, 0, func(at, n int) bool {
		err = g.add(wordRun{at, n, i})
		i += n
		return err == nil
	})
	if err != nil {
		return err
	}
	return g.flush()
}

// inOrder is called before an accumulate. It waits for the messages of many words that came before: without room at
// the target such a message is only announced, and a later, shorter one would overtake it.
func (w *Window) inOrder(target int) error {
	if p := &w.peers[target]; p.waited.Load() < p.runs.Load() {
		return w.afterRuns(p)
	}
	return nil
}

// afterRuns waits until the runs that have begun are over. Each thread waits for itself, since another one that
// waits, too, may not have come to the end.
func (w *Window) afterRuns(p *windowPeer) error {
	begun := p.runs.Load()
	err := w.domain.Flush(p.words.Rank())
	for was := p.waited.Load(); was < begun && !p.waited.CompareAndSwap(was, begun); was = p.waited.Load() {
	}
	return err
}

// errApart: a word has its bytes in two pieces of memory, which no atomic changes.
var errApart = fmt.Errorf("%w: an element lies across two pieces of memory that were attached: attach them as one", ErrRange)

// whole returns why an access of one word cannot be; nil: it can.
func (a *aim) whole() error {
	if a.over != nil {
		return errApart
	}
	return nil
}

// runOf combines words that lie one behind the other. olds, if it is not nil, gets what was there before, by the next
// Flush.
func (w *Window) runOf(op *Op, k datatype.Kind, target int, at rma.Ref, values, olds []byte) error {
	there, near := w.domain.Local(at, len(values))
	near = near && !w.apart && numberOf(there)%k.Size() == 0
	o, ok := atomicOf(op)
	switch {
	case near && op == NoOp:
		copy(olds, there) // whole words, as rma has it
		return nil
	case near && op == Replace && olds == nil:
		storeWords(k.Size(), there, values)
		return nil
	case op == NoOp:
		return w.look(k, at, olds)
	case !ok:
		return w.swaps(op, k, target, at, values, olds)
	}
	if !near {
		defer w.peers[target].runs.Add(1) // when they have begun: a thread that waits earlier does not wait for them
	}
	d := w.domain
	switch k {
	case datatype.Int32:
		return rma.Combine(d, o, at, wordsOf[int32](values), wordsOf[int32](olds))
	case datatype.Int64:
		return rma.Combine(d, o, at, wordsOf[int64](values), wordsOf[int64](olds))
	case datatype.Uint32:
		return rma.Combine(d, o, at, wordsOf[uint32](values), wordsOf[uint32](olds))
	case datatype.Uint64:
		return rma.Combine(d, o, at, wordsOf[uint64](values), wordsOf[uint64](olds))
	case datatype.Float32:
		return rma.Combine(d, o, at, wordsOf[float32](values), wordsOf[float32](olds))
	}
	return rma.Combine(d, o, at, wordsOf[float64](values), wordsOf[float64](olds))
}

// storeWords writes each word once, as a whole. copy may write some bytes twice, and so undo what another process has
// stored between.
func storeWords(size int, there, values []byte) {
	for n := 0; len(values) > 0; there, values = there[n:], values[n:] {
		n = min(len(values), wordsAtOnce)
		if size == 4 {
			storeEach(wordsOf[uint32](there[:n]), wordsOf[uint32](values[:n]))
		} else {
			storeEach(wordsOf[uint64](there[:n]), wordsOf[uint64](values[:n]))
		}
	}
}

// wordsAtOnce is how many bytes of words are written without a point at which the collector can stop the thread.
const wordsAtOnce = 64 << 10

//go:noinline
func storeEach[T uint32 | uint64](there, values []T) {
	for len(values) >= 4 && len(there) >= 4 {
		there[0], there[1], there[2], there[3] = values[0], values[1], values[2], values[3]
		there, values = there[4:], values[4:]
	}
	for i, v := range values[:len(there)] {
		there[i] = v
	}
}

// wordsOf is bytes as words, nil of nil.
func wordsOf[T rma.Word](b []byte) []T {
	return datatype.Slice[T](datatype.AddressOf(b), len(b)/sizeOf[T]())
}

// look reads words in the order of what this process changes there, by an atomic that leaves them.
func (w *Window) look(k datatype.Kind, at rma.Ref, olds []byte) error {
	nothing := make([]byte, len(olds))
	if k.Size() == 4 {
		return rma.Combine(w.domain, rma.Or, at, wordsOf[uint32](nothing), wordsOf[uint32](olds))
	}
	return rma.Combine(w.domain, rma.Or, at, wordsOf[uint64](nothing), wordsOf[uint64](olds))
}

// swaps combines words by an operation that is no atomic.
func (w *Window) swaps(op *Op, k datatype.Kind, target int, at rma.Ref, values, olds []byte) error {
	for i := 0; i < len(values); i += swapBytes {
		n := min(swapBytes, len(values)-i)
		if err := w.swapPiece(op, k, target, at.Add(int64(i)), n, []wordRun{{0, n, i}}, values, olds); err != nil {
			return err
		}
	}
	return nil
}

// Serialize with true promises that from here on threads of this process use the window one at a time. Long
// accumulates within an epoch of Lock or LockAll, while no other process has the lock of their target, are faster
// then: they need no atomics. With false it takes that back, and waits until none is under way that relies on it.
func (w *Window) Serialize(promised bool) {
	if w == nil {
		return
	}
	w.plain.Lock()
	defer w.plain.Unlock()
	w.serial.Store(promised)
}

// alone makes sure, if it can, that nothing else accesses the memory of a target until release is called. This
// process has the lock of the target then, exclusively, or as the only one while no other gets it. A bit of the lock
// tells of processes that access the target without having taken it (NoCheck).
func (w *Window) alone(target int) (release func() error, ok bool) {
	p := &w.peers[target]
	if _, near := w.domain.Local(p.words, signalsAt); !near {
		return nil, false // to look takes as long as the access
	}
	w.mu.Lock()
	shared, exclusive := p.joined && !w.noCheck, false
	for _, x := range p.holds {
		shared = shared || x.kind == LockShared && !x.without
		exclusive = exclusive || x.kind == LockExclusive
	}
	w.mu.Unlock()
	if exclusive {
		return func() error { return nil }, true
	}
	if !shared || w.fenced.Load() {
		return nil, false
	}
	at, mine := w.word(target, lockAt), (uint64(w.comm.rank)+1)*lockOwner
	was, err := rma.Load[uint64](w.domain, at)
	if err != nil || was&(lockHeld|lockUnchecked) != 1 {
		return nil, false
	}
	if now, err := rma.CompareAndSwap(w.domain, at, was, was+mine); err != nil || now != was {
		return nil, false
	}
	return func() error { return rma.Post(w.domain, rma.Sub, at, mine) }, true
}
