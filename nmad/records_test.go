package nmad

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// scarce are bounds with two records, and credit for two short messages.
var scarce = bounds{Bounds: flow.Bounds{Window: 400, Records: 2, PeerWindow: 400, PeerRecords: 2}}

// TestYoungestFirst: many more messages than records wait, and the receiver wants the youngest,
// in each way in which it can say so, before or after they were sent.
func TestYoungestFirst(t *testing.T) {
	const messages = 40
	const last = messages - 1
	ways := map[string]func(p *pair, s *Session, buf []byte) *Request{
		"tag": func(p *pair, _ *Session, buf []byte) *Request { return p.gates[1].Irecv(last, buf) },
		"mask": func(p *pair, _ *Session, buf []byte) *Request {
			return p.gates[1].Start(&Operation{Kind: KindRecv, Match: Match{Tag: last, Mask: 0xff}, Buf: buf})
		},
		"any source": func(_ *pair, s *Session, buf []byte) *Request { return s.Irecv(Tag(last), buf) },
		"probe": func(p *pair, _ *Session, buf []byte) *Request {
			r := &Request{}
			r.prepare(p.gates[1], flow.RequestRecv, nil, last, nil, flow.NotifyState)
			r.useExtras().Wild.Set(&r.core.Entry, exact, true)
			p.gates[1].submit(r)
			return r
		},
	}
	for name, want := range ways {
		for _, first := range []bool{true, false} {
			for _, size := range []int{10, 200} {
				t.Run(fmt.Sprintf("%s/first=%v/size=%d", name, first, size), func(t *testing.T) {
					p := newPair(simnet.Options{}, scarce)
					s := p.session(1)
					buf := make([]byte, size)
					var r *Request
					if first {
						r = want(p, s, buf)
					}
					sends := sendAll(p, messages, size)
					if !first {
						r = want(p, s, buf)
					}
					p.settle()
					mustDone(t, r, nil)
					rest := messages
					if name != "probe" {
						rest--
						if !bytes.Equal(buf, pattern(size, last)) {
							t.Error("the youngest message is damaged")
						}
					}
					takeRest(t, p, rest, size, sends)
				})
			}
		}
	}
}

func sendAll(p *pair, messages, size int) (sends []*Request) {
	for i := range messages {
		sends = append(sends, p.gates[0].Isend(uint64(i), pattern(size, uint64(i))))
	}
	p.settle()
	return sends
}

// takeRest receives the first messages, the youngest first.
func takeRest(t *testing.T, p *pair, messages, size int, sends []*Request) {
	t.Helper()
	for i := messages - 1; i >= 0; i-- {
		buf := make([]byte, size)
		r := p.gates[1].Irecv(uint64(i), buf)
		p.settle()
		mustDone(t, r, nil)
		if !bytes.Equal(buf, pattern(size, uint64(i))) {
			t.Fatalf("message %d is damaged", i)
		}
	}
	for _, r := range sends {
		mustDone(t, r, nil)
	}
	if n := p.pending(); n != [2]int{} {
		t.Errorf("the engines still count %v pending requests", n)
	}
}

// TestLookForYoungest: one that only looks, again and again, finds it as well.
func TestLookForYoungest(t *testing.T) {
	const messages = 40
	for name, look := range map[string]func(p *pair, s *Session) bool{
		"gate":    func(p *pair, _ *Session) bool { _, ok := p.gates[1].Iprobe(Tag(messages - 1)); return ok },
		"session": func(_ *pair, s *Session) bool { _, ok := s.Iprobe(Tag(messages - 1)); return ok },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(simnet.Options{}, scarce)
			s := p.session(1)
			sends := sendAll(p, messages, 200)
			for tries := 0; !look(p, s); tries++ {
				p.gates[0].poll()
				if tries > 1000 {
					t.Fatal("it is never found")
				}
			}
			takeRest(t, p, messages, 200, sends)
		})
	}
}

// TestRecordsStay: as long as none waits no more is kept than was said.
func TestRecordsStay(t *testing.T) {
	p := newPair(simnet.Options{}, scarce)
	sends := sendAll(p, 40, 200)
	for range 100 {
		p.settle()
	}
	if n := p.gates[1].locked.flow.Ledger().Announced; n != 2 || p.gates[1].locked.flow.Ledger().Records != 2 {
		t.Errorf("%d announcements are kept in %d records, want 2", n, p.gates[1].locked.flow.Ledger().Records)
	}
	if n := p.gates[0].locked.flow.Ledger().Told; n != 2 {
		t.Errorf("the receiver was told of %d records", n)
	}
	takeRest(t, p, 40, 200, sends)
}

// TestRecordsAtRandom: messages with few tags, received in random order by random kinds of
// receives, over a link with room for next to nothing: each receive gets the oldest message that is
// right for it of those that are left.
func TestRecordsAtRandom(t *testing.T) {
	rounds := uint64(60)
	if testing.Short() {
		rounds = 15
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := newPair(simnet.Options{Packets: 1 + rng.IntN(3), Large: 50}, scarce)
		s := p.session(1)
		var left []int // tags of the messages that are left, oldest first
		var sends []*Request
		for range 60 {
			tag := rng.IntN(4)
			left = append(left, tag)
			sends = append(sends, p.gates[0].Isend(uint64(tag), pattern(50+tag, uint64(len(sends)))))
		}
		numbers := make([]int, len(left))
		for i := range numbers {
			numbers[i] = i
		}
		for len(left) > 0 {
			i := rng.IntN(len(left))
			m := Tag(uint64(left[i]))
			if rng.IntN(2) == 0 {
				m.Mask = 1
				m.Tag &= 1
			}
			for k := range left { // the one that it must get
				if m.Matches(uint64(left[k])) {
					i = k
					break
				}
			}
			buf := make([]byte, 60)
			var r *Request
			switch {
			case rng.IntN(2) == 0:
				r = s.Irecv(m, buf)
			default:
				r = p.gates[1].Start(&Operation{Kind: KindRecv, Match: m, Buf: buf})
			}
			p.settle()
			mustDone(t, r, nil)
			if !bytes.Equal(buf[:r.Len()], pattern(50+left[i], uint64(numbers[i]))) {
				t.Fatalf("seed %d: the receive got another message than number %d", seed, numbers[i])
			}
			left = append(left[:i], left[i+1:]...)
			numbers = append(numbers[:i], numbers[i+1:]...)
		}
		for _, r := range sends {
			mustDone(t, r, nil)
		}
	}
}

// TestRecordViolations: what a peer must not say about records.
func TestRecordViolations(t *testing.T) {
	for name, c := range map[string]struct {
		sends int // of ours, before
		heads []driver.Header
	}{
		"full of more than there are":   {0, []driver.Header{{Kind: flow.KindFull, Size: 3}}},
		"full of none":                  {0, []driver.Header{{Kind: flow.KindFull}}},
		"full twice":                    {0, []driver.Header{{Kind: flow.KindFull, Size: 2}, {Kind: flow.KindFull, Size: 2}}},
		"room that was not asked for":   {0, []driver.Header{{Kind: flow.KindRoom, Size: 4}}},
		"room that is no more":          {5, []driver.Header{{Kind: flow.KindRoom, Size: 2}}},
		"room that is too much":         {5, []driver.Header{{Kind: flow.KindRoom, Size: flow.MaxCookies + 1}}},
		"room twice":                    {5, []driver.Header{{Kind: flow.KindRoom, Size: 3}, {Kind: flow.KindRoom, Size: 3}}},
		"more announcements than there": {0, []driver.Header{{Kind: flow.KindRdv, Context: flow.DefaultContext, Size: 9}, {Kind: flow.KindRdv, Context: flow.DefaultContext, Size: 9, Seq: 1, Cookie: 1}, {Kind: flow.KindRdv, Context: flow.DefaultContext, Size: 9, Seq: 2, Cookie: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(simnet.Options{}, scarce)
			for i := range c.sends {
				p.gates[1].Isend(uint64(i), make([]byte, 200))
			}
			p.gates[1].poll()
			for _, h := range c.heads {
				p.links[0].Inject(h, nil)
			}
			p.gates[1].poll()
			if end := p.gates[1].locked.endErr; end == nil || !errors.Is(end, ErrProtocol) {
				t.Errorf("the gate ended with %v, want ErrProtocol", end)
			}
		})
	}
}

// TestYoungestOverDrivers: the same between sessions, over each network.
func TestYoungestOverDrivers(t *testing.T) {
	const messages = 300
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, func(c *Config) { c.Announced, c.Unexpected = 3, 1000 })
		each(2, func(rank int) {
			g := j.sessions[rank].Gate(1 - rank)
			if rank == 0 {
				var sends []*Request
				for i := range messages {
					sends = append(sends, g.Isend(uint64(i), pattern(1+i, uint64(i))))
				}
				if err := WaitAll(t.Context(), sends...); err != nil {
					t.Error(err)
				}
				return
			}
			buf := make([]byte, messages)
			for i := messages - 1; i >= 0; i-- {
				if n, err := g.Recv(uint64(i), buf); err != nil || !bytes.Equal(buf[:n], pattern(1+i, uint64(i))) {
					t.Errorf("message %d: %v", i, err)
					return
				}
			}
		})
		j.close()
	})
}
