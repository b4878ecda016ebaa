package flow

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/strategy"
	"pgregory.net/rapid"
)

// expect checks what has become of the sends of one side and the receives of the other: the messages of a tag go, in
// the order of the sends, to the receives in the order of their posting; these name their tags. The same tag in another
// context is another one.
func expect(t *rapid.T, from, to *side, tags int, over bool) {
	for i := range tags * len(inContexts) {
		tag, context := uint64(i/len(inContexts)), inContexts[i%len(inContexts)]
		var sends, recvs []*Request
		for _, r := range from.sends {
			if r.Entry.Tag == tag && r.Context == context {
				sends = append(sends, r)
			}
		}
		for _, r := range to.recvs {
			if r.Entry.Tag == tag && r.Context == context && !errors.Is(r.Err(), errWithdrawn) {
				recvs = append(recvs, r)
			}
		}
		for i, r := range recvs {
			switch {
			case r.Stage != Finished:
				if over && i < len(sends) {
					t.Fatalf("tag %d: receive %d is %v, its send %v, and nothing moves", tag, i, r.Stage, sends[i].Stage)
				}
			case i >= len(sends):
				t.Fatalf("tag %d: receive %d is done, of %d sends", tag, i, len(sends))
			case r.Size != uint64(sends[i].Data.Size) || r.N != min(r.Data.Size, sends[i].Data.Size):
				t.Fatalf("tag %d: receive %d has %d of %d bytes, of a message of %d and for %d", tag, i, r.N, r.Size, sends[i].Data.Size, r.Data.Size)
			case (r.Err() != nil) != (r.Data.Size < sends[i].Data.Size):
				t.Fatalf("tag %d: receive %d of a message of %d bytes for %d: %v", tag, i, sends[i].Data.Size, r.Data.Size, r.Err())
			case !bytes.Equal(r.Data.Buf()[:r.N], from.sent[sends[i]][:r.N]):
				t.Fatalf("tag %d: receive %d has other bytes than were sent", tag, i)
			}
		}
		for i, s := range sends {
			if over && i < len(recvs) && s.Stage != Finished {
				t.Fatalf("tag %d: send %d is %v, its receive %v, and nothing moves", tag, i, s.Stage, recvs[i].Stage)
			}
			if s.Synchronous() && s.Stage == Finished && i >= len(recvs) {
				t.Fatalf("tag %d: synchronous send %d is done without a receive", tag, i)
			}
		}
	}
}

var inContexts = []uint16{Library, DefaultContext, 500}

var errWithdrawn = errors.New("withdrawn")

// ledger checks that no credit is lost: what a side may still send, what is on its way, and what the other one has of
// it or gives back just now make up the window.
func ledger(t *rapid.T, from, to *side) {
	credit := from.f.tx.credit
	for _, p := range from.packets {
		switch p.head.Kind {
		case KindEager:
			credit += cost(len(p.body))
		case KindAggregate:
			Messages(&p.head, p.body, func(_, size uint64, _ uint32) { credit += cost(int(size)) })
		}
	}
	for _, p := range to.packets {
		switch p.head.Kind {
		case KindEager, KindAggregate:
			credit += int64(p.head.Cookie)
		case KindCredit:
			credit += int64(p.head.Size)
		}
	}
	if credit += to.f.rx.taken; credit != from.f.tx.window {
		t.Fatalf("%d bytes of credit are accounted for, the window has %d", credit, from.f.tx.window)
	}
}

// TestTwoFlows has an adversary decide when packets leave, how many, when they arrive, and how many bytes move at a
// time. However it does, messages arrive whole, once and in order, and nothing waits for ever.
func TestTwoFlows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const tags = 3
		o := options{
			window:   rapid.SampledFrom([]int{200, 500, 1 << 20}).Draw(t, "window"),
			records:  rapid.IntRange(1, 4).Draw(t, "records"),
			rails:    rapid.IntRange(1, 3).Draw(t, "rails"),
			room:     rapid.SampledFrom([]int{40, 200}).Draw(t, "room"),
			buffered: rapid.Bool().Draw(t, "buffered"),
			syscalls: rapid.Bool().Draw(t, "syscalls"),
			exposes:  rapid.Bool().Draw(t, "exposes"),
			strategy: rapid.SampledFrom([]strategy.Strategy{strategy.Default, strategy.Aggregation, strategy.SplitBalance, strategy.SplitEqual}).Draw(t, "strategy"),
		}
		w := newWorld(o)
		w.sides[0].blind = rapid.Bool().Draw(t, "blind")
		sides, tag, context := rapid.IntRange(0, 1), rapid.Uint64Range(0, tags-1), rapid.SampledFrom(inContexts)
		sizes := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 300), rapid.IntRange(60_000, 300_000))
		side := func(t *rapid.T) (*side, *side) {
			i := sides.Draw(t, "side")
			return w.sides[i], w.sides[1-i]
		}
		seed := 0
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				s, _ := side(t)
				seed++
				r := request(tag.Draw(t, "tag"), data(sizes.Draw(t, "size"), seed))
				r.Context = context.Draw(t, "context")
				if rapid.IntRange(0, 4).Draw(t, "how") == 0 {
					r.UsesExtras, r.Extras.Sync = true, true
				}
				if b := r.Data.Buf(); rapid.IntRange(0, 4).Draw(t, "parts") == 0 {
					r.UsesExtras = true
					r.Scatter([][]byte{b[:len(b)/3], nil, b[len(b)/3:]})
				}
				s.send(r)
			},
			"receive": func(t *rapid.T) {
				s, _ := side(t)
				r := request(tag.Draw(t, "tag"), make([]byte, sizes.Draw(t, "room")))
				r.Context = context.Draw(t, "context")
				s.post(r, match.Exact)
			},
			"withdraw": func(t *rapid.T) {
				s, _ := side(t)
				if len(s.recvs) == 0 {
					t.Skip()
				}
				r := rapid.SampledFrom(s.recvs).Draw(t, "receive")
				if r.Stage == Posted && s.f.Withdraw(r) {
					s.f.Finish(r, errWithdrawn)
				}
			},
			"leave": func(t *rapid.T) {
				s, _ := side(t)
				s.leave(rapid.IntRange(-1, 3).Draw(t, "packets"))
			},
			"take": func(t *rapid.T) {
				s, other := side(t)
				s.take(other)
			},
			"carry": func(t *rapid.T) {
				s, other := side(t)
				dir := rapid.SampledFrom([]Direction{Push, Pull}).Draw(t, "direction")
				s.carry(other, rapid.IntRange(0, w.rails-1).Draw(t, "rail"), dir, rapid.SampledFrom([]int{0, 1, 1000, 1 << 20}).Draw(t, "bytes"))
			},
			"": func(t *rapid.T) {
				for i, s := range w.sides {
					if s.ended != nil {
						t.Fatalf("side %d: %v", i, s.ended)
					}
					ledger(t, s, w.sides[1-i])
					if l := s.f.Ledger(); l.Taken > s.f.rx.window || l.Announced > l.Records || l.Outstanding > l.PeerRecords {
						t.Fatalf("side %d is beyond its bounds: %+v", i, l)
					}
					expect(t, s, w.sides[1-i], tags, false)
				}
			},
		})
		w.settle()
		for i, s := range w.sides {
			if s.ended != nil {
				t.Fatalf("side %d: %v", i, s.ended)
			}
			expect(t, s, w.sides[1-i], tags, true)
		}
		// In the end each request that counts is under way still, and the end of the flows ends it.
		for i, s := range w.sides {
			left := 0
			for _, r := range slices.Concat(s.sends, s.recvs) {
				if r.Stage != Finished {
					left++
				}
			}
			if n, _ := s.f.Pending(); n != left {
				t.Fatalf("side %d counts %d requests, %d are under way", i, n, left)
			}
			s.f.End(errors.New("over"))
			for _, r := range slices.Concat(s.sends, s.recvs) {
				if r.Stage != Finished {
					t.Fatalf("side %d has ended, and a request is %v", i, r.Stage)
				}
			}
			if s.f.pending != 0 {
				t.Fatalf("side %d has ended, and counts %d requests", i, s.f.pending)
			}
		}
	})
}

// TestHostilePackets gives a flow packets that make no sense, among such that do: it says so, keeps within its bounds,
// and ends.
func TestHostilePackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(options{window: 1000, records: 3, rails: 2})
		a, b := w.sides[0], w.sides[1]
		for i := range 3 {
			a.send(request(uint64(i), data(50*i*i, i)))
			b.post(request(uint64(i), make([]byte, 500)), match.Exact)
			b.send(request(uint64(i), data(300*i, i)))
		}
		for range rapid.IntRange(1, 30).Draw(t, "packets") {
			if rapid.Bool().Draw(t, "honest") {
				a.leave(2)
				a.take(b)
				b.leave(1)
				continue
			}
			body := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "body")
			h := driver.Header{
				Kind: uint8(rapid.IntRange(0, int(LastKind)+1).Draw(t, "kind")), Context: rapid.SampledFrom([]uint16{DefaultContext, DefaultContext, Library, 9}).Draw(t, "context"), Flags: rapid.SampledFrom([]uint8{0, 0, 1, FlagMore, 9}).Draw(t, "flags"),
				Tag: rapid.Uint64Range(0, 3).Draw(t, "tag"), Size: rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64()).Draw(t, "size"),
				Cookie: rapid.OneOf(rapid.Uint32Range(0, 300), rapid.Just[uint32](1<<CookieBits)).Draw(t, "cookie"), Seq: b.f.rx.seq,
				Body: uint32(len(body)),
			}
			if rapid.Bool().Draw(t, "bare") {
				h.Body, body = 0, nil
			}
			b.packets = nil
			if b.ended == nil {
				b.endOn(b.f.Packet(&h, body, b))
			}
			if l := b.f.Ledger(); b.ended == nil && (l.Taken > b.f.rx.window || l.Announced > l.Records) {
				t.Fatalf("beyond its bounds: %+v", l)
			}
		}
		b.endOn(errors.New("over"))
		for _, r := range slices.Concat(b.sends, b.recvs) {
			if r.Stage != Finished {
				t.Fatalf("the flow has ended, and a request is %v", r.Stage)
			}
		}
	})
}

// TestManyContexts: a peer that sends in more contexts than one may is told so, however it sends, and its messages in
// those that it has used already are taken.
func TestManyContexts(t *testing.T) {
	for name, last := range map[string]packet{
		"eager":     {driver.Header{Kind: KindEager}, nil},
		"announced": {driver.Header{Kind: KindRdv, Size: 100}, nil},
		"exposed":   {driver.Header{Kind: KindExpose, Size: 100, Body: ExposeBody}, []byte{7: 1}},
		"together":  {driver.Header{Kind: KindAggregate, Size: 2, Body: 2 * AggregateHead}, nil},
	} {
		w := newWorld(options{})
		f := &w.sides[0].f
		for i := range MaxContexts + 1 {
			h := driver.Header{Kind: KindEager, Context: uint16(2 + i%MaxContexts), Seq: uint32(i)}
			if err := f.Packet(&h, nil, w.sides[0]); err != nil {
				t.Fatal(err)
			}
		}
		last.head.Seq = MaxContexts + 1
		if last.head.Kind == KindAggregate {
			last.body = appendHead(appendHead(nil, DefaultContext, 0, 0), Library, 0, 0)
		}
		if err := f.Packet(&last.head, last.body, w.sides[0]); err == nil {
			t.Errorf("%s: one context more is taken", name)
		}
	}
}

// TestPacketDeliversWhatItFinds: a packet that arrives has the flow look through what is kept, and finds there a
// message for a receive for any source that was posted meanwhile. Nothing else would deliver it: the poster sees that
// its receive was taken.
func TestPacketDeliversWhatItFinds(t *testing.T) {
	var s side
	f := &s.f
	anyList := match.NewAnyList[Request](match.All(1), 0, &sync.Mutex{})
	f.Init(0, 0, 1, Bounds{Window: 1000, Records: 10})
	f.Join(DefaultContext, anyList)
	arrive := func(seq uint32) {
		t.Helper()
		h := driver.Header{Kind: KindEager, Context: DefaultContext, Body: 10, Size: 10, Tag: uint64(seq), Seq: seq}
		if err := f.Packet(&h, data(10, int(seq)), &s); err != nil {
			t.Fatal(err)
		}
	}
	arrive(0)
	r := request(0, make([]byte, 10))
	r.Kind, r.UsesExtras, r.Extras.Anywhere = RequestRecv, true, true
	r.Stage = Posted
	r.Extras.Wild.Set(&r.Entry, match.Exact, false)
	anyList.Post(&r.Extras.Wild)
	arrive(1)
	if r.Stage != Finished || !bytes.Equal(r.Data.Buf(), data(10, 0)) {
		t.Errorf("the receive is %v, with %x", r.Stage, r.Data.Buf())
	}
}

// TestShortAllocatesNothing sends and receives short messages by the door that needs no request.
func TestShortAllocatesNothing(t *testing.T) {
	w := newWorld(options{})
	a, b := &w.sides[0].f, &w.sides[1].f
	msg := data(16, 1)
	r := request(7, make([]byte, 16))
	exchange := func() {
		if !b.PostUsual(r) {
			t.Fatal("something is out of the ordinary")
		}
		head := a.ShortHeader(DefaultContext, 7, len(msg))
		if head == nil {
			t.Fatal("a short message does not leave at once")
		}
		if err := b.Packet(head, msg, w.sides[1]); err != nil {
			t.Fatal(err)
		}
		a.ShortSent(len(msg))
		b.Finished()
		b.eagerTaken(0) // it would give credit back
		if err := a.Packet(&driver.Header{Kind: KindCredit, Size: uint64(cost(len(msg)))}, nil, w.sides[0]); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, exchange); n != 0 {
		t.Errorf("%v allocations per message, want 0", n)
	}
}
