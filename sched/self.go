package sched

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/direct"
)

// registry lists all runners and LWPs' bases of the process.
type registry struct {
	mu    Spin
	first *co
	n     int
}

var registered registry

func init() { registered.mu.ranked(unranked) }

// lock locks reg. Thousands of runners may begin and end as goroutines at the same time: if the Go scheduler stopped
// the holder of the lock, all others would spin until it runs again. So the holder is pinned to its P. A waiter is not,
// since a pinned goroutine must not make a system call that Go knows of. In the portable mode waiters give way to the
// holder.
func (reg *registry) lock() {
	if !isDirect {
		reg.mu.Lock()
		return
	}
	for n := 1; ; n++ {
		if direct.Pin(); reg.mu.TryLock() {
			return
		}
		direct.Unpin()
		spinPause(n)
	}
}

// unlock undoes lock.
func (reg *registry) unlock() {
	reg.mu.Unlock()
	if isDirect {
		direct.Unpin()
	}
}

// all lists those that are registered now, with room for some that register meanwhile.
func (reg *registry) all() []*co {
	for room := 64; ; {
		all := make([]*co, 0, room) // not under the lock
		reg.lock()
		if room = reg.n + reg.n/4; reg.n <= cap(all) {
			for c := reg.first; c != nil; c = c.nextRegistered {
				all = append(all, c)
			}
			reg.unlock()
			return all
		}
		reg.unlock()
	}
}

// register makes the calling goroutine known as c, to lookup and in the list.
func register(c *co) {
	if isDirect && c.seat.G == 0 {
		c.seat.G = direct.Current()
	}
	c.gAddress = asm.G()
	r := &registered
	r.lock()
	if c.nextRegistered = r.first; c.nextRegistered != nil {
		c.nextRegistered.prevRegistered = c
	}
	r.first = c
	r.n++
	r.unlock()
	keep(c.gAddress, c)
}

// unregister takes c out of the registry, if c has begun. c is the caller's, or parked: its goroutine must not have
// ended, since the runtime uses goroutines again.
func unregister(c *co) {
	if c.gAddress == 0 {
		return
	}
	keep(c.gAddress, nil)
	r := &registered
	r.lock()
	if c.nextRegistered != nil {
		c.nextRegistered.prevRegistered = c.prevRegistered
	}
	if c.prevRegistered != nil {
		c.prevRegistered.nextRegistered = c.nextRegistered
	} else {
		r.first = c.nextRegistered
	}
	c.prevRegistered, c.nextRegistered = nil, nil
	r.n--
	r.unlock()
}

// CallerID is a number that the calling thread or goroutine shares with no other one, past or future: never 0.
func (moduleCalls) CallerID() uint64 {
	if c := lookup(); c != nil && c.cur != nil {
		return c.cur.id << 1
	}
	return asm.GoID()<<1 | 1
}
