package nmad

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/roster"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"go.uber.org/goleak"
)

var linkJobs = flag.Int("link-jobs", 0, "jobs of two over real sockets in which both send first at once; 0: a few")

// unlinkedGate is one of the session of that rank of three that has no links, and whose
// wish for links starts nothing but a stage.
func unlinkedGate(t *testing.T, own, rank int) *Gate {
	t.Helper()
	s := &Session{linker: newLinker(time.Minute)}
	t.Cleanup(s.linker.stop)
	s.cfg.Rank, s.cfg.Size, s.cfg.railNames, s.cfg.drivers = own, 3, []string{"a", "b"}, make([]driver.Driver, 2)
	s.linker.cards = make([]roster.Card, 3)
	s.linker.cards[rank] = roster.Card{Rank: rank, Window: 1 << 20, Records: 10}
	s.openJob()
	return s.job.makeGate(remoteDomain{rank, 0})
}

// TestLinkStages: what becomes of a link that the peer has dialed, in every stage, from either
// side.
func TestLinkStages(t *testing.T) {
	for _, c := range []struct {
		name  string
		stage linkStage
		peer  int // we are rank 1
		ended bool
		want  uint64
		next  linkStage
	}{
		{"unlinked, lower", stageUnlinked, 0, false, linkYes, stageAccepting},
		{"unlinked, higher", stageUnlinked, 2, false, linkYes, stageAccepting},
		{"dialing, lower", stageDialing, 0, false, linkYes, stageAccepting},
		{"dialing, higher", stageDialing, 2, false, linkLater, stageDialing},
		{"accepting, lower", stageAccepting, 0, false, linkLater, stageAccepting},
		{"accepting, higher", stageAccepting, 2, false, linkLater, stageAccepting},
		{"linked, lower", stageLinked, 0, false, linkLater, stageLinked},
		{"linked, higher", stageLinked, 2, false, linkLater, stageLinked},
		{"absent", stageAbsent, 0, false, linkNever, stageAbsent},
		{"ended", stageDialing, 0, true, linkNever, stageDialing},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := unlinkedGate(t, 1, c.peer)
			if g.locked.stage = c.stage; c.stage == stageAccepting {
				g.locked.accepted = make([]driver.Link, 2)
			}
			if c.ended {
				g.locked.endErr = &PeerError{Rank: c.peer, Err: ErrPeerLost}
			}
			first, second := simnet.Pair(simnet.Options{})
			if got := g.locked.verdict(first); got != c.want || g.locked.stage != c.next {
				t.Errorf("answer %d, stage %d; want %d, %d", got, g.locked.stage, c.want, c.next)
			}
			if took := g.locked.acceptRail(1, second); took != (c.next == stageAccepting) {
				t.Errorf("a further rail was taken: %v", took)
			}
			if g.locked.acceptRail(1, second) {
				t.Error("the same rail was taken twice")
			}
		})
	}
}

// TestRingLinks: eight processes of which each sends to the next one only have eight links, and no
// descriptors for more.
func TestRingLinks(t *testing.T) {
	const size = 8
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, size, d, nil)
		before := descriptors()
		for range 3 {
			each(size, func(rank int) {
				s := j.sessions[rank]
				next, last := (rank+1)%size, (rank+size-1)%size
				buf := make([]byte, 3000)
				in := s.Gate(last).Irecv(1, buf)
				err := errors.Join(s.Gate(next).Send(1, pattern(3000, uint64(rank))), in.Wait())
				if err != nil || !bytes.Equal(buf, pattern(3000, uint64(last))) {
					t.Errorf("rank %d: %v", rank, err)
				}
			})
		}
		var links uint64
		for rank, s := range j.sessions {
			links += s.Stats().Links
			if n := s.Gate((rank + 4) % size).Stats().Links; n != 0 {
				t.Errorf("rank %d has %d links to the one opposite", rank, n)
			}
		}
		if links != 2*size {
			t.Errorf("the ring has %d ends of links, want %d", links, 2*size)
		}
		// Shared memory needs the most: socket, segment, two events and an epoll set.
		if n := descriptors() - before; n > 2*size*5 {
			t.Errorf("%d descriptors were opened for %d ends", n, 2*size)
		}
		j.close()
	})
}

// TestSimultaneousLinks: all processes send first to all others at once; each pair ends with
// one link, and nothing is lost.
func TestSimultaneousLinks(t *testing.T) {
	size := 12
	if testing.Short() {
		size = 6
	}
	for _, drivers := range []string{"tcp", "unix", "shm", "tcp,unix"} {
		t.Run(drivers, func(t *testing.T) {
			leakless(t, func() {
				j := newJob(t, size, nil, func(c *Config) { c.Driver = drivers })
				each(size, func(rank int) { swap(t, j.sessions[rank], 500) })
				each(size, func(rank int) { swap(t, j.sessions[rank], 200000) })
				rails := uint64(strings.Count(drivers, ",") + 1)
				for rank, s := range j.sessions {
					if n := s.Stats().Links; n != rails*uint64(size-1) {
						t.Errorf("rank %d has %d links", rank, n)
					}
				}
				j.close()
			})
		})
	}
}

// TestFirstSends opens job after job of two, in which both send first at once.
func TestFirstSends(t *testing.T) {
	jobs := *linkJobs
	if jobs == 0 {
		jobs = 20
	}
	for i := range jobs {
		j := newJob(t, 2, nil, func(c *Config) { c.Driver, c.Link = []string{"tcp", "unix"}[i%2], LinkLazy })
		each(2, func(rank int) { swap(t, j.sessions[rank], 1+i%5000) })
		for rank, s := range j.sessions {
			if n := s.Stats().Links; n != 1 {
				t.Fatalf("job %d, rank %d: %d links", i, rank, n)
			}
		}
		j.close()
	}
}

// TestGatherLinks: a receive from any source makes no links but those of the senders.
func TestGatherLinks(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		const size = 5
		j := newJob(t, size, d, nil)
		root := j.sessions[2]
		var in []*Request
		var wg sync.WaitGroup
		for range 2 {
			in = append(in, root.Irecv(Match{}, make([]byte, 10)))
		}
		for _, from := range []int{0, 4} {
			wg.Go(func() {
				if err := j.sessions[from].Gate(2).Start(&Operation{Match: Tag(uint64(from)), Buf: pattern(10, 1), Sync: true}).Wait(); err != nil {
					t.Error(err)
				}
			})
		}
		if err := WaitAll(t.Context(), in...); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if n := root.Stats().Links; n != 2 {
			t.Errorf("the root has %d links, want 2", n)
		}
		if n := j.sessions[1].Stats().Links + j.sessions[3].Stats().Links; n != 0 {
			t.Errorf("those that sent nothing have %d links", n)
		}
		j.close()
	})
}

// TestLinkNow: Link makes the links, from either side, and again does nothing.
func TestLinkNow(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		if p := j.sessions[0].Gate(1).Info().Protocols; len(p) != 1 {
			t.Errorf("without links the gate has the protocols %v", p)
		}
		each(2, func(rank int) {
			for range 2 {
				if err := j.sessions[rank].Gate(1 - rank).Link(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
		if p := j.sessions[0].Gate(1).Info().Protocols; len(p) < 2 {
			t.Errorf("the linked gate has the protocols %v", p)
		}
		if err := j.sessions[1].Gate(1).Link(t.Context()); err != nil {
			t.Errorf("to ourselves: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := j.sessions[0].Gate(2).Link(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		j.close()
		if err := j.sessions[1].Gate(2).Link(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// picky is a network over which one rank cannot be dialed: at once, or for ever.
type picky struct {
	simnet.Net
	rank  int
	stuck bool
}

func (drv *picky) Open(c driver.Config) (driver.Endpoint, error) {
	e, err := drv.Net.Open(c)
	return pickyEnd{e, drv}, err
}

type pickyEnd struct {
	driver.Endpoint
	p *picky
}

func (end pickyEnd) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	if rank != end.p.rank {
		return end.Endpoint.Dial(ctx, rank, addr)
	}
	if end.p.stuck {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("wires cut: %w", driver.ErrRefused)
}

// TestLinkFails: exactly the requests of the gate fail whose links cannot be made.
func TestLinkFails(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	j := newJob(t, 4, &picky{rank: 2}, nil)
	zero := j.sessions[0]
	recv := zero.Gate(2).Irecv(5, nil)
	stays := zero.Gate(3).Irecv(5, make([]byte, 1))
	for range 2 {
		err := zero.Gate(2).Send(1, []byte("abc"))
		var lost *PeerError
		if !errors.Is(err, ErrPeerLost) || !errors.As(err, &lost) || lost.Rank != 2 || !strings.Contains(err.Error(), "wires cut") {
			t.Errorf("a send to a rank that cannot be linked to: %v", err)
		}
	}
	lostWait(t, recv, 2)
	// The other side learns of it when it dials: it is told that the gate has ended.
	if err := j.sessions[2].Gate(0).Send(1, nil); !errors.Is(err, ErrPeerLost) {
		t.Errorf("the other way: %v", err)
	}
	if err := j.sessions[3].Gate(0).Send(5, []byte{1}); err != nil {
		t.Error(err)
	}
	if err := stays.Wait(); err != nil {
		t.Error(err)
	}
	// Nor does a process that can dial suffer from one that cannot.
	if err := j.sessions[2].Gate(3).Send(5, nil); err != nil {
		t.Error(err)
	}
	j.close()
}

// TestCloseWhileLinking: Close gives up links that do not come, and what waits for them.
func TestCloseWhileLinking(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	j := newJob(t, 3, &picky{rank: 2, stuck: true}, func(c *Config) { c.Linger = 50 * time.Millisecond })
	send := j.sessions[0].Gate(2).Isend(1, []byte("abc"))
	link := make(chan error)
	go func() { link <- j.sessions[1].Gate(2).Link(context.Background()) }()
	if over, err := send.Test(); over {
		t.Errorf("the send has ended: %v", err)
	}
	each(3, func(rank int) {
		if err := j.sessions[rank].Close(); (err != nil) != (rank == 0) {
			t.Errorf("rank %d: %v", rank, err)
		}
	})
	if err := send.Wait(); !errors.Is(err, ErrClosed) {
		t.Errorf("the send: %v, want ErrClosed", err)
	}
	if err := <-link; !errors.Is(err, ErrClosed) && !errors.Is(err, ErrPeerLost) {
		t.Errorf("Link: %v, want ErrClosed", err)
	}
	for _, e := range j.engines {
		e.Close()
	}
}

// TestSendAndClose: a message is on its way over links that are not there yet when its sender
// closes.
func TestSendAndClose(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 4, d, nil)
		want := pattern(200, 7)
		var wg sync.WaitGroup
		for _, rank := range []int{0, 3} {
			j.sessions[rank].Gate(2).Isend(1, want)
			wg.Go(func() {
				if err := j.sessions[rank].Close(); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				buf := make([]byte, 200)
				if _, err := j.sessions[2].Gate(rank).Recv(1, buf); err != nil || !bytes.Equal(buf, want) {
					t.Errorf("the message of rank %d, which has left: %v", rank, err)
				}
				lostWait(t, j.sessions[2].Gate(rank).Irecv(1, buf), rank) // and nothing else
			})
		}
		wg.Wait()
		j.close()
	})
}

// TestWithoutRankZero: when no process is left that tells of the others, receives make links.
func TestWithoutRankZero(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		one, two := j.sessions[1], j.sessions[2]
		early := one.Irecv(Match{}, make([]byte, 1)) // rank 0 has not left yet
		if err := j.sessions[0].Close(); err != nil {
			t.Error(err)
		}
		if err := two.Gate(1).Send(3, []byte{1}); err != nil {
			t.Error(err)
		}
		if err := early.Wait(); err != nil {
			t.Error(err)
		}
		late := one.Irecv(Match{}, make([]byte, 1))
		each(2, func(i int) {
			if i == 1 {
				if err := two.Close(); err != nil {
					t.Error(err)
				}
			} else if err := late.Wait(); !errors.Is(err, ErrPeerLost) {
				t.Errorf("a receive from any source with no peer left: %v", err)
			}
		})
		j.close()
	})
}

// TestOrphanLearnsOfLeave: with rank 0 gone, a receive from one that is not linked to us ends
// when he closes.
func TestOrphanLearnsOfLeave(t *testing.T) {
	t.Parallel() // Close waits
	for _, any := range []bool{false, true} {
		t.Run(fmt.Sprint("any=", any), func(t *testing.T) {
			t.Parallel()
			j := newJob(t, 3, &simnet.Net{}, nil)
			one := j.sessions[1]
			if err := j.sessions[0].Close(); err != nil {
				t.Error(err)
			}
			for !one.relayLost.Load() { // the news come from another goroutine
				runtime.Gosched()
			}
			var r *Request
			if any {
				r = one.Irecv(Match{}, nil)
			} else {
				r = one.Gate(2).Irecv(1, nil)
			}
			each(2, func(i int) {
				if i == 1 {
					if err := j.sessions[2].Close(); err != nil {
						t.Error(err)
					}
				} else if err := r.Wait(); !errors.Is(err, ErrPeerLost) {
					t.Errorf("the receive ended with %v", err)
				}
			})
			j.close()
		})
	}
}

// impolite is a network whose endpoint of one rank answers links with something else, or not
// at all.
type impolite struct {
	simnet.Net
	rank int
	with *driver.Header // nil: it hangs up
}

func (drv *impolite) Open(c driver.Config) (driver.Endpoint, error) {
	e, err := drv.Net.Open(c)
	if c.Rank != drv.rank || err != nil {
		return e, err
	}
	return impoliteEnd{e, drv}, nil
}

type impoliteEnd struct {
	driver.Endpoint
	p *impolite
}

func (end impoliteEnd) Accept(ctx context.Context) (int, driver.Link, error) {
	for {
		_, l, err := end.Endpoint.Accept(ctx)
		if err != nil {
			return 0, nil, err
		}
		if end.p.with != nil {
			if _, err := hear(ctx, l, linkAsk, linkAsk); err != nil {
				return 0, nil, err
			}
			h := *end.p.with
			if _, err := l.Send(&h, make([]byte, h.Body), nil, false); err != nil {
				return 0, nil, err
			}
		}
		l.Close()
	}
}

// TestImpoliteAnswers: one that answers a link otherwise than it may loses the gate, nothing else.
func TestImpoliteAnswers(t *testing.T) {
	t.Parallel() // Close waits
	for name, c := range map[string]struct {
		with *driver.Header
		want error
	}{
		"hangs up":         {nil, ErrPeerLost},
		"another kind":     {&driver.Header{Kind: flow.KindEager}, ErrProtocol},
		"no such answer":   {&driver.Header{Kind: flow.KindLink, Size: linkNever + 1}, ErrProtocol},
		"answer with body": {&driver.Header{Kind: flow.KindLink, Body: 3}, ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, 3, &impolite{rank: 1, with: c.with}, nil)
			if err := j.sessions[0].Gate(1).Send(1, nil); !errors.Is(err, c.want) {
				t.Errorf("ended with %v, want %v", err, c.want)
			}
			if err := j.sessions[0].Gate(2).Send(1, nil); err != nil {
				t.Error(err)
			}
			j.close()
		})
	}
}

// TestLinkTwice: a link to a gate that has one is told so, and does no harm; one from no rank is
// closed.
func TestLinkTwice(t *testing.T) {
	j := newJob(t, 3, &simnet.Net{}, nil)
	zero, one := j.sessions[0], j.sessions[1]
	if err := zero.Gate(1).Link(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := zero.linker.ends[0].Dial(t.Context(), 1, zero.linker.cards[1].Rails[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(t.Context(), again, 0, 0); err != nil {
		t.Fatal(err)
	}
	if answer, err := hear(t.Context(), again, linkYes, linkNever); answer.Size != linkLater || err != nil {
		t.Errorf("a second link is answered by %d, %v", answer.Size, err)
	}
	again.Close()
	recv := one.Gate(0).Irecv(1, make([]byte, 1))
	if err := errors.Join(zero.Gate(1).Send(1, []byte{1}), recv.Wait()); err != nil {
		t.Error(err)
	}
	j.close()
}

func TestLinksDiffer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	each(2, func(rank int) {
		cfg := Config{Size: 2, Rank: rank, Rendezvous: l.Addr().String(), Secret: testSecret, Custom: &simnet.Net{}, Link: []string{LinkAll, LinkLazy}[rank]}
		if rank == 0 {
			cfg.Listener = l
		}
		if s, err := Open(context.Background(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("rank %d: %v, want that they make links at different times", rank, err)
			s.Close()
		}
	})
}

// BenchmarkOpen: how long a job of 16 takes to open, in one process, by when it makes its links.
func BenchmarkOpen(b *testing.B) {
	for _, d := range []string{"shm", "tcp"} {
		for _, link := range []string{LinkLazy, LinkAll} {
			b.Run(d+"/"+link, func(b *testing.B) {
				for b.Loop() {
					j := newJob(b, 16, nil, func(c *Config) { c.Driver, c.Link = d, link })
					b.StopTimer()
					j.close()
					b.StartTimer()
				}
			})
		}
	}
}

// BenchmarkFirstMessage: one short message, over links that are there or are not yet.
func BenchmarkFirstMessage(b *testing.B) {
	for _, d := range []string{"shm", "tcp"} {
		for _, link := range []string{LinkLazy, LinkAll} {
			b.Run(d+"/"+link, func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					j := newJob(b, 2, nil, func(c *Config) { c.Driver, c.Link = d, link })
					b.StartTimer()
					r := j.sessions[0].Gate(1).Isend(1, []byte{1})
					if _, err := j.sessions[1].Gate(0).Recv(1, make([]byte, 1)); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					if err := r.Wait(); err != nil {
						b.Fatal(err)
					}
					j.close()
					b.StartTimer()
				}
			})
		}
	}
}

// wanting is an endpoint whose dials fail so many times with an error.
type wanting struct {
	driver.Endpoint
	times int
	err   error
	dials int
}

func (wn *wanting) Dial(context.Context, int, string) (driver.Link, error) {
	if wn.dials++; wn.dials <= wn.times {
		return nil, fmt.Errorf("dial: %w", wn.err)
	}
	return nil, nil
}

// TestDialWants: a dial that fails for a want of this machine is tried until its time is up, one that
// fails for another reason a few times.
func TestDialWants(t *testing.T) {
	for _, c := range []struct {
		err      error
		succeeds bool
	}{
		{syscall.EMFILE, true},
		{syscall.ENETUNREACH, true},
		{driver.ErrBusy, true},
		{syscall.ECONNREFUSED, false},
		{driver.ErrRefused, false},
	} {
		w := &wanting{times: 2 * dialTries, err: c.err}
		l := &linker{ends: []driver.Endpoint{w}, cards: []roster.Card{{Rails: make([]roster.Rail, 1)}}}
		if _, err := l.dialRail(context.Background(), 0, 0); (err == nil) != c.succeeds || err != nil && !errors.Is(err, c.err) {
			t.Errorf("%v %d times: %v after %d dials", c.err, w.times, err, w.dials)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		w = &wanting{times: 1 << 30, err: c.err}
		l.ends[0] = w
		if _, err := l.dialRail(ctx, 0, 0); !errors.Is(err, c.err) {
			t.Errorf("%v for longer than there is time: %v", c.err, err)
		}
		cancel()
	}
}
