package nmad

import "slices"

// Agreement among the processes that are left, each of which may die at any moment.
//
// The interface is that of ULFM (Bland, Bouteiller, Herault, Bosilca, Dongarra: "Post-failure
// recovery of MPI communication capability", 2013). Agreements have numbers, their epochs, from 0;
// a process begins epoch e+1 when epoch e is over for it. An epoch ends with a verdict: the bitwise
// and of the values, and the ranks that it has found failed, in an order. The verdicts of all
// epochs, one after the other, make the list of failed ranks that all processes agree upon.
//
// This file is a state machine without clock, network, lock or thread: its caller tells it what
// happens, and it says what is to be done. consensus.go is that caller, note.go has the frames.
//
// # The protocol
//
// The leader of a process is the lowest rank that the process does not take for lost. A process
// takes a rank for lost when the gate to it has ended, which is for good; so leaders only go up.
//
//	process                               leader
//	   │ STATE(value, failures known,       │
//	   │   proposal accepted) ────────────▶ │  waits for all that it does not take for lost
//	   │ ◀──────────────── PROPOSE(verdict) │  to them. That of the highest leader in the STATEs, if one was
//	 accepts it                             │  accepted; else a new one
//	   │ ACCEPT ──────────────────────────▶ │  waits for all, as before
//	   │ ◀───────────────── DECIDE(verdict) │  it is over here: Agree returns
//	it is over here
//
// What a process goes through in an epoch; a leader speaks with itself, too:
//
//	         Agree: STATE to the leader          PROPOSE of the leader: ACCEPT to it
//	absent ------------------------> voted ---------------------------------> accepted
//	                                  │ ▲ │                                     │ ▲ │
//	              the leader is lost, '-' │      the leader is lost, STATE      '-' │
//	              STATE to the next one   │      to the next one                    │
//	                                      '------ DECIDE; or it leads, and all -----'---> over
//	                                              have accepted its proposal
//
// A new leader may lag: what it waits for may be over elsewhere, and if only the link to the leader
// before has broken, the others do not know it as the leader. So a process that gets a new leader sends it the
// last DECIDE first; a process that becomes the leader sends all others its STATE; and a process
// that is asked for an epoch that is over there (STATE, PROPOSE) answers by its DECIDE. A process
// keeps the verdict of an epoch until the next one is over. No living process needs an older one,
// since the next one was not decided without it.
//
// # What is guaranteed
//
// Say that a process takes for lost only processes that have died, or have closed their sessions,
// and each such one at some time.
//
//   - Agreement, and uniform: all processes that return from epoch e, also those that die right
//     after it, return the same verdict. Say that leader c decides v. Then all that live have
//     accepted v from c, as c has waited for them. A later leader lives, too, so it has accepted v
//     itself, or a later proposal; and the first leader after c that proposes finds v as the
//     proposal of the highest leader: what a process has accepted is in its STATE, which it sends
//     after it has given up c, and from then on it accepts nothing of c. So that leader proposes v,
//     and by induction all after it do.
//   - Validity: the value is the and of exactly the values of those that the list, after this
//     epoch, does not hold; and the list holds every rank that any of them knew to be lost when it
//     called.
//   - Termination: once all that live have called, they return. Leaders only go up, each change costs a
//     process, and the last leader waits only for those that live, and all of these send it STATE.
//   - Bounded: a process keeps one STATE per peer, one proposal, one verdict, and the list.
//
// Without failures an agreement takes four steps; each process sends two frames, and the leader 2(n-1).
//
// # When a process is lost to some only
//
// A link can break between two processes that live; then each takes the other one for lost. The
// leader counts the failures reported in the order of ranks, its own ones first, and does not
// listen to a process that it has counted: so of the two one stays, and the other one is in the
// list. That one learns it from the DECIDE, and is told ErrExcluded from then on. This is safe as
// long as each leader can reach a process that has accepted the proposal before. It does not hold
// if the processes fall into parts none of which reaches another: each part goes on alone, and
// takes the others for lost.
//
// A process that has excluded another one still answers the STATEs of it that came before: with a
// break and a death in one epoch the excluded process may be the only one that knows the verdict.
// The exhaustive check has this case, too.
//
// # Rejected
//
//   - The tree of Herault et al. ("Practical scalable consensus for pseudo-synchronous distributed
//     systems", SC 2015): log n steps and neighbours where a leader has n. It has to be mended
//     while failures come, and its early returning needs each process to answer for older
//     agreements. A star is simple enough to be checked as a whole (agree_model_test.go goes
//     through all orders of events of small jobs). Its price is the leader's: n-1 STATEs kept until
//     all are there, 4(n-1) frames sent and received one after the other, each with the list of
//     ranks that this epoch has found failed, and a gate, so a link, to each process. That is 262,140
//     frames in a job of 65536, the most that there may be; nothing larger than a test's machine has
//     measured it. The others have four frames each, and two flags for each rank.
//   - Flooding: n² frames in each of f+1 rounds.
//   - Paxos with majorities: safe however processes are suspected, but over when half of the job is dead; ULFM
//     wants the last process to go on.
//   - Through rank 0, over the control connections: over when rank 0 is dead.
//   - One phase, the leader decides when it has the values: a process could return a verdict and
//     die, and the others end with another one. That is not uniform, and what the dead process
//     wrote to a disk in between would be wrong.

// Calls that a verdict is for. Each process that takes part says which one it has called.
const (
	callAgree uint8 = 1 << iota
	callShrink
)

// verdict is what an agreement ends with; in a STATE what one process brings along.
type verdict struct {
	value  uint64
	calls  uint8 // all that were made
	failed []int // ranks that this agreement has found failed, in the agreed order; in a STATE those known and not agreed upon
}

// Kinds of notes.
const (
	noteState uint8 = 1 + iota
	notePropose
	noteAccept
	noteDecide
	noteRevoke // no part of an agreement: the context is revoked
)

// noLeader stands for the leader of a proposal that was not made.
const noLeader = -1

// note is what the processes tell each other. One with rank lists is never changed once it was made.
type note struct {
	kind    uint8
	of      uint16 // the context whose group agrees; 0: the job. The state machine does not know it
	epoch   uint32
	verdict verdict // all but ACCEPT
	by      int     // STATE: leader whose proposal was accepted last, or noLeader
	held    verdict // STATE: that proposal
}

// What a step asks for.
const (
	doSend    uint8 = iota // note to the rank
	doExclude              // likewise, if there are links to it; and its gate is to end: it was agreed that it has failed
	doWatch                // this process waits for the rank, and must learn of its death
	doBlame                // the rank has broken the protocol: why
	doReturn               // the epoch is over: verdict, or out
)

type action struct {
	what    uint8
	rank    int
	note    note
	verdict verdict
	out     bool
	why     string
}

// agreement is one process's part in all agreements. Its methods are the steps: they append what is to be done
// to actions, and never block. For one caller at a time.
type agreement struct {
	own, size int
	gone      []bool // by rank: lost, or agreed upon
	leader    int    // the lowest rank that is not gone
	agreed    []int  // found failed by the epochs that are over
	suspects  []int  // lost and not agreed upon yet, in the order in which that was learned
	out       bool   // the others have agreed that this process has failed

	epoch uint32
	last  *note // DECIDE of the epoch before; nil: there was none

	// Of this epoch.
	joined    bool
	mine      verdict // value and calls
	by        int     // leader whose proposal was accepted last, or noLeader
	held      verdict // that proposal
	states    map[int]note
	proposing bool // held is our own proposal, and is out
	accepted  []bool

	actions []action
}

func newAgreement(own, size int) *agreement {
	a := &agreement{own: own, size: size, gone: make([]bool, size), by: noLeader, states: map[int]note{}, accepted: make([]bool, size)}
	a.leader = a.lowest()
	return a
}

func (a *agreement) lowest() int {
	return slices.Index(a.gone, false) // own is never gone
}

// join begins this process's part in the epoch. The caller waits for doReturn before it joins again.
func (a *agreement) join(value uint64, call uint8) {
	if a.out {
		a.do(action{what: doReturn, out: true})
		return
	}
	a.joined, a.mine = true, verdict{value: value, calls: call}
	if a.leader == a.own {
		a.lead()
	} else {
		a.send(a.leader, a.state())
	}
	for q := range a.size {
		if s, ok := a.states[q]; ok && q != a.leader && s.epoch == a.epoch+1 {
			a.send(q, a.state()) // for q it is over: it answers
		}
	}
}

// lost hears that a rank is lost.
func (a *agreement) lost(rank int) {
	if rank == a.own || a.gone[rank] {
		return
	}
	a.gone[rank] = true
	a.suspects = append(a.suspects, rank)
	delete(a.states, rank)
	if a.out {
		return
	}
	if a.follow(); a.leader == a.own {
		a.consider()
	}
}

// orphaned hears that deaths show only on links from here on.
func (a *agreement) orphaned() {
	if a.joined && a.leader == a.own {
		a.watch()
	}
}

// follow turns to the new leader, if there is one.
func (a *agreement) follow() {
	was := a.leader
	if a.leader = a.lowest(); a.leader == was {
		return
	}
	if a.leader == a.own {
		if a.joined {
			for q := range a.others() {
				a.send(q, a.state()) // for q it may be over, by the leader before: it answers
			}
			a.lead()
		}
		return
	}
	if a.last != nil {
		a.send(a.leader, *a.last)
	}
	if a.joined {
		a.send(a.leader, a.state())
	}
}

func (a *agreement) lead() {
	a.watch()
	a.consider()
}

func (a *agreement) watch() {
	for q := range a.others() {
		a.do(action{what: doWatch, rank: q})
	}
}

// others are the other ranks that are not gone, from the lowest up.
func (a *agreement) others() func(func(int) bool) {
	return func(yield func(int) bool) {
		for q, gone := range a.gone {
			if !gone && q != a.own && !yield(q) {
				return
			}
		}
	}
}

// consider has a leader go on if all that it waits for is there.
func (a *agreement) consider() {
	if a.leader != a.own || !a.joined || a.out {
		return
	}
	if !a.proposing {
		for q := range a.others() {
			if s, ok := a.states[q]; !ok || s.epoch != a.epoch {
				return
			}
		}
		if !a.propose() {
			return
		}
	}
	for q := range a.others() {
		if !a.accepted[q] {
			return
		}
	}
	a.decide(a.held)
}

// propose is for a leader that has the STATE of all others.
func (a *agreement) propose() bool {
	best := a.by
	held := a.held
	for q := range a.others() {
		s := a.states[q]
		if s.by != noLeader && (s.by >= a.own || !a.sound(s.held)) {
			a.blame(q, "it says that it has accepted what no process can have proposed")
			return false // until it is lost
		}
		if s.by > best {
			best, held = s.by, s.held
		}
	}
	a.by, a.held = best, held
	if a.by == noLeader {
		a.held = a.sum()
	}
	a.by, a.proposing = a.own, true
	for q := range a.others() {
		a.send(q, note{kind: notePropose, epoch: a.epoch, verdict: a.held, by: noLeader})
	}
	return true
}

// sum is a new proposal.
func (a *agreement) sum() verdict {
	v := verdict{value: a.mine.value, calls: a.mine.calls, failed: slices.Clone(a.suspects)}
	counted := slices.Clone(a.gone)
	for q := range a.others() {
		if counted[q] {
			continue // another process has lost it; of a link that broke one end is believed
		}
		for _, r := range a.states[q].verdict.failed {
			if r != q && r != a.own && !counted[r] {
				counted[r] = true
				v.failed = append(v.failed, r)
			}
		}
	}
	for q := range a.others() {
		if !counted[q] {
			v.value &= a.states[q].verdict.value
			v.calls |= a.states[q].verdict.calls
		}
	}
	return v
}

// decide ends the epoch here.
func (a *agreement) decide(v verdict) {
	word := note{kind: noteDecide, epoch: a.epoch, verdict: v, by: noLeader}
	failed := a.marked(v.failed)
	for q := range a.others() {
		if s, ok := a.states[q]; failed[q] {
			a.do(action{what: doExclude, rank: q, note: word})
		} else if ok && s.epoch == a.epoch {
			a.send(q, word)
		}
	}
	for _, r := range v.failed {
		if r == a.own {
			a.out = true
			continue
		}
		a.gone[r] = true
		delete(a.states, r)
	}
	a.agreed = append(a.agreed, v.failed...)
	a.suspects = slices.DeleteFunc(a.suspects, func(r int) bool { return failed[r] })
	for q, s := range a.states {
		if s.epoch == a.epoch {
			delete(a.states, q)
		}
	}
	a.epoch++
	a.last = &word
	a.joined, a.proposing, a.by, a.held = false, false, noLeader, verdict{}
	clear(a.accepted)
	a.do(action{what: doReturn, verdict: v, out: a.out})
	if !a.out {
		a.follow()
	}
}

// hear takes in a note of another rank, which may say anything.
func (a *agreement) hear(from int, n note) {
	if from == a.own || a.gone[from] {
		return
	}
	if a.out { // the rank may not have heard yet what the last agreement of this process has ended with
		if n.kind != noteDecide && a.last != nil && n.epoch == a.last.epoch {
			a.send(from, *a.last)
		}
		return
	}
	ahead := int32(n.epoch - a.epoch) // epochs count modulo 2^32
	switch {
	case n.kind == noteDecide:
		a.hearDecide(from, n, ahead)
	case ahead > 1 || ahead == 1 && n.kind != noteState:
		a.blame(from, "it takes part in an agreement after the next one")
	case ahead < 0:
		if ahead == -1 && a.last != nil && n.kind != noteAccept {
			a.send(from, *a.last)
		}
	case n.kind == noteState:
		a.hearState(from, n, ahead)
	case n.kind == notePropose:
		a.hearPropose(from, n)
	default:
		a.hearAccept(from)
	}
}

func (a *agreement) hearState(from int, n note, ahead int32) {
	if s, ok := a.states[from]; ok && s.epoch == n.epoch {
		a.blame(from, "it takes part in an agreement twice")
		return
	}
	a.states[from] = n
	if ahead == 1 { // what is under way here is over for it
		if a.joined && from != a.leader {
			a.send(from, a.state())
		}
		return
	}
	a.consider()
}

func (a *agreement) hearPropose(from int, n note) {
	switch {
	case !a.joined || from != a.leader || a.by == from:
		a.blame(from, "it proposes what an agreement is to end with, and does not lead it, or has done so before")
	case !a.sound(n.verdict):
		a.blame(from, "it proposes that ranks have failed that had failed before")
	default:
		a.by, a.held = from, n.verdict
		a.send(from, note{kind: noteAccept, epoch: a.epoch, by: noLeader})
	}
}

func (a *agreement) hearAccept(from int) {
	if !a.proposing || a.accepted[from] {
		a.blame(from, "it accepts what was not proposed to it")
		return
	}
	a.accepted[from] = true
	a.consider()
}

func (a *agreement) hearDecide(from int, n note, ahead int32) {
	mine := slices.Contains(n.verdict.failed, a.own)
	switch {
	case ahead < 0:
	case ahead == 0 && a.joined && a.sound(n.verdict):
		a.decide(n.verdict)
	case mine: // the others have gone on without this process
		a.out, a.last = true, &n
		for q := range a.others() {
			if s, ok := a.states[q]; ok && s.epoch == n.epoch {
				a.send(q, n) // it waits for this process, and may have lost all that could tell it
			}
		}
		a.do(action{what: doReturn, out: true})
	default:
		a.blame(from, "it says how an agreement has ended that has not")
	}
}

// sound says whether a verdict may follow those before it.
func (a *agreement) sound(v verdict) bool {
	seen := a.marked(a.agreed)
	for _, r := range v.failed {
		if seen[r] {
			return false
		}
		seen[r] = true
	}
	return true
}

// marked is a list of ranks by rank.
func (a *agreement) marked(ranks []int) []bool {
	s := make([]bool, a.size)
	for _, r := range ranks {
		s[r] = true
	}
	return s
}

// state is what this process brings along.
func (a *agreement) state() note {
	own := a.mine
	own.failed = slices.Clone(a.suspects)
	return note{kind: noteState, epoch: a.epoch, verdict: own, by: a.by, held: a.held}
}

func (a *agreement) send(to int, n note)        { a.do(action{what: doSend, rank: to, note: n}) }
func (a *agreement) blame(rank int, why string) { a.do(action{what: doBlame, rank: rank, why: why}) }
func (a *agreement) do(d action)                { a.actions = append(a.actions, d) }

// take hands over what is to be done.
func (a *agreement) take() []action {
	actions := a.actions
	a.actions = nil
	return actions
}
