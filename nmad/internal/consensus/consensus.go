package consensus

import "slices"

// Agreements are numbered from 0; the number is called the epoch. A process begins epoch e+1 when epoch e is over for
// it. An epoch ends with a verdict: the bitwise and of the values, and a list of the ranks that this epoch has found
// failed. The lists of all verdicts, one after the other, are the list of failed ranks that all processes agree upon.
//
// # The protocol
//
// The leader of a process is the lowest rank that the process does not take for lost. A process
// takes a rank for lost when the gate to it has ended, which is for good; so leaders only go up.
//
//	process                               leader
//	   │ STATE(value, failures known,       │
//	   │   proposal accepted) ────────────▶ │  waits for the STATE of each rank that it does not take for lost
//	   │ ◀──────────────── PROPOSE(verdict) │  sends all of them a proposal: if some have accepted one before,
//	 accepts the proposal                   │  that of the highest leader among these; else a new one
//	   │ ACCEPT ──────────────────────────▶ │  waits for the ACCEPT of each rank that it does not take for lost
//	   │ ◀───────────────── DECIDE(verdict) │  the epoch is over here: Agree returns
//	the epoch is over here
//
// The states of a process in an epoch (a leader takes the steps of a process, too):
//
//	         Agree: STATE to the leader          PROPOSE of the leader: ACCEPT to it
//	absent ------------------------> voted ---------------------------------> accepted
//	                                  │ ▲ │                                     │ ▲ │
//	              the leader is lost, '-' │      the leader is lost, STATE      '-' │
//	              STATE to the next one   │      to the next one                    │
//	                                      '------ DECIDE; or it leads, and all -----'---> over
//	                                              have accepted its proposal
//
// A new leader may lag behind: the epoch in which it waits may be over in other processes, and if only its own link to
// the former leader has broken, the others do not know it as the leader. So a process that gets a new leader sends it
// the last DECIDE first; a process that becomes the leader sends all others its STATE; and a process that receives a
// STATE or a PROPOSE of an epoch that is over for it answers with its DECIDE. A process keeps the verdict of an epoch
// until the next epoch is over. No living process needs an older verdict, because each of them has taken part in the
// next epoch.
//
// # What is guaranteed
//
// Say that a process takes for lost only processes that have died, or have closed their sessions,
// and each such one at some time.
//
//   - Uniform agreement: all processes that return from epoch e, also those that die right
//     after it, return the same verdict. Proof: say that leader c decides v. Then all living processes
//     have accepted v from c, because c has waited for them. A later leader is one of them, so it has accepted v
//     itself, or a later proposal. The first leader after c that proposes finds v as the
//     proposal of the highest leader: a process reports in its STATE what it has accepted, it sends the STATE
//     after it has given up c, and from then on it accepts nothing from c. So that leader proposes v,
//     and by induction all later leaders do.
//   - Validity: the value is the bitwise and of exactly the values of the processes that the list of failed ranks
//     does not hold after this epoch; and the list holds every rank that any of these processes knew to be lost when it
//     called.
//   - Termination: once all living processes have called, they return. Leaders only go up, each change of the leader costs a
//     process, and the last leader waits only for living processes, all of which send it their STATE.
//   - Bounded: a process keeps one STATE per peer, one proposal, one verdict, and the list.
//
// Without failures an agreement takes four steps; each process sends two frames, and the leader 2(n-1).
//
// # When only some processes lose a process
//
// A link can break between two processes that live; then each takes the other one for lost. The leader counts the
// reported failures in the order of ranks, its own ones first, and does not listen to a process that it has counted. So
// one of the two stays, and the other one is in the list. The excluded process learns it from the DECIDE; its calls
// fail with nmad.ErrExcluded from then on. This is safe as long as each leader can reach a process that has accepted
// the proposal before. It does not hold if the processes fall into parts none of which reaches another: each part goes
// on alone, and takes the others for lost.
//
// An excluded process still answers the STATEs that came before its exclusion (hearDecide): if in one epoch a link
// breaks and a process dies, the excluded process may be the only one that knows the verdict. The exhaustive check of
// the model includes this case.
//
// # Rejected
//
//   - The tree of Herault et al. ("Practical scalable consensus for pseudo-synchronous distributed
//     systems", SC 2015): log n steps and neighbors where a leader has n. It has to be mended
//     while failures come, and its early returning needs each process to answer for older
//     agreements. A star is simple enough to be checked as a whole (model_test.go goes
//     through all orders of events of small jobs). Its price is the leader's: n-1 STATEs kept until
//     all are there, 4(n-1) frames sent and received one after the other, each with the list of
//     ranks that this epoch has found failed, and a gate, so a link, to each process. That is 262,140
//     frames in a job of 65536, the most that there may be; nothing larger than a test's machine has
//     measured it. Every other process sends and receives four frames, and keeps two flags for each rank.
//   - Flooding: n² frames in each of f+1 rounds.
//   - Paxos with majorities: safe whichever processes are suspected, but stuck when half of the job is dead; ULFM
//     wants the last process to go on.
//   - Through rank 0, over the control connections: stuck when rank 0 is dead.
//   - One phase, in which the leader decides as soon as it has the values: a process could return a verdict and
//     die, and the others end with another verdict. That is not uniform, and what the dead process
//     wrote to a disk in between would be wrong.

// The kinds of actions.
const (
	Send    uint8 = iota // send Note to Rank
	Exclude              // Rank was agreed to have failed: send Note to it if there are links, and end its gate
	Watch                // this process waits for Rank: see to it that this process learns of the death of Rank
	Blame                // Rank has broken the protocol, as Why says: end its gate
	Return               // the epoch is over: end the call of this process with Verdict, or as Excluded says
)

// Action is something that a Participant asks its caller to do.
type Action struct {
	What     uint8 // Send, Exclude, Watch, Blame or Return
	Rank     int
	Note     Note
	Verdict  Verdict
	Excluded bool // the others have agreed that this process has failed, and go on without it
	Why      string
}

// Participant is the part of one process in all agreements of a group. Its methods never block; what they want done
// they add to the list that Actions returns. It has one caller at a time.
type Participant struct {
	own, size int    // rank of this process; ranks of the job
	gone      []bool // by rank: lost, or agreed to have failed
	leader    int    // the lowest rank that is not gone
	agreed    []int  // ranks that the epochs which are over have found failed, in the agreed order
	suspects  []int  // ranks that are lost here and not agreed upon yet, in the order in which this process has lost them
	excluded  bool   // the others have agreed that this process has failed

	epoch uint32 // number of the current epoch, modulo 2^32
	last  *Note  // DECIDE of the epoch before; nil if there was none

	// State of the current epoch.
	joined    bool         // this process has begun its call (Join)
	mine      Verdict      // its value, and which call it has begun
	by        int          // leader whose proposal this process has accepted last, or NoLeader
	proposal  Verdict      // the proposal of that leader
	states    map[int]Note // STATEs that have come, by rank
	proposing bool         // this process leads, and has sent its proposal
	accepted  []bool       // by rank: ACCEPTs that have come for this process's proposal

	actions []Action // for the next call of Actions
}

// New makes the Participant of the rank own of a job of that size. member reports whether a rank belongs to the group;
// the other ranks count as failed from the beginning. If member is nil, all ranks belong to the group.
func New(own, size int, member func(rank int) bool) *Participant {
	a := &Participant{
		own: own, size: size, gone: make([]bool, size), by: NoLeader, states: map[int]Note{}, accepted: make([]bool, size),
	}
	for rank := range size {
		if a.gone[rank] = member != nil && !member(rank); a.gone[rank] {
			a.agreed = append(a.agreed, rank)
		}
	}
	a.leader = a.lowest()
	return a
}

// Failed returns the ranks that have failed: first those that were agreed upon, in the agreed order, then those that
// only this process may know of.
func (a *Participant) Failed() []int { return slices.Concat(a.agreed, a.suspects) }

// Agreed returns the ranks that were agreed to have failed, in the agreed order.
func (a *Participant) Agreed() []int { return slices.Clone(a.agreed) }

// lowest returns the lowest rank that is not gone.
func (a *Participant) lowest() int {
	return slices.Index(a.gone, false) // own is never gone
}

// Join begins this process's part in the epoch. The caller waits for Return before it calls Join again.
func (a *Participant) Join(value uint64, call uint8) {
	if a.excluded {
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
			a.send(q, a.state()) // q is in the next epoch already: it answers with the verdict of this one
		}
	}
}

// Lost tells the Participant that a rank is lost.
func (a *Participant) Lost(rank int) {
	if rank == a.own || a.gone[rank] {
		return
	}
	a.gone[rank] = true
	a.suspects = append(a.suspects, rank)
	delete(a.states, rank)
	if a.excluded {
		return
	}
	if a.follow(); a.leader == a.own {
		a.consider()
	}
}

// RelayLost tells the Participant that a process which relays the news of deaths has gone. From here on only a link
// tells of the death of some processes, so a leader asks for links to all ranks that it waits for.
func (a *Participant) RelayLost() {
	if a.joined && a.leader == a.own {
		a.watch()
	}
}

// follow looks for a new leader. If there is one, this process sends it what it needs to go on, or begins to lead.
func (a *Participant) follow() {
	before := a.leader
	if a.leader = a.lowest(); a.leader == before {
		return
	}
	if a.leader == a.own {
		if a.joined {
			for q := range a.others {
				a.send(q, a.state()) // the former leader may have ended the epoch for q: then q answers with the verdict
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

// lead begins this process's work as the leader of an epoch that it has joined.
func (a *Participant) lead() {
	a.watch()
	a.consider()
}

// watch asks for the news of the death of each rank that the leader waits for.
func (a *Participant) watch() {
	for q := range a.others {
		a.do(Action{What: Watch, Rank: q})
	}
}

// others iterates over the other ranks that are not gone, from the lowest up.
func (a *Participant) others(yield func(rank int) bool) {
	for q, gone := range a.gone {
		if !gone && q != a.own && !yield(q) {
			return
		}
	}
}

// consider lets a leader take its next step if all notes that it waits for have come: it proposes, or decides.
func (a *Participant) consider() {
	if a.leader != a.own || !a.joined || a.excluded {
		return
	}
	if !a.proposing {
		for q := range a.others {
			if s, ok := a.states[q]; !ok || s.Epoch != a.epoch {
				return
			}
		}
		if !a.propose() {
			return
		}
	}
	for q := range a.others {
		if !a.accepted[q] {
			return
		}
	}
	a.decide(a.proposal)
}

// propose sends the leader's proposal, which it makes of the STATEs of all others. It sends none, and returns false, if
// a STATE breaks the protocol.
func (a *Participant) propose() bool {
	best := a.by
	proposal := a.proposal
	for q := range a.others {
		s := a.states[q]
		if s.By != NoLeader && (s.By >= a.own || !a.sound(s.Proposal)) {
			a.blame(q, "it says that it has accepted what no process can have proposed")
			return false // the caller ends the gate of q, and Lost calls consider again
		}
		if s.By > best {
			best, proposal = s.By, s.Proposal
		}
	}
	a.by, a.proposal = best, proposal
	if a.by == NoLeader {
		a.proposal = a.newProposal()
	}
	a.by, a.proposing = a.own, true
	for q := range a.others {
		a.send(q, Note{Kind: Propose, Epoch: a.epoch, Verdict: a.proposal, By: NoLeader})
	}
	return true
}

// newProposal makes a proposal of the STATEs: the bitwise and of the values, and the failures that were reported.
func (a *Participant) newProposal() Verdict {
	v := Verdict{Value: a.mine.Value, Calls: a.mine.Calls, Failed: slices.Clone(a.suspects)}
	counted := slices.Clone(a.gone)
	for q := range a.others {
		if counted[q] {
			continue // another process has lost q: of the two ends of a broken link the proposal believes only one
		}
		for _, r := range a.states[q].Verdict.Failed {
			if r != q && r != a.own && !counted[r] {
				counted[r] = true
				v.Failed = append(v.Failed, r)
			}
		}
	}
	for q := range a.others {
		if !counted[q] {
			v.Value &= a.states[q].Verdict.Value
			v.Calls |= a.states[q].Verdict.Calls
		}
	}
	return v
}

// decide ends the epoch in this process with a verdict. It tells the verdict to the ranks that have sent their STATE.
func (a *Participant) decide(v Verdict) {
	note := Note{Kind: Decide, Epoch: a.epoch, Verdict: v, By: NoLeader}
	failed := a.byRank(v.Failed)
	for q := range a.others {
		if s, ok := a.states[q]; failed[q] {
			a.do(Action{What: Exclude, Rank: q, Note: note})
		} else if ok && s.Epoch == a.epoch {
			a.send(q, note)
		}
	}
	for _, r := range v.Failed {
		if r == a.own {
			a.excluded = true
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
	a.last = &note
	a.joined, a.proposing, a.by, a.proposal = false, false, NoLeader, Verdict{}
	clear(a.accepted)
	a.do(Action{What: Return, Verdict: v, Excluded: a.excluded})
	if !a.excluded {
		a.follow()
	}
}

// Hear handles a note of another rank. The note comes from a peer that is not trusted: it may say anything.
func (a *Participant) Hear(from int, n Note) {
	if from == a.own || a.gone[from] {
		return
	}
	if a.excluded { // the rank may not have heard yet how the last epoch of this process has ended
		if n.Kind != Decide && a.last != nil && n.Epoch == a.last.Epoch {
			a.send(from, *a.last)
		}
		return
	}
	ahead := int32(n.Epoch - a.epoch) // by how many epochs the rank is ahead of this process; epochs count modulo 2^32
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
	if ahead == 1 { // the current epoch is over for the rank, which answers a STATE with the verdict
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
	excludes := slices.Contains(n.Verdict.Failed, a.own)
	switch {
	case ahead < 0:
	case ahead == 0 && a.joined && a.sound(n.Verdict):
		a.decide(n.Verdict)
	case excludes: // the others have gone on without this process
		a.excluded, a.last = true, &n
		for q := range a.others {
			if s, ok := a.states[q]; ok && s.Epoch == n.Epoch {
				a.send(q, n) // q waits for this process, and may have lost all others that know the verdict
			}
		}
		a.do(Action{What: Return, Excluded: true})
	default:
		a.blame(from, "it says how an agreement has ended that has not")
	}
}

// sound reports whether a verdict may follow the earlier ones: it finds no rank failed twice.
func (a *Participant) sound(v Verdict) bool {
	seen := a.byRank(a.agreed)
	for _, r := range v.Failed {
		if seen[r] {
			return false
		}
		seen[r] = true
	}
	return true
}

// byRank turns a list of ranks into a table of flags by rank.
func (a *Participant) byRank(ranks []int) []bool {
	s := make([]bool, a.size)
	for _, r := range ranks {
		s[r] = true
	}
	return s
}

// state returns the STATE of this process in the current epoch.
func (a *Participant) state() Note {
	own := a.mine
	own.Failed = slices.Clone(a.suspects)
	return Note{Kind: State, Epoch: a.epoch, Verdict: own, By: a.by, Proposal: a.proposal}
}

func (a *Participant) send(to int, n Note)        { a.do(Action{What: Send, Rank: to, Note: n}) }
func (a *Participant) blame(rank int, why string) { a.do(Action{What: Blame, Rank: rank, Why: why}) }
func (a *Participant) do(d Action)                { a.actions = append(a.actions, d) }

// Actions returns what the caller has to do for the steps since the last call, in that order.
func (a *Participant) Actions() []Action {
	actions := a.actions
	a.actions = nil
	return actions
}
