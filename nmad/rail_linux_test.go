package nmad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/fault"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
	"github.com/pm2-go/pm2/nmad/driver/unix"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
	"pgregory.net/rapid"
)

// Messages of any size, in parts on either side, into buffers of any size, over any number
// of rails that are as fast as it happens: what arrives is what was sent.
func TestRailsDeliver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := make([]simnet.Options, rapid.IntRange(2, 4).Draw(t, "rails"))
		for i := range options {
			options[i] = simnet.Options{Large: rapid.IntRange(1<<12, 1<<16).Draw(t, "large"), Rate: rapid.IntRange(1<<12, 1<<16).Draw(t, "rate")}
		}
		p := newPair(options[0], wide, options[1:]...)
		for _, g := range p.gates {
			g.locked.flow.Strategy, _ = strategy.Lookup(rapid.SampledFrom(strategy.Names()).Draw(t, "strategy"))
		}
		type exchange struct {
			s, r      *Request
			data, buf []byte
		}
		var all []exchange
		for tag := range uint64(rapid.IntRange(1, 5).Draw(t, "messages")) {
			side := rapid.IntRange(0, 1).Draw(t, "side")
			size := rapid.IntRange(0, 1<<19).Draw(t, "size")
			x := exchange{&Request{}, &Request{}, pattern(size, tag), make([]byte, rapid.IntRange(0, 1<<19).Draw(t, "room"))}
			send, recv := Operation{Match: Tag(tag), Buf: x.data}, Operation{Kind: KindRecv, Match: Tag(tag), Buf: x.buf}
			if rapid.Bool().Draw(t, "send parts") {
				send.Buf, send.Parts = nil, inParts(x.data, rapid.IntRange(1, 70_000).Draw(t, "part"), 0, rapid.IntRange(0, 9).Draw(t, "part"))
			}
			if rapid.Bool().Draw(t, "receive parts") {
				recv.Buf, recv.Parts = nil, inParts(x.buf, rapid.IntRange(1, 70_000).Draw(t, "place"), 5)
			}
			x.s.prepareSend(p.gates[side], &send)
			p.gates[side].submit(x.s)
			if err := p.gates[1-side].Post(x.r, &recv); err != nil {
				t.Fatal(err)
			}
			all = append(all, x)
		}
		for range 5000 {
			p.tick()
			over := true
			for _, x := range all {
				over = over && x.s.core.Stage == flow.Finished && x.r.core.Stage == flow.Finished
			}
			if over {
				break
			}
		}
		for i, x := range all {
			n := min(len(x.data), len(x.buf))
			if x.s.core.Stage != flow.Finished || x.r.core.Stage != flow.Finished {
				t.Fatalf("message %d of %d bytes: the send is %v, the receive %v", i, len(x.data), x.s.core.Stage, x.r.core.Stage)
			}
			if x.r.Len() != n || !bytes.Equal(x.buf[:n], x.data[:n]) {
				t.Fatalf("message %d of %d bytes into %d: %d received, damaged %v", i, len(x.data), len(x.buf), x.r.Len(), !bytes.Equal(x.buf[:n], x.data[:n]))
			}
			if errors.Is(x.r.core.Err(), ErrTruncated) != (len(x.data) > len(x.buf)) {
				t.Fatalf("message %d of %d bytes into %d: %v", i, len(x.data), len(x.buf), x.r.core.Err())
			}
		}
		if n := p.pending(); n != [2]int{} || p.gates[0].locked.flow.Moving(flow.Pull)+p.gates[1].locked.flow.Moving(flow.Push)+p.gates[1].locked.flow.Moving(flow.Pull)+p.gates[0].locked.flow.Moving(flow.Push) != 0 {
			t.Fatalf("the engines still count %v pending requests, the gates chunks", n)
		}
	})
}

// Whenever a rail breaks, every request ends, and says which rail it was.
func TestRailLost(t *testing.T) {
	for lost := range 2 {
		for after := 0; after < 40; after += 3 {
			p := newPair(simnet.Options{Large: 1 << 16, Rate: 1 << 14}, wide, simnet.Options{Large: 1 << 16, Rate: 1 << 13})
			var all []*Request
			for tag := range uint64(3) {
				size := 200_000 * int(tag+1)
				all = append(all, p.gates[0].Isend(tag, pattern(size, tag)), p.gates[1].Irecv(tag, make([]byte, size)))
				all = append(all, p.gates[1].Isend(tag, pattern(size, tag)), p.gates[0].Irecv(tag, make([]byte, size)))
			}
			for range after {
				p.tick()
			}
			p.rails[lost][0].Break(driver.ErrPeerLost)
			last := p.gates[1].Irecv(9, nil)
			for range 100 { // what has arrived at the other rail comes in still
				p.tick()
			}
			mustDone(t, last, ErrPeerLost)
			for i, r := range all {
				if over, err := r.Test(); !over || err != nil && !errors.Is(err, ErrPeerLost) {
					t.Fatalf("rail %d lost after %d ticks: request %d: done %v, %v", lost, after, i, over, err)
				}
			}
			var why *PeerError
			if _, err := last.Test(); !errors.As(err, &why) || why.Reason != fmt.Sprintf("rail sim%d: peer lost", lost) {
				t.Errorf("the loss of rail %d ends requests with %v", lost, err)
			}
			if n := p.pending(); n != [2]int{} {
				t.Fatalf("rail %d lost after %d ticks: the engines still count %v pending requests", lost, after, n)
			}
		}
	}
}

// dozing is a link that says once at first, and after each packet, without a look, that nothing is there.
type dozing struct {
	driver.Link
	dozes bool
}

func (dz *dozing) Recv(h *driver.Header) (body []byte, ok bool, err error) {
	if dz.dozes {
		dz.dozes = false
		return nil, false, nil
	}
	body, ok, err = dz.Link.Recv(h)
	dz.dozes = ok
	return body, ok, err
}

// TestLastPackets: what a peer has sent before its link broke comes in, also where the link does not look at each call.
func TestLastPackets(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	g := p.gates[0]
	g.locked.link = &dozing{Link: g.locked.link, dozes: true}
	var all []*Request
	for tag := range uint64(3) {
		p.gates[1].Isend(tag, []byte{byte(tag)})
		all = append(all, g.Irecv(tag, make([]byte, 1)))
	}
	last := g.Irecv(9, nil)
	h := g.lock()
	h.lose(driver.ErrPeerLost)
	h.unlock()
	for _, r := range all {
		mustDone(t, r, nil)
	}
	mustDone(t, last, ErrPeerLost)
}

// TestNothingAfterTheEnd: an ended gate takes nothing in, also where a send looks for credit: its receives have failed,
// and the next one with the same tag would get the message of another.
func TestNothingAfterTheEnd(t *testing.T) {
	p := newPair(simnet.Options{}, scarce)
	g := p.gates[0]
	first := g.Irecv(1, make([]byte, 1))
	for !g.locked.flow.LacksCredit(64) {
		g.Isend(2, make([]byte, 64))
	}
	h := g.lock()
	h.fail(&PeerError{Rank: 1, Reason: "of the test", Err: ErrPeerLost})
	h.unlock()
	mustDone(t, first, ErrPeerLost)
	p.gates[1].Isend(1, []byte{1})
	mustDone(t, g.Isend(2, make([]byte, 64)), ErrPeerLost)
	mustDone(t, g.Irecv(1, make([]byte, 1)), ErrPeerLost)
}

// A split rendezvous allocates nothing in steady state, with any strategy.
func TestRailsNoAllocation(t *testing.T) {
	effort.SkipIfNotInlined(t)
	msg, buf := pattern(300_000, 1), make([]byte, 300_000)
	for _, name := range strategy.Names() {
		p := newPair(simnet.Options{Large: 1 << 20}, wide, simnet.Options{Large: 1 << 20})
		for _, g := range p.gates {
			g.locked.flow.Strategy, _ = strategy.Lookup(name)
		}
		var s, r Request
		exchange := func() {
			p.gates[1].IrecvInto(&r, 3, buf)
			p.gates[0].IsendInto(&s, 3, msg)
			p.settle()
			s.Wait()
			r.Wait()
		}
		for range 20 {
			exchange() // fills the pools
		}
		if n := testing.AllocsPerRun(50, exchange); n != 0 {
			t.Errorf("%s: %v allocations per message, want 0", name, n)
		}
	}
}

// A strategy of the program's own may say what it likes: all bytes move all the same.
func TestRailsUnderAWildStrategy(t *testing.T) {
	for _, shares := range [][]int{{0, 0}, {-1, -5}, {1, 1}, {1 << 40, 1 << 40}, {5000, 0}, {4095, 5000}, {0, 1}} {
		p := newPair(simnet.Options{Large: 1 << 16, Rate: 1 << 14}, wide, simnet.Options{Large: 1 << 16, Rate: 1 << 14})
		for _, g := range p.gates {
			g.locked.flow.Strategy = wildStrategy{strategy.Default, shares}
		}
		msg, buf := pattern(100_001, 1), make([]byte, 100_001)
		s, r := p.gates[0].Isend(1, msg), p.gates[1].Irecv(1, buf)
		for range 1000 {
			p.tick()
		}
		mustDone(t, s, nil)
		mustDone(t, r, nil)
		if !bytes.Equal(buf, msg) {
			t.Errorf("shares %v: the bytes differ", shares)
		}
	}
}

type wildStrategy struct {
	strategy.Strategy
	shares []int
}

func (wild wildStrategy) Split(_ int, _ []strategy.Load, shares []int) { copy(shares, wild.shares) }

// Sessions over several real rails: a long message in each direction at once uses all rails,
// and nothing is left behind.
func TestRailsOfSessions(t *testing.T) {
	for _, drivers := range append([]string{"tcp,tcp", "tcp,tcp,tcp,tcp", "shm,tcp", "auto,tcp", "shm,shm"}, railsBuiltIn...) {
		t.Run(drivers, func(t *testing.T) {
			leakless(t, func() {
				j := newJob(t, 3, nil, func(c *Config) { c.Driver, c.Strategy = drivers, "split-equal" })
				each(3, func(rank int) { swap(t, j.sessions[rank], 1<<20) })
				n := strings.Count(drivers, ",") + 1
				for rank, s := range j.sessions {
					for i, r := range s.Stats().Rails {
						if used := r.BytesSent > 0 && r.BytesReceived > 0 && r.ChunksSent > 0 && r.ChunksReceived > 0; used != (i < n) {
							t.Errorf("rank %d: rail %d: %+v", rank, i, r)
						}
					}
				}
				j.close()
			})
		})
	}
}

// TestRailsThatShareMemory: by the driver's name, also if a gate has several rails of it.
func TestRailsThatShareMemory(t *testing.T) {
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "shm,shm,tcp" })
	defer j.close()
	for i, r := range j.sessions[0].Gate(1).Info().Rails {
		if r.SharesMemory() != (i < 2) {
			t.Errorf("%s: %t", r.Name, r.SharesMemory())
		}
	}
	for name, want := range map[string]bool{"auto": true, "ofi:shm": true, "ofi:shm#2": true, "ofi:tcp": false, "ofi": false, "unix": false} {
		if r := (&RailInfo{Name: name}); r.SharesMemory() != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

// swap exchanges a message with each other rank.
func swap(t *testing.T, s *Session, size int) {
	type pair struct {
		out, in Request
		buf     []byte
	}
	all := make([]pair, s.Size())
	for peer := range s.Size() {
		if x := &all[peer]; peer != s.Rank() {
			x.buf = make([]byte, size)
			if err := errors.Join(s.Gate(peer).IrecvInto(&x.in, 5, x.buf), s.Gate(peer).IsendInto(&x.out, 5, pattern(size, uint64(s.Rank())))); err != nil {
				t.Error(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for peer := range s.Size() {
		if x := &all[peer]; peer != s.Rank() {
			if err := errors.Join(x.out.WaitContext(ctx), x.in.WaitContext(ctx)); err != nil {
				t.Error(err)
			} else if !bytes.Equal(x.buf, pattern(size, uint64(peer))) {
				t.Errorf("rank %d: the message of rank %d is damaged", s.Rank(), peer)
			}
		}
	}
}

// Rails that cannot be: one line says what would.
func TestWrongRails(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		text   string
	}{
		"addresses": {func(c *Config) { c.Driver, c.Listen = "tcp,tcp", "127.0.0.1:0,127.0.0.1:0,127.0.0.1:0" }, "3 addresses"},
		"rails":     {func(c *Config) { c.Driver = "tcp" + strings.Repeat(",tcp", MaxRails) }, "9 rails: give 1 to 8"},
		"name":      {func(c *Config) { c.Driver = "tcp,carrier pigeon" }, "carrier pigeon"},
		"no name":   {func(c *Config) { c.Driver = "tcp," }, "unknown driver"},
		"empty":     {func(c *Config) { c.Rails = []driver.Driver{} }, "0 rails"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Size: 2, Rank: 1, Rendezvous: "127.0.0.1:9", Secret: testSecret}
			c.change(&cfg)
			if s, err := Open(t.Context(), cfg); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, %v; want ErrConfig and %q", s, err, c.text)
			}
		})
	}
}

// A link that a rail loses is closed with all others, on both sides.
func TestRailOfASessionBreaks(t *testing.T) {
	leakless(t, func() {
		nets := []driver.Driver{&simnet.Net{Options: simnet.Options{Large: 1 << 12}}, &simnet.Net{Options: simnet.Options{Large: 1 << 12}}}
		j := newJob(t, 2, nil, func(c *Config) { c.Rails = nets })
		g := j.sessions[0].Gate(1)
		r, s := g.Irecv(1, make([]byte, 10)), g.Isend(2, make([]byte, 1<<20)) // none receives it
		links := [2]*simnet.Link{g.rails[0].link.(*simnet.Link), g.rails[1].link.(*simnet.Link)}
		in := j.sessions[1].Gate(0).Irecv(2, make([]byte, 1<<20))
		links[1].Break(driver.ErrPeerLost)
		lostWait(t, r, 1)
		if err := in.Wait(); err == nil { // it may have been over before
			err = s.Wait()
			if err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, ErrPeerLost) {
			t.Error(err)
		}
		j.close()
		for i, l := range links {
			if !l.Closed() {
				t.Errorf("the link of rail %d is open", i)
			}
		}
	})
}

// TestNearestRailFirst: the rail with the least latency comes first, if all were measured, and takes its name and
// address along.
func TestNearestRailFirst(t *testing.T) {
	measured := func(latency ...int64) *Profile {
		p := &Profile{Rails: map[string]RailProfile{}}
		for i, ns := range latency {
			if name := []string{"tcp", "tcp#2", "tcp#3"}[i]; ns >= 0 {
				p.Rails[name] = RailProfile{LatencyNs: ns, Bandwidth: 1}
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
				if name, addr := []string{"tcp", "tcp#2", "tcp#3"}[k], []string{"a", "b", "c"}[k]; cfg.railNames[i] != name || cfg.driverConfig(i).Listen != addr {
					t.Errorf("rail %d is %s at %s, want %s at %s", i, cfg.railNames[i], cfg.driverConfig(i).Listen, name, addr)
				}
			}
		})
	}
}

// TestShortsTakeTheNearestRail: over two rails of which the one that is named first is slow, short messages take the
// other one once that was measured; long ones still take both.
func TestShortsTakeTheNearestRail(t *testing.T) {
	slow, err := fault.Parse("delay=0.05:300us")
	if err != nil {
		t.Fatal(err)
	}
	far := RailProfile{LatencyNs: 600_000, Bandwidth: 1}
	leakless(t, func() {
		for _, known := range []bool{false, true} {
			links := &faultyLinks{}
			nets := []driver.Driver{fault.Driver{Inner: unix.Driver{}, Plan: slow, Made: links.made}, tcp.Driver{}}
			j := newJob(t, 2, nil, func(c *Config) {
				if c.Rails = nets; known {
					c.Measured = &Profile{Rails: map[string]RailProfile{"fault:unix": far, "tcp": {LatencyNs: 30_000, Bandwidth: 1}}}
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
				c.Measured = &Profile{Rails: map[string]RailProfile{"tcp": {LatencyNs: 2, Bandwidth: 1}, "tcp#2": {LatencyNs: 1, Bandwidth: 1}}}
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

// placedDriver is shm whose links say that they lie elsewhere.
type placedDriver struct {
	shm.Driver
	at driver.Locality
}

type placedEndpoint struct {
	driver.Endpoint
	at driver.Locality
}

type placedLink struct {
	driver.Link
	at driver.Locality
}

func (drv placedDriver) Open(c driver.Config) (driver.Endpoint, error) {
	e, err := drv.Driver.Open(c)
	return placedEndpoint{e, drv.at}, err
}

func (end placedEndpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	l, err := end.Endpoint.Dial(ctx, rank, addr)
	return placedLink{l, end.at}, err
}

func (end placedEndpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	rank, l, err := end.Endpoint.Accept(ctx)
	return rank, placedLink{l, end.at}, err
}

func (lnk placedLink) Caps() driver.Caps {
	c := lnk.Link.Caps()
	c.Locality = lnk.at
	return c
}

// TestWherePolled: the task of a gate is in the queue of the node where its links lie, of several nodes in that
// of what they have in common, and messages arrive wherever that is.
func TestWherePolled(t *testing.T) {
	machine, err := topo.Synthetic("numa:2 core:2 pu:1")
	if err != nil {
		t.Fatal(err)
	}
	node := func(i int) driver.Locality {
		return driver.Locality{Node: i, CPUs: machine.At(topo.NUMA)[i].CPUs, Why: "a test"}
	}
	anywhere := driver.Locality{Node: -1, Why: "a test"}
	for _, c := range []struct {
		name  string
		rails []driver.Locality
		vps   []int // of the queue
		near  string
	}{
		{"anywhere", []driver.Locality{anywhere}, []int{0, 1, 2, 3}, ""},
		{"node 0", []driver.Locality{node(0)}, []int{0, 1}, "0-1"},
		{"node 1", []driver.Locality{node(1)}, []int{2, 3}, "2-3"},
		{"one rail on node 1, one anywhere", []driver.Locality{anywhere, node(1)}, []int{2, 3}, ""},
		{"a rail on either node", []driver.Locality{node(0), node(1)}, []int{0, 1, 2, 3}, "0-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sched.New(sched.Config{Topology: machine, VPs: 4})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Stop(context.Background())
			e := pioman.New(pioman.Config{})
			stop, err := e.Attach(s)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			j := newJob(t, 2, nil, func(cfg *Config) {
				for _, at := range c.rails {
					cfg.Rails = append(cfg.Rails, placedDriver{at: at})
				}
				if cfg.Rank == 0 {
					cfg.Engine = e
				}
			})
			defer j.close()
			if got := j.sessions[0].Gate(1).Info().Rails[0]; got.Near != c.near || got.Locality != "a test" {
				t.Errorf("the first rail is polled from %q, as %q; want %q", got.Near, got.Locality, c.near)
			}
			// A message has the task polled, so that its queue has it in its main list.
			go j.sessions[1].Gate(0).Send(1, []byte("x"))
			if _, err := j.sessions[0].Gate(1).Recv(1, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			e.Poll()
			var holders [][]int
			for _, q := range e.Explain().Queues {
				if q.Tasks > 0 {
					holders = append(holders, q.VPs)
				}
			}
			if len(holders) != 1 || !slices.Equal(holders[0], c.vps) {
				t.Errorf("the task is in the queues of the VPs %v, want %v", holders, c.vps)
			}
		})
	}
}
