package nmad

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/secret"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/pioman"
	"go.uber.org/goleak"
)

var testSecret = []byte("a secret of at least sixteen bytes")

// job is several sessions in one process.
type job struct {
	t        testing.TB
	sessions []*Session
	engines  []*pioman.Engine
}

var (
	kind    = flag.String("kind", "shared", "of the jobs' domains: shared, serialized, fine, explicit or worker") // TestKinds
	sharing = flag.Bool("sharing", false, "jobs whose processes share CPUs")
)

// kindsOfJobs are what -kind may say.
var kindsOfJobs = map[string]DomainConfig{
	"shared": {}, "serialized": {Access: Serialized}, "fine": {Access: Fine}, "explicit": {Progress: Explicit}, "worker": {Progress: Worker},
}

// newJob opens a session per rank over d, each with an engine of its own.
func newJob(t testing.TB, size int, d driver.Driver, change func(*Config)) *job {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	j := &job{t: t, sessions: make([]*Session, size), engines: make([]*pioman.Engine, size)}
	errs := make([]error, size)
	each(size, func(rank int) {
		j.engines[rank] = pioman.New(pioman.Config{})
		cfg := Config{
			jobDomain: kindsOfJobs[*kind], SharedCPUs: *sharing,
			Rank: rank, Size: size, Rendezvous: l.Addr().String(), Secret: testSecret,
			Custom: d, Engine: j.engines[rank], Timeout: 30 * time.Second,
		}
		if rank == 0 {
			cfg.Listener = l
		}
		if change != nil {
			change(&cfg)
		}
		j.sessions[rank], errs[rank] = Open(context.Background(), cfg)
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return j
}

func each(size int, f func(rank int)) {
	var wg sync.WaitGroup
	for rank := range size {
		wg.Go(func() { f(rank) })
	}
	wg.Wait()
}

// close closes all sessions at once.
func (j *job) close() {
	j.t.Helper()
	each(len(j.sessions), func(rank int) {
		if err := j.sessions[rank].Close(); err != nil {
			j.t.Errorf("rank %d: %v", rank, err)
		}
		j.engines[rank].Close()
	})
}

// networks are what the tests of sessions run over.
func networks() map[string]driver.Driver {
	all := map[string]driver.Driver{"sim": &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: 1000}}}
	for _, name := range driver.Names() {
		d, err := driver.Lookup(name)
		if err != nil {
			panic(err)
		}
		all[name] = d
	}
	return all
}

// overAll runs a test over each network and makes sure that it leaves no goroutine
// and no descriptor behind.
func overAll(t *testing.T, f func(t *testing.T, d driver.Driver)) {
	for name, d := range networks() {
		t.Run(name, func(t *testing.T) { leakless(t, func() { f(t, d) }) })
	}
}

// overAllAtOnce is overAll for tests that mostly wait.
func overAllAtOnce(t *testing.T, f func(t *testing.T, d driver.Driver)) {
	leakless(t, func() {
		t.Run("at once", func(t *testing.T) { // ends when all of them have
			for name, d := range networks() {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					f(t, d)
				})
			}
		})
	})
}

// leakless runs f and makes sure that it leaves no goroutine and no descriptor behind.
func leakless(t *testing.T, f func()) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close() // from here on Go's network poller has its descriptors
	}
	before := descriptors()
	f()
	after := descriptors()
	for end := time.Now().Add(5 * time.Second); after > before && time.Now().Before(end); after = descriptors() {
		time.Sleep(time.Millisecond) // the last call inside a link closes it
	}
	if after > before {
		t.Errorf("%d descriptors were open before, %d are after", before, after)
	}
}

// descriptors counts the open sockets, events and anonymous segments of this process;
// 0 if that is not known.
func descriptors() int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	n := 0
	for _, d := range all {
		target, err := os.Readlink("/proc/self/fd/" + d.Name())
		if err == nil && (!strings.HasPrefix(target, "/") || strings.HasPrefix(target, "/memfd:")) {
			n++
		}
	}
	return n
}

func TestNoAllocationOverDrivers(t *testing.T) {
	effort.SkipIfNotInlined(t)
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		msg, buf := pattern(200, 1), make([]byte, 200)
		var s, r Request
		exchange := func() {
			one.IrecvInto(&r, 1, buf)
			zero.IsendInto(&s, 1, msg)
			r.Wait()
			s.Wait()
			one.Send(2, msg)
			zero.Recv(2, buf)
		}
		for range 200 {
			exchange() // fills the pools
		}
		if n := testing.AllocsPerRun(500, exchange); n != 0 {
			t.Errorf("%v allocations per exchange, want 0", n)
		}
		j.close()
	})
}

func TestRing(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		const size = 5
		j := newJob(t, size, d, nil)
		each(size, func(rank int) {
			s := j.sessions[rank]
			next, before := s.Gate((rank+1)%size), s.Gate((rank+size-1)%size)
			for round := range 20 {
				n := 1 << round % 3000
				msg, buf := pattern(n, uint64(rank*1000+round)), make([]byte, n)
				r := before.Irecv(uint64(round), buf)
				if err := next.Send(uint64(round), msg); err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
				if err := r.Wait(); err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
				if !bytes.Equal(buf, pattern(n, uint64((rank+size-1)%size*1000+round))) {
					t.Errorf("rank %d: round %d is damaged", rank, round)
				}
			}
		})
		j.close()
	})
}

// TestMixedTraffic lets several threads per process exchange messages of mixed sizes
// and tags with all the others, and looks at each byte.
func TestMixedTraffic(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		const size, threads = 3, 4
		messages := effort.Of(400)
		j := newJob(t, size, d, func(c *Config) { c.Unexpected = 8 << 10 })
		var wg sync.WaitGroup
		for rank := range size {
			for peer := range size {
				for thread := range threads {
					wg.Go(func() { exchange(t, j.sessions[rank].Gate(peer), uint64(thread), messages) })
				}
			}
		}
		wg.Wait()
		j.close()
	})
}

// exchange sends messages to a gate and receives as many, whose contents both
// sides can compute. Windows of several requests at once, waited for in
// another order than started.
func exchange(t *testing.T, g *Gate, tag uint64, messages int) {
	if err := g.Link(t.Context()); err != nil { // until then it is not known what is sent eagerly
		t.Error(err)
		return
	}
	rng := rand.New(rand.NewPCG(uint64(min(g.ownRank, g.rank))<<32|uint64(max(g.ownRank, g.rank)), tag))
	const window = 8
	var sends, recvs [window]Request
	for done := 0; done < messages; done += window {
		var bufs, want [window][]byte
		for i := range window {
			n, limit := 0, max(g.locked.flow.EagerLimit(), 256) // around which the protocol changes
			switch rng.IntN(4) {
			case 0:
				n = rng.IntN(16)
			case 1:
				n = limit - 16 + rng.IntN(32)
			case 2:
				n = rng.IntN(4 * limit)
			}
			key := tag<<40 | uint64(done+i)
			bufs[i] = make([]byte, n+1)
			want[i] = pattern(n, key|uint64(g.rank)<<56)
			if err := g.IrecvInto(&recvs[i], tag, bufs[i][:n]); err != nil {
				t.Error(err)
			}
			if err := g.IsendInto(&sends[i], tag, pattern(n, key|uint64(g.ownRank)<<56)); err != nil {
				t.Error(err)
			}
		}
		for _, i := range rng.Perm(window) {
			if err := recvs[i].Wait(); err != nil {
				t.Errorf("rank %d from %d: %v", g.ownRank, g.rank, err)
				return
			}
			if n := len(want[i]); recvs[i].Len() != n || !bytes.Equal(bufs[i][:n], want[i]) || bufs[i][n] != 0 {
				t.Errorf("rank %d from %d, tag %d: message %d of %d bytes is damaged", g.ownRank, g.rank, tag, done+i, n)
				return
			}
		}
		for i := range window {
			if err := sends[i].Wait(); err != nil {
				t.Errorf("rank %d to %d: %v", g.ownRank, g.rank, err)
				return
			}
		}
	}
}

func TestOwnRank(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := Open(context.Background(), Config{Size: 1, Engine: pioman.New(pioman.Config{}), Unexpected: 1000})
	if err != nil {
		t.Fatal(err)
	}
	g := s.Gate(0) // nothing but matching
	for _, size := range []int{0, 1, 100, 2000, 100000} {
		for _, recvFirst := range []bool{true, false} {
			msg, buf := pattern(size, 1), make([]byte, size)
			var a, b *Request
			if recvFirst {
				b = g.Irecv(5, buf)
				a = g.Isend(5, msg)
			} else {
				a = g.Isend(5, msg)
				b = g.Irecv(5, buf)
			}
			if err := errors.Join(a.Wait(), b.Wait()); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(buf, msg) || b.Len() != size || a.Len() != size {
				t.Errorf("%d bytes to ourselves are damaged", size)
			}
		}
	}
	late := g.Isend(6, make([]byte, 5000))
	open := g.Irecv(7, nil)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := late.Wait(); !errors.Is(err, ErrClosed) {
		t.Errorf("a send to ourselves that no thread received: %v, want ErrClosed", err)
	}
	if err := open.Wait(); !errors.Is(err, ErrClosed) {
		t.Errorf("a receive from ourselves: %v, want ErrClosed", err)
	}
}

func TestNoSuchRank(t *testing.T) {
	s, err := Open(context.Background(), Config{Size: 1, Engine: pioman.New(pioman.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, rank := range []int{-1, 1, 1 << 40} {
		g := s.Gate(rank)
		_, err := g.Recv(1, nil)
		for _, err := range []error{err, g.Send(1, nil), g.Isend(1, nil).Wait(), g.Irecv(1, nil).Wait()} {
			if !errors.Is(err, ErrRank) {
				t.Errorf("rank %d: %v, want ErrRank", rank, err)
			}
		}
	}
}

func TestCloseEndsRequests(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, func(c *Config) { c.Linger = 100 * time.Millisecond })
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		recv := zero.Irecv(1, make([]byte, 10))
		long := zero.Isend(2, make([]byte, 1000000)) // none receives it
		sent := zero.Isend(3, pattern(20, 3))
		waits := one.Irecv(4, make([]byte, 10))
		blocked := make(chan error)
		go func() {
			_, err := zero.Recv(9, make([]byte, 1))
			blocked <- err
		}()
		if err := j.sessions[0].Close(); err == nil {
			t.Error("Close says nothing about the send that it gave up")
		}
		for name, r := range map[string]*Request{"recv": recv, "long": long} {
			if err := r.Wait(); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", name, err)
			}
		}
		if err := <-blocked; !errors.Is(err, ErrClosed) {
			t.Errorf("blocked receive: %v, want ErrClosed", err)
		}
		if err := zero.Send(1, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("send after Close: %v, want ErrClosed", err)
		}
		if err := sent.Wait(); err != nil {
			t.Error(err)
		}
		// The other side: none waited there when rank 0 left.
		lostWait(t, waits, 0)
		buf := make([]byte, 20)
		if _, err := one.Recv(3, buf); err != nil || !bytes.Equal(buf, pattern(20, 3)) {
			t.Errorf("what was sent before the leave: %v", err)
		}
		if err := j.sessions[0].Close(); err == nil {
			t.Error("the second Close says otherwise than the first")
		}
		if err := j.sessions[1].Close(); err != nil {
			t.Error(err)
		}
		for _, e := range j.engines {
			e.Close()
		}
	})
}

func lostWait(t *testing.T, r *Request, rank int) {
	t.Helper()
	var lost *PeerError
	if err := r.Wait(); !errors.Is(err, ErrPeerLost) || !errors.As(err, &lost) || lost.Rank != rank {
		t.Errorf("request ended with %v, want that rank %d is lost", err, rank)
	}
}

// TestLeftWithoutBye makes one of three processes hang after it has said that it
// leaves. The others must not wait for ever, and go on with each other.
func TestLeftWithoutBye(t *testing.T) {
	overAllAtOnce(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		lost := j.sessions[1].Gate(2).Irecv(1, make([]byte, 10))
		stays := j.sessions[1].Gate(0).Irecv(1, make([]byte, 10))
		j.sessions[2].control.Announce()
		j.sessions[2].control.Leave() // but no BYE on the links: it hangs
		lostWait(t, lost, 2)
		if err := j.sessions[0].Gate(1).Send(1, pattern(10, 1)); err != nil {
			t.Error(err)
		}
		if err := stays.Wait(); err != nil {
			t.Error(err)
		}
		j.close()
	})
}

func TestOpenFails(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	base := func() Config {
		return Config{Size: 2, Rank: 1, Rendezvous: "127.0.0.1:9", Secret: testSecret, Custom: &simnet.Net{}, Engine: pioman.New(pioman.Config{}), Timeout: 50 * time.Millisecond}
	}
	for name, change := range map[string]func(*Config){
		"size":       func(c *Config) { c.Size = 0 },
		"rank":       func(c *Config) { c.Rank = 7 },
		"rendezvous": func(c *Config) { c.Rendezvous = "" },
		"secret":     func(c *Config) { c.Secret = nil },
		"driver":     func(c *Config) { c.Custom, c.Driver = nil, "carrier pigeon" },
		"bounds":     func(c *Config) { c.Unexpected = -1 },
		"link":       func(c *Config) { c.Link = "sometimes" },
	} {
		cfg := base()
		change(&cfg)
		if _, err := Open(context.Background(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	if _, err := Open(context.Background(), base()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no peer there: %v, want that the time is up", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cfg := base()
	cfg.Timeout = time.Minute
	if _, err := Open(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v, want context.Canceled", err)
	}
}

// deaf is a network on which none can be reached.
type deaf struct{ simnet.Net }

func (*deaf) Name() string { return "deaf" }
func (drv *deaf) Open(c driver.Config) (driver.Endpoint, error) {
	e, err := drv.Net.Open(c)
	return deafEnd{e}, err
}

type deafEnd struct{ driver.Endpoint }

func (deafEnd) Dial(context.Context, int, string) (driver.Link, error) {
	return nil, fmt.Errorf("wires cut: %w", driver.ErrRefused)
}

func TestOneFailsAllFail(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &deaf{}
	each(3, func(rank int) {
		cfg := Config{Size: 3, Rank: rank, Rendezvous: l.Addr().String(), Secret: testSecret, Custom: d, Engine: pioman.New(pioman.Config{}), Link: LinkAll}
		if rank == 0 {
			cfg.Listener = l
		}
		began := time.Now()
		s, err := Open(context.Background(), cfg)
		if err == nil {
			t.Errorf("rank %d has opened a session", rank)
			s.Close()
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("rank %d gave up after %v only: %v", rank, took, err)
		}
	})
}

func TestDriversDiffer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	each(2, func(rank int) {
		cfg := Config{Size: 2, Rank: rank, Rendezvous: l.Addr().String(), Secret: testSecret, Custom: &simnet.Net{}, Engine: pioman.New(pioman.Config{})}
		if rank == 0 {
			cfg.Listener = l
		} else {
			cfg.Custom = &deaf{}
		}
		if s, err := Open(context.Background(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("rank %d: %v, want that the drivers differ", rank, err)
			s.Close()
		}
	})
}

func TestEnvironment(t *testing.T) {
	parse := func(m map[string]string) (Config, error) {
		return fromEnvironment(func(k string) string { return m[k] }, func() ([]byte, error) {
			told, err := secret.Parse(m[EnvSecret])
			return told, secretError(t.Context(), err)
		})
	}
	c, err := parse(map[string]string{
		EnvRank: "3", EnvSize: "5", EnvRendezvous: "h:1", EnvSecret: "00ff", EnvDriver: "tcp", EnvSharedCPUs: "1",
	})
	if err != nil || c.Rank != 3 || c.Size != 5 || c.Rendezvous != "h:1" || !bytes.Equal(c.Secret, []byte{0, 255}) || c.Driver != "tcp" || !c.SharedCPUs {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := parse(nil); err != nil || c.Size != 1 || c.Rank != 0 {
		t.Errorf("without a launcher: %+v, %v; want a job of one", c, err)
	}
	for name, m := range map[string]map[string]string{
		"rank": {EnvRank: "x"}, "size": {EnvSize: "1.5"}, "secret": {EnvSecret: "xyz"}, "shared": {EnvSharedCPUs: "perhaps"},
		"descriptor": {EnvRendezvousFD: "1"}, "no descriptor": {EnvRendezvousFD: "x"},
	} {
		if _, err := parse(m); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
}

// TestDescription: a session says of its gates what is under way, while messages are, and which lock is held.
func TestDescription(t *testing.T) {
	if text := (*Session)(nil).String(); text != "nmad: no session" {
		t.Error(text)
	}
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		g := j.sessions[0].Gate(1)
		s := g.Isend(1, make([]byte, 1<<20))
		text := j.sessions[0].String()
		for _, part := range []string{"rank 0 of 2", "gate to rank 1: 1 pending", "Credit:"} {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in\n%s", part, text)
			}
		}
		h := g.lock()
		text = j.sessions[0].String()
		h.unlock()
		if !strings.Contains(text, "gate to rank 1: its lock is held") {
			t.Error(text)
		}
		r := j.sessions[1].Gate(0).Irecv(1, make([]byte, 1<<20))
		stop := j.moving()
		for range 100 {
			_ = j.sessions[0].String()
			_ = j.sessions[1].String()
		}
		if serr, rerr := waitBoth(s, r); serr != nil || rerr != nil {
			t.Error(serr, rerr)
		}
		stop()
		j.close()
	})
}
