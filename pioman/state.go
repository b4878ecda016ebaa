package pioman

import "github.com/pm2-go/pm2/internal/serial"

// State is the state of a Task. A task is a serial function, as a tasklet is (package internal/serial): S, Q, R, K are
// the bits of its word.
//
//	          Submit                first poll             Done; one-shot ran; panic
//	Idle ──────────────▶ Scheduled ────────────▶ Running ─────────────────────▶ Idle
//	(0)                   (S Q)                   (R)  ▲ │ Again, Moved
//	  ▲ Submit              │ Cancel        Cancel │   └─┘
//	  │                     ▼                      ▼
//	Canceled ◀───────────── Canceling (Q K) or (R K)
//	 (K)         dropped by a poller, or by Cancel itself
//
// In StateIdle and StateCanceled a task is inactive: the engine has no reference to it, its memory is the owner's, and
// it may be submitted. In the other states it is linked into a queue.
type State uint32

// The states of a Task. A Repeat task stays in StateRunning from its first poll to its end, so that a poll of it writes
// no shared word.
const (
	StateIdle      State = iota // in no queue: not submitted yet, or its handler has ended it
	StateScheduled              // submitted, not yet polled
	StateRunning                // polled at least once: its handler runs, or will be polled again
	StateCanceling              // Cancel was called; the task is still linked
	StateCanceled               // Cancel or Close ended it
)

var stateNames = [...]string{"idle", "scheduled", "running", "canceling", "canceled"}

// String returns the state's name in lower case.
func (state State) String() string {
	if int(state) < len(stateNames) {
		return stateNames[state]
	}
	return "unknown"
}

// Inactive reports whether a task in this state is its owner's alone: the engine holds no reference to it.
func (state State) Inactive() bool { return state == StateIdle || state == StateCanceled }

// taskState is the word of a task, with its transitions.
//
// Submitters call schedule, several of them perhaps at the same time. The holder of the queue calls take, end and
// drop; any thread may call cancel. end and drop are plain stores, since only the holder ends a scheduled task.
type taskState struct{ serial.Word }

// state returns the present state.
func (ts *taskState) state() State {
	switch now := ts.Load(); {
	case now.Has(serial.Killed) && now.Over():
		return StateCanceled
	case now.Has(serial.Killed):
		return StateCanceling
	case now.Has(serial.Running):
		return StateRunning
	case now.Has(serial.Queued):
		return StateScheduled
	}
	return StateIdle
}

// inactive reports whether the task is its owner's alone.
func (ts *taskState) inactive() bool { return ts.Load().Over() }

// schedule claims an inactive task for a queue. It returns false if the task is in one.
func (ts *taskState) schedule() bool {
	for {
		now := ts.Load()
		if next, push := now.Revive(); !push || ts.Swap(now, next) {
			return push
		}
	}
}

// take begins a poll. It returns false if the task is to be dropped instead. A cancel between the load and the store is
// overwritten; that does no harm, since Cancel calls cancel again until the task is inactive.
func (ts *taskState) take() bool {
	now := ts.Load()
	if now.Has(serial.Running | serial.Killed) {
		return !now.Has(serial.Killed)
	}
	next, run := now.Begin()
	ts.Set(next)
	return run
}

// canceling tells the holder whether Cancel or Close has asked for the end of the task.
func (ts *taskState) canceling() bool { return ts.Load().Has(serial.Killed) }

// cancel asks for the end of the task. It returns false if the task is inactive.
func (ts *taskState) cancel() bool {
	for {
		now := ts.Load()
		if now.Over() || now.Has(serial.Killed) || ts.Swap(now, now.Kill()) {
			return !now.Over()
		}
	}
}

// end and drop are the last access of the queue's holder to a task: afterwards the memory belongs
// to the task's owner.
func (ts *taskState) end()  { ts.Set(0) }
func (ts *taskState) drop() { ts.Set(serial.Killed) }
