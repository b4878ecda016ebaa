package consensus

import "slices"

// Agreements have numbers, their epochs, from 0; a process begins epoch e+1 when epoch e is over for it. An epoch ends
// with a verdict: the bitwise and of the values, and the ranks that it has found failed, in an order. The verdicts of all
// epochs, one after the other, make the list of failed ranks that all processes agree upon.
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
// A new leader may lag: the epoch in which it waits may be over elsewhere, and if only its link to the former leader has
// broken, the others do not know it as the leader. So a process that gets a new leader sends it the last DECIDE first; a
// process that becomes the leader sends all others its STATE; and a process that is asked for an epoch that is over there
// (STATE, PROPOSE) answers by its DECIDE. A process keeps the verdict of an epoch until the next one is over. No living
// process needs an older one, since the next one was not decided without it.
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
// A link can break between two processes that live; then each takes the other one for lost. The leader counts the reported
// failures in the order of ranks, its own ones first, and does not listen to a process that it has counted. So one of the
// two stays, and the other one is in the list. The excluded process learns it from the DECIDE; its calls fail with
// nmad.ErrExcluded from then on. This is safe as long as each leader can reach a process that has accepted the proposal before.
// It does not hold if the processes fall into parts none of which reaches another: each part goes on alone, and takes the
// others for lost.
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
//     agreements. A star is simple enough to be checked as a whole (model_test.go goes
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

// What a step asks for.
const (
	Send    uint8 = iota // Note to Rank
	Exclude              // likewise, if there are links to it; and its gate is to end: it was agreed that it has failed
	Watch                // this process waits for Rank, and must learn of its death
	Blame                // Rank has broken the protocol: Why
	Return               // the epoch is over: Verdict, or Excluded
)

// Action is what a step asks its caller to do.
type Action struct {
	What     uint8
	Rank     int
	Note     Note
	Verdict  Verdict
	Excluded bool // the others go on without this process
	Why      string
}

// Participant is one process's part in all agreements of a group. Its methods are the steps: they note what is to be done
// for Actions, and never block. It has one caller at a time.
type Participant struct {
	own, size int
	gone      []bool // by rank: lost, or agreed upon
	leader    int    // the lowest rank that is not gone
	agreed    []int  // found failed by the epochs that are over
	suspects  []int  // lost and not agreed upon yet, in the order in which that was learned
	out       bool   // the others have agreed that this process has failed

	epoch uint32
	last  *Note // DECIDE of the epoch before; nil: there was none

	// Of this epoch.
	joined    bool
	mine      Verdict // value and calls
	by        int     // leader whose proposal was accepted last, or NoLeader
	proposal  Verdict // that one
	states    map[int]Note
	proposing bool // proposal is our own, and is out
	accepted  []bool

	actions []Action
}

// New makes the part of a process of a job of that size. Ranks that member says no to count as lost from the beginning;
// nil: all are members.
func New(own, size int, member func(rank int) bool) *Participant {
	a := &Participant{own: own, size: size, gone: make([]bool, size), by: NoLeader, states: map[int]Note{}, accepted: make([]bool, size)}
	for rank := range size {
		if a.gone[rank] = member != nil && !member(rank); a.gone[rank] {
			a.agreed = append(a.agreed, rank)
		}
	}
	a.leader = a.lowest()
	return a
}

// Failed returns the ranks that have failed: first those that were agreed upon, in that order, then those that only this
// process may know of.
func (a *Participant) Failed() []int { return slices.Concat(a.agreed, a.suspects) }

// Agreed returns those that were agreed upon.
func (a *Participant) Agreed() []int { return slices.Clone(a.agreed) }

func (a *Participant) lowest() int {
	return slices.Index(a.gone, false) // own is never gone
}

// Join begins this process's part in the epoch. The caller waits for Return before it calls Join again.
func (a *Participant) Join(value uint64, call uint8) {
	if a.out {
		a.do(Action{What: Return, Excluded: true})
		return
	}
	a.joined, a.mine = true, Verdict{Value: value, Calls: call}
	if a.leader == a.own {
		a.lead()
	} else {
		a.send(a.leader, a.state())
	}
	for q := range a.size {
		if s, ok := a.states[q]; ok && q != a.leader && s.Epoch == a.epoch+1 {
			a.send(q, a.state()) // for q it is over: it answers
		}
	}
}

// Lost hears that a rank is lost.
func (a *Participant) Lost(rank int) {
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

// Orphaned hears that deaths show only on links from here on.
func (a *Participant) Orphaned() {
	if a.joined && a.leader == a.own {
		a.watch()
	}
}

// follow turns to the new leader, if there is one.
func (a *Participant) follow() {
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

func (a *Participant) lead() {
	a.watch()
	a.consider()
}

func (a *Participant) watch() {
	for q := range a.others() {
		a.do(Action{What: Watch, Rank: q})
	}
}

// others are the other ranks that are not gone, from the lowest up.
func (a *Participant) others() func(func(int) bool) {
	return func(yield func(int) bool) {
		for q, gone := range a.gone {
			if !gone && q != a.own && !yield(q) {
				return
			}
		}
	}
}

// consider has a leader go on if all that it waits for is there.
func (a *Participant) consider() {
	if a.leader != a.own || !a.joined || a.out {
		return
	}
	if !a.proposing {
		for q := range a.others() {
			if s, ok := a.states[q]; !ok || s.Epoch != a.epoch {
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
	a.decide(a.proposal)
}

// propose is for a leader that has the STATE of all others.
func (a *Participant) propose() bool {
	best := a.by
	proposal := a.proposal
	for q := range a.others() {
		s := a.states[q]
		if s.By != NoLeader && (s.By >= a.own || !a.sound(s.Proposal)) {
			a.blame(q, "it says that it has accepted what no process can have proposed")
			return false // until it is lost
		}
		if s.By > best {
			best, proposal = s.By, s.Proposal
		}
	}
	a.by, a.proposal = best, proposal
	if a.by == NoLeader {
		a.proposal = a.sum()
	}
	a.by, a.proposing = a.own, true
	for q := range a.others() {
		a.send(q, Note{Kind: Propose, Epoch: a.epoch, Verdict: a.proposal, By: NoLeader})
	}
	return true
}

// sum is a new proposal.
func (a *Participant) sum() Verdict {
	v := Verdict{Value: a.mine.Value, Calls: a.mine.Calls, Failed: slices.Clone(a.suspects)}
	counted := slices.Clone(a.gone)
	for q := range a.others() {
		if counted[q] {
			continue // another process has lost it; of a link that broke one end is believed
		}
		for _, r := range a.states[q].Verdict.Failed {
			if r != q && r != a.own && !counted[r] {
				counted[r] = true
				v.Failed = append(v.Failed, r)
			}
		}
	}
	for q := range a.others() {
		if !counted[q] {
			v.Value &= a.states[q].Verdict.Value
			v.Calls |= a.states[q].Verdict.Calls
		}
	}
	return v
}

// decide ends the epoch here.
func (a *Participant) decide(v Verdict) {
	word := Note{Kind: Decide, Epoch: a.epoch, Verdict: v, By: NoLeader}
	failed := a.marked(v.Failed)
	for q := range a.others() {
		if s, ok := a.states[q]; failed[q] {
			a.do(Action{What: Exclude, Rank: q, Note: word})
		} else if ok && s.Epoch == a.epoch {
			a.send(q, word)
		}
	}
	for _, r := range v.Failed {
		if r == a.own {
			a.out = true
			continue
		}
		a.gone[r] = true
		delete(a.states, r)
	}
	a.agreed = append(a.agreed, v.Failed...)
	a.suspects = slices.DeleteFunc(a.suspects, func(r int) bool { return failed[r] })
	for q, s := range a.states {
		if s.Epoch == a.epoch {
			delete(a.states, q)
		}
	}
	a.epoch++
	a.last = &word
	a.joined, a.proposing, a.by, a.proposal = false, false, NoLeader, Verdict{}
	clear(a.accepted)
	a.do(Action{What: Return, Verdict: v, Excluded: a.out})
	if !a.out {
		a.follow()
	}
}

// Hear takes in a note of another rank, which may say anything.
func (a *Participant) Hear(from int, n Note) {
	if from == a.own || a.gone[from] {
		return
	}
	if a.out { // the rank may not have heard yet what the last agreement of this process has ended with
		if n.Kind != Decide && a.last != nil && n.Epoch == a.last.Epoch {
			a.send(from, *a.last)
		}
		return
	}
	ahead := int32(n.Epoch - a.epoch) // epochs count modulo 2^32
	switch {
	case n.Kind == Decide:
		a.hearDecide(from, n, ahead)
	case ahead > 1 || ahead == 1 && n.Kind != State:
		a.blame(from, "it takes part in an agreement after the next one")
	case ahead < 0:
		if ahead == -1 && a.last != nil && n.Kind != Accept {
			a.send(from, *a.last)
		}
	case n.Kind == State:
		a.hearState(from, n, ahead)
	case n.Kind == Propose:
		a.hearPropose(from, n)
	default:
		a.hearAccept(from)
	}
}

func (a *Participant) hearState(from int, n Note, ahead int32) {
	if s, ok := a.states[from]; ok && s.Epoch == n.Epoch {
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

func (a *Participant) hearPropose(from int, n Note) {
	switch {
	case !a.joined || from != a.leader || a.by == from:
		a.blame(from, "it proposes what an agreement is to end with, and does not lead it, or has done so before")
	case !a.sound(n.Verdict):
		a.blame(from, "it proposes that ranks have failed that had failed before")
	default:
		a.by, a.proposal = from, n.Verdict
		a.send(from, Note{Kind: Accept, Epoch: a.epoch, By: NoLeader})
	}
}

func (a *Participant) hearAccept(from int) {
	if !a.proposing || a.accepted[from] {
		a.blame(from, "it accepts what was not proposed to it")
		return
	}
	a.accepted[from] = true
	a.consider()
}

func (a *Participant) hearDecide(from int, n Note, ahead int32) {
	mine := slices.Contains(n.Verdict.Failed, a.own)
	switch {
	case ahead < 0:
	case ahead == 0 && a.joined && a.sound(n.Verdict):
		a.decide(n.Verdict)
	case mine: // the others have gone on without this process
		a.out, a.last = true, &n
		for q := range a.others() {
			if s, ok := a.states[q]; ok && s.Epoch == n.Epoch {
				a.send(q, n) // it waits for this process, and may have lost all that could tell it
			}
		}
		a.do(Action{What: Return, Excluded: true})
	default:
		a.blame(from, "it says how an agreement has ended that has not")
	}
}

// sound says whether a verdict may follow those before it.
func (a *Participant) sound(v Verdict) bool {
	seen := a.marked(a.agreed)
	for _, r := range v.Failed {
		if seen[r] {
			return false
		}
		seen[r] = true
	}
	return true
}

// marked is a list of ranks by rank.
func (a *Participant) marked(ranks []int) []bool {
	s := make([]bool, a.size)
	for _, r := range ranks {
		s[r] = true
	}
	return s
}

// state is what this process brings along.
func (a *Participant) state() Note {
	own := a.mine
	own.Failed = slices.Clone(a.suspects)
	return Note{Kind: State, Epoch: a.epoch, Verdict: own, By: a.by, Proposal: a.proposal}
}

func (a *Participant) send(to int, n Note)        { a.do(Action{What: Send, Rank: to, Note: n}) }
func (a *Participant) blame(rank int, why string) { a.do(Action{What: Blame, Rank: rank, Why: why}) }
func (a *Participant) do(d Action)                { a.actions = append(a.actions, d) }

// Actions hands over what is to be done since the last call.
func (a *Participant) Actions() []Action {
	actions := a.actions
	a.actions = nil
	return actions
}
