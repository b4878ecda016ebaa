package mpi

import (
	"bytes"
	"errors"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/rma"
)

// wordRun is words of an accumulate that lie one behind the other at the target. All fields are in bytes.
type wordRun struct {
	at   int // displacement of the first word from the address of the elements
	n    int // length of the run
	data int // where the operands of the run begin in the data of origin
}

// wordRuns combines the runs of an accumulate. Short runs that are close together share a piece of memory, which one
// message of swaps changes: words between the runs are swapped with themselves, so they keep what other threads store
// there.
type wordRuns struct {
	window *Window
	op     *Op
	kind   datatype.Kind // of the words
	access *access
	values []byte    // operands
	olds   []byte    // gets what the words were before; nil: that is not asked for
	direct bool      // each run is combined by itself
	runs   []wordRun // of the current piece
}

// Sizes, in bytes.
const (
	swapBytes  = 4 << 10 // the longest piece
	shortRun   = 256     // shorter runs share a piece
	longestGap = 32      // the longest gap between two runs of a piece: to swap a longer one costs more than another message
)

// add adds a run to the current piece, or begins another piece with it.
func (rs *wordRuns) add(r wordRun) error {
	if rs.direct || r.n >= shortRun {
		return errors.Join(rs.flush(), rs.run(r))
	}
	if n := len(rs.runs); n > 0 {
		gap, first := r.at-rs.runs[n-1].at-rs.runs[n-1].n, rs.runs[0].at
		if gap < 0 || gap > longestGap || r.at+r.n-first > swapBytes || (r.at-first)%rs.kind.Size() != 0 {
			if err := rs.flush(); err != nil {
				return err
			}
		}
	}
	rs.runs = append(rs.runs, r)
	return nil
}

// flush combines the runs of the current piece.
func (rs *wordRuns) flush() error {
	runs := rs.runs
	if rs.runs = rs.runs[:0]; len(runs) == 0 {
		return nil
	}
	if len(runs) == 1 {
		return rs.run(runs[0])
	}
	first, last := runs[0].at, runs[len(runs)-1]
	at, _ := rs.access.place(first, last.at+last.n-first)
	for i := range runs {
		runs[i].at -= first
	}
	return rs.window.swapPiece(rs.op, rs.kind, rs.access.target, at, last.at+last.n-first, runs, rs.values, rs.olds)
}

// run combines one run by itself.
func (rs *wordRuns) run(r wordRun) error {
	for r.n > 0 {
		ref, n := rs.access.place(r.at, r.n)
		if n%rs.kind.Size() != 0 {
			return errApart
		}
		var olds []byte
		if rs.olds != nil {
			olds = rs.olds[r.data : r.data+n]
		}
		if err := rs.window.combineRun(rs.op, rs.kind, rs.access.target, ref, rs.values[r.data:r.data+n], olds); err != nil {
			return err
		}
		r = wordRun{r.at + n, r.n - n, r.data + n}
	}
	return nil
}

// swapPiece combines words of a piece of n bytes, at most swapBytes. It reads the piece, computes, and swaps those
// words that no other thread has changed meanwhile; it repeats that until all words are done. The displacements of runs
// count from the beginning of the piece.
func (w *Window) swapPiece(op *Op, k datatype.Kind, target int, at rma.Ref, n int, runs []wordRun, values, olds []byte) error {
	memory := make([]byte, 3*n)
	old, next, found := memory[:n], memory[n:2*n], memory[2*n:]
	size, process := k.Size(), w.process(target)
	if err := errors.Join(w.awaitRuns(target), w.readWords(k, at, old), w.domain.Flush(process)); err != nil {
		return err
	}
	copy(next, old)
	var done [swapBytes / 4 / 8]byte // a bit for each word
	for retry := true; retry; {
		for _, r := range runs {
			for i := 0; i < r.n; i += size {
				if e := r.at + i; done[e/32]>>(e/4%8)&1 == 0 {
					copy(next[e:e+size], old[e:])
					op.Apply(elementsIn(values[r.data+i:][:size], datatype.Of(k)), elementsIn(next[e:e+size], datatype.Of(k)))
				}
			}
		}
		if err := errors.Join(w.swapWords(size, at, old, next, found), w.domain.Flush(process)); err != nil {
			return err
		}
		retry = false
		for _, r := range runs {
			for i := 0; i < r.n; i += size {
				e := r.at + i
				switch {
				case done[e/32]>>(e/4%8)&1 != 0:
				case bytes.Equal(found[e:e+size], old[e:e+size]):
					done[e/32] |= 1 << (e / 4 % 8)
					if olds != nil {
						copy(olds[r.data+i:], old[e:e+size])
					}
					copy(old[e:], next[e:e+size]) // from now on the word is swapped with itself
				default: // another thread has changed the word
					copy(old[e:], found[e:e+size])
					retry = true
				}
			}
		}
	}
	return nil
}

// swapWords replaces each word at a target that equals the one in old by the one in next, and stores in found what the
// words were before.
func (w *Window) swapWords(size int, at rma.Ref, old, next, found []byte) error {
	if size == 4 {
		return rma.CompareAndSwapNBI(w.domain, at, wordsOf[uint32](old), wordsOf[uint32](next), wordsOf[uint32](found))
	}
	return rma.CompareAndSwapNBI(w.domain, at, wordsOf[uint64](old), wordsOf[uint64](next), wordsOf[uint64](found))
}
