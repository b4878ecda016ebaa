package mpi

import (
	"bytes"
	"errors"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/rma"
)

// wordRun is n bytes of words that lie one behind the other at a displacement; their operands are at a place of the data.
type wordRun struct{ at, n, data int }

// wordRuns has runs of words of an accumulate that are too short for a message each: a piece of memory has them and what
// is between them, and swaps change the piece, so that the words between stay as they are whatever others do.
type wordRuns struct {
	w            *Window
	op           *Op
	k            datatype.Kind
	a            *aim
	values, olds []byte
	alone        bool // each run goes by itself
	runs         []wordRun
}

const (
	swapBytes  = 4 << 10 // of words are swapped at a time
	shortRun   = 256     // bytes: shorter runs share a piece,
	longestGap = 32      // if no more are between two of them: else the piece takes longer than a message each
)

// add takes a run in, which lies behind those before it, or begins another piece.
func (rs *wordRuns) add(r wordRun) error {
	if rs.alone || r.n >= shortRun {
		return errors.Join(rs.flush(), rs.run(r))
	}
	if n := len(rs.runs); n > 0 {
		gap, first := r.at-rs.runs[n-1].at-rs.runs[n-1].n, rs.runs[0].at
		if gap < 0 || gap > longestGap || r.at+r.n-first > swapBytes || (r.at-first)%rs.k.Size() != 0 {
			if err := rs.flush(); err != nil {
				return err
			}
		}
	}
	rs.runs = append(rs.runs, r)
	return nil
}

// flush combines the runs of the piece.
func (rs *wordRuns) flush() error {
	runs := rs.runs
	if rs.runs = rs.runs[:0]; len(runs) == 0 {
		return nil
	}
	if len(runs) == 1 {
		return rs.run(runs[0])
	}
	first, last := runs[0].at, runs[len(runs)-1]
	at, _ := rs.a.place(first, last.at+last.n-first)
	for i := range runs {
		runs[i].at -= first
	}
	return rs.w.swapPiece(rs.op, rs.k, rs.a.target, at, last.at+last.n-first, runs, rs.values, rs.olds)
}

// run combines one by itself.
func (rs *wordRuns) run(r wordRun) error {
	for r.n > 0 {
		ref, n := rs.a.place(r.at, r.n)
		if n%rs.k.Size() != 0 {
			return errApart
		}
		var olds []byte
		if rs.olds != nil {
			olds = rs.olds[r.data : r.data+n]
		}
		if err := rs.w.runOf(rs.op, rs.k, rs.a.target, ref, rs.values[r.data:r.data+n], olds); err != nil {
			return err
		}
		r = wordRun{r.at + n, r.n - n, r.data + n}
	}
	return nil
}

// swapPiece combines words of a piece of n bytes, up to swapBytes: it looks, computes, and swaps what has not changed
// meanwhile, until all are done. The places of the runs are counted from the beginning of the piece.
func (w *Window) swapPiece(op *Op, k datatype.Kind, target int, at rma.Ref, n int, runs []wordRun, values, olds []byte) error {
	memory := make([]byte, 3*n)
	was, next, found := memory[:n], memory[n:2*n], memory[2*n:]
	size, process := k.Size(), w.process(target)
	if err := errors.Join(w.inOrder(target), w.look(k, at, was), w.domain.Flush(process)); err != nil {
		return err
	}
	copy(next, was)
	var done [swapBytes / 4 / 8]byte // a bit for each word
	for left := true; left; {
		for _, r := range runs {
			for i := 0; i < r.n; i += size {
				if e := r.at + i; done[e/32]>>(e/4%8)&1 == 0 {
					copy(next[e:e+size], was[e:])
					op.Apply(elementsIn(values[r.data+i:][:size], datatype.Of(k)), elementsIn(next[e:e+size], datatype.Of(k)))
				}
			}
		}
		if err := errors.Join(w.swapWords(size, at, was, next, found), w.domain.Flush(process)); err != nil {
			return err
		}
		left = false
		for _, r := range runs {
			for i := 0; i < r.n; i += size {
				e := r.at + i
				switch {
				case done[e/32]>>(e/4%8)&1 != 0:
				case bytes.Equal(found[e:e+size], was[e:e+size]):
					done[e/32] |= 1 << (e / 4 % 8)
					if olds != nil {
						copy(olds[r.data+i:], was[e:e+size])
					}
					copy(was[e:], next[e:e+size]) // from now on it is swapped with itself
				default: // another one has changed it
					copy(was[e:], found[e:e+size])
					left = true
				}
			}
		}
	}
	return nil
}

// swapWords replaces words at a target that are as they were by the next ones.
func (w *Window) swapWords(size int, at rma.Ref, was, next, found []byte) error {
	if size == 4 {
		return rma.CompareAndSwapAll(w.domain, at, wordsOf[uint32](was), wordsOf[uint32](next), wordsOf[uint32](found))
	}
	return rma.CompareAndSwapAll(w.domain, at, wordsOf[uint64](was), wordsOf[uint64](next), wordsOf[uint64](found))
}
