package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/internal/test/modeltest"
	"github.com/pm2-go/pm2/nmad/driver"
)

// hall is members of a segment that this process maps once for each.
type hall struct {
	segments []*Segment
	bells    [][]chan struct{} // by sleeper and by the member that it waits for
}

func open(t *testing.T, members int) *hall {
	t.Helper()
	locator := make([]byte, LocatorBytes)
	s, err := Create(members, locator)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Hide()
	h := &hall{}
	for own := range members {
		if own > 0 {
			if s, err = Open(locator, members, own); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(s.Vacate)
		h.segments = append(h.segments, s)
		bells := make([]chan struct{}, members)
		for i := range bells {
			bells[i] = make(chan struct{}, 1)
		}
		h.bells = append(h.bells, bells)
	}
	if _, err := Open(locator, members+1, 0); !errors.Is(err, driver.ErrProtocol) {
		t.Errorf("a segment of another size: %v", err)
	}
	return h
}

// wait waits as the package's documentation says, without polling: so each wait may sleep.
func (h *hall) wait(me int, owes []bool, member func() int) {
	s := h.segments[me]
	for m := member(); m >= 0; m = member() {
		if !owes[m] {
			s.Sleep(m)
			if member() != m {
				owes[m] = !s.Wakeful(m)
				continue
			}
		}
		<-h.bells[me][m]
		owes[m] = false
	}
}

func (h *hall) wake(me int) {
	h.segments[me].Sleepers(func(m int) { h.bells[m][me] <- struct{}{} })
}

// TestMembers: members publish pieces of all sizes, to all or to one, in operations of some pieces, and read those of
// others, which are what was published; nothing is lost, and none sleeps for ever, however far one runs ahead.
func TestMembers(t *testing.T) {
	for _, members := range []int{2, 3, 7, 70} {
		t.Run(fmt.Sprint(members), func(t *testing.T) {
			h := open(t, members)
			rounds := 4000 / members
			var all sync.WaitGroup
			for me := range members {
				all.Go(func() {
					owes := make([]bool, members)
					for op := range uint64(rounds) {
						h.operation(t, me, op+1, owes)
					}
				})
			}
			all.Wait()
		})
	}
}

// operation is one in which a drawn member publishes some pieces to all, or to the one behind it; all draw the same.
func (h *hall) operation(t *testing.T, me int, op uint64, owes []bool) {
	members := len(h.segments)
	draw := rand.New(rand.NewPCG(op, 7))
	from, pieces, size := draw.IntN(members), 1+draw.IntN(2*Slots), draw.IntN(200)
	if draw.IntN(4) == 0 {
		size = draw.IntN(PieceOf(members)-8) + 8
	}
	reader := Everyone
	if draw.IntN(2) == 0 {
		reader = (from + 1) % members
	}
	s := h.segments[me]
	for k := range pieces {
		if size++; size > PieceOf(members) {
			size = 0
		}
		want := op<<16 | uint64(k)
		switch {
		case me == from:
			h.wait(me, owes, func() int { return s.Blocks(op, k) })
			if room := s.Room(op, k, size); size >= 8 {
				binary.LittleEndian.PutUint64(room[size-8:], want)
			}
			if s.Publish(op, k, uint64(size), reader) {
				h.wake(me)
			}
		case reader == Everyone || reader == me:
			h.wait(me, owes, func() int {
				if s.Ready(from, op, k) {
					return -1
				}
				return from
			})
			if label := s.Label(from, op, k); label != uint64(size) {
				t.Errorf("operation %d, piece %d: %d bytes, want %d", op, k, label, size)
			}
			if piece := s.Bytes(from, op, k, size); size >= 8 && binary.LittleEndian.Uint64(piece[size-8:]) != want {
				t.Errorf("operation %d, piece %d: %#x, want %#x", op, k, binary.LittleEndian.Uint64(piece[size-8:]), want)
			}
			if s.Release(op, k) {
				h.wake(me)
			}
		}
		if draw.IntN(8) == 0 {
			runtime.Gosched()
		}
	}
	if s.ReleaseAll(op) {
		h.wake(me)
	}
}

// TestLast: a member sees how far another one has come, whether that has published or read something.
func TestLast(t *testing.T) {
	h := open(t, 2)
	for _, x := range []struct {
		does func()
		want uint64
	}{
		{func() {}, 0},
		{func() { h.segments[1].Publish(3, 1, 0, Everyone) }, 3},
		{func() { h.segments[1].Publish(Slots+1, 2, 0, 0) }, Slots + 1},
		{func() { h.segments[1].ReleaseAll(Slots) }, Slots + 1},
		{func() { h.segments[1].Release(2*Slots, 5) }, 2 * Slots},
	} {
		x.does()
		if last := h.segments[0].Last(1); last != x.want {
			t.Errorf("the last operation is %d, want %d", last, x.want)
		}
	}
}

// TestModels: the protocol of sleepers, of one that waits for several, and of slots that are used again.
func TestModels(t *testing.T) { modeltest.Check(t, "testdata/spin/*.pml") }
