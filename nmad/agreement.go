package nmad

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/consensus"
	"github.com/pm2-go/pm2/nmad/internal/contexts"
	"github.com/pm2-go/pm2/nmad/internal/lock"
)

// maxNotes is the largest number of notes that wait for one peer, or from one peer. It is more than any run of the
// protocol needs, even in several groups at once.
const maxNotes = 64

// agreements runs the agreements of a session (internal/consensus has the protocol): it tells the Participant of each
// group what has happened, and carries out its Actions. Threads, which may hold the lock of a gate, add what has
// happened to a queue. One goroutine at a time works the queue off; it holds no lock, so it may take the locks of all
// gates.
//
//	idle --- post ---> running --- the queue is empty ---> idle
//	any state --- stop ---> stopped: calls end with ErrClosed, and the queue is dropped
type agreements struct {
	session *Session

	mu          lock.Spin // inside the locks of gates; everything up to stopped is under it
	queue       []func()
	queuedNotes []int                       // by rank: its notes in queue
	calls       map[*agreementCall]struct{} // that have not ended
	running     bool
	stopped     error // what calls end with; nil until stop

	failed atomic.Pointer[[]int] // lost ranks, agreed ones first; the slice does not change

	groups       map[uint16]*groupAgreements // by context; 0: the job. Only the goroutine that runs touches it
	pending      map[uint16]*pendingNotes    // of contexts that are not open here yet; only that goroutine touches it
	pendingCount atomic.Int32                // how many of these there are
}

// groupAgreements is the state of the agreements of one group. Only the goroutine that runs uses it.
type groupAgreements struct {
	context     uint16
	participant *consensus.Participant
	calls       []*agreementCall // of this process, in order; the first one is under way
}

// agreementCall is a call of Agree or Shrink.
type agreementCall struct {
	kind    uint8
	value   uint64
	done    *Request
	verdict consensus.Verdict // when over is done
	agreed  []int             // likewise: all ranks that have failed, in the agreed order
}

func newAgreements(s *Session, rank, size int) *agreements {
	ag := &agreements{
		session: s, queuedNotes: make([]int, size), calls: map[*agreementCall]struct{}{},
		groups: map[uint16]*groupAgreements{0: {participant: consensus.New(rank, size, nil)}}, pending: map[uint16]*pendingNotes{},
	}
	ag.failed.Store(new([]int))
	return ag
}

func (ag *agreements) size() int { return ag.session.cfg.Size }

// group returns the agreements of the group of a context of domain 0, and makes them if there are none; nil if that
// context is not open. Number 0 stands for the job.
func (ag *agreements) group(number uint16) *groupAgreements {
	if gr := ag.groups[number]; gr != nil {
		return gr
	}
	c := ag.session.jobDomain().context(number)
	if c == nil {
		return nil
	}
	gr := &groupAgreements{context: number, participant: consensus.New(ag.session.cfg.Rank, ag.size(), c.anyList.Group().Has)}
	for _, rank := range ag.groups[0].participant.Failed() {
		gr.participant.Lost(rank)
	}
	c.hasAgreed.Store(true)
	ag.groups[number] = gr
	return gr
}

// post adds a function to the queue. It never waits for more than the queue's lock. It returns false, and drops the
// function, if agreements are stopped.
func (ag *agreements) post(do func()) bool {
	ag.mu.Lock()
	defer ag.mu.Unlock()
	if ag.stopped != nil {
		return false
	}
	ag.queue = append(ag.queue, do)
	if !ag.running {
		ag.running = true
		go ag.run()
	}
	return true
}

// run calls the functions of the queue, in order, until it is empty.
func (ag *agreements) run() {
	for {
		ag.mu.Lock()
		queue := ag.queue
		ag.queue = nil
		clear(ag.queuedNotes)
		if len(queue) == 0 || ag.stopped != nil {
			ag.running = false
			ag.mu.Unlock()
			return
		}
		ag.mu.Unlock()
		for _, do := range queue {
			do()
			ag.act()
		}
	}
}

// act carries out the actions of all participants.
func (ag *agreements) act() {
	for _, gr := range ag.groups {
		for actions := gr.participant.Actions(); len(actions) > 0; actions = gr.participant.Actions() {
			for _, a := range actions {
				ag.do(gr, a)
			}
		}
	}
	if all := ag.groups[0].participant.Failed(); !slices.Equal(all, *ag.failed.Load()) {
		ag.failed.Store(&all)
	}
}

// each calls f, in the goroutine that runs, for the participants of all groups.
func (ag *agreements) each(f func(*consensus.Participant)) {
	ag.post(func() {
		for _, gr := range ag.groups {
			f(gr.participant)
		}
	})
}

// revoke ends, once, the requests that wait in a context here, and tells all other processes of its group. Each process
// that hears of it does the same, so all living processes hear of it, whichever processes die meanwhile.
func (ag *agreements) revoke(x *Context) {
	if x == nil || x.revoked.Swap(true) {
		return
	}
	for rank := range ag.size() {
		if rank != ag.session.cfg.Rank && x.anyList.Group().Has(rank) {
			h := ag.session.job.gateOf(rank).lock()
			ag.send(h, &consensus.Note{Kind: consensus.Revoke, Context: x.number, By: consensus.NoLeader})
			h.unlock()
		}
	}
	x.end()
}

// do carries out an action of the participant of a group.
func (ag *agreements) do(gr *groupAgreements, a consensus.Action) {
	a.Note.Context = gr.context
	if a.What == consensus.Return {
		ag.conclude(gr, a)
		return
	}
	g := ag.session.job.gateOf(a.Rank)
	h := g.lock()
	defer h.unlock()
	switch a.What {
	case consensus.Send:
		ag.send(h, &a.Note)
	case consensus.Exclude:
		if h.endErr == nil {
			ag.send(h, &a.Note)
			ag.session.job.work.Go(g.exclude)
		}
	case consensus.Watch:
		if ag.session.relayLost.Load() {
			h.wantLinks()
		}
	case consensus.Blame:
		h.fail(violation(a.Rank, "%s", a.Why))
	}
}

// conclude ends the call that is under way in a group, or all calls if the others have excluded this process. Then it
// begins the next call.
func (ag *agreements) conclude(gr *groupAgreements, a consensus.Action) {
	for len(gr.calls) > 0 {
		x := gr.calls[0]
		gr.calls = gr.calls[1:]
		x.verdict, x.agreed = a.Verdict, gr.participant.Agreed()
		if !a.Excluded {
			ag.endCall(x, nil)
			break
		}
		ag.endCall(x, fmt.Errorf("nmad: rank %d: %w", ag.session.cfg.Rank, ErrExcluded))
	}
	if len(gr.calls) > 0 {
		gr.participant.Join(gr.calls[0].value, gr.calls[0].kind)
	}
}

// send sends a note through a gate, now or when there is room. It ends the gate if maxNotes notes wait.
func (ag *agreements) send(h *lockedGate, n *consensus.Note) {
	if !h.flow.Note(n.Encode(), maxNotes) {
		h.fail(violation(h.gate.rank, "it leaves %d notes of agreements unread", maxNotes))
		return
	}
	h.sendIfDue() // makes links if the gate has none
}

// hear handles the note that the last packet of a gate has completed, if there is one: it adds the note to the queue.
// The error says how the peer has broken the protocol.
func (ag *agreements) hear(h *lockedGate) error {
	b := h.flow.TakeNote()
	if b == nil {
		return nil
	}
	n, ok := consensus.Decode(b, ag.size())
	if !ok {
		return errors.New("a note of an agreement that makes no sense")
	}
	rank := h.gate.rank
	ag.mu.Lock()
	ag.queuedNotes[rank]++
	many := ag.stopped == nil && ag.queuedNotes[rank] > maxNotes
	ag.mu.Unlock()
	if many {
		return fmt.Errorf("more than %d notes of agreements at once", maxNotes)
	}
	ag.post(func() { ag.take(rank, n) })
	return nil
}

// take handles a note of a rank, in the goroutine that runs.
func (ag *agreements) take(rank int, n consensus.Note) {
	if ag.keepPending(rank, n) {
		return
	}
	if n.Kind == consensus.Revoke {
		ag.revoke(ag.session.jobDomain().context(n.Context))
	} else if gr := ag.group(n.Context); gr != nil { // else the context was closed here, and its agreements are over
		gr.participant.Hear(rank, n)
	}
}

// startCall starts a call of Agree or Shrink in the group of a context, nil for the job. The call ends by its request.
func (ag *agreements) startCall(x *agreementCall, c *Context) {
	x.done.startLink(ag.session.job.ownGate()).unlock()
	ag.mu.Lock()
	ag.calls[x] = struct{}{}
	ag.mu.Unlock()
	number := uint16(0)
	if c != nil {
		number = c.number
	}
	if !ag.post(func() {
		if gr := ag.group(number); gr == nil {
			ag.endCall(x, fmt.Errorf("nmad: context %d: %w: it was closed", number, ErrConfig))
		} else if gr.calls = append(gr.calls, x); len(gr.calls) == 1 {
			gr.participant.Join(x.value, x.kind)
		}
	}) {
		ag.endCall(x, ag.stopped) // no lock is needed: stopped does not change any more
	}
}

// endCall ends a call with err, unless it has ended.
func (ag *agreements) endCall(x *agreementCall, err error) {
	ag.mu.Lock()
	_, open := ag.calls[x]
	delete(ag.calls, x)
	ag.mu.Unlock()
	if open {
		h := ag.session.job.ownGate().enter()
		h.flow.Finish(&x.done.core, err)
		h.unlock()
	}
}

// stop makes all calls, also later ones, end with why. It waits for the goroutine that runs.
func (ag *agreements) stop(why error) {
	ag.mu.Lock()
	if ag.stopped == nil {
		ag.stopped = why
	}
	ag.mu.Unlock()
	retryUntil(0, func() bool {
		ag.mu.Lock()
		defer ag.mu.Unlock()
		return !ag.running
	})
	ag.mu.Lock()
	calls := maps.Clone(ag.calls)
	ag.mu.Unlock()
	for x := range calls {
		ag.endCall(x, why)
	}
}

// maxPending is the largest number of contexts that are not open here, and for which notes are kept; each peer has an
// equal share. The notes of a peer beyond its share are dropped, which is no violation of the peer.
const maxPending = 1 << 16

// pendingNotes has the notes that have come for one context before it was opened here. In a first agreement a process
// sends only its STATE to a process that does not take part yet, so one note of each rank is enough.
type pendingNotes struct {
	revoked bool
	states  map[int]consensus.Note // by rank
	first   int                    // rank that was the first to send
}

// keepPending keeps a note for a context that was never opened here, and returns true. For any other context it returns
// false.
func (ag *agreements) keepPending(rank int, n consensus.Note) bool {
	d := ag.session.jobDomain()
	if n.Context == 0 || !d.neverOpened(n.Context) {
		return false
	}
	e := ag.pending[n.Context]
	if e == nil {
		sent := 0
		for _, x := range ag.pending {
			if x.first == rank {
				sent++
			}
		}
		if sent >= max(maxPending/ag.size(), 16) {
			return true
		}
		e = &pendingNotes{states: map[int]consensus.Note{}, first: rank}
		ag.pending[n.Context] = e
		ag.pendingCount.Store(int32(len(ag.pending)))
	}
	if _, twice := e.states[rank]; n.Kind == consensus.State && !twice {
		e.states[rank] = n
	}
	e.revoked = e.revoked || n.Kind == consensus.Revoke
	if !d.neverOpened(n.Context) { // OpenContext may have looked at pendingCount before this note was counted
		ag.takePending(n.Context)
	}
	return true
}

// takePending handles the notes that have come for a context before it was opened.
func (ag *agreements) takePending(of uint16) {
	e := ag.pending[of]
	x := ag.session.jobDomain().context(of)
	if e == nil {
		return
	}
	delete(ag.pending, of)
	ag.pendingCount.Store(int32(len(ag.pending)))
	if x == nil {
		return // the context was closed again
	}
	for rank := range ag.size() {
		if n, ok := e.states[rank]; ok && x.anyList.Group().Has(rank) {
			if gr := ag.group(of); gr != nil { // else the context was closed just now
				gr.participant.Hear(rank, n)
			}
		}
	}
	if e.revoked {
		ag.revoke(x)
	}
}

// neverOpened reports whether a context is not open, and never was.
func (d *Domain) neverOpened(number uint16) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.usedContexts == nil || d.usedContexts[number/64]>>(number%64)&1 == 0
}

// noteOpened notes that a context is, or was, open. The caller holds mu.
func (d *Domain) noteOpened(number uint16) {
	if d.usedContexts == nil {
		d.usedContexts = make([]uint64, (contexts.Last+1)/64)
	}
	d.usedContexts[number/64] |= 1 << (number % 64)
}
