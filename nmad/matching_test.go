package nmad

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/simnet"
)

// BenchmarkReceiveAmongWildcards posts an exact receive and matches it, while so many
// wildcards wait for other tags.
func BenchmarkReceiveAmongWildcards(b *testing.B) {
	for _, c := range []struct{ masked, any int }{{0, 0}, {1, 0}, {0, 1}, {100, 0}, {0, 100}} {
		b.Run("masked="+itoa(c.masked)+",any="+itoa(c.any), func(b *testing.B) {
			p := newPair(simnet.Options{}, wide)
			g, s := p.gates[1], p.session(1)
			for range c.masked {
				g.IrecvMatch(Match{Tag: 1 << 40, Mask: 1 << 40}, nil)
			}
			for range c.any {
				s.Irecv(Tag(1<<40), nil)
			}
			r := fresh()
			b.ReportAllocs()
			for b.Loop() {
				r.prepare(g, 7, nil, true)
				r.core.Entry.Age = g.any.Now()
				g.startRecv(r)
				if requestOf(g.flow.Match(7)) != r {
					b.Fatal("another receive got the message")
				}
			}
		})
	}
}
