package pioman

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// Blocking offload (TD09): a repeat task that waits for a descriptor, and has waited for
// longer than its delay, leaves its queue. The kernel watches the descriptor (epoll); no poller polls
// the task until the kernel announces something. Thousands of such tasks cost nothing while they wait, and
// each arrival costs what it costs alone.
//
// All descriptors are in one epoll set, each once, edge-triggered, from Open to Close: no system
// call is made when a task begins or ends to wait. The set itself is a Source, so it wakes the
// engine's sleeper; pollers ask it now and then. It is not the set in which the sleeper blocks, for there a poller that
// asks would take edges away that are meant to wake the sleeper.
//
//	      polled in vain for the delay             an edge
//	main list ─────────────────────▶ parked ─────────────────▶ woken: in the submission
//	 of its  ◀──────────────────────────┤                      list of its queue
//	 queue     an edge was seen before  │                           │
//	   ▲                                ▼ Cancel, Close             │ drained by the holder
//	   └───────────────────────────── free ◀────────────────────────┘
//
// The slot (one for each direction of a descriptor) has the state. The holder of the queue parks the task, and leads
// from every state to free; the collector, the poller that asks the set, leads from parked to woken. Both use
// compare-and-swap, so that one of them has the task.
//
// No edge is lost. The holder parks only a task whose handler has just said that there is
// nothing (Again). The kernel reports what comes after that, and:
//
//	holder                                 collector
//	1 slot parked                          a the edge noted in the slot
//	2 is an edge noted? then unparks       b is a task parked? then wakes it
//
// 1 before b: the task is woken. b before 1: then a is before 2, and the task is polled again. An
// edge that is not collected yet keeps the set readable.

// Direction says what a task waits for at a descriptor.
type Direction uint8

// The directions.
const (
	Readable Direction = iota // bytes, a connection to accept, the end, an error
	Writable                  // room, a connection made, an error
)

// Descriptor announces the events of a file descriptor to the tasks that wait for them, at most one
// task for each direction (Task.On). The zero value is ready for Open. It must not be copied, nor
// moved before Close.
type Descriptor struct {
	e      *Engine
	fd     int
	index  int32
	serial int32
	closed atomic.Bool
	places [2]slot
}

// slot is where a task waits.
type slot struct {
	state atomic.Uint32
	edge  atomic.Uint32 // 1: something was announced for which no task was woken; the collector sets it, the holder takes it
	w     *Descriptor

	// The holder's of the task's queue; task is also read by the collector that wakes it.
	task       *Task
	prev, next *slot // among the parked ones of the queue
	since      int64 // asm.Cycles: when it came to the queue, or something happened last
}

const (
	free uint32 = iota
	parked
	woken
)

// descriptors are those that the kernel watches for the tasks of an engine.
type descriptors struct {
	e      *Engine
	active atomic.Int32 // tasks with a slot that are in a list to be polled: as long as there are some, no poller sleeps
	parked atomic.Int32 // tasks that are not

	_      [line - 16]byte
	busy   atomic.Uint32 // 1: a poller collects: a try-lock
	last   atomic.Int64  // asm.Cycles when that was done last
	rounds atomic.Uint32 // how many have ended
	wakes  atomic.Uint64 // tasks woken
	parks  atomic.Uint64 // tasks parked
	_      [line - 40]byte

	mu     latch
	set    epollSet // opened by the first Open, closed with the engine
	open   bool
	closed atomic.Bool
	serial int32
	unused []int32
	table  atomic.Pointer[[]atomic.Pointer[Descriptor]] // by index; replaced by a longer one under mu
	ready  readyList                                    // the collector's
}

// collectPeriod is how long, in ns, pollers leave the set alone: a look costs a system call.
const collectPeriod = 5_000

// Open makes the engine watch a file descriptor until Close: a socket, a pipe, or what else epoll
// accepts. It must be non-blocking, and stay open. ErrSource if the kernel cannot watch it, if the
// engine does so already (one Descriptor for both directions), or if w is open; ErrClosed.
func (w *Descriptor) Open(e *Engine, fd int) error {
	s := &e.descriptors
	s.mu.lock()
	defer s.mu.unlock()
	fail := func(err error) error { return fmt.Errorf("watch descriptor %d: %w", fd, err) }
	switch {
	case s.closed.Load():
		return fail(ErrClosed)
	case w.e != nil && !w.closed.Load():
		return fail(fmt.Errorf("%w: the Descriptor is open already, for descriptor %d", ErrSource, w.fd))
	}
	if !s.open {
		set, err := openEpollSet()
		if err != nil {
			return fail(err)
		}
		s.set = set
		if err := e.AddSource((*setSource)(s)); err != nil {
			set.close()
			return fail(err)
		}
		s.open = true
	}
	if len(s.unused) == 0 {
		s.grow()
	}
	index := s.unused[len(s.unused)-1]
	s.serial++
	w.e, w.fd, w.index, w.serial = e, fd, index, s.serial
	for i := range w.places {
		p := &w.places[i]
		p.w = w
		p.state.Store(free)
		p.edge.Store(0)
	}
	w.closed.Store(false)
	at := &(*s.table.Load())[index]
	at.Store(w) // before the kernel speaks of it
	if err := s.set.add(fd, anyEdge, index, s.serial); err != nil {
		w.closed.Store(true)
		at.Store(nil)
		return fail(fmt.Errorf("%w: %w", ErrSource, err))
	}
	s.unused = s.unused[:len(s.unused)-1]
	return nil
}

// grow makes room in the table; under mu.
func (s *descriptors) grow() {
	var old []atomic.Pointer[Descriptor]
	if l := s.table.Load(); l != nil {
		old = *l
	}
	list := make([]atomic.Pointer[Descriptor], max(64, 2*len(old)))
	for i := range old {
		list[i].Store(old[i].Load())
	}
	for i := len(list) - 1; i >= len(old); i-- {
		s.unused = append(s.unused, int32(i))
	}
	s.table.Store(&list)
}

// Close ends the watch; the file descriptor must still be open. Tasks that wait there are polled
// again, so that they find out why, and are polled from then on like others. On return the engine has
// forgotten w. A second Close does nothing. Calls of Close must not overlap.
func (w *Descriptor) Close() {
	if w.e == nil || w.closed.Swap(true) {
		return
	}
	s := &w.e.descriptors
	s.mu.lock()
	if s.open {
		s.set.remove(w.fd)
	}
	(*s.table.Load())[w.index].Store(nil)
	s.unused = append(s.unused, w.index)
	s.mu.unlock()
	// A collector may have found w before that.
	for i, round := 0, s.rounds.Load(); s.busy.Load() != 0 && s.rounds.Load() == round && !s.closed.Load(); i++ {
		relax(i, true)
	}
	for i := range w.places {
		s.announce(&w.places[i])
	}
}

// On makes a Repeat task wait for a descriptor in one direction: after the task was polled for the
// BlockingDelay in vain, it is not polled any more until the kernel announces an event. Its handler
// must return Again only if the descriptor has just had nothing to read, or no room (EAGAIN). If it
// has read or written, but perhaps not all that there is, it returns Moved. The owner calls On while
// the task is inactive, after Init; a nil w stands for no descriptor. The Descriptor must be open
// whenever the task is submitted, and is one task's at a time in each direction. ErrSource if the task
// cannot wait there.
func (t *Task) On(w *Descriptor, d Direction) error {
	if !t.state.load().Inactive() || d > Writable || t.opt&Repeat == 0 {
		return fmt.Errorf("task %q: %w: it must be inactive, and repeat", t.name, ErrSource)
	}
	t.place, t.opt = nil, t.opt&^byKernel
	if w != nil {
		if w.e == nil {
			return fmt.Errorf("task %q: %w: the Descriptor is not open", t.name, ErrSource)
		}
		t.place, t.opt = &w.places[d], t.opt|byKernel
	}
	return nil
}

// park takes a task that has just said that there is nothing out of the main list, whose head it is, if it has said
// so for the delay. For the holder, in a round.
func (q *Queue) park(t *Task, status Status) bool {
	p := t.place
	now := asm.Cycles()
	if status == Moved || p.since == 0 {
		p.since = now
	}
	e := q.engine
	if status == Moved || now-p.since < e.adapt.window() || p.w.closed.Load() {
		return false
	}
	q.removeHead()
	p.task = t
	q.addParked(p)
	e.descriptors.active.Add(-1)
	e.descriptors.parked.Add(1)
	e.descriptors.parks.Add(1)
	p.state.Store(parked)                                                 // 1
	if p.edge.Swap(0) != 0 || p.w.closed.Load() || t.state.cancelling() { // 2
		if p.state.CompareAndSwap(parked, free) { // else the collector was faster
			q.removeParked(p)
			q.append(t)
			e.descriptors.active.Add(1)
		}
	}
	return true
}

// resume makes a woken task, which comes by the submission list, one like the others.
func (q *Queue) resume(t *Task) {
	p := t.place
	if p.state.Load() == woken {
		q.removeParked(p)
		p.state.Store(free)
	}
	p.since = 0
}

// addParked and removeParked keep the list of parked tasks.
func (q *Queue) addParked(p *slot) {
	p.prev, p.next = nil, q.parked
	if q.parked != nil {
		q.parked.prev = p
	}
	q.parked = p
}

func (q *Queue) removeParked(p *slot) {
	if p.prev == nil {
		q.parked = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	}
	p.prev, p.next = nil, nil
	q.engine.descriptors.parked.Add(-1)
}

// unpark brings back those of the parked tasks of which want says so, all but those that are being woken,
// which come by the submission list.
func (q *Queue) unpark(want func(*Task) bool) {
	for p := q.parked; p != nil; {
		next := p.next
		if t := p.task; want(t) && p.state.CompareAndSwap(parked, free) {
			q.removeParked(p)
			q.engine.descriptors.active.Add(1)
			q.append(t)
		}
		p = next
	}
}

// announce notes an edge, and wakes the task that is parked there. It returns the queue in
// which it is to be polled; nil: no task was parked.
func (s *descriptors) announce(p *slot) *Queue {
	p.edge.Store(1)                             // a
	if !p.state.CompareAndSwap(parked, woken) { // b
		return nil
	}
	p.edge.Store(0) // no task parks there before this one was polled
	t := p.task
	tr := s.e.tree.Load()
	q := t.queue.Load()
	s.active.Add(1)
	s.wakes.Add(1)
	q.submitted.push(t) // from here on t may run, end, and be reused
	if v := s.e.load.posted(); v.asleep() {
		s.e.rouse(v)
	}
	if q != s.e.root && s.e.tree.Load() != tr {
		s.e.rehome(q)
	}
	if s.e.closed.Load() {
		s.e.reap()
	}
	return q
}

// collect asks the kernel what has happened, wakes the tasks that waited for it, and polls
// their queues. atOnce: even if a poller has asked a moment ago.
func (s *descriptors) collect(atOnce bool) outcome {
	if s.parked.Load() == 0 {
		return empty
	}
	now := asm.Cycles()
	if !atOnce && now-s.last.Load() < asm.ToCycles(collectPeriod) {
		return empty
	}
	if s.busy.Load() != 0 || !s.busy.CompareAndSwap(0, 1) {
		return skipped
	}
	s.last.Store(now)
	var touched [4]*Queue
	n := s.set.ready(&s.ready)
	list := *s.table.Load()
	for i := range n {
		index, serial, in, out := s.ready.event(i)
		if int(index) >= len(list) {
			continue
		}
		w := list[index].Load()
		if w == nil || w.serial != serial {
			continue // closed meanwhile
		}
		for d, on := range [2]bool{in, out} {
			if on {
				if q := s.announce(&w.places[d]); q != nil && !slices.Contains(touched[:], q) {
					touched[i%len(touched)] = q
				}
			}
		}
	}
	s.rounds.Add(1)
	s.busy.Store(0)
	result := empty
	for _, q := range touched {
		if q != nil {
			result = max(result, q.round(s.e.params.round))
		}
	}
	return result
}

// close lets go of the set, for an engine that is being closed.
func (s *descriptors) close() {
	s.mu.lock()
	open := s.open
	s.open = false
	s.closed.Store(true)
	s.mu.unlock()
	if !open {
		return
	}
	s.e.RemoveSource((*setSource)(s))
	for i := 0; !s.busy.CompareAndSwap(0, 1); i++ { // and keeps it: no poller collects any more
		relax(i, true)
	}
	s.set.close()
}

// setSource is the set as the sleeper sees it.
type setSource descriptors

// Descriptor implements Source.
func (s *setSource) Descriptor() int { return s.set.descriptor() }

// Arm implements Source: no, as long as tasks that wait for descriptors are still polled.
func (s *setSource) Arm() bool { return s.active.Load() == 0 }

// Disarm implements Source.
func (s *setSource) Disarm() {}
