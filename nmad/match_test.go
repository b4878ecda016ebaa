package nmad

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// onThreads runs f(0) to f(n-1) at once, every other one on a thread, and returns when all have.
func onThreads(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		if i%2 == 0 {
			all.Go(func() { f(i) })
			continue
		}
		thread := marcel.Spawn(func() { f(i) })
		all.Go(func() { _ = thread.Join() })
	}
	all.Wait()
}

// overEach runs a test with threads over each network: what the scheduler keeps of LWPs is no leak.
func overEach(t *testing.T, f func(t *testing.T, d driver.Driver)) {
	for name, d := range networks() {
		t.Run(name, func(t *testing.T) { f(t, d) })
	}
}

// TestAnySourceBesideGate: of a receive from any source and one from a rank, which one thread posts one after the
// other, the first one gets the older message, in either order of the two, while others hold the lock of the gate.
func TestAnySourceBesideGate(t *testing.T) {
	pairs := effort.Of(20000)
	overEach(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		s, g := j.sessions[0], j.sessions[0].Gate(1)
		var over atomic.Bool
		onThreads(3, func(i int) {
			switch i {
			case 0:
				for !over.Load() {
					g.poll()
					runtime.Gosched()
				}
				return
			case 1:
				b := make([]byte, 8)
				for n := range 2 * pairs {
					binary.LittleEndian.PutUint64(b, uint64(n))
					if err := j.sessions[1].Gate(0).Send(5, b); err != nil {
						t.Error(err)
						return
					}
				}
				return
			}
			defer over.Store(true)
			var bufs [2][8]byte
			for n := range pairs {
				var r [2]*Request
				for k := range r {
					if (k == 0) == (n/8%2 == 0) {
						r[k] = s.Irecv(Tag(5), bufs[k][:])
					} else {
						r[k] = g.Irecv(5, bufs[k][:])
					}
				}
				if err := WaitAll(context.Background(), r[:]...); err != nil {
					t.Error(err)
					return
				}
				for k := range r {
					if got := binary.LittleEndian.Uint64(bufs[k][:]); got != uint64(2*n+k) && !t.Failed() {
						t.Errorf("pair %d: the receive that was posted as number %d of it got message %d, want %d", n, k, got, 2*n+k)
					}
				}
			}
		})
		j.close()
	})
}

// TestAnySourceAfterTheEnd: when all others have closed, receives from any source by many threads still get every
// message that is there, and none that has one fails; then they fail.
func TestAnySourceAfterTheEnd(t *testing.T) {
	overEach(t, func(t *testing.T, d driver.Driver) {
		const each = 300
		j := newJob(t, 3, d, nil)
		s := j.sessions[0]
		onThreads(3, func(i int) {
			if i == 2 {
				for s.job.anyList.Err() == nil { // until both ends are known here
					s.job.poll()
					runtime.Gosched()
				}
				return
			}
			peer := j.sessions[1+i]
			for range each {
				if err := peer.Gate(0).Send(5, make([]byte, 8)); err != nil {
					t.Error(err)
				}
			}
			if err := peer.Close(); err != nil {
				t.Error(err)
			}
		})
		var tickets atomic.Int64
		onThreads(8, func(i int) {
			buf := make([]byte, 8)
			for tickets.Add(1) <= 2*each {
				m := Tag(5)
				if i%3 == 0 {
					m.Mask = 7
				}
				if _, err := s.Recv(m, buf); err != nil {
					t.Errorf("a receive whose message is there: %v", err)
					return
				}
			}
		})
		if _, err := s.Recv(Match{}, nil); !errors.Is(err, ErrPeerLost) {
			t.Errorf("a receive without a message: %v, want ErrPeerLost", err)
		}
		if _, err := s.Probe(context.Background(), Match{}); !errors.Is(err, ErrPeerLost) {
			t.Errorf("a probe without a message: %v, want ErrPeerLost", err)
		}
		m := s.Gate(0).Isend(5, make([]byte, 8))
		if e, err := s.Recv(Tag(5), make([]byte, 8)); err != nil || e.Source != 0 {
			t.Errorf("a message of the own rank: %+v, %v", e, err)
		}
		if err := m.Wait(); err != nil {
			t.Error(err)
		}
		own := s.Gate(0)
		h := own.lock() // so that both lie in the inbox
		m = own.Isend(5, make([]byte, 8))
		r := s.Irecv(Tag(5), make([]byte, 8))
		h.unlock()
		if err := errors.Join(m.Wait(), r.Wait()); err != nil {
			t.Errorf("a message of the own rank, started while another thread had the lock: %v", err)
		}
		s.Gate(0).Isend(5, make([]byte, 8))
		j.close()
		if _, err := s.Recv(Tag(5), make([]byte, 8)); !errors.Is(err, ErrClosed) {
			t.Errorf("a receive after Close, with a message there: %v, want ErrClosed", err)
		}
	})
}

// TestAnySourceOfGroup: receives from any source of a group get no message of another rank, and fail when the group has
// ended.
func TestAnySourceOfGroup(t *testing.T) {
	j := newJob(t, 3, networks()["sim"], nil)
	s := j.sessions[0]
	group := match.All(3)
	group[0] &^= 1 << 2
	s.job.anyList = newAnyList(group, 0) // before the gates to the others are made
	s.job.gates.at(0).locked.join(s.job.anyList)
	buf := make([]byte, 8)
	outside, member := j.sessions[2].Gate(0).Isend(5, []byte("two")), s.Irecv(Tag(5), buf)
	if e, err := s.Gate(2).Probe(context.Background(), Tag(5)); err != nil || e.Source != 2 {
		t.Fatalf("the message of rank 2: %+v, %v", e, err)
	}
	if over, err := member.Test(); over {
		t.Fatalf("a receive from ranks 0 and 1 has ended though only rank 2 has sent: from %d, %v", member.Source(), err)
	}
	if err := j.sessions[1].Gate(0).Send(5, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := member.Wait(); err != nil || member.Source() != 1 {
		t.Errorf("the receive: from %d, %v; want from 1", member.Source(), err)
	}
	lost := s.Irecv(Tag(5), buf)
	if err := j.sessions[1].Close(); err != nil {
		t.Error(err)
	}
	if err := lost.Wait(); !errors.Is(err, ErrPeerLost) {
		t.Errorf("all of the group have ended: %v, want ErrPeerLost", err)
	}
	if _, err := s.Gate(2).Recv(5, buf); err != nil {
		t.Error(err)
	}
	if err := outside.Wait(); err != nil {
		t.Error(err)
	}
	j.close()
}

// TestAnySourceOfOrphanWaitsForNoLock: where only links tell of deaths, a receive from any source has links made to all
// others; starting it waits for no gate's lock, for a hook may start it while the thread that it has interrupted holds
// one.
func TestAnySourceOfOrphanWaitsForNoLock(t *testing.T) {
	j := newJob(t, 3, networks()["sim"], nil)
	s := j.sessions[0]
	s.relayLost.Store(true)
	own := s.job.gates.at(0)
	h := own.lock()
	started := make(chan *Request)
	go func() { started <- s.Irecv(Tag(5), make([]byte, 8)) }()
	var r *Request
	select {
	case r = <-started:
	case <-time.After(20 * time.Second):
		t.Error("it waits for the lock of the own gate")
	}
	h.unlock()
	if r == nil {
		r = <-started
	}
	for _, peer := range []int{1, 2} {
		if err := s.Gate(peer).Link(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if !r.Cancel() {
		t.Error("the receive cannot be taken back")
	}
	j.close()
}

// TestAnySourceHistory has threads and goroutines post receives from any source and from ranks, with masks and without,
// take them back, claim and probe, while messages come and, one after the other, the peers leave; and looks whether
// what each got can be: no receive would rather have another message that would rather have it. Repeatable for long, as
// TestSoak: -soak, -soak.seed.
func TestAnySourceHistory(t *testing.T) {
	seed := *soakSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	all := networks()
	overEach(t, func(t *testing.T, d driver.Driver) {
		messages := uint64(0)
		for began := time.Now(); ; seed++ {
			messages += historyRound(t, d, seed)
			if t.Failed() {
				t.Fatalf("repeat it with -soak.seed %d", seed)
			}
			if soakFor.over(messages*uint64(len(all)), time.Since(began)*time.Duration(len(all))) {
				break
			}
		}
	})
}

// BenchmarkReceiveAmongWildcards posts an exact receive and matches it, while so many
// wildcards wait for other tags.
func BenchmarkReceiveAmongWildcards(b *testing.B) {
	for _, c := range []struct{ masked, any int }{{0, 0}, {1, 0}, {0, 1}, {100, 0}, {0, 100}} {
		b.Run("masked="+itoa(c.masked)+",any="+itoa(c.any), func(b *testing.B) {
			p := newPair(simnet.Options{}, wide)
			g, s := p.gates[1], p.session(1)
			for range c.masked {
				g.Start(&Operation{Kind: KindRecv, Match: Match{Tag: 1 << 40, Mask: 1 << 40}, Buf: nil})
			}
			for range c.any {
				s.Irecv(Tag(1<<40), nil)
			}
			r := &Request{}
			b.ReportAllocs()
			for b.Loop() {
				r.prepare(g, flow.RequestRecv, nil, 7, nil, flow.NotifyNone)
				r.core.Entry.Age = g.anyList.Now()
				g.locked.startRecv(r)
				if requestOf(g.locked.flow.Match(flow.DefaultContext, 7)) != r {
					b.Fatal("another receive got the message")
				}
			}
		})
	}
}

// BenchmarkReceiveFromAny posts a receive from any source before its message has come or after, beside messages that
// have no receive.
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
				r, op := &Request{}, &Operation{Kind: KindRecv, Match: Tag(7), Buf: make([]byte, 8)}
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
					if !r.done() {
						b.Fatal("the message has not come")
					}
				}
			})
		}
	}
}
