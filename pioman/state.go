package pioman

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// State is the state of a Task.
//
//	Init          Submit                first poll             Done; one-shot ran; panic
//	────▶ Ready ──────────▶ Scheduled ────────────▶ Running ─────────────────────▶ Ended
//	                         ▲  │                    │  ▲ │                          │
//	                         │  │ Cancel      Cancel │  └─┘ Again, Moved             │
//	                         │  ▼                    ▼                               │
//	                         │  Cancelling ◀─────────┘                               │
//	                         │  │ unlinked by a poller or by Cancel itself           │
//	                         │  ▼                                                    │
//	                         │  Cancelled                                            │
//	                  Submit └──┴────────────────────────────────────────────────────┘
//
// In StateReady, StateEnded and StateCancelled a task is inactive: the engine has forgotten it, its
// memory is the owner's, and it may be submitted (again). In the other states it
// is linked into a queue.
type State uint32

// The states of a Task. Running means that a poller has taken it up: its handler
// runs at this moment, or will be polled again. A repeat task stays Running from
// its first poll to its end, so that polling it writes no shared word.
const (
	StateUnset      State = iota // never initialised
	StateReady                   // initialised, in no queue
	StateScheduled               // submitted, not yet polled
	StateRunning                 // polled at least once
	StateCancelling              // Cancel was called; the task is still linked
	StateEnded                   // its handler ended it
	StateCancelled               // Cancel or Close ended it
)

var stateNames = [...]string{"unset", "ready", "scheduled", "running", "cancelling", "ended", "cancelled"}

// String returns the state's name in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// Inactive tells whether a task in this state is its owner's alone: the engine holds no reference to it.
func (s State) Inactive() bool {
	return s == StateReady || s == StateEnded || s == StateCancelled
}

// taskState is a State changed only through the transitions below.
//
// The owner of the task calls ready and schedule. The holder of the queue calls take, end and drop. Any
// thread may call cancel. take races with cancel, and schedule with another schedule, hence their
// compare-and-swaps. end and drop are plain stores, since only the holder of the queue moves a task out
// of StateRunning and StateCancelling.
type taskState struct{ w atomic.Uint32 }

func (s *taskState) load() State { return State(s.w.Load()) }

// ready makes a task out of blank or inactive memory. It returns false if the task is in a queue.
func (s *taskState) ready() bool {
	for {
		now := s.load()
		if now == StateReady {
			return true
		}
		if now != StateUnset && !now.Inactive() {
			return false
		}
		if s.w.CompareAndSwap(uint32(now), uint32(StateReady)) {
			return true
		}
	}
}

// schedule claims a inactive task for a queue; false if it is in one.
func (s *taskState) schedule() bool {
	for {
		now := s.load()
		if !now.Inactive() {
			return false
		}
		if s.w.CompareAndSwap(uint32(now), uint32(StateScheduled)) {
			return true
		}
	}
}

// take begins a poll; false if the task is to be dropped instead. A cancel that comes between the look
// and the store is overwritten, as if it had come while the handler runs: Cancel asks again until the task is inactive.
func (s *taskState) take() bool {
	switch s.load() {
	case StateRunning:
		return true
	case StateScheduled:
		asm.StoreRelease32(&s.w, uint32(StateRunning))
		return true
	}
	return false
}

// cancelling tells the holder that Cancel or Close asked for the end of the task.
func (s *taskState) cancelling() bool { return s.load() == StateCancelling }

// cancel asks for the end; false if the task is inactive, so that there is nothing to end.
func (s *taskState) cancel() bool {
	for {
		now := s.load()
		switch now {
		case StateScheduled, StateRunning:
			if s.w.CompareAndSwap(uint32(now), uint32(StateCancelling)) {
				return true
			}
		case StateCancelling:
			return true
		default:
			return false
		}
	}
}

// end and drop are the last access of the queue's holder to a task: afterwards the memory belongs
// to the task's owner.
func (s *taskState) end()  { asm.StoreRelease32(&s.w, uint32(StateEnded)) }
func (s *taskState) drop() { asm.StoreRelease32(&s.w, uint32(StateCancelled)) }
