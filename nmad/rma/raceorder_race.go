//go:build race

package rma

import "sync/atomic"

// raceOrder tells the race detector of an order that other processes make, and that it cannot see: this process carries
// out an access of another one, which a message asks for, after the fence of a thread here if the other process was
// told of that fence, and before a fence that follows the answer. The fences, and the callbacks that carry out
// accesses, call pass. So do the signaler before it changes the word, and the waiter once it has seen it: the detector
// does not see atomics on memory that is mapped, but sees the bytes that the signal is for, where these are Go's.
type raceOrder struct{ passed atomic.Uint64 }

// pass orders its caller behind all that have called pass before. Any thread and any callback may call it.
func (ro *raceOrder) pass() { ro.passed.Add(1) }
