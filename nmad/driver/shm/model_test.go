package shm

import (
	"fmt"
	"strings"
	"testing"
)

// The protocol by which sides sleep and wake each other (README.md), as a machine of which all ways to run are tried:
// each step of each thread in any order, each store seen by the other side at once or as late as a store buffer lets
// it. If in some order all end up waiting, one sleeps on a message, or on room; and it is shown how that came about.
//
// The machine is that of x86 (total store order): a store goes into a buffer of its thread's, which writes to memory
// later, in order; an exchange waits until the buffer is empty. Steps have the names that they have in the code.

// fault leaves something of the protocol out.
type fault uint8

const (
	sound          fault = iota
	plainPublish         // what is published is only stored
	plainArm             // the flags are only stored
	noSecondLook         // Arm does not look at the ready words
	noLookAtRoom         // nor, if refused, at the credits
	lookFirst            // it looks before the flags are up
	ringThenTake         // one that wakes rings before it takes the flag
	quietBeforeNap       // Arm empties the doorbell, after it has looked
	noFaults
)

var faultNames = [noFaults]string{"sound", "plain publish", "plain arm", "no second look", "no look at room", "look first", "ring, then take", "quiet before the nap"}

// Words of the segment: the ready words and credits as counts, for either direction and track; flags for either side.
const (
	mReady    = 0 // + direction*tracks + track
	mCredit   = mReady + 2*tracks
	mSleeping = mCredit + 2*tracks // + side
	mWantRoom = mSleeping + 2
	mWords    = mWantRoom + 2
	tracks    = 2 // small: what was received is free at the next Recv; large: at once
)

// modelState is that of the machine; comparable.
type modelState struct {
	mem     [mWords]uint8
	bells   [2]bool // eventfds, as the kernel has them
	threads [3]modelThread
}

type modelThread struct {
	pc     step
	op     uint8 // of its script
	head   [tracks]uint8
	tail   [tracks]uint8
	told   [tracks]uint8
	room   bool // the nap under way is for room
	buffer [3]struct{ word, value uint8 }
	stored uint8 // entries of buffer
}

type step uint8

const (
	stBegin step = iota // of an operation: Send, Recv
	stTry
	stLook // has the other side to be woken?
	stTake
	stRing
	stArm
	stArmRoom
	stReady
	stReadyLarge
	stRoom
	stQuietEarly
	stNap
	stDisarmRoom
	stDisarm
	stQuiet
)

var stepNames = [...]string{"begin", "try", "look at the flag", "take the flag", "ring", "arm", "arm for room", "look at the cells", "look at the slots", "look at the credit",
	"quiet before the nap", "wake up", "disarm room", "disarm", "quiet"}

// player is a thread: side 0 or 1; what it does, for each operation s or r and the track; and whether it sleeps where it
// has to wait, or polls. Of a side one thread receives, and the same one sleeps.
type player struct {
	side   uint8
	script string
	naps   bool
}

// op gives an operation.
func (pr *player) op(i uint8) (send bool, track uint8) {
	return pr.script[2*i] == 's', pr.script[2*i+1] - '0'
}

type model struct {
	players []player
	cells   uint8 // of each ring
	fault   fault
}

// load reads a word as thread t sees it.
func (ms *modelState) load(t, word uint8) uint8 {
	th := &ms.threads[t]
	for i := th.stored; i > 0; i-- {
		if th.buffer[i-1].word == word {
			return th.buffer[i-1].value
		}
	}
	return ms.mem[word]
}

// flush writes the oldest store of thread t.
func (ms *modelState) flush(t uint8) {
	th := &ms.threads[t]
	ms.mem[th.buffer[0].word] = th.buffer[0].value
	copy(th.buffer[:], th.buffer[1:])
	th.stored--
	th.buffer[th.stored].word, th.buffer[th.stored].value = 0, 0
}

// write is a store, or a store that is a barrier; false: not before the buffer has room, or is empty.
func (ms *modelState) write(t, word, value uint8, barrier bool) bool {
	th := &ms.threads[t]
	switch {
	case barrier && th.stored == 0:
		ms.mem[word] = value
	case !barrier && int(th.stored) < len(th.buffer):
		th.buffer[th.stored].word, th.buffer[th.stored].value = word, value
		th.stored++
	default:
		return false
	}
	return true
}

// step has thread t do its next step, if it can.
func (m *model) step(s *modelState, t uint8) bool {
	p, th := &m.players[t], &s.threads[t]
	if m.done(s, t) {
		return false
	}
	me, peer := p.side, 1-p.side
	send, k := p.op(th.op)
	ready, credit := mReady+me*tracks+k, mCredit+me*tracks+k // of what it sends
	flag := mWantRoom + peer
	if send {
		flag = mSleeping + peer
	} else {
		ready, credit = mReady+peer*tracks+k, mCredit+peer*tracks+k
	}
	publish := m.fault != plainPublish
	owing := !send && th.head[k]-th.told[k] >= (m.cells+3)/4
	next := func() { // after the other side was told
		if send || k == 1 {
			th.op, th.pc = th.op+1, stBegin
		} else {
			th.pc = stTry
		}
	}
	switch th.pc {
	case stBegin:
		if k == 0 && owing {
			if !s.write(t, credit, th.head[k], publish) {
				return false
			}
			th.told[k], th.pc = th.head[k], stLook
			return true
		}
		th.pc = stTry
		return m.step(s, t) // nothing that others see
	case stTry:
		switch {
		case send && th.tail[k]-s.load(t, credit) < m.cells:
			if !s.write(t, ready, th.tail[k]+1, publish) {
				return false
			}
			th.tail[k]++
			th.pc = stLook
		case !send && s.load(t, ready) > th.head[k]:
			if k == 0 {
				th.head[k]++
				th.op, th.pc = th.op+1, stBegin
				return true
			}
			if !s.write(t, credit, th.head[k]+1, publish) {
				return false
			}
			th.head[k]++
			th.told[k], th.pc = th.head[k], stLook
		case !p.naps:
			return false
		default:
			th.room, th.pc = send, stArm
			if m.fault == lookFirst {
				th.pc = stReady
			}
		}
	case stLook:
		if s.load(t, flag) == 0 {
			next()
			return true
		}
		if th.pc = stTake; m.fault == ringThenTake {
			th.pc = stRing
		}
	case stTake:
		if th.stored > 0 {
			return false
		}
		was := s.mem[flag]
		s.mem[flag] = 0
		if th.pc = stRing; was == 0 || m.fault == ringThenTake {
			next()
		}
	case stRing:
		s.bells[peer] = true
		if m.fault == ringThenTake {
			th.pc = stTake
			return true
		}
		next()
	case stArm:
		if !s.write(t, mSleeping+me, 1, m.fault != plainArm) {
			return false
		}
		th.pc = m.afterArm()
		if th.room {
			th.pc = stArmRoom
		}
	case stArmRoom:
		if !s.write(t, mWantRoom+me, 1, m.fault != plainArm) {
			return false
		}
		th.pc = m.afterArm()
	case stReady, stReadyLarge:
		k := uint8(th.pc - stReady)
		something := m.fault != noSecondLook && s.load(t, mReady+peer*tracks+k) > th.head[k]
		switch {
		case something:
			th.pc = stDisarmRoom
		case k == 0:
			th.pc = stReadyLarge
		case th.room:
			th.pc = stRoom
		default:
			th.pc = m.afterLook()
		}
	case stRoom:
		if m.fault != noLookAtRoom && th.tail[k]-s.load(t, credit) < m.cells {
			th.pc = stDisarmRoom
		} else {
			th.pc = m.afterLook()
		}
	case stQuietEarly:
		s.bells[me] = false
		th.pc = stNap
	case stNap:
		if !s.bells[me] {
			return false
		}
		th.pc = stDisarmRoom
	case stDisarmRoom, stDisarm:
		if th.stored > 0 {
			return false
		}
		if th.pc == stDisarmRoom {
			s.mem[mWantRoom+me] = 0
		} else {
			s.mem[mSleeping+me] = 0
		}
		th.pc++
	case stQuiet:
		s.bells[me] = false
		th.pc, th.room = stBegin, false
	}
	return true
}

// afterArm and afterLook are the steps that follow, with and without a fault.
func (m *model) afterArm() step {
	if m.fault == lookFirst {
		return stNap
	}
	return stReady
}

func (m *model) afterLook() step {
	switch m.fault {
	case lookFirst:
		return stArm
	case quietBeforeNap:
		return stQuietEarly
	}
	return stNap
}

func (m *model) done(s *modelState, t uint8) bool {
	return int(s.threads[t].op) == len(m.players[t].script)/2
}

// move is how a state came about: a step of a thread, or its store buffer's.
type move struct {
	from  modelState
	what  step
	by    uint8
	flush bool
}

// run tries everything. It gives how many states there are, and, if in one of them no side can go on and not all are
// done, the way to it.
func (m *model) run() (states int, stuck []string) {
	var start modelState
	came := map[modelState]move{start: {}}
	queue := []modelState{start}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		moved, done := false, true
		for t := range uint8(len(m.players)) {
			done = done && m.done(&s, t)
			for _, flush := range []bool{false, true} {
				to, mv := s, move{from: s, what: s.threads[t].pc, by: t, flush: flush}
				switch {
				case flush && s.threads[t].stored == 0, !flush && !m.step(&to, t):
					continue
				case flush:
					to.flush(t)
				}
				moved = true
				if _, known := came[to]; !known {
					came[to] = mv
					queue = append(queue, to)
				}
			}
		}
		if !moved && !done {
			for at := s; at != start; at = came[at].from {
				mv := came[at]
				what := stepNames[mv.what]
				if mv.flush {
					what = "its oldest store is seen"
				}
				stuck = append(stuck, fmt.Sprintf("thread %d, operation %d: %s", mv.by, mv.from.threads[mv.by].op, what))
			}
			for i, j := 0, len(stuck)-1; i < j; i, j = i+1, j-1 {
				stuck[i], stuck[j] = stuck[j], stuck[i]
			}
			return len(came), append(stuck, fmt.Sprintf("all wait: %+v", s))
		}
	}
	return len(came), nil
}

// games are what the machine is put to.
var games = []struct {
	name    string
	cells   uint8
	players []player
}{
	{"ping-pong", 2, []player{{0, "s0r0s0r0s1r1s0", true}, {1, "r0s0r0s0r1s1r0", true}}},
	{"a large ball", 2, []player{{0, "s1r1s1r1s0r0s1", true}, {1, "r1s1r1s1r0s0r1", true}}},
	{"full rings", 2, []player{{0, "s0s0s0s0s0", true}, {1, "r0r0r0r0r0", true}}},
	{"full large rings", 2, []player{{0, "s1s1s1s1s1", true}, {1, "r1r1r1r1r1", true}}},
	{"both tracks", 1, []player{{0, "s0s1s0s1s0s1", true}, {1, "r0r1r0r1r0r1", true}}},
	{"both ways", 2, []player{{0, "s0s0r0r0s0r0s0r0", true}, {1, "s0s0r0r0s0r0s0r0", true}}},
	{"two senders", 1, []player{{0, "s0s0s0", false}, {1, "r0r1r0r1r0", true}, {0, "s1s1", true}}},
	{"a sender beside a receiver", 1, []player{{0, "s0s0s0", false}, {1, "r0s1r0s1r0", true}, {0, "r1r1", true}}},
}

// TestModel: none is left asleep, in whatever order things happen; and each part of the protocol is needed for it.
func TestModel(t *testing.T) {
	for f := range noFaults {
		t.Run(faultNames[f], func(t *testing.T) {
			caught := ""
			for _, g := range games {
				states, stuck := (&model{g.players, g.cells, f}).run()
				t.Logf("%s: %d states, left asleep: %v", g.name, states, stuck != nil)
				if stuck != nil && caught == "" {
					caught = g.name
				}
				if f == sound && stuck != nil {
					t.Errorf("%s: a player is left asleep:\n%s", g.name, strings.Join(stuck, "\n"))
				}
			}
			if f != sound && caught == "" {
				t.Error("no player is left asleep without it: the model, or the protocol, has something that is not needed")
			}
		})
	}
}
