package nmad

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/fault"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
	"github.com/pm2-go/pm2/nmad/driver/unix"
)

// TestNearestRailFirst: the rail with the least latency comes first, if all were measured, and takes its name and address
// along.
func TestNearestRailFirst(t *testing.T) {
	measured := func(latency ...int64) *Profile {
		p := &Profile{Rails: map[string]Rail{}}
		for i, ns := range latency {
			if name := []string{"tcp", "tcp#2", "tcp#3"}[i]; ns >= 0 {
				p.Rails[name] = Rail{LatencyNs: ns, Bandwidth: 1}
			}
		}
		return p
	}
	for name, c := range map[string]struct {
		profile *Profile
		want    []int
	}{
		"no profile":   {nil, []int{0, 1, 2}},
		"as named":     {measured(10, 20, 30), []int{0, 1, 2}},
		"the last":     {measured(30, 20, 10), []int{2, 0, 1}},
		"the middle":   {measured(30, 10, 10), []int{1, 0, 2}},
		"all the same": {measured(10, 10, 10), []int{0, 1, 2}},
		"one unknown":  {measured(30, -1, 10), []int{0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			nets := []driver.Driver{tcp.Driver{}, tcp.Driver{}, tcp.Driver{}}
			cfg := Config{Size: 2, Rendezvous: "127.0.0.1:9", Secret: testSecret, Rails: nets, Listen: "a,b,c", Measured: c.profile}
			if err := cfg.complete(); err != nil {
				t.Fatal(err)
			}
			for i, k := range c.want {
				if name, addr := []string{"tcp", "tcp#2", "tcp#3"}[k], []string{"a", "b", "c"}[k]; cfg.names[i] != name || cfg.driverConfig(i).Listen != addr {
					t.Errorf("rail %d is %s at %s, want %s at %s", i, cfg.names[i], cfg.driverConfig(i).Listen, name, addr)
				}
			}
		})
	}
}

// TestShortsTakeTheNearestRail: over two rails of which the one that is named first is slow, short messages take the other
// one once that was measured; long ones still take both.
func TestShortsTakeTheNearestRail(t *testing.T) {
	slow, err := fault.Parse("delay=0.05:300us")
	if err != nil {
		t.Fatal(err)
	}
	far := Rail{LatencyNs: 600_000, Bandwidth: 1}
	leakless(t, func() {
		for _, known := range []bool{false, true} {
			links := &faultyLinks{}
			nets := []driver.Driver{fault.Driver{Inner: unix.Driver{}, Plan: slow, Made: links.made}, tcp.Driver{}}
			j := newJob(t, 2, nil, func(c *Config) {
				if c.Rails = nets; known {
					c.Measured = &Profile{Rails: map[string]Rail{"fault:unix": far, "tcp": {LatencyNs: 30_000, Bandwidth: 1}}}
				}
			})
			zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
			const rounds = 30
			began := time.Now()
			each(2, func(rank int) {
				g, buf := []*Gate{zero, one}[rank], make([]byte, 8)
				for i := range rounds {
					for turn := range 2 {
						if turn == rank {
							if err := g.Send(1, pattern(8, uint64(i))); err != nil {
								t.Error(err)
							}
						} else if _, err := g.Recv(1, buf); err != nil || !bytes.Equal(buf, pattern(8, uint64(i))) {
							t.Errorf("round %d: %v", i, err)
						}
					}
				}
			})
			t.Logf("measured %v: %v there or back", known, time.Since(began)/(2*rounds))
			if n := links.events(t, 0, 1)[fault.Sent]; (n == 0) != known {
				t.Errorf("measured %v: %d packets over the slow rail", known, n)
			}
			long, buf := pattern(8<<20, 1), make([]byte, 8<<20)
			s, r := zero.Isend(2, long), one.Irecv(2, buf)
			each(2, func(rank int) {
				if err := []*Request{s, r}[rank].Wait(); err != nil {
					t.Error(err)
				}
			})
			if !bytes.Equal(buf, long) {
				t.Error("the long message is damaged")
			}
			if n := links.events(t, 0, 1)[fault.Pushed]; n == 0 {
				t.Error("no bytes over the slow rail")
			}
			j.close()
		}
	})
}

// TestRailsInAnotherOrder: of processes that have different profiles rank 0 says which rail comes first.
func TestRailsInAnotherOrder(t *testing.T) {
	for knows, want := range []string{"tcp#2 tcp", "tcp tcp#2"} {
		j := newJob(t, 2, nil, func(c *Config) {
			if c.Driver = "tcp,tcp"; c.Rank == knows {
				c.Measured = &Profile{Rails: map[string]Rail{"tcp": {LatencyNs: 2, Bandwidth: 1}, "tcp#2": {LatencyNs: 1, Bandwidth: 1}}}
			}
		})
		for rank, s := range j.sessions {
			var names []string
			for _, r := range s.Gate(1 - rank).Info().Rails {
				names = append(names, r.Name)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("rank %d knows, rank %d has the rails %s, want %s", knows, rank, got, want)
			}
		}
		for _, size := range []int{8, 1 << 20} {
			msg, buf := pattern(size, 3), make([]byte, size)
			each(2, func(rank int) {
				var err error
				if rank == 0 {
					err = j.sessions[0].Gate(1).Send(1, msg)
				} else {
					_, err = j.sessions[1].Gate(0).Recv(1, buf)
				}
				if err != nil {
					t.Error(err)
				}
			})
			if !bytes.Equal(buf, msg) {
				t.Errorf("a message of %d bytes is damaged", size)
			}
		}
		j.close()
	}
}
