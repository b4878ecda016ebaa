//go:build race

package rma

import "sync/atomic"

// meeting tells the race detector of an order that other processes make, and that it cannot see: this process carries
// out an access of another one, which a message asks for, after the fence of a thread here if the other process was
// told of that fence, and before a fence that follows the answer. Both sides call meet.
type meeting struct{ n atomic.Uint64 }

// meet orders its caller behind all callers before.
func (m *meeting) meet() { m.n.Add(1) }
