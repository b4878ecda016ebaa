package nmad

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// What Protocols says is what messages do: in virtual time, over rails of different speed, with every
// strategy, a message of each range goes eagerly, or comes over the rails that its row names.
func TestProtocolsAreKept(t *testing.T) {
	for _, name := range strategy.Names() {
		for _, speeds := range [][]int{{1000}, {1000, 4000}, {4000, 1000}, {1000, 1000}, {4000, 1000, 2000}} {
			var more []simnet.Options
			for _, rate := range speeds[1:] {
				more = append(more, simnet.Options{Large: 1 << 16, Rate: rate})
			}
			at := func(size int) (*pair, *Gate) {
				p := newPair(simnet.Options{MaxBody: 2048, Large: 1 << 16, Rate: speeds[0]}, wide, more...)
				for _, g := range p.gates {
					g.locked.flow.Strategy, _ = strategy.Lookup(name)
					for i, rate := range speeds {
						g.locked.flow.Rails[i].Cost = strategy.Cost{Latency: 1000, Bandwidth: float64(rate) / 1000} // a tick is a microsecond
					}
					g.locked.flow.SetEagerLimit(1500)
				}
				return p, p.gates[1]
			}
			_, g := at(0)
			rows := g.Info().Protocols
			if rows[0].From != 0 || rows[len(rows)-1].To != math.MaxUint64 {
				t.Fatalf("%s over %v: from %d to %d", name, speeds, rows[0].From, rows[len(rows)-1].To)
			}
			for i, row := range rows {
				if i > 0 && row.From != rows[i-1].To+1 {
					t.Errorf("%s over %v: a gap before %d", name, speeds, row.From)
				}
				// Where the last rail is worth it at last is a matter of bytes that go this way or that
				// way as they come: what is named holds a twentieth away from there.
				from := int(row.From + row.From/20)
				sizes := []int{from, int(min(row.To-row.To/20, 3*row.From+1<<16))}
				if i == 0 {
					sizes = []int{0, int(row.To)}
				}
				for _, size := range sizes {
					p, g := at(size)
					p.gates[0].Isend(1, pattern(size, 1))
					r := p.gates[1].Irecv(1, make([]byte, size))
					for n := 0; r.core.Stage != flow.Finished; n++ {
						if n > 1_000_000 {
							t.Fatalf("%s over %v: %d bytes do not arrive", name, speeds, size)
						}
						p.tick()
					}
					var came []string
					stats := g.Stats()
					for k := range g.rails {
						if stats.Rails[k].BytesReceived > 0 {
							came = append(came, g.rails[k].name)
						}
					}
					announced := p.gates[0].Stats().Rendezvous == 1
					if row.Name == "eager" && (announced || came != nil) || row.Name == "rendezvous" && (!announced || strings.Join(came, ", ") != row.Rail) {
						t.Errorf("%s over %v: %d bytes came over %v, announced: %v; the row is %+v", name, speeds, size, came, announced, row)
					}
				}
			}
		}
	}
}

// shortLink is a link that says that it has a way of its own for short bodies.
type shortLink struct {
	driver.Link
	most int
}

func (lnk shortLink) Caps() driver.Caps {
	c := lnk.Link.Caps()
	c.Short, c.ShortHow = lnk.most, "a test"
	return c
}

// The rows of messages that need no rendezvous, with and without a way for short ones.
func TestEagerRows(t *testing.T) {
	for _, c := range []struct {
		short, eager int
		want         string
	}{
		{-1, 64, "eager 0-64 default: the largest packet of sim0"},
		{-1, 20, "eager 0-20 a test limit"},
		{8, 64, "short 0-8 default: a test; eager 9-64 default: the largest packet of sim0"},
		{8, 20, "short 0-8 default: a test; eager 9-20 a test limit"},
		{64, 64, "short 0-64 default: a test"},
		{64, 20, "short 0-20 a test limit"},
	} {
		p := newPair(simnet.Options{MaxBody: 64}, wide)
		g := p.gates[0]
		g.rails[0].bind(shortLink{p.links[0], c.short})
		if g.locked.flow.SetEagerLimit(c.eager); c.eager != 64 {
			g.locked.eagerWhy = "a test limit"
		}
		var rows []string
		for _, row := range g.Info().Protocols[:len(g.Info().Protocols)-1] {
			rows = append(rows, fmt.Sprintf("%s %d-%d %s", row.Name, row.From, row.To, row.Why))
		}
		if got := strings.Join(rows, "; "); got != c.want {
			t.Errorf("short up to %d, eager up to %d: %s\nwant %s", c.short, c.eager, got, c.want)
		}
	}
}

// What Exceptions says of synchronous sends, of memory that is used up, and of company, is what happens.
func TestExceptionsAreKept(t *testing.T) {
	for _, name := range strategy.Names() {
		p := newPair(simnet.Options{MaxBody: 8192, Packets: 1}, bounds{Bounds: flow.Bounds{Window: 9000, Records: 10, PeerWindow: 9000, PeerRecords: 10}})
		g := p.gates[0]
		g.locked.flow.Strategy, _ = strategy.Lookup(name)
		told := map[string]Exception{}
		for _, x := range g.Info().Exceptions {
			told[x.Name+": "+x.When] = x
		}
		r := &Request{}
		if err := g.Post(r, &Operation{Match: Tag(1), Sync: true}); err != nil || g.Stats().Rendezvous != 1 {
			t.Errorf("an empty synchronous send is not announced: %v", err)
		}
		p.settle()
		// Two that fit into the peer's memory, and one that does not.
		for range 3 {
			g.Isend(2, make([]byte, 4000))
			p.settle()
		}
		if s := g.Stats(); s.Starved != 1 || s.Rendezvous != 2 {
			t.Errorf("%s: %d were announced, %d of them for want of memory", name, s.Rendezvous, s.Starved)
		}
		longest := -1
		for _, x := range told {
			if n := 0; x.Name == "aggregate" {
				if _, err := fmt.Sscanf(x.When, fmt.Sprint("up to ", flow.MaxAggregate, " messages of up to %d bytes that wait"), &n); err == nil {
					longest = n
				}
			}
		}
		if n := g.locked.joinable(); n != longest {
			t.Errorf("%s: it says that messages of up to %d bytes go together, the strategy takes %d", name, longest, n)
		}
		if longest < 0 {
			continue
		}
		for _, size := range []int{longest, longest + 1} {
			p := newPair(simnet.Options{MaxBody: 8192, Packets: 1}, wide)
			g := p.gates[0]
			g.locked.flow.Strategy, _ = strategy.Lookup(name)
			g.Isend(3, nil) // takes the room
			g.Isend(3, []byte("first"))
			second := g.Isend(3, make([]byte, size))
			p.settle()
			if done, err := second.Test(); !done || err != nil {
				t.Fatal(done, err)
			}
			if together := g.Stats().Aggregates == 1; together != (size <= longest) {
				t.Errorf("%s: a message of %d bytes goes with another one: %v", name, size, together)
			}
		}
	}
	var none *Gate
	if none.Info().Exceptions != nil || newOwnGate(0, nil, wide).Info().Exceptions != nil {
		t.Error("there is something to tell of no gate, or of one that no session has made")
	}
}

// Every rail is compared with sending eagerly, and a session uses what the profile says of each.
func TestThresholdsByRail(t *testing.T) {
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "tcp,shm" })
	profile := sampled(t, j)
	most := j.sessions[0].Gate(1).locked.flow.MaxBody()
	j.close()
	for _, name := range []string{"tcp", "shm"} {
		r := profile.Rails[name]
		if len(r.Points) == 0 || r.Points[len(r.Points)-1].Size != most || r.Eager < 1 || r.Eager > most {
			t.Errorf("rail %s: eager up to %d of %d, of %d points", name, r.Eager, most, len(r.Points))
		}
		for k, c := range r.Points {
			if first := profile.Rails["tcp"].Points[k]; c.Size != first.Size || c.EagerNs != first.EagerNs || c.RendezvousNs <= 0 {
				t.Errorf("rail %s, %d bytes: %d ns eagerly, %d by rendezvous; the first rail has %d ns for %d bytes", name, c.Size, c.EagerNs, c.RendezvousNs, first.EagerNs, first.Size)
			}
		}
	}
	measured := &Profile{Rails: map[string]RailProfile{
		"tcp": {Eager: 40_000, LatencyNs: 9000, Bandwidth: 1},
		"shm": {Eager: 700, LatencyNs: 1000, Bandwidth: 10},
	}}
	for _, c := range []struct {
		drivers, rail string
		limit         uint64
	}{{"tcp,shm", "shm", 700}, {"tcp", "tcp", 40_000}, {"shm,tcp", "shm", 700}} {
		j := newJob(t, 2, nil, func(cfg *Config) { cfg.Driver, cfg.Measured = c.drivers, measured })
		g := j.sessions[0].Gate(1)
		var last Protocol
		for _, row := range g.Info().Protocols {
			if row.Name != "rendezvous" {
				last = row
			} else if row.From == c.limit+1 && row.Rail != c.rail {
				t.Errorf("%s: from %d bytes on over %s, want %s", c.drivers, row.From, row.Rail, c.rail)
			}
		}
		if last.To != c.limit || !strings.HasPrefix(last.Why, "measured, just now") {
			t.Errorf("%s: eagerly up to %d, as %s; want %d", c.drivers, last.To, last.Why, c.limit)
		}
		for _, r := range g.Info().Rails {
			if want := measured.Rails[r.Name].Eager; r.Eager != want {
				t.Errorf("%s: rail %s says %d, want %d", c.drivers, r.Name, r.Eager, want)
			}
		}
		for _, size := range []int{int(c.limit), int(c.limit) + 1} {
			var errs [2]error
			before := g.Stats().Rendezvous
			each(2, func(rank int) {
				if rank == 0 {
					errs[0] = j.sessions[0].Gate(1).Send(5, make([]byte, size))
				} else {
					_, errs[1] = j.sessions[1].Gate(0).Recv(5, make([]byte, size))
				}
			})
			if err := errors.Join(errs[:]...); err != nil {
				t.Fatal(err)
			}
			if announced := g.Stats().Rendezvous - before; announced != uint64(min(max(size-int(c.limit), 0), 1)) {
				t.Errorf("%s: %d messages of %d bytes were announced", c.drivers, announced, size)
			}
		}
		j.close()
	}
}
