//go:build race

package rma

import "sync/atomic"

// meeting tells the race detector of an order that it cannot see, since it comes about by way of other processes: an
// access of one of these, which this process carries out by a message, comes after what the fence of a thread here
// orders, if that process was told of it, and before a fence that comes after the answer.
type meeting struct{ n atomic.Uint64 }

func (m *meeting) meet() { m.n.Add(1) }
