package mpi

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
	"github.com/pm2-go/pm2/nmad/mpi/internal/segment"
)

// TestMaySleep: a rank that waits for several others sleeps for one only while it is that one that it waits for: one
// that has taken what it had to, or has published, may write no more before it waits itself.
func TestMaySleep(t *testing.T) {
	const members = 3
	locator := make([]byte, segment.LocatorBytes)
	var all [members]*segment.Segment
	var err error
	if all[0], err = segment.Create(members, locator); err != nil {
		t.Fatal(err)
	}
	defer all[0].Hide()
	for own := 1; own < members; own++ {
		if all[own], err = segment.Open(locator, members, own); err != nil {
			t.Fatal(err)
		}
	}
	h := &shared{segment: all[0], wakePending: make([]bool, members)}

	// Member 0 publishes, and then needs the slot again; the others are to read it first.
	all[0].Publish(1, 0, 0, segment.Everyone)
	h.op, h.step = 1+segment.Slots, &plan.Step{Kind: plan.Publish, Peer: plan.Everyone}
	if m := h.awaited(); m != 1 {
		t.Fatalf("it waits for %d", m)
	}
	all[1].ReleaseAll(1) // just before member 0 asks it for a message
	if h.maySleep(1) || h.wakePending[1] {
		t.Error("it sleeps for a member that has read the piece, while another has not")
	}
	if m := h.awaited(); m != 2 || !h.maySleep(2) {
		t.Errorf("it waits for %d, and does not sleep", m)
	}
	woken := 0
	if all[2].ReleaseAll(1) {
		all[2].Sleepers(func(int) { woken++ })
	}
	if woken != 1 || !h.isReady() {
		t.Errorf("woken %d times, met: %v", woken, h.isReady())
	}

	// It combines the operands of two members.
	h.op, h.step = 2, &plan.Step{Kind: plan.Merge, Peer: 1, Piece: plan.Piece{Other: 2}}
	all[1].Publish(2, 0, 0, segment.Everyone) // just before
	if h.maySleep(1) || h.wakePending[1] {
		t.Error("it sleeps for an operand that is there, while the other is not")
	}
	if m := h.awaited(); m != 2 || !h.maySleep(2) {
		t.Errorf("it waits for operand %d, and does not sleep", m)
	}
	if all[2].Publish(2, 0, 0, segment.Everyone) {
		all[2].Sleepers(func(int) { woken++ })
	}
	if woken != 2 || !h.isReady() || h.maySleep(2) || h.wakePending[2] {
		t.Errorf("woken %d times, met: %v", woken, h.isReady())
	}
}
