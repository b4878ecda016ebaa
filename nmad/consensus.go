package nmad

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
)

// consensus runs the agreements of a session (agree.go has the protocol): it tells the state machine what happens, and
// does what that asks for. Threads that may hold the lock of a gate put the events into a queue. One goroutine at a time
// takes them out; it has no lock, so it may take those of all gates.
//
//	idle --- something is posted ---> running --- nothing is left ---> idle
//	any --- stop ---> stopped: calls end with ErrClosed, and what happens is dropped
type consensus struct {
	s *Session

	mu      spinlock // inside the locks of gates; everything up to stopped is under it
	queue   []happened
	heard   []int // by rank: its notes in queue
	running bool
	stopped error // what calls end with; nil: not stopped

	failed atomic.Pointer[[]int] // ranks that are lost in the order known here, agreed upon first; what it points to never changes

	rounds map[uint16]*round // by context; 0: the job. Of the goroutine that runs
	early  map[uint16]*early // likewise: of contexts that this process has not opened yet
	kept   atomic.Int32      // how many of these there are
}

// round is the agreements of one group.
type round struct {
	of        uint16
	agreement *agreement
	calls     []*call // of this process, in order; the first one is under way
}

// happened is an event for the state machine.
type happened struct {
	what uint8
	rank int      // heard, lost
	note note     // heard
	call *call    // called
	of   *Context // called, revoking, opens: nil: the job
}

const (
	called   uint8 = iota // this process calls Agree or Shrink
	heard                 // a note has come
	lost                  // the gate to a rank has ended
	revoking              // this process revokes a context
	opens                 // this process has opened a context, of which others may have said something before
	orphaned              // deaths show on links only
	meshes                // a receive from any source waits then
)

// call is one of Agree or Shrink.
type call struct {
	kind    uint8
	value   uint64
	over    *Request
	verdict verdict // when over is done
	agreed  []int   // likewise: all ranks that have failed, in the agreed order
}

func newConsensus(s *Session, rank, size int) *consensus {
	c := &consensus{s: s, heard: make([]int, size), rounds: map[uint16]*round{0: {agreement: newAgreement(rank, size)}}, early: map[uint16]*early{}}
	c.failed.Store(new([]int))
	return c
}

func (cs *consensus) size() int { return cs.s.cfg.Size }

// round returns the round of a context of the job. Only the group of the context takes part, so the round counts other
// ranks as lost from the beginning. nil: this process has no such context.
func (cs *consensus) round(of uint16) *round {
	if r := cs.rounds[of]; r != nil {
		return r
	}
	x := cs.s.zero().context(of)
	if x == nil {
		return nil
	}
	a := newAgreement(cs.s.cfg.Rank, cs.size())
	for rank := range a.size {
		if a.gone[rank] = !x.any.Group().Has(rank); a.gone[rank] {
			a.agreed = append(a.agreed, rank)
		}
	}
	a.leader = a.lowest()
	job := cs.rounds[0].agreement
	for _, rank := range slices.Concat(job.agreed, job.suspects) {
		a.lost(rank)
	}
	x.agreed.Store(true)
	r := &round{of: of, agreement: a}
	cs.rounds[of] = r
	return r
}

// post puts what happens into the queue. It never waits for more than the queue's lock. False: the
// rank sends more notes than any course of the protocol has; or a call comes too late.
func (cs *consensus) post(h happened) bool {
	cs.mu.lock()
	defer cs.mu.unlock()
	if cs.stopped != nil {
		return h.what != called && h.what != revoking
	}
	if h.what == heard {
		if cs.heard[h.rank] == notesMost {
			return false
		}
		cs.heard[h.rank]++
	}
	cs.queue = append(cs.queue, h)
	if !cs.running {
		cs.running = true
		cs.s.work.Go(cs.run)
	}
	return true
}

// run tells the state machine what has happened until nothing is left.
func (cs *consensus) run() {
	for {
		cs.mu.lock()
		queue := cs.queue
		cs.queue = nil
		clear(cs.heard)
		if len(queue) == 0 || cs.stopped != nil {
			cs.running = false
			cs.mu.unlock()
			return
		}
		cs.mu.unlock()
		for _, h := range queue {
			cs.handle(h)
		}
	}
}

func (cs *consensus) handle(h happened) {
	switch h.what {
	case called:
		if r := cs.round(h.of.numberOfJob()); r == nil {
			cs.endCall(h.call, fmt.Errorf("nmad: context %d: %w: it was closed", h.of.number, ErrConfig))
		} else if r.calls = append(r.calls, h.call); len(r.calls) == 1 {
			r.agreement.join(h.call.value, h.call.kind)
		}
	case heard:
		if cs.keep(h.rank, h.note) {
			break
		}
		if h.note.kind == noteRevoke {
			cs.revoke(cs.s.zero().context(h.note.of))
		} else if r := cs.round(h.note.of); r != nil { // else it was closed here: all that is agreed upon there was
			r.agreement.hear(h.rank, h.note)
		}
	case revoking:
		cs.revoke(h.of)
	case opens:
		cs.opened(h.of.number)
	case lost:
		for _, r := range cs.rounds {
			r.agreement.lost(h.rank)
		}
	case orphaned:
		for _, r := range cs.rounds {
			r.agreement.orphaned()
		}
	case meshes:
		for _, d := range cs.s.domains.all() {
			d.mesh()
		}
	}
	for _, r := range cs.rounds {
		a := r.agreement
		for actions := a.takeActions(); len(actions) > 0; actions = a.takeActions() {
			for _, d := range actions {
				cs.do(r, d)
			}
		}
	}
	job := cs.rounds[0].agreement
	if all := slices.Concat(job.agreed, job.suspects); !slices.Equal(all, *cs.failed.Load()) {
		cs.failed.Store(&all)
	}
}

// revoke ends, once, the requests that wait in a context here, and tells all other processes of its group. Each process
// that hears of it tells all again, so all living processes hear of it, whichever process dies meanwhile.
func (cs *consensus) revoke(x *Context) {
	if x == nil || x.revoked.Swap(true) {
		return
	}
	for rank := range cs.size() {
		if rank != cs.s.cfg.Rank && x.any.Group().Has(rank) {
			h := cs.s.job.to(rank).lock()
			cs.send(h, &note{kind: noteRevoke, of: x.number, by: noLeader})
			h.letGo()
		}
	}
	x.end()
}

// do carries out an action that the state machine asks for.
func (cs *consensus) do(r *round, d action) {
	a := r.agreement
	d.note.of = r.of
	if d.what == doReturn {
		for len(r.calls) > 0 {
			x := r.calls[0]
			r.calls = r.calls[1:]
			x.verdict, x.agreed = d.verdict, slices.Clone(a.agreed)
			var err error
			if d.out {
				err = errExcluded(cs.s)
			}
			cs.endCall(x, err)
			if !d.out {
				break
			}
		}
		if len(r.calls) > 0 {
			a.join(r.calls[0].value, r.calls[0].kind)
		}
		return
	}
	g := cs.s.job.to(d.rank)
	h := g.lock()
	defer h.letGo()
	switch d.what {
	case doSend:
		cs.send(h, &d.note)
	case doExclude:
		if h.end == nil {
			cs.send(h, &d.note)
			cs.s.job.work.Go(g.exclude)
		}
	case doWatch:
		if cs.s.orphan.Load() {
			h.wantLinks()
		}
	case doBlame:
		h.fail(violation(d.rank, "%s", d.why))
	}
}

// send sends a note through the gate, now or when there is room.
func (cs *consensus) send(h *held, n *note) {
	if !h.flow.Note(n.encode(), notesMost) {
		h.fail(violation(h.g.rank, "it leaves %d notes of agreements unread", notesMost))
		return
	}
	h.sendIfDue() // a gate without links has some made
}

// hear takes in the note that has come through the gate with the last packet, if it is complete.
func (cs *consensus) hear(h *held) error {
	b := h.flow.TakeNote()
	if b == nil {
		return nil
	}
	n, ok := decodeNote(b, cs.size())
	if !ok {
		return errors.New("a note of an agreement that makes no sense")
	}
	if !cs.post(happened{what: heard, rank: h.g.rank, note: n}) {
		return fmt.Errorf("more than %d notes of agreements at once", notesMost)
	}
	return nil
}

// startCall starts a call, which ends by its request.
func (cs *consensus) startCall(x *call, of *Context) {
	own := cs.s.job.own()
	x.over.startLink(own).letGo()
	if !cs.post(happened{what: called, call: x, of: of}) {
		cs.endCall(x, cs.stopped) // which does not change any more
	}
}

// endCall ends a call.
func (cs *consensus) endCall(x *call, err error) {
	own := cs.s.job.own()
	h := own.enter()
	h.flow.Finish(&x.over.core, err)
	h.letGo()
}

// stop ends all calls, and those to come, with why. It waits for the goroutine that runs.
func (cs *consensus) stop(why error) {
	cs.mu.lock()
	if cs.stopped == nil {
		cs.stopped = why
	}
	cs.mu.unlock()
	retryUntil(0, func() bool {
		cs.mu.lock()
		defer cs.mu.unlock()
		return !cs.running
	})
	var calls []*call
	for _, r := range cs.rounds {
		calls = append(calls, r.calls...)
		r.calls = nil
	}
	cs.mu.lock()
	for _, h := range cs.queue {
		if h.what == called {
			calls = append(calls, h.call)
		}
	}
	cs.queue = nil
	cs.mu.unlock()
	for _, x := range calls {
		cs.endCall(x, why)
	}
}

func errExcluded(s *Session) error { return fmt.Errorf("nmad: rank %d: %w", s.cfg.Rank, ErrExcluded) }
