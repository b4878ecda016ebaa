package sched

import (
	"errors"
	"fmt"
)

// ErrLastVP says that the last VP that is enabled cannot be disabled.
var ErrLastVP = errors.New("sched: the last enabled VP cannot be disabled")

// barred are the threads that are ready, but may run on disabled VPs only.
type barred struct {
	mu          Spin      // guards the fields below, and all vp.disabled
	waiting     []*thread // the threads
	numDisabled int       // the number of disabled VPs
}

// DisableVP takes VP number vp out of use until EnableVP, for instance because another program wants
// its CPU. Its ready threads go to the other VPs. Its running thread goes at its next scheduling
// point, or when it is stopped after a slice. A thread in a system call goes on without the VP, on its
// OS thread. Threads whose sets (Attr.VPs), or levels or bubbles, leave them disabled VPs only wait
// until one of these is enabled again (StateBarred). The VP's OS threads sleep, nothing new is placed
// there. Hooks of the timer still fire in its name.
//
// The last VP cannot be disabled: ErrLastVP. One that is disabled already stays so. Any thread or
// goroutine may call DisableVP. A thread on that VP runs on another VP when DisableVP returns. It does
// not wait for other threads. Stop enables all VPs first.
func (s *Scheduler) DisableVP(vp int) error {
	if vp < 0 || vp >= len(s.vps) {
		return fmt.Errorf("%w: disable VP %d of %d", ErrNoVPs, vp, len(s.vps))
	}
	v := s.vps[vp]
	c := Enter()
	s.barred.mu.Lock()
	if !v.disabled.Load() {
		if s.barred.numDisabled == len(s.vps)-1 {
			s.barred.mu.Unlock()
			c.Leave()
			return ErrLastVP
		}
		s.barred.numDisabled++
		v.disabled.Store(true)
	}
	s.barred.mu.Unlock()
	v.wakeUp()
	if c != nil && c.l.vp == v {
		v.purge()
		c.move()
		return nil
	}
	v.guard()
	v.clear()
	c.Leave()
	return nil
}

// EnableVP puts VP number vp into use again. One that is in use stays so.
func (s *Scheduler) EnableVP(vp int) error {
	if vp < 0 || vp >= len(s.vps) {
		return fmt.Errorf("%w: enable VP %d of %d", ErrNoVPs, vp, len(s.vps))
	}
	v := s.vps[vp]
	c := Enter()
	s.barred.mu.Lock()
	was := v.disabled.Load()
	if was {
		s.barred.numDisabled--
		v.disabled.Store(false)
	}
	s.barred.mu.Unlock()
	if was {
		s.unbar()
		v.kick()
	}
	c.Leave()
	return nil
}

// EnabledVPs returns the set of VPs that are in use.
func (s *Scheduler) EnabledVPs() (set VPSet) {
	for _, v := range s.vps {
		if !v.disabled.Load() {
			set.Set(v.id)
		}
	}
	return set
}

// unbar places the barred threads anew: a VP has been enabled, or a set has changed.
func (s *Scheduler) unbar() {
	s.barred.mu.Lock()
	ts := s.barred.waiting
	s.barred.waiting = nil
	s.barred.mu.Unlock()
	for _, t := range ts {
		t.vp.expel(t)
	}
}

// bar keeps t if no VP on which it may run is enabled. EnableVP and SetVPs change that first, and then call unbar; bar
// holds the lock and looks.
func (s *Scheduler) bar(t *thread) bool {
	s.barred.mu.Lock()
	defer s.barred.mu.Unlock()
	if !s.place(t).disabled.Load() {
		return false
	}
	s.barred.waiting = append(s.barred.waiting, t)
	return true
}

// guard puts the sort request into the inbox of a disabled VP, where it stays: so each pop
// collects, and collect leaves nothing.
func (v *vp) guard() {
	if v.sortPending.CompareAndSwap(0, 1) {
		v.push(v.sortRequest)
	}
}

// purge sends away all that is in the queue of a disabled VP. Holder, or thief.
func (v *vp) purge() {
	v.sortRings()
	v.guard()
}

// clear purges a disabled VP, unless its holder will: one inside the scheduler looks at the inbox before it runs the
// next thread, or releases the VP, which clears; one in user code is asked again by the clock, and loses the VP after a
// slice.
func (v *vp) clear() {
	for v.disabled.Load() && v.inbox.Load() != v.sortRequest {
		old, ok := v.borrow()
		if !ok {
			break
		}
		v.sortNow()
		v.word.giveBack(old) // a post may have taken us for a holder: look again
	}
	if v.mode() != vpFree {
		v.sched.wakeClock()
	}
}
