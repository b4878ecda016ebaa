package nmad

import (
	"strconv"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// BenchmarkReceiveAmongWildcards posts an exact receive and matches it, while so many
// wildcards wait for other tags.
func BenchmarkReceiveAmongWildcards(b *testing.B) {
	for _, c := range []struct{ masked, any int }{{0, 0}, {1, 0}, {0, 1}, {100, 0}, {0, 100}} {
		b.Run("masked="+itoa(c.masked)+",any="+itoa(c.any), func(b *testing.B) {
			p := newPair(simnet.Options{}, wide)
			g, s := p.gates[1], p.session(1)
			for range c.masked {
				g.Start(&Op{Kind: OpRecv, Match: Match{Tag: 1 << 40, Mask: 1 << 40}, Buf: nil})
			}
			for range c.any {
				s.Irecv(Tag(1<<40), nil)
			}
			r := &Request{}
			b.ReportAllocs()
			for b.Loop() {
				r.prepare(g, flow.OpRecv, nil, 7, nil, flow.ByStage)
				r.core.Entry.Age = g.any.Now()
				g.locked.startRecv(r)
				if requestOf(g.locked.flow.Match(flow.Plain, 7)) != r {
					b.Fatal("another receive got the message")
				}
			}
		})
	}
}

// BenchmarkReceiveFromAny posts a receive from any source before its message has come or after, beside messages that have
// no receive.
func BenchmarkReceiveFromAny(b *testing.B) {
	for _, before := range []bool{true, false} {
		for _, kept := range []int{0, 100} {
			b.Run("before="+strconv.FormatBool(before)+",kept="+itoa(kept), func(b *testing.B) {
				p := newPair(simnet.Options{MaxBody: 64, Packets: 1000}, wide)
				s, msg := p.session(1), make([]byte, 8)
				for range kept {
					if err := p.gates[0].Send(1<<40, msg); err != nil {
						b.Fatal(err)
					}
				}
				p.settle()
				r, op := &Request{}, &Op{Kind: OpRecv, Match: Tag(7), Buf: make([]byte, 8)}
				start := func() {
					if err := s.Post(AnySource, r, op); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					if before {
						start()
					}
					if err := p.gates[0].Send(7, msg); err != nil {
						b.Fatal(err)
					}
					p.gates[1].poll()
					if !before {
						start()
					}
					if !r.ended() {
						b.Fatal("the message has not come")
					}
				}
			})
		}
	}
}
