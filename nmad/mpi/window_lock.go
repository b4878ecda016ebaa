package mpi

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/rma"
)

// LockKind is what a Lock lets others do.
type LockKind uint8

// The kinds of locks.
const (
	LockShared    LockKind = iota // others may have shared ones
	LockExclusive                 // no other thread of any process has one
)

// The lock is a word of its target:
//
//	bits 0 to 22    how many threads have it shared
//	bit 23          some process has had it without having taken it (NoCheck): stays
//	bits 24 to 47   1 + the rank of which a thread has it exclusively; 0: none. Also beside a shared one, while that process is alone (window_many.go)
//	bits 48 to 63   how many threads wait to have it exclusively
//
// While a thread waits to have the lock exclusively none gets it shared, except a thread that has waited for long
// itself: so neither kind starves.
const (
	lockUnchecked = 1 << 23
	lockOwner     = 1 << 24
	lockWaiting   = 1 << 48
	lockHeld      = lockWaiting - 1 - lockUnchecked
	patience      = 1000 // looks
)

// hold is the lock of a target that a thread has.
type hold struct {
	thread  uint64
	kind    LockKind
	without bool // nothing was locked: NoCheck
}

// Lock opens an epoch for a target, and waits until its lock is there: LockShared lets others have that, too,
// LockExclusive does not; threads of one process are others to each other. NoCheck: the program sees to it that no
// other has a lock that conflicts, and none is taken. It is ErrEpoch if this thread has the lock, or in an epoch of
// LockAll, and fails if it has to wait and a process of the window is lost.
func (w *Window) Lock(kind LockKind, target int, a Assert) error {
	if target == ProcNull {
		return w.usable()
	}
	p, err := w.peer("lock", target)
	if err != nil {
		return err
	}
	if kind > LockExclusive {
		return w.failsAt("lock", target, fmt.Errorf("%w: no kind of lock: LockShared and LockExclusive are", ErrEpoch))
	}
	h := hold{asm.GoID(), kind, a&NoCheck != 0}
	w.mu.Lock()
	if w.all > 0 {
		err = fmt.Errorf("%w: within LockAll", ErrEpoch)
	}
	for _, x := range p.holds {
		if x.thread == h.thread {
			err = fmt.Errorf("%w: this thread has the lock", ErrEpoch)
		}
	}
	w.mu.Unlock()
	switch {
	case err != nil:
	case !h.without:
		err = w.acquire(kind, target)
	case kind == LockShared:
		err = w.unchecked(target)
	}
	if err != nil {
		return w.failsAt("lock", target, err)
	}
	w.mu.Lock()
	p.holds = append(p.holds, h)
	w.mu.Unlock()
	w.fenced.Store(false)
	p.open.Add(1)
	return nil
}

// Unlock ends the epoch of Lock: all accesses are done, here and at the target. It is ErrEpoch without a Lock; a
// thread gives back the lock that it has itself, if it has one.
func (w *Window) Unlock(target int) error {
	if target == ProcNull {
		return w.usable()
	}
	p, err := w.peer("unlock", target)
	if err != nil {
		return err
	}
	me := asm.GoID()
	w.mu.Lock()
	n := len(p.holds)
	if n == 0 {
		w.mu.Unlock()
		return w.failsAt("unlock", target, fmt.Errorf("%w: unlock without Lock", ErrEpoch))
	}
	i := n - 1
	for j, x := range p.holds {
		if x.thread == me {
			i = j
		}
	}
	h := p.holds[i]
	p.holds[i] = p.holds[n-1]
	p.holds = p.holds[:n-1]
	w.mu.Unlock()
	p.open.Add(-1)
	err = w.domain.Flush(w.process(target))
	if !h.without {
		err = errors.Join(err, w.giveBack(h.kind, target))
	}
	return w.unlessAt("unlock", target, err)
}

// LockAll opens an epoch for all targets, with their locks shared. That of a target is taken when it is first
// accessed, in a window of NewSharedWindow at once; so is that of this process. NoCheck: none is taken. Threads may
// each have such an epoch. ErrEpoch: this process has a Lock.
func (w *Window) LockAll(a Assert) error {
	if err := w.usable(); err != nil {
		return w.fails("lock all", err)
	}
	w.mu.Lock()
	for rank := range w.peers {
		if len(w.peers[rank].holds) > 0 {
			w.mu.Unlock()
			return w.fails("lock all", fmt.Errorf("%w: after Lock of rank %d", ErrEpoch, rank))
		}
	}
	if w.all++; w.all == 1 {
		w.noCheck = a&NoCheck != 0
	}
	w.mu.Unlock()
	w.fenced.Store(false)
	for rank := range w.peers {
		if rank != w.comm.rank && w.form != shares {
			continue
		}
		if err := w.join(rank); err != nil {
			return w.failsAt("lock all", rank, errors.Join(err, w.unlockAll()))
		}
	}
	return nil
}

// UnlockAll ends the epoch of LockAll: all accesses are done, here and at their targets. ErrEpoch: without LockAll.
func (w *Window) UnlockAll() error {
	err := w.usable()
	if err == nil {
		err = w.unlockAll()
	}
	return w.unless("unlock all", err)
}

func (w *Window) unlockAll() error {
	w.mu.Lock()
	if w.all == 0 {
		w.mu.Unlock()
		return fmt.Errorf("%w: unlock all without LockAll", ErrEpoch)
	}
	w.all--
	last, without := w.all == 0, w.noCheck
	w.mu.Unlock()
	err := w.domain.FlushAll()
	if !last {
		return err
	}
	for rank := range w.peers {
		p := &w.peers[rank]
		p.mu.Lock()
		if p.joined {
			p.joined = false
			p.open.Add(-1)
			if !without {
				err = errors.Join(err, w.giveBack(LockShared, rank))
			}
		}
		p.mu.Unlock()
	}
	return err
}

// join takes the lock of a target for LockAll, unless it is there.
func (w *Window) join(target int) error {
	p := &w.peers[target]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.joined {
		return nil
	}
	w.mu.Lock()
	open, without := w.all > 0, w.noCheck
	w.mu.Unlock()
	if !open {
		return fmt.Errorf("%w: access outside of one: Fence, Start, Lock and LockAll open one", ErrEpoch)
	}
	take := w.unchecked
	if !without {
		take = func(target int) error { return w.acquire(LockShared, target) }
	}
	if err := take(target); err != nil {
		return err
	}
	p.joined = true
	p.open.Add(1)
	return nil
}

// unchecked notes in the lock of a target, once, that this process accesses the target without the lock. If a process
// is alone at the target just now, it waits until that one is through.
func (w *Window) unchecked(target int) error {
	p, at := &w.peers[target], w.word(target, lockAt)
	if p.unchecked.Load() {
		return nil
	}
	was, err := rma.Fetch(w.domain, rma.Or, at, uint64(lockUnchecked))
	if err == nil && was&lockHeld >= lockOwner {
		err = w.until(target, func() (bool, error) {
			now, err := rma.Load[uint64](w.domain, at)
			return now&lockHeld < lockOwner, err
		})
	}
	if err == nil {
		p.unchecked.Store(true)
		err = w.domain.Fence()
	}
	return err
}

// acquire takes the lock of a target.
func (w *Window) acquire(kind LockKind, target int) error {
	done, err := w.tryLock(kind, target, false)
	if err == nil && !done {
		err = w.waitLock(kind, target)
	}
	if err != nil {
		return err
	}
	return w.domain.Fence() // what those have written that had it before is seen
}

// tryLock takes the lock of a target if it is free. An urgent one also passes those that wait to have it exclusively.
func (w *Window) tryLock(kind LockKind, target int, urgent bool) (bool, error) {
	at := w.word(target, lockAt)
	was, err := rma.Load[uint64](w.domain, at)
	if err != nil || was&lockHeld >= lockOwner || was >= lockWaiting && !urgent {
		return false, err
	}
	next := was + 1
	if kind == LockExclusive {
		if was&lockHeld != 0 {
			return false, nil
		}
		next = was + (uint64(w.comm.rank)+1)*lockOwner
	}
	now, err := rma.CompareAndSwap(w.domain, at, was, next)
	return now == was, err
}

// waitLock takes the lock of a target as soon as it is free.
func (w *Window) waitLock(kind LockKind, target int) error {
	looks := 0
	if kind == LockShared {
		return w.until(target, func() (bool, error) {
			looks++
			return w.tryLock(kind, target, looks > patience)
		})
	}
	at := w.word(target, lockAt)
	if _, err := rma.Fetch(w.domain, rma.Add, at, uint64(lockWaiting)); err != nil {
		return err
	}
	err := w.until(target, func() (bool, error) { return w.tryLock(kind, target, true) })
	return errors.Join(err, rma.Post(w.domain, rma.Sub, at, uint64(lockWaiting)))
}

// giveBack gives the lock of a target back.
func (w *Window) giveBack(kind LockKind, target int) error {
	n := uint64(1)
	if kind == LockExclusive {
		n = (uint64(w.comm.rank) + 1) * lockOwner
	}
	return rma.Post(w.domain, rma.Sub, w.word(target, lockAt), n)
}

// process is the rank in the job of a rank of the window.
func (w *Window) process(rank int) int { return w.peers[rank].words.Rank() }
