package mpi

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/rma"
)

// manyBytes is the size of an accumulate, in bytes, from which on combineMany tries to be alone at the target, which
// costs a look at the lock.
const manyBytes = 1 << 10

// combineMany is an accumulate of several words, by atomics if other threads may access the target meanwhile.
func (w *Window) combineMany(a access, op *Op, of *datatype.Type, origin, result Buffer) error {
	if w.serial.Load() && a.size() >= manyBytes {
		if done, err := w.combineAlone(a, op, of, origin, result); done {
			return err
		}
	}
	return w.combineWords(a, op, of.Uniform(), origin, result)
}

// combineAlone combines words without atomics, if no other thread can access the target. done: it has done so, or
// failed.
func (w *Window) combineAlone(a access, op *Op, of *datatype.Type, origin, result Buffer) (done bool, err error) {
	w.serialMu.Lock()
	defer w.serialMu.Unlock()
	if !w.serial.Load() {
		return false, nil
	}
	release, ok := w.excludeOthers(a.target)
	if !ok {
		return false, nil
	}
	if err = w.domain.Flush(w.process(a.target)); err == nil { // earlier accumulates of one word, by messages, come first
		err = w.combine(a, op, of, origin, result)
	}
	return true, errors.Join(err, release())
}

// combineWords combines words by an atomic for each.
func (w *Window) combineWords(a access, op *Op, k datatype.Kind, origin, result Buffer) (err error) {
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
	if a.parts == nil && datatype.Flat(a.count, a.datatype) {
		err = w.combineRun(op, k, a.target, a.at, values, olds)
	} else {
		err = w.combineRuns(op, k, a, values, olds)
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

// combineRuns combines words that lie in several runs at the target.
func (w *Window) combineRuns(op *Op, k datatype.Kind, a access, values, olds []byte) (err error) {
	_, mapped := w.mapped(a)
	g := wordRuns{window: w, op: op, kind: k, access: &a, values: values, olds: olds, direct: mapped || a.parts != nil}
	i := 0
	datatype.Stretches(a.count, a.datatype, 0, func(at, n int) bool {
		err = g.add(wordRun{at, n, i})
		i += n
		return err == nil
	})
	if err != nil {
		return err
	}
	return g.flush()
}

// awaitRuns is called before an accumulate. It waits until earlier messages of many words are done: if the target has
// no room for such a message the sender only announces the message, and a later, shorter one would overtake it.
func (w *Window) awaitRuns(target int) error {
	if p := &w.peers[target]; p.runsDone.Load() < p.runs.Load() {
		return w.flushRuns(p)
	}
	return nil
}

// flushRuns waits until the runs at a peer that have begun are done. Each thread that finds some not done flushes
// itself: runsDone changes only after a flush, so a thread cannot know of the flush of another thread that has not
// returned.
func (w *Window) flushRuns(p *windowPeer) error {
	begun := p.runs.Load()
	err := w.domain.Flush(p.words.Rank())
	for old := p.runsDone.Load(); old < begun && !p.runsDone.CompareAndSwap(old, begun); old = p.runsDone.Load() {
	}
	return err
}

// errApart says that the bytes of a word lie in two pieces of attached memory. No atomic changes such a word.
var errApart = fmt.Errorf("%w: an element lies across two pieces of memory that were attached: attach them as one", ErrRange)

// checkWhole returns errApart if an access of one word uses two pieces of memory; else nil.
func (a *access) checkWhole() error {
	if a.parts != nil {
		return errApart
	}
	return nil
}

// combineRun combines words that lie one behind the other. olds, if it is not nil, has what the words were before once
// the next Flush has returned.
func (w *Window) combineRun(op *Op, k datatype.Kind, target int, at rma.Ref, values, olds []byte) error {
	there, mapped := w.domain.Local(at, len(values))
	mapped = mapped && !w.unmapped && numberOf(there)%k.Size() == 0
	o, ok := atomicOf(op)
	switch {
	case mapped && op == NoOp:
		copy(olds, there) // copy reads whole words, as package rma also relies on
		return nil
	case mapped && op == Replace && olds == nil:
		storeWords(k.Size(), there, values)
		return nil
	case op == NoOp:
		return w.readWords(k, at, olds)
	case !ok:
		return w.combineBySwaps(op, k, target, at, values, olds)
	}
	if !mapped {
		defer w.peers[target].runs.Add(1) // after they have begun: flushRuns waits for what has begun
	}
	d := w.domain
	switch k {
	case datatype.Int32:
		return rma.CombineNBI(d, o, at, wordsOf[int32](values), wordsOf[int32](olds))
	case datatype.Int64:
		return rma.CombineNBI(d, o, at, wordsOf[int64](values), wordsOf[int64](olds))
	case datatype.Uint32:
		return rma.CombineNBI(d, o, at, wordsOf[uint32](values), wordsOf[uint32](olds))
	case datatype.Uint64:
		return rma.CombineNBI(d, o, at, wordsOf[uint64](values), wordsOf[uint64](olds))
	case datatype.Float32:
		return rma.CombineNBI(d, o, at, wordsOf[float32](values), wordsOf[float32](olds))
	}
	return rma.CombineNBI(d, o, at, wordsOf[float64](values), wordsOf[float64](olds))
}

// storeWords writes each word once, as a whole. (copy may write some bytes twice, and so undo what another process has
// stored between the two writes.)
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

// wordsAtOnce is how many bytes storeEach writes at most in a call: the garbage collector cannot stop a thread inside
// its loop.
const wordsAtOnce = 64 << 10

// storeEach is storeWords for words of one size.
//
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

// wordsOf returns bytes as words, nil of nil.
func wordsOf[T rma.Word](b []byte) []T {
	return datatype.Slice[T](datatype.AddressOf(b), len(b)/sizeOf[T]())
}

// readWords reads words into olds by an atomic that does not change them, so that the read is in order with the other
// accumulates of this process.
func (w *Window) readWords(k datatype.Kind, at rma.Ref, olds []byte) error {
	nothing := make([]byte, len(olds))
	if k.Size() == 4 {
		return rma.CombineNBI(w.domain, rma.Or, at, wordsOf[uint32](nothing), wordsOf[uint32](olds))
	}
	return rma.CombineNBI(w.domain, rma.Or, at, wordsOf[uint64](nothing), wordsOf[uint64](olds))
}

// combineBySwaps combines words by an operation that no atomic computes.
func (w *Window) combineBySwaps(op *Op, k datatype.Kind, target int, at rma.Ref, values, olds []byte) error {
	for i := 0; i < len(values); i += swapBytes {
		n := min(swapBytes, len(values)-i)
		if err := w.swapPiece(op, k, target, at.Add(int64(i)), n, []wordRun{{0, n, i}}, values, olds); err != nil {
			return err
		}
	}
	return nil
}

// Serialize with true promises that from now on threads of this process use the window one at a time. Then long
// accumulates in an epoch of Lock or LockAll are faster while no other process has the lock of their target: they need
// no atomics. With false it takes the promise back, and waits for accumulates that rely on it.
func (w *Window) Serialize(promised bool) {
	if w == nil {
		return
	}
	w.serialMu.Lock()
	defer w.serialMu.Unlock()
	w.serial.Store(promised)
}

// excludeOthers makes sure, if it can, that no other thread accesses the memory of a target until release is called:
// this process has the lock of the target exclusively, or has the only shared lock and lets no other thread take the
// lock meanwhile. It cannot if a process has ever accessed the target without the lock (lockUnchecked); then ok is
// false.
func (w *Window) excludeOthers(target int) (release func() error, ok bool) {
	p := &w.peers[target]
	if _, mapped := w.domain.Local(p.words, signalsAt); !mapped {
		return nil, false // a look at the lock takes as long as the access
	}
	w.mu.Lock()
	shared, exclusive := p.joined && !w.noCheck, false
	for _, x := range p.holds {
		shared = shared || x.kind == LockShared && !x.noCheck
		exclusive = exclusive || x.kind == LockExclusive
	}
	w.mu.Unlock()
	if exclusive {
		return func() error { return nil }, true
	}
	if !shared || w.fenced.Load() {
		return nil, false
	}
	at, owner := w.word(target, lockAt), (uint64(w.comm.rank)+1)*lockOwner
	old, err := rma.Load[uint64](w.domain, at)
	if err != nil || old&(lockHeld|lockUnchecked) != 1 {
		return nil, false
	}
	if found, err := rma.CompareAndSwap(w.domain, at, old, old+owner); err != nil || found != old {
		return nil, false
	}
	return func() error { return rma.UpdateNBI(w.domain, rma.Sub, at, owner) }, true
}
