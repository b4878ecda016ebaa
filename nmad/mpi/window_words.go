package mpi

import (
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/rma"
)

// The words of a process of a window, by which all agree on what each may do. They lie in memory of the library, one
// line each of what several write:
//
//	lock        the lock of Lock and LockAll, for the memory of the process; see window_lock.go
//	mutex       1 + the rank that changes elements which have no atomic; 0: none does
//	version     of the table of a NewDynamicWindow; odd: it is being changed. Behind it how many entries it has
//	posted      by rank: how often that rank has called Post for this process: its Start waits here
//	completed   by rank: how often that rank has called Complete for this process: its Wait waits here
//	table       the memory that is attached; see window_dynamic.go
const (
	lockAt     = 0
	mutexAt    = 64
	versionAt  = 128
	signalsAt  = 192
	signalSize = 16 // posted, completed
)

// wordsOfRanks is how many bytes they have, but for a table, in a window of so many processes.
func wordsOfRanks(n int) int { return signalsAt + signalSize*n }

// makeWords makes those of this process, in memory that other windows share, or, with a table, of its own.
func (w *Window) makeWords() (at rma.Ref, err error) {
	if w.form == dynamic {
		w.table, err = w.memory.Make(wordsOfRanks(len(w.peers)) + mostAttached*attachmentBytes)
		return w.table.Ref(0), err
	}
	w.words, err = w.comm.job.words(w.ground)
	return w.words.region.Ref(uint64(w.words.at)), err
}

// word returns the place of a word of the window at a rank.
func (w *Window) word(rank int, at int) rma.Ref { return w.peers[rank].words.Add(int64(at)) }

// postedAt and completedAt are where the words of the pair of a process and a rank lie.
func postedAt(rank int) int    { return signalsAt + signalSize*rank }
func completedAt(rank int) int { return postedAt(rank) + 8 }

// How long a thread sleeps that has looked in vain.
const (
	shortestNap = 20 * time.Microsecond
	longestNap  = time.Millisecond
)

// until calls f, which looks at words of a target, until it says true, and gives way to others more and more. It
// fails when a process of the window is lost: that may be the one that is waited for.
func (w *Window) until(target int, f func() (bool, error)) error {
	done, failed := false, error(nil)
	look := func() bool {
		done, failed = f()
		return done || failed != nil
	}
	_, near := w.domain.Local(w.peers[target].words, signalsAt)
	for nap := shortestNap; ; nap = min(2*nap, longestNap) {
		if near {
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
	was, err := rma.CompareAndSwap(w.domain, at, 0, me)
	if err == nil && was != 0 {
		err = w.waitMutex(target)
	}
	if err != nil {
		return err
	}
	return w.domain.Fence()
}

func (w *Window) waitMutex(target int) error {
	at, me := w.word(target, mutexAt), uint64(w.comm.rank)+1
	return w.until(target, func() (bool, error) {
		if was, err := rma.Load[uint64](w.domain, at); was != 0 || err != nil {
			return false, err
		}
		was, err := rma.CompareAndSwap(w.domain, at, 0, me)
		return was == 0, err
	})
}

func (w *Window) unlockMutex(target int) error {
	return rma.Post(w.domain, rma.Swap, w.word(target, mutexAt), uint64(0))
}

// signal adds one to a word of a rank, and wakes a thread there that waits for it.
func (w *Window) signal(rank, at int) error {
	return w.domain.PutSignal(w.peers[rank].words, nil, w.word(rank, at), rma.SignalAdd, 1)
}

// await waits until a word of this process, which a rank adds to, is at least v. It fails if a rank of the group is
// lost meanwhile: without that one others may not come so far.
func (w *Window) await(rank, at int, v uint64, group []int) error {
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
