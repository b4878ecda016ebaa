package sched

import (
	"fmt"
	"sync/atomic"
)

// extras are what only some threads need: those with attributes, and those for which Cancel, Suspend,
// Detach or the like was called. The descriptor of such a thread is never used again, so its extras are valid after
// the end as well. They are made with the thread, or under the thread's mu while the thread lives.
type extras struct {
	id            uint64 // the number of the thread to which it belongs
	name          string
	catchesPanic  bool          // Attr.Catch
	detached      atomic.Bool   // Attr.Detached, or Detach was called
	err           error         // how the thread ended: the error of Join. The thread writes it before thread.id
	requests      atomic.Uint32 // what other threads request of this one, as bits; written under mu
	mu            Spin          // guards what follows where it says so
	suspendQueue  WaitQueue     // holds the thread while it is suspended; under mu
	suspendWaiter Waiter        // its place in suspendQueue
	preemptOff    preemptOff
	pinned        bool // Attr.Pinned: it has an OS thread of its own, see pinned.go

	waitCanceled bool   // Cancel has ended its last wait; written under mu
	onCancelCall func() // what Cancel calls; nil: nothing. Under mu
	uncancelable bool   // cancellation is disabled; only the thread changes it, under mu
	ending       bool   // the calls at its end have begun, so it stays uncancelable; only the thread uses it

	callbacks

	node     atomic.Pointer[queueNode] // the node in whose queue the thread waits when it is ready, if its class says so
	member   atomic.Pointer[Member]    // what its group keeps of it; nil: it is in none. Written under thread.mu
	queuedOn atomic.Pointer[queueNode] // the node in whose queue it stands: node, or one above (queueNode.put); nil: none. Written under the mu of that node
}

// applyAttr gives t extras if a needs one. Only the caller knows t yet.
func (t *thread) applyAttr(a Attr) {
	if a.Name == "" && !a.Catch && !a.Detached && a.Level == 0 && a.Bubble == nil && !a.NonPreemptible && !a.Pinned {
		return
	}
	x := &extras{id: t.id, name: a.Name, catchesPanic: a.Catch, pinned: a.Pinned}
	x.mu.ranked(rankExtras)
	x.detached.Store(a.Detached)
	if a.NonPreemptible {
		x.preemptOff.depth = 1
	}
	t.extras.Store(x)
}

// extras returns the extras of the thread; nil if it has none.
func (h Thread) extras() *extras {
	if h.thread != nil {
		if x := h.thread.extras.Load(); x != nil && x.id == h.id {
			return x
		}
	}
	return nil
}

// makeExtras is extras for a thread that lives: a thread without extras gets them. It returns nil if
// the thread has ended and has none.
func (h Thread) makeExtras() *extras {
	t := h.thread
	if t == nil || atomic.LoadUint64(&t.id) != h.id {
		return nil
	}
	if x := h.extras(); x != nil {
		return x
	}
	fresh := &extras{id: h.id} // outside of the lock
	fresh.mu.ranked(rankExtras)
	c := Visit()
	if t.lockAlive(h.id) && t.extras.Load() == nil {
		t.extras.Store(fresh)
	}
	t.mu.Unlock()
	c.Leave()
	return h.extras()
}

// catches reports whether Join returns a panic of t, so that it does not end the program.
func (t *thread) catches() bool {
	x := t.extras.Load()
	return x != nil && x.catchesPanic && !x.detached.Load()
}

// ID returns the number of the thread. No other thread of the process ever has the same. It is 0 for the zero Thread.
func (h Thread) ID() uint64 { return h.id }

// Name returns the name that the thread was given, "" if none.
func (h Thread) Name() string {
	if x := h.extras(); x != nil {
		return x.name
	}
	return ""
}

func (h Thread) String() string {
	if h.thread == nil {
		return "no thread"
	}
	if name := h.Name(); name != "" {
		return fmt.Sprintf("marcel thread %q", name)
	}
	return fmt.Sprintf("marcel thread %d", h.id)
}

// title returns how messages name t.
func (t *thread) title() string { return Thread{t, t.id}.String() }

// Detach declares that no thread joins this one: a later Join fails with ErrDetached while the thread lives. A panic of
// the thread then ends the program even if it was made with Attr.Catch, for no joiner is left to take the error. On a
// thread that has ended Detach has no effect. It does not block.
func (h Thread) Detach() {
	if x := h.makeExtras(); x != nil {
		x.detached.Store(true)
	}
}

// Numbers of threads: unique in the process, and small, for people. Each VP takes them in blocks, and gives a
// descriptor its next one when a thread ends.
type ids struct{ last, end uint64 }

const idBlock = 256

var lastID atomic.Uint64

// next returns a number that no other thread has.
func (is *ids) next() uint64 {
	if is.last == is.end {
		is.end = lastID.Add(idBlock)
		is.last = is.end - idBlock
	}
	is.last++
	return is.last
}
