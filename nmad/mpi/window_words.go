package mpi

import (
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/rma"
)

// Each process of a window has words in memory of the library, by which the processes of the window agree on which of
// them may access what. lock, mutex and version have a cache line each:
//
//	lock        the lock of Lock and LockAll, for the memory of the process; see window_lock.go
//	mutex       1 + the rank that changes elements for which the processor has no atomic; 0: no rank does
//	version     of the table of a window of NewDynamicWindow; odd: the process writes the table. The next word has the
//	            number of entries
//	posted      by rank: how often that rank has called Post for this process, whose Start waits for it
//	completed   by rank: how often that rank has called Complete for this process, whose Wait waits for it
//	table       of attached memory; see window_dynamic.go
const (
	lockAt     = 0
	mutexAt    = 64
	versionAt  = 128
	signalsAt  = 192
	signalSize = 16 // posted, completed
)

// wordsOfRanks returns how many bytes the words have, without the table, in a window of n processes.
func wordsOfRanks(n int) int { return signalsAt + signalSize*n }

// makeWords makes the words of this process: in memory that windows share, or with the table in memory of the window.
func (w *Window) makeWords() (at rma.Ref, err error) {
	if w.kind == dynamicWindow {
		w.table, err = w.memory.Make(wordsOfRanks(len(w.peers)) + maxAttached*attachmentBytes)
		return w.table.Ref(0), err
	}
	w.words, err = w.comm.job.words(w.windows)
	return w.words.region.Ref(uint64(w.words.at)), err
}

// word returns the place of a word of a rank.
func (w *Window) word(rank int, at int) rma.Ref { return w.peers[rank].words.Add(int64(at)) }

// postedAt and completedAt return where the words for a rank lie among the words of a process, in bytes.
func postedAt(rank int) int    { return signalsAt + signalSize*rank }
func completedAt(rank int) int { return postedAt(rank) + 8 }

// How long a thread that polls a word sleeps between two looks.
const (
	shortestNap = 20 * time.Microsecond
	longestNap  = time.Millisecond
)

// until calls f, which looks at words of a target, until f returns true or an error. Between two calls the thread
// polls, then sleeps for a growing time. until fails when a process of the window is lost, since that may be the one
// that f waits for.
func (w *Window) until(target int, f func() (bool, error)) error {
	done, failed := false, error(nil)
	look := func() bool {
		done, failed = f()
		return done || failed != nil
	}
	_, mapped := w.domain.Local(w.peers[target].words, signalsAt)
	for nap := shortestNap; ; nap = min(2*nap, longestNap) {
		if mapped {
			w.comm.job.session.Engine().PollUntil(look)
		} else {
			look()
		}
		if done || failed != nil {
			return failed
		}
		if err := w.anyLost(); err != nil {
			return err
		}
		if err := w.usable(); err != nil {
			return err
		}
		marcel.Sleep(nap)
	}
}

// lockMutex takes the mutex of a target.
func (w *Window) lockMutex(target int) error {
	at, me := w.word(target, mutexAt), uint64(w.comm.rank)+1
	old, err := rma.CompareAndSwap(w.domain, at, 0, me)
	if err == nil && old != 0 {
		err = w.waitMutex(target)
	}
	if err != nil {
		return err
	}
	return w.domain.Fence()
}

// waitMutex takes the mutex of a target when it is free.
func (w *Window) waitMutex(target int) error {
	at, me := w.word(target, mutexAt), uint64(w.comm.rank)+1
	return w.until(target, func() (bool, error) {
		if old, err := rma.Load[uint64](w.domain, at); old != 0 || err != nil {
			return false, err
		}
		old, err := rma.CompareAndSwap(w.domain, at, 0, me)
		return old == 0, err
	})
}

// unlockMutex frees the mutex of a target.
func (w *Window) unlockMutex(target int) error {
	return rma.UpdateNBI(w.domain, rma.Swap, w.word(target, mutexAt), uint64(0))
}

// signal adds one to a word of a rank, and wakes a thread there that waits for it.
func (w *Window) signal(rank, at int) error {
	return w.domain.PutSignal(w.peers[rank].words, nil, w.word(rank, at), rma.SignalAdd, 1)
}

// await waits until a word of this process, to which another rank adds, is at least v. It fails if a rank of the group
// is lost meanwhile: that rank, or one that waits for it, may never add to the word.
func (w *Window) await(at int, v uint64, group []int) error {
	own := w.word(w.comm.rank, at)
	for {
		w.mu.Lock()
		ctx := w.loss
		w.mu.Unlock()
		for _, other := range group {
			why := w.peers[other].lost.Load()
			if why == nil {
				continue
			}
			if there, err := rma.Load[uint64](w.domain, own); err == nil && there >= v {
				return w.domain.Fence()
			}
			return fmt.Errorf("rank %d: %w", other, *why)
		}
		_, err := w.domain.WaitSignal(ctx, own, rma.GE, v)
		if err == nil {
			return w.domain.Fence()
		}
		if ctx.Err() == nil || w.usable() != nil {
			return err
		}
	}
}
