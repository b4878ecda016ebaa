package mpi

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/rma"
)

// Assert is a set of promises of the program about an epoch, which may make the epoch faster; 0: none. Promises are
// combined by |.
type Assert uint8

// The assertions. With NoCheck, Lock and LockAll take no lock; with NoSucceed, Fence opens no epoch. Otherwise
// assertions have no effect.
const (
	NoCheck   Assert = 1 << iota // of Lock and LockAll: no thread has a conflicting lock; of Start and Post: the other side has called
	NoStore                      // this process has stored nothing since the last epoch
	NoPut                        // no process puts to this one
	NoPrecede                    // Fence ends no epoch
	NoSucceed                    // Fence opens no epoch
)

// Fence ends an epoch of all processes, if one is open, and opens the next one, unless the assertion NoSucceed is
// given. All processes of the window call it; it returns when all have done so and their accesses are done, here and at
// their targets. ErrEpoch: an epoch of another kind is open.
func (w *Window) Fence(a Assert) error {
	if err := w.usable(); err != nil {
		return w.fails("fence", err)
	}
	err := w.domain.FlushAll()
	if lost := w.comm.Barrier(); lost != nil {
		err = errors.Join(err, lost)
	}
	if err == nil {
		err = w.domain.Fence() // what others have written here is seen
	}
	if err == nil {
		err = w.checkNoEpoch("fence")
	}
	if err != nil {
		return w.fails("fence", err)
	}
	w.fenced.Store(a&NoSucceed == 0)
	return nil
}

// Post opens an epoch in which the processes of a group access the memory of this one; they call Start. It does not
// wait for them. ErrEpoch: the epoch of the last Post has not ended.
func (w *Window) Post(g Group, a Assert) error {
	if err := w.Sync(); err != nil {
		return err
	}
	return w.openEpoch("post", g, &w.exposureEpoch, func(rank int) error { return w.signal(rank, postedAt(w.comm.rank)) })
}

// Start opens an epoch in which this process accesses the memory of those of a group, and waits until each of them has
// called Post with a group that has this process. ErrEpoch: the epoch of the last Start has not ended.
func (w *Window) Start(g Group, a Assert) error {
	return w.openEpoch("start", g, &w.accessEpoch, func(rank int) error {
		if err := w.await(postedAt(rank), w.countSignal(2*rank), w.accessEpoch.ranks); err != nil {
			return err
		}
		w.peers[rank].open.Add(1)
		return nil
	})
}

// countSignal counts one more signal in w.signals, and returns the count: the wait for the signal ends when its word
// has reached that.
func (w *Window) countSignal(which int) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.signals[which]++
	return w.signals[which]
}

// openEpoch opens the epoch x with the processes of a group, and calls each for each of their ranks. what is the name
// of the call.
func (w *Window) openEpoch(what string, g Group, x *groupEpoch, each func(rank int) error) error {
	if err := w.usable(); err != nil {
		return w.fails(what, err)
	}
	w.mu.Lock()
	open := x.open
	if !open {
		for _, p := range g.job {
			rank := w.comm.group.rankOf(p)
			if rank == Undefined {
				x.ranks = x.ranks[:0]
				w.mu.Unlock()
				return w.fails(what, fmt.Errorf("%w: the window has no process %d of the job", ErrGroup, p))
			}
			x.ranks = append(x.ranks, rank)
		}
		x.open, x.ready = true, false
	}
	w.mu.Unlock()
	if open {
		return w.fails(what, fmt.Errorf("%w: %s, and the one before has not ended", ErrEpoch, what))
	}
	w.fenced.Store(false)
	for i, rank := range x.ranks {
		if err := each(rank); err != nil {
			for _, rank := range x.ranks[:i] {
				if x == &w.accessEpoch {
					w.peers[rank].open.Add(-1)
				}
			}
			w.mu.Lock()
			x.open, x.ranks = false, x.ranks[:0]
			w.mu.Unlock()
			return w.failsAt(what, rank, err)
		}
	}
	w.mu.Lock()
	x.ready = true
	w.mu.Unlock()
	return nil
}

// claimEpoch lets the caller end an open epoch, and returns the ranks of the epoch. No other call can end the epoch
// until the caller calls releaseEpoch. what is the name of the call.
func (w *Window) claimEpoch(what string, x *groupEpoch) ([]int, error) {
	if err := w.usable(); err != nil {
		return nil, w.fails(what, err)
	}
	w.mu.Lock()
	open := x.open && x.ready
	x.ready = false
	w.mu.Unlock()
	if !open {
		return nil, w.fails(what, fmt.Errorf("%w: %s, and no epoch was opened for it", ErrEpoch, what))
	}
	return x.ranks, nil
}

// releaseEpoch follows claimEpoch. over: the epoch has ended; else it stays open, and another call may end it.
func (w *Window) releaseEpoch(x *groupEpoch, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.ready = true; over {
		x.open, x.ready, x.ranks = false, false, x.ranks[:0]
	}
}

// Complete ends the epoch of Start: all accesses are done, here and at their targets. ErrEpoch: without Start.
func (w *Window) Complete() error {
	ranks, err := w.claimEpoch("complete", &w.accessEpoch)
	if err != nil {
		return err
	}
	for _, rank := range ranks {
		w.peers[rank].open.Add(-1)
		failed := w.domain.Flush(w.process(rank))
		if failed = errors.Join(failed, w.signal(rank, completedAt(w.comm.rank))); failed != nil && err == nil {
			err = w.failsAt("complete", rank, failed)
		}
	}
	w.releaseEpoch(&w.accessEpoch, true)
	return err
}

// Wait ends the epoch of Post: it waits until all processes of the group have called Complete, so that their accesses
// are done. ErrEpoch: without Post.
func (w *Window) Wait() error {
	ranks, err := w.claimEpoch("wait", &w.exposureEpoch)
	if err != nil {
		return err
	}
	for _, rank := range ranks {
		if failed := w.await(completedAt(rank), w.countSignal(2*rank+1), ranks); failed != nil && err == nil {
			err = w.failsAt("wait", rank, failed)
		}
	}
	w.releaseEpoch(&w.exposureEpoch, true)
	return err
}

// Test ends the epoch of Post if all processes of the group have called Complete, and reports whether they have. It
// does not block.
func (w *Window) Test() (bool, error) {
	ranks, err := w.claimEpoch("test", &w.exposureEpoch)
	if err != nil {
		return false, err
	}
	done := true
	for _, rank := range ranks {
		there, failed := rma.Load[uint64](w.domain, w.word(w.comm.rank, completedAt(rank)))
		if why := w.peers[rank].lost.Load(); failed == nil && why != nil && there <= w.signals[2*rank+1] {
			failed = *why
		}
		if failed != nil {
			w.releaseEpoch(&w.exposureEpoch, true)
			return false, w.failsAt("test", rank, failed)
		}
		done = done && there > w.signals[2*rank+1]
	}
	if !done {
		w.comm.job.session.Engine().Poll()
		w.releaseEpoch(&w.exposureEpoch, false)
		return false, nil
	}
	for _, rank := range ranks {
		w.countSignal(2*rank + 1)
	}
	w.releaseEpoch(&w.exposureEpoch, true)
	if err := w.domain.Fence(); err != nil {
		return true, w.fails("test", err)
	}
	return true, nil
}

// Flush waits until all accesses of this process to a target are done, here and at the target, within an epoch of Lock
// or LockAll. ErrEpoch: no such epoch is open.
func (w *Window) Flush(target int) error {
	if target == ProcNull {
		return w.usable()
	}
	p, err := w.peer("flush", target)
	if err != nil {
		return err
	}
	if p.open.Load() == 0 || w.fenced.Load() {
		if err := w.checkPassive(); err != nil {
			return w.failsAt("flush", target, err)
		}
	}
	return w.unlessAt("flush", target, w.domain.Flush(p.words.Rank()))
}

// FlushLocal waits until the buffers of all accesses to a target may be used again. It does what Flush does.
func (w *Window) FlushLocal(target int) error { return w.Flush(target) }

// FlushAll is Flush for all targets.
func (w *Window) FlushAll() error {
	err := w.usable()
	if err == nil {
		err = w.checkPassive()
	}
	if err == nil {
		err = w.domain.FlushAll()
	}
	return w.unless("flush all", err)
}

// FlushLocalAll is FlushLocal for all targets.
func (w *Window) FlushLocalAll() error { return w.FlushAll() }

// checkPassive returns ErrEpoch if no epoch of Lock or LockAll is open.
func (w *Window) checkPassive() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lockAlls > 0 {
		return nil
	}
	for rank := range w.peers {
		if len(w.peers[rank].holds) > 0 {
			return nil
		}
	}
	return fmt.Errorf("%w: flush without Lock or LockAll", ErrEpoch)
}

// Sync is a full memory barrier of the calling thread: other threads see stores to memory of the window before it no
// later than stores after it, and loads after it read memory again.
func (w *Window) Sync() error {
	err := w.usable()
	if err == nil {
		err = w.domain.Fence()
	}
	return w.unless("sync", err)
}
