package sched

import "fmt"

// Kind says what a thread waits for: for lists of threads, and for Cancel.
type Kind uint8

// The kinds of waits.
const (
	InOther     Kind = iota // not stated
	InSemaphore             // for a unit
	InMutex                 // for a lock: also that of a RecursiveMutex, and of a Once
	InCond                  // for a signal
	InBarrier               // for the other parties of a barrier
	InJoin                  // for the end of a thread
	InSleep                 // for time to pass
	InSelect                // for one of several
	InMailbox               // for a message, or for room for one
	InRWMutex               // for a lock to read or to write
	InLatch                 // for a count to come to its end
	InWaitQueue             // for a value to change
	InTimer                 // for a timer
	InTicker                // for a tick
	InWaitGroup             // for a counter to become 0
	kinds

	// Uninterruptible, added to a kind: Cancel leaves the wait alone.
	Uninterruptible Kind = 1 << 7
	// Returning, added to a kind: Cancel ends the wait, which returns as if it had been woken: see Interrupted.
	Returning Kind = 1 << 6
)

var kindNames = [kinds]string{"", "semaphore", "mutex", "condition", "barrier", "join", "sleep", "select", "mailbox",
	"rwmutex", "latch", "wait queue", "timer", "ticker", "wait group"}

// String is the name of what is waited for, "" if it is not known.
func (k Kind) String() string {
	if k &^= Uninterruptible | Returning; k >= kinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// MarshalText is String, for JSON.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText sets the kind to the one that MarshalText has written.
func (k *Kind) UnmarshalText(name []byte) error { return parseName(k, kindNames[:], name) }

// What a cancel does with a wait.
const (
	stays   = iota // nothing: it is no cancellation point
	unwinds        // it ends the wait, which does not return: the thread exits from there
	returns        // it ends the wait, which returns as if it had been woken; the waiter then calls EndWait, or Interrupted
)

// onCancel says what a cancel does with each kind of wait; the default is stays. A wait without a kind
// stays, because its caller may have state to put in order. Locks and barriers are no cancellation points in
// POSIX either.
var onCancel = [kinds]uint8{
	InSemaphore: unwinds, InJoin: unwinds, InSleep: unwinds, InMailbox: unwinds,
	InCond: returns, InSelect: returns, // mutexes have to be locked again
}

func (k Kind) onCancel() uint8 {
	switch {
	case k < kinds:
		return onCancel[k]
	case k < Uninterruptible: // Returning
		return returns
	}
	return stays
}

// As sets the kind of the wait that follows. The caller calls it between Enter and Wait:
//
//	c.As(sched.InSemaphore).Wait(&s.q, &s.mu)
func (c *co) As(k Kind) *Co {
	if c != nil {
		c.cur.w.kind = k
	}
	return c
}
