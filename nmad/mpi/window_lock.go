package mpi

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/rma"
)

// LockKind says which locks of a target other threads may have at the same time.
type LockKind uint8

// The kinds of locks.
const (
	LockShared    LockKind = iota // others may have shared locks
	LockExclusive                 // no other thread of any process has a lock
)

// The lock is a word of its target:
//
//	bits 0 to 22    how many threads have the lock shared
//	bit 23          a process has accessed the target without the lock (NoCheck); the bit is never cleared
//	bits 24 to 47   1 + the rank of the process of which a thread has the lock exclusively; 0: none has. A process that has
//	                the only shared lock also sets these bits while it must be alone (excludeOthers)
//	bits 48 to 63   how many threads wait for the lock exclusively
//
// While a thread waits for the lock exclusively no thread gets it shared, except a thread that has looked patience
// times. So neither kind starves.
const (
	lockUnchecked = 1 << 23
	lockOwner     = 1 << 24
	lockWaiting   = 1 << 48
	lockHeld      = lockWaiting - 1 - lockUnchecked
	patience      = 1000 // looks
)

// hold is the lock of a target that a thread of this process has.
type hold struct {
	thread  uint64 // asm.GoID
	kind    LockKind
	noCheck bool // the epoch has the assertion NoCheck: the lock was not taken
}

// Lock opens an epoch for a target, and waits for the target's lock, which excludes other threads as kind says, also
// those of this process. With NoCheck it takes no lock: the program promises that no other thread has one that
// conflicts. ErrEpoch: this thread has the lock of the target, or an epoch of LockAll is open. Lock also fails if it
// has to wait while a process of the window is lost, which may have the lock.
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
	if w.lockAlls > 0 {
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
	case !h.noCheck:
		err = w.acquire(kind, target)
	case kind == LockShared:
		err = w.markUnchecked(target)
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

// Unlock ends the epoch of Lock: it returns when all accesses are done, here and at the target. A thread that has the
// lock of the target gives back its own; another thread gives back the one that some thread of this process has.
// ErrEpoch: no thread of this process has the lock.
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
	if !h.noCheck {
		err = errors.Join(err, w.giveBack(h.kind, target))
	}
	return w.unlessAt("unlock", target, err)
}

// LockAll opens an epoch for all targets, with their locks shared. It takes at once the lock of this process, and in a
// window of NewSharedWindow all locks; the first access to another target takes that target's lock. With NoCheck no
// lock is taken. Several threads may have such epochs. ErrEpoch: a thread of this process has a lock by Lock.
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
	if w.lockAlls++; w.lockAlls == 1 {
		w.noCheck = a&NoCheck != 0
	}
	w.mu.Unlock()
	w.fenced.Store(false)
	for rank := range w.peers {
		if rank != w.comm.rank && w.kind != sharedWindow {
			continue
		}
		if err := w.join(rank); err != nil {
			return w.failsAt("lock all", rank, errors.Join(err, w.unlockAll()))
		}
	}
	return nil
}

// UnlockAll ends the epoch of LockAll: it returns when all accesses are done, here and at their targets. ErrEpoch:
// there is no such epoch.
func (w *Window) UnlockAll() error {
	err := w.usable()
	if err == nil {
		err = w.unlockAll()
	}
	return w.unless("unlock all", err)
}

// unlockAll is UnlockAll without the name of the call in its errors.
func (w *Window) unlockAll() error {
	w.mu.Lock()
	if w.lockAlls == 0 {
		w.mu.Unlock()
		return fmt.Errorf("%w: unlock all without LockAll", ErrEpoch)
	}
	w.lockAlls--
	last, noCheck := w.lockAlls == 0, w.noCheck
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
			if !noCheck {
				err = errors.Join(err, w.giveBack(LockShared, rank))
			}
		}
		p.mu.Unlock()
	}
	return err
}

// join takes the lock of a target for the epoch of LockAll, unless it was taken for that before. ErrEpoch: there is no
// such epoch.
func (w *Window) join(target int) error {
	p := &w.peers[target]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.joined {
		return nil
	}
	w.mu.Lock()
	open, noCheck := w.lockAlls > 0, w.noCheck
	w.mu.Unlock()
	if !open {
		return fmt.Errorf("%w: access outside of one: Fence, Start, Lock and LockAll open one", ErrEpoch)
	}
	take := w.markUnchecked
	if !noCheck {
		take = func(target int) error { return w.acquire(LockShared, target) }
	}
	if err := take(target); err != nil {
		return err
	}
	p.joined = true
	p.open.Add(1)
	return nil
}

// markUnchecked sets lockUnchecked in the lock of a target, once. If another process is alone at the target
// (excludeOthers) markUnchecked waits until that process is not alone any more.
func (w *Window) markUnchecked(target int) error {
	p, at := &w.peers[target], w.word(target, lockAt)
	if p.unchecked.Load() {
		return nil
	}
	old, err := rma.Fetch(w.domain, rma.Or, at, uint64(lockUnchecked))
	if err == nil && old&lockHeld >= lockOwner {
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
	return w.domain.Fence() // stores of the threads that had the lock before are visible from here on
}

// tryLock takes the lock of a target if the lock is free, and reports whether it has. With urgent it does so also while
// threads wait for the lock exclusively.
func (w *Window) tryLock(kind LockKind, target int, urgent bool) (bool, error) {
	at := w.word(target, lockAt)
	old, err := rma.Load[uint64](w.domain, at)
	if err != nil || old&lockHeld >= lockOwner || old >= lockWaiting && !urgent {
		return false, err
	}
	next := old + 1
	if kind == LockExclusive {
		if old&lockHeld != 0 {
			return false, nil
		}
		next = old + (uint64(w.comm.rank)+1)*lockOwner
	}
	found, err := rma.CompareAndSwap(w.domain, at, old, next)
	return found == old, err
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
	return errors.Join(err, rma.UpdateNBI(w.domain, rma.Sub, at, uint64(lockWaiting)))
}

// giveBack gives the lock of a target back.
func (w *Window) giveBack(kind LockKind, target int) error {
	n := uint64(1)
	if kind == LockExclusive {
		n = (uint64(w.comm.rank) + 1) * lockOwner
	}
	return rma.UpdateNBI(w.domain, rma.Sub, w.word(target, lockAt), n)
}

// process returns the rank in the job of a rank of the window.
func (w *Window) process(rank int) int { return w.peers[rank].words.Rank() }
