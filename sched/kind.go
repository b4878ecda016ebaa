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
	InFutex                 // for a value to change
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
	"rwmutex", "latch", "futex", "timer", "ticker", "wait group"}

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

// cancelEffect is what a cancel does with a wait.
type cancelEffect uint8

const (
	cancelIgnored cancelEffect = iota // nothing: the wait is no cancellation point
	cancelUnwinds                     // it ends the wait, which does not return: the thread exits from there
	cancelReturns                     // it ends the wait, which returns as if it had been woken; the waiter then calls EndWait, or Interrupted
)

// cancelEffects has the effect on each kind of wait; the default is cancelIgnored. A cancel ignores a wait without a
// kind, because its caller may have state to put in order. Locks and barriers are no cancellation points in POSIX
// either.
var cancelEffects = [kinds]cancelEffect{
	InSemaphore: cancelUnwinds, InJoin: cancelUnwinds, InSleep: cancelUnwinds, InMailbox: cancelUnwinds,
	InCond: cancelReturns, InSelect: cancelReturns, // mutexes have to be locked again
}

// cancelEffect returns what a cancel does with a wait of kind k.
func (k Kind) cancelEffect() cancelEffect {
	switch {
	case k&Uninterruptible != 0:
		return cancelIgnored
	case k&Returning != 0:
		return cancelReturns
	}
	return cancelEffects[k]
}

// As sets the kind of the wait that follows. The caller calls it between Enter and Wait:
//
//	c.As(sched.InSemaphore).Wait(&s.q, &s.mu)
func (c *co) As(k Kind) *Co {
	if c != nil {
		c.cur.waiter.kind = k
	}
	return c
}
