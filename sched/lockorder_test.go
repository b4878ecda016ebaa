//go:build chaos

package sched

import "testing"

// TestLockOrder: what is locked in the wrong order is noticed.
func TestLockOrder(t *testing.T) {
	var outer, inner, other Spin
	inner.ranked(rankNode)
	outer.ranked(rankBubbles)
	other.ranked(rankNode)
	outer.Lock()
	inner.Lock()
	if !other.TryLock() {
		t.Fatal("it is free")
	}
	if other.outOfOrder() == nil || inner.outOfOrder() != nil {
		t.Error("two of a rank that does not nest are in order, or what is held in order is not")
	}
	other.Unlock()
	inner.Unlock()
	outer.Unlock()
}
