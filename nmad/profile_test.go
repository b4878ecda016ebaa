package nmad

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

func TestCrossing(t *testing.T) {
	for _, c := range []struct {
		points []CostPoint
		want   int
	}{
		{[]CostPoint{{1, 5, 9}, {2, 5, 9}, {4, 9, 9}, {8, 10, 9}}, 4},
		{[]CostPoint{{1, 5, 9}, {2, 10, 9}, {4, 8, 9}, {8, 10, 9}}, 4}, // one odd point
		{[]CostPoint{{1, 10, 9}, {2, 10, 9}}, 1},
		{[]CostPoint{{1, 1, 9}, {2, 1, 9}}, 2},
	} {
		if got := crossing(c.points); got != c.want {
			t.Errorf("%v: %d, want %d", c.points, got, c.want)
		}
	}
}

// sampled measures the gate between the two processes of a job.
func sampled(t *testing.T, j *job) (profile *Profile) {
	t.Helper()
	var errs [2]error
	each(2, func(rank int) {
		g := j.sessions[rank].Gate(1 - rank)
		if rank == 0 {
			profile, errs[0] = g.Sample(t.Context())
		} else {
			errs[1] = g.SampleEcho(t.Context())
		}
	})
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return profile
}

// What is measured is saved, read again by the next session, and then explains itself.
func TestSample(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		if d.Name() == "sim" && !effort.Long() {
			t.Skip("it moves a megabyte in a thousand pieces: with -long")
		}
		j := newJob(t, 2, d, nil)
		profile := sampled(t, j)
		rail := profile.Rails[d.Name()]
		if rail.Bandwidth <= 0 || rail.LatencyNs < 0 {
			t.Errorf("the rail costs %d ns and %g bytes/ns", rail.LatencyNs, rail.Bandwidth)
		}
		most := j.sessions[0].Gate(1).locked.flow.MaxBody()
		if last := rail.Points[len(rail.Points)-1]; last.Size != most || rail.Eager < 1 || rail.Eager > most {
			t.Errorf("measured up to %d, eager up to %d, the link takes %d", last.Size, rail.Eager, most)
		}
		for rank := range 2 { // both gates use it, from now on
			g := j.sessions[rank].Gate(1 - rank)
			if r := g.Info().Rails[0]; r.Why != "measured, just now" || r.Bandwidth != rail.Bandwidth || r.Latency != rail.LatencyNs {
				t.Errorf("rank %d: the rail costs %d ns and %g bytes/ns, %s; measured %d and %g", rank, r.Latency, r.Bandwidth, r.Why, rail.LatencyNs, rail.Bandwidth)
			}
			p := g.Info().Protocols
			if got := p[len(p)-2].To; got != uint64(rail.Eager) {
				t.Errorf("rank %d: eager up to %d, measured %d", rank, got, rail.Eager)
			}
		}
		j.close()
		rail.Eager = 77
		measured := &Profile{Rails: map[string]RailProfile{d.Name(): rail}}
		file := filepath.Join(t.TempDir(), "profile.json")
		if err := measured.Save(file); err != nil {
			t.Fatal(err)
		}
		for from, use := range map[string]func(*Config){
			file:       func(c *Config) { c.Profile = file },
			"just now": func(c *Config) { c.Measured = measured },
		} {
			j = newJob(t, 2, d, use)
			p := j.sessions[0].Gate(1).Info().Protocols
			if len(p) < 2 {
				t.Fatalf("%+v", p)
			}
			limit, beyond := p[len(p)-2], p[len(p)-1]
			if limit.To != 77 || beyond.From != 78 || limit.Why != "measured, "+from || limit.Rail != d.Name() {
				t.Errorf("%+v", p)
			}
			j.close()
		}
	})
}

// TestSampleLeavesWhatIsSet: an eager limit that the configuration says stays, and what the other process says that it
// has measured is not believed if it cannot be.
func TestSampleLeavesWhatIsSet(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		if d.Name() == "sim" && !effort.Long() {
			t.Skip("it moves a megabyte in a thousand pieces: with -long")
		}
		j := newJob(t, 2, d, func(c *Config) { c.Eager = 99 })
		defer j.close()
		sampled(t, j)
		for rank := range 2 {
			p := j.sessions[rank].Gate(1 - rank).Info().Protocols
			if got := p[len(p)-2].To; got != 99 {
				t.Errorf("rank %d: eager up to %d, 99 was set", rank, got)
			}
		}
	})
	for _, text := range []string{"", "7", `{"rails": {"tcp": {"eager": -1}}}`, `{"rails": {"tcp": {"eager": 1, "bandwidth": 1e300}}}`} {
		if _, err := readProfile([]byte(text)); !errors.Is(err, ErrProtocol) {
			t.Errorf("%q: %v, want ErrProtocol", text, err)
		}
	}
}

func TestLoadProfile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"not json": "{", "limit": `{"rails": {"x": {"eager": 0}}}`, "cost": `{"rails": {"x": {"eager": 1, "bandwidth": -1}}}`, "number": `{"rails": 7}`} {
		file := filepath.Join(dir, "p")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadProfile(file); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	for _, file := range []string{filepath.Join(dir, "nothing"), dir} {
		if _, err := LoadProfile(file); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", file, err)
		}
	}
	wrong := &Profile{Rails: map[string]RailProfile{"shm": {Eager: -1}}}
	if _, err := Open(context.Background(), Config{Size: 2, Rendezvous: "127.0.0.1:0", Secret: make([]byte, 32), Driver: "shm", Measured: wrong}); !errors.Is(err, ErrConfig) {
		t.Errorf("what cannot have been measured: %v, want ErrConfig", err)
	}
	if _, err := Open(context.Background(), Config{Size: 1, Strategy: "agregation"}); !errors.Is(err, ErrConfig) {
		t.Errorf("a strategy that is none: %v, want ErrConfig", err)
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		short, long int64
		want        RailProfile
	}{
		{131072 + 1000, 1048576 + 1000, RailProfile{LatencyNs: 1000, Bandwidth: 1}},
		{131072*8 + 500, 1048576*8 + 500, RailProfile{LatencyNs: 500, Bandwidth: 0.125}},
		{131072, 917504 + 131072, RailProfile{LatencyNs: 0, Bandwidth: 1}},
		{1048576, 1048576, RailProfile{LatencyNs: 1048576 - 131072, Bandwidth: 1}}, // no slope
		{0, 0, RailProfile{Bandwidth: 917504}},
	} {
		if got := line(c.short, c.long); got.LatencyNs != c.want.LatencyNs || got.Bandwidth != c.want.Bandwidth {
			t.Errorf("%d and %d ns: %+v, want %+v", c.short, c.long, got, c.want)
		}
	}
}

// Each rail is measured by itself, and its shares follow from that.
func TestSampleRails(t *testing.T) {
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "tcp,shm" })
	profile := sampled(t, j)
	stats := j.sessions[0].Stats()
	for i, r := range stats.Rails[:2] {
		if r.ChunksReceived < 2*minSampleRounds {
			t.Errorf("rail %d was measured with %d messages", i, r.ChunksReceived)
		}
	}
	j.close()
	if len(profile.Rails) != 2 || profile.Rails["tcp"].Bandwidth <= 0 || profile.Rails["shm"].Bandwidth <= 0 {
		t.Fatalf("measured: %+v", profile)
	}
	profile.Rails["tcp"] = RailProfile{Eager: 5, LatencyNs: 1000, Bandwidth: 1}
	profile.Rails["shm"] = RailProfile{Eager: 7, LatencyNs: 1000, Bandwidth: 3}
	file := filepath.Join(t.TempDir(), "profile.json")
	if err := profile.Save(file); err != nil {
		t.Fatal(err)
	}
	j = newJob(t, 2, nil, func(c *Config) { c.Driver, c.Profile = "tcp,shm", file })
	defer j.close()
	g := j.sessions[0].Gate(1)
	for i, want := range []RailInfo{
		{Name: "tcp", Latency: 1000, Bandwidth: 1, Why: "measured, " + file, Share: 0.25, Eager: 5},
		{Name: "shm", Latency: 1000, Bandwidth: 3, Why: "measured, " + file, Share: 0.75, Eager: 7},
	} {
		got := g.Info().Rails[i]
		if math.Abs(got.Share-want.Share) > 0.02 {
			t.Errorf("rail %d gets %.3f of a message, want %.2f", i, got.Share, want.Share)
		}
		got.Near, got.Locality = "", "" // as the machine has it
		if got.Share = want.Share; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if g.locked.flow.EagerLimit() != 7 {
		t.Errorf("eager up to %d, want 7, as the rail says over which so short a message would come", g.locked.flow.EagerLimit())
	}
}

// TestSampleGivenUp: a Sample that is given up before its time, at any point, does not disturb the
// next one.
func TestSampleGivenUp(t *testing.T) {
	j := newJob(t, 2, &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: 1 << 20}}, nil)
	defer j.close()
	zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for range 3 {
		if _, err := zero.Sample(gone); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if err := one.SampleEcho(gone); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	part, stop := context.WithCancel(context.Background())
	echo := make(chan error, 1)
	go func() { echo <- one.SampleEcho(part) }()
	measured, halt := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() {
		_, err := zero.Sample(measured)
		over <- err
	}()
	for j.sessions[1].Stats().Sends < 20 {
		runtime.Gosched()
	}
	halt()
	if err := <-over; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	go func() { // what the first has begun is finished by the second, and moved on by no other one
		p, err := zero.Sample(context.Background())
		if err == nil && len(p.Rails) != 1 {
			err = errors.New("a profile without the rail")
		}
		over <- err
	}()
	stop()
	if err := <-echo; err != nil { // else it has got to the end of the second
		err = one.SampleEcho(context.Background())
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	for _, g := range []*Gate{zero, one} {
		h := g.enter()
		if n := h.flow.Ledger().Unexpected; n != 0 {
			t.Errorf("%d messages were left over", n)
		}
		h.unlock()
	}
}

// TestSampleBesideReceives: what is measured by is the library's own: a receive of any tag, from a rank or from any,
// does not get it, no monitor hears of it, and the program's messages with the same tags go their way meanwhile.
func TestSampleBesideReceives(t *testing.T) {
	j := newJob(t, 2, &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: 1 << 20}}, nil)
	defer j.close()
	zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	var events atomic.Int32
	defer j.sessions[1].Monitor(MessageArrived|SendDone|RecvDone, func(Event) { events.Add(1) })()
	buf := [3][]byte{make([]byte, 8), make([]byte, 8), make([]byte, 8)}
	waiting := []*Request{
		one.Start(&Operation{Kind: KindRecv, Match: Match{}, Buf: buf[0]}), j.sessions[1].Irecv(Match{}, buf[1]), zero.Irecv(sampleEager, buf[2]),
	}
	echo := make(chan error, 1)
	go func() { echo <- one.SampleEcho(context.Background()) }()
	if _, err := zero.Sample(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-echo; err != nil {
		t.Fatal(err)
	}
	for i, r := range waiting {
		if over, err := r.Test(); over {
			t.Errorf("receive %d got %+v, %v", i, r.Envelope(), err)
		}
	}
	if n := events.Load(); n != 0 {
		t.Errorf("a monitor heard of %d events", n)
	}
	for i, g := range []*Gate{zero, zero, one} {
		if err := g.Send(sampleEager, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range waiting {
		if err := r.Wait(); err != nil || buf[i][0] != byte(i) {
			t.Errorf("receive %d: %v, %v", i, buf[i], err)
		}
	}
}
