package mpi

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/rma"
)

// Assert is what the program promises of an epoch, for speed; 0: nothing. Several are combined by |.
type Assert uint8

// The assertions. NoCheck has Lock and LockAll take no lock, NoSucceed has Fence open no epoch; the others are
// accepted, and gain nothing here.
const (
	NoCheck   Assert = 1 << iota // of Lock and LockAll: no other has a lock that conflicts; of Start and Post: the other side is there
	NoStore                      // this process has stored nothing since the last epoch
	NoPut                        // no process puts into this one
	NoPrecede                    // Fence ends no epoch
	NoSucceed                    // Fence opens none
)

// Fence ends an epoch of all processes, if one is open, and opens the next one, unless NoSucceed says that there will
// be none. All processes of the window call it; it returns once all have, and their accesses are done, here and at
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
		err = w.within("fence")
	}
	if err != nil {
		return w.fails("fence", err)
	}
	w.fenced.Store(a&NoSucceed == 0)
	return nil
}

// Post opens an epoch in which the processes of a group access the memory of this one: those that call Start with a
// group that has it. It does not wait for them. ErrEpoch: the one before has not ended.
func (w *Window) Post(g Group, a Assert) error {
	if err := w.Sync(); err != nil {
		return err
	}
	return w.opens("post", g, &w.exposed, func(rank int) error { return w.signal(rank, postedAt(w.comm.rank)) })
}

// Start opens an epoch in which this process accesses those of a group, and waits until each has called Post with a
// group that has this one. ErrEpoch: the one before has not ended.
func (w *Window) Start(g Group, a Assert) error {
	return w.opens("start", g, &w.started, func(rank int) error {
		if err := w.await(rank, postedAt(rank), w.uses(2*rank), w.started.ranks); err != nil {
			return err
		}
		w.peers[rank].open.Add(1)
		return nil
	})
}

// uses counts a signal that is to be used.
func (w *Window) uses(which int) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used[which]++
	return w.used[which]
}

// opens opens an epoch between some processes, with each of which it does something.
func (w *Window) opens(what string, g Group, x *groupEpoch, each func(rank int) error) error {
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
				if x == &w.started {
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

// closing takes the ranks of an epoch that is open, which the caller then ends.
func (w *Window) closing(what string, x *groupEpoch) ([]int, error) {
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

// closed ends the epoch; false: it stays open.
func (w *Window) closed(x *groupEpoch, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.ready = true; over {
		x.open, x.ready, x.ranks = false, false, x.ranks[:0]
	}
}

// Complete ends the epoch of Start: all accesses are done, here and at their targets. ErrEpoch: without Start.
func (w *Window) Complete() error {
	ranks, err := w.closing("complete", &w.started)
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
	w.closed(&w.started, true)
	return err
}

// Wait ends the epoch of Post: it waits until all processes of the group have called Complete, so that their accesses
// are done. ErrEpoch: without Post.
func (w *Window) Wait() error {
	ranks, err := w.closing("wait", &w.exposed)
	if err != nil {
		return err
	}
	for _, rank := range ranks {
		if failed := w.await(rank, completedAt(rank), w.uses(2*rank+1), ranks); failed != nil && err == nil {
			err = w.failsAt("wait", rank, failed)
		}
	}
	w.closed(&w.exposed, true)
	return err
}

// Test is Wait that does not wait: false: not all have called Complete.
func (w *Window) Test() (bool, error) {
	ranks, err := w.closing("test", &w.exposed)
	if err != nil {
		return false, err
	}
	done := true
	for _, rank := range ranks {
		there, failed := rma.Load[uint64](w.domain, w.word(w.comm.rank, completedAt(rank)))
		if why := w.peers[rank].lost.Load(); failed == nil && why != nil && there <= w.used[2*rank+1] {
			failed = *why
		}
		if failed != nil {
			w.closed(&w.exposed, true)
			return false, w.failsAt("test", rank, failed)
		}
		done = done && there > w.used[2*rank+1]
	}
	if !done {
		w.comm.job.session.Engine().Poll()
		w.closed(&w.exposed, false)
		return false, nil
	}
	for _, rank := range ranks {
		w.uses(2*rank + 1)
	}
	w.closed(&w.exposed, true)
	if err := w.domain.Fence(); err != nil {
		return true, w.fails("test", err)
	}
	return true, nil
}

// Flush returns when all accesses of this process to a target are done, here and there, within the epoch of Lock or
// LockAll. ErrEpoch: outside of one.
func (w *Window) Flush(target int) error {
	if target == ProcNull {
		return w.usable()
	}
	p, err := w.peer("flush", target)
	if err != nil {
		return err
	}
	if p.open.Load() == 0 || w.fenced.Load() {
		if err := w.passive(); err != nil {
			return w.failsAt("flush", target, err)
		}
	}
	return w.unlessAt("flush", target, w.domain.Flush(p.words.Rank()))
}

// FlushLocal returns when the buffers of all accesses to a target may be used again. It is Flush here.
func (w *Window) FlushLocal(target int) error { return w.Flush(target) }

// FlushAll is Flush for all targets.
func (w *Window) FlushAll() error {
	err := w.usable()
	if err == nil {
		err = w.passive()
	}
	if err == nil {
		err = w.domain.FlushAll()
	}
	return w.unless("flush all", err)
}

// FlushLocalAll is FlushLocal for all targets.
func (w *Window) FlushLocalAll() error { return w.FlushAll() }

// passive says why no epoch of Lock or LockAll is open; nil: one is.
func (w *Window) passive() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all > 0 {
		return nil
	}
	for rank := range w.peers {
		if len(w.peers[rank].holds) > 0 {
			return nil
		}
	}
	return fmt.Errorf("%w: flush without Lock or LockAll", ErrEpoch)
}

// Sync is a full memory barrier of the calling thread: what it has stored in memory of the window others see before
// what it stores afterwards, and it loads anew.
func (w *Window) Sync() error {
	err := w.usable()
	if err == nil {
		err = w.domain.Fence()
	}
	return w.unless("sync", err)
}
