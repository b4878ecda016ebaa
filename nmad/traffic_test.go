package nmad

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/nmad/strategy"
	"pgregory.net/rapid"
)

func itoa(n int) string { return strconv.Itoa(n) }

// traffic is a random exchange between two gates, checked against the plainest
// model of what message passing means: per direction and tag, the n-th receive
// gets the n-th send.
type traffic struct {
	p     *pair
	sends [2][]*op // by sender
	recvs [2][]*op // by receiver
	seed  uint64
}

type op struct {
	r    *Request
	tag  uint64
	data []byte // send: the message; recv: the buffer
}

func (tf *traffic) send(side int, tag uint64, size int) {
	tf.seed++
	data := pattern(size, tf.seed)
	r := &Request{}
	op1 := Operation{Match: Tag(tag), Buf: data, Sync: tf.seed%5 == 0, Priority: int8(tf.seed % 3)}
	if tf.seed%4 == 0 {
		op1.Parts = inParts(data, 5, 0, 90)
	}
	r.prepareSend(tf.p.gates[side], &op1)
	tf.p.gates[side].submit(r)
	tf.sends[side] = append(tf.sends[side], &op{r, tag, data})
}

func (tf *traffic) recv(side int, tag uint64, room int) {
	buf := make([]byte, room)
	tf.recvs[side] = append(tf.recvs[side], &op{tf.p.gates[side].Irecv(tag, buf), tag, buf})
}

// nth returns the n-th operation with that tag, nil if there are fewer.
func nth(ops []*op, tag uint64, n int) *op {
	for _, o := range ops {
		if o.tag == tag {
			if n == 0 {
				return o
			}
			n--
		}
	}
	return nil
}

// check compares every receive with the send that belongs to it. settled: what
// can be done must be done.
func (tf *traffic) check(settled bool) error {
	for side, recvs := range tf.recvs {
		sends := tf.sends[1-side]
		count := map[uint64]int{}
		for i, o := range recvs {
			s := nth(sends, o.tag, count[o.tag])
			count[o.tag]++
			over, err := o.r.Test()
			switch {
			case over && s == nil:
				return fmt.Errorf("receive %d of rank %d with tag %d is done, but no message was sent", i, side, o.tag)
			case !over && s != nil && settled:
				return fmt.Errorf("receive %d of rank %d with tag %d is %v, although its message was sent (%v)", i, side, o.tag, o.r.core.Stage, s.r.core.Stage)
			case !over:
				continue
			}
			n := min(len(s.data), len(o.data))
			if o.r.Len() != n || !bytes.Equal(o.data[:n], s.data[:n]) {
				return fmt.Errorf("receive %d of rank %d with tag %d: %d bytes, %d in the buffer, and not those that were sent", i, side, o.tag, o.r.Len(), len(o.data))
			}
			if isTruncated := err != nil; isTruncated != (len(s.data) > len(o.data)) {
				return fmt.Errorf("receive %d of rank %d, %d bytes into %d: %v", i, side, len(s.data), len(o.data), err)
			}
		}
		if settled {
			if err := tf.checkSends(side, sends, recvs); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSends makes sure that each send that was received is done.
func (tf *traffic) checkSends(receiver int, sends, recvs []*op) error {
	count := map[uint64]int{}
	for i, s := range sends {
		o := nth(recvs, s.tag, count[s.tag])
		count[s.tag]++
		if over, err := s.r.Test(); o != nil && (!over || err != nil) {
			return fmt.Errorf("send %d of rank %d with tag %d was received, but it is %v, %v", i, 1-receiver, s.tag, s.r.core.Stage, err)
		}
	}
	return nil
}

// finish posts what is missing so that everything must come to its end.
func (tf *traffic) finish() {
	for side := range 2 {
		sends, recvs := tf.sends[1-side], tf.recvs[side]
		need := map[uint64]int{}
		for _, s := range sends {
			need[s.tag]++
		}
		for _, r := range recvs {
			need[r.tag]--
		}
		tags := []uint64{}
		for tag := range need {
			tags = append(tags, tag)
		}
		slices.Sort(tags)
		for _, tag := range tags {
			for n := need[tag]; n > 0; n-- {
				tf.recv(side, tag, 700)
			}
			for n := need[tag]; n < 0; n++ {
				tf.send(1-side, tag, 33)
			}
		}
	}
}

func TestTrafficModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opt := simnet.Options{
			MaxBody: rapid.SampledFrom([]int{0, 8, 64}).Draw(t, "MaxBody"),
			Packets: rapid.IntRange(1, 9).Draw(t, "Packets"),
			Large:   rapid.SampledFrom([]int{1, 50, 1000}).Draw(t, "Large"),
		}
		window := rapid.SampledFrom([]int64{0, 1, 200, 1000, 1 << 20}).Draw(t, "window")
		records := rapid.SampledFrom([]int{1, 2, 1000}).Draw(t, "records")
		x := &traffic{p: newPair(opt, bounds{Bounds: flow.Bounds{Window: window, Records: records, PeerWindow: window, PeerRecords: records}})}
		for _, g := range x.p.gates {
			g.locked.flow.Strategy, _ = strategy.Lookup(rapid.SampledFrom(strategy.Names()).Draw(t, "strategy"))
		}
		side := rapid.IntRange(0, 1)
		tag := rapid.Uint64Range(0, 3)
		size := rapid.OneOf(rapid.IntRange(0, 10), rapid.IntRange(60, 70), rapid.IntRange(0, 600))
		few := records < 1000 // then sends that none receives may stop those behind them
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) { x.send(side.Draw(t, "side"), tag.Draw(t, "tag"), size.Draw(t, "size")) },
			"recv": func(t *rapid.T) { x.recv(side.Draw(t, "side"), tag.Draw(t, "tag"), size.Draw(t, "room")) },
			"poll": func(t *rapid.T) { x.p.gates[side.Draw(t, "side")].poll() },
			"hold": func(t *rapid.T) { x.p.links[side.Draw(t, "side")].Hold(rapid.Bool().Draw(t, "on")) },
			"buffer": func(t *rapid.T) {
				x.p.links[side.Draw(t, "side")].Buffer(rapid.Bool().Draw(t, "on"))
			},
			"settle": func(t *rapid.T) {
				x.p.links[0].Hold(false)
				x.p.links[1].Hold(false)
				x.p.settle()
				if err := x.check(!few); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				if err := x.check(false); err != nil {
					t.Fatal(err)
				}
			},
		})
		x.p.links[0].Hold(false)
		x.p.links[1].Hold(false)
		x.p.settle()
		x.finish()
		x.p.settle()
		if err := x.check(true); err != nil {
			t.Fatal(err)
		}
		if n := x.p.pending(); n != [2]int{} {
			t.Fatalf("the engines still count %v pending requests", n)
		}
		for i, g := range x.p.gates {
			if g.locked.flow.Ledger().Unexpected != 0 || g.locked.flow.Ledger().Posted != 0 || g.locked.flow.Ledger().Outstanding != 0 || g.locked.flow.Stats.UnexpectedBytes != 0 || g.locked.flow.Ledger().Taken != g.locked.flow.Ledger().Owed {
				t.Fatalf("gate %d is not empty at the end: %d unexpected, %d posted, %d announced, %d unexpected bytes, %d bytes taken and %d owed",
					i, g.locked.flow.Ledger().Unexpected, g.locked.flow.Ledger().Posted, g.locked.flow.Ledger().Outstanding, g.locked.flow.Stats.UnexpectedBytes, g.locked.flow.Ledger().Taken, g.locked.flow.Ledger().Owed)
			}
			if sum := g.locked.flow.Ledger().Credit + x.p.gates[1-i].locked.flow.Ledger().Taken; sum != window {
				t.Fatalf("credit of gate %d and what the other holds are %d together, want %d", i, sum, window)
			}
		}
	})
}
