package am

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad"
)

// TestAllocatesNothing: requests, replies and handlers allocate nothing in steady state.
func TestAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, d := range networks(t) {
		if strings.HasPrefix(name, "fault") {
			continue // it keeps a record
		}
		t.Run(name, func(t *testing.T) {
			size := 2
			if name == "self" {
				size = 1
			}
			j := newJob(t, size, d, Config{}, false)
			defer j.close()
			j.handle(1, echo)
			j.handle(2, func(t *Token, args []uint64, body []byte) { _ = t.ReplyTo(3, args, body) })
			replies := 0
			j.handle(3, func(*Token, []uint64, []byte) { replies++ })
			from, to := j.worlds[0].Default(), j.worlds[size-1].Default()
			var r Reply
			for _, n := range []int{0, 8, 4 << 10, 64 << 10} {
				body, args := make([]byte, n), make([]uint64, 4)
				turn := func() {
					if err := from.RequestFor(&r, size-1, 1, args, body); err != nil {
						t.Fatal(err)
					}
					for done := false; !done; done, _ = r.Test() {
						to.Poll()
					}
					if _, _, err := r.Wait(); err != nil {
						t.Fatal(err)
					}
					was := replies
					if ok, err := from.TryRequest(size-1, 2, args, body); !ok || err != nil {
						t.Fatal(ok, err)
					}
					for replies == was {
						to.Poll()
						from.Poll()
					}
				}
				for range 100 {
					turn()
				}
				if got := testing.AllocsPerRun(300, turn); got > 0.05 {
					t.Errorf("%d bytes: %v allocations for a round trip with a reply, and one with a handler", n, got)
				}
			}
		})
	}
}

// TestFlood: all ranks flood each other through the smallest windows, and pass requests on: nothing blocks for ever,
// and each request is handled once.
func TestFlood(t *testing.T) {
	for name, d := range networks(t) {
		for _, window := range []int{1, 2, 32} {
			t.Run(fmt.Sprintf("%s/%d", name, window), func(t *testing.T) {
				size, n := 3, effort.Of(1500)
				if name == "self" {
					size = 1
				}
				j := newJob(t, size, d, Config{Window: window, Receives: 4, Budget: 10, OnError: func(err error) { t.Error(err) }}, false)
				defer j.close()
				var handled, replied, asked, passed, dropped atomic.Int64
				j.handle(1, func(t *Token, args []uint64, body []byte) {
					handled.Add(1)
					if err := t.ReplyTo(2, args, body); err != nil {
						panic(err)
					}
				})
				j.handle(2, func(*Token, []uint64, []byte) { replied.Add(1) })
				j.handle(3, func(t *Token, args []uint64, body []byte) { // A asks B, B asks C: a handler does not wait
					d := t.Domain()
					defer asked.Add(1)
					ok, err := d.TryRequest((d.world.session.Rank()+1)%size, 4, args, body)
					if ok {
						passed.Add(1)
					} else if dropped.Add(1); err != nil {
						panic(err)
					}
				})
				j.handle(4, func(*Token, []uint64, []byte) { passed.Add(-1) })
				var wg sync.WaitGroup
				for rank, w := range j.worlds {
					wg.Go(func() {
						d := w.Default()
						for i := range n {
							body := make([]byte, []int{0, 8, 3000, 40000}[i%4])
							if err := d.Request((rank+1+i%max(size-1, 1))%size, 1, []uint64{uint64(i)}, body); err != nil {
								t.Error(err)
								return
							}
							if err := d.Request((rank+1)%size, 3, nil, body); err != nil {
								t.Error(err)
								return
							}
						}
						for tries := 0; replied.Load() < int64(n*size) || asked.Load() < int64(n*size) || passed.Load() != 0; tries++ {
							d.Poll()
							rest(tries)
						}
					})
				}
				wg.Wait()
				if got := handled.Load(); got != int64(n*size) {
					t.Errorf("%d of %d requests were handled", got, n*size)
				}
				t.Logf("%d of %d requests found no room to be passed on", dropped.Load(), n*size)
			})
		}
	}
}

// TestRefusals: what may not be fails with an error that says what, and nothing is harmed.
func TestRefusals(t *testing.T) {
	var told atomic.Pointer[error]
	cfg := Config{OnError: func(err error) { told.Store(&err) }}
	overAll(t, cfg, func(t *testing.T, j *testJob, other int) {
		d := j.worlds[0].Default()
		var r Reply
		wait := func(what error, id ID) {
			t.Helper()
			if err := d.RequestFor(&r, other, id, nil, nil); err != nil {
				t.Fatal(err)
			}
			if _, _, err := r.WaitContext(t.Context()); !errors.Is(err, what) || what != nil && !strings.Contains(err.Error(), fmt.Sprint("rank ", other)) {
				t.Errorf("handler %d: %v, want %v", id, err, what)
			}
		}
		wait(ErrHandler, 77)
		wait(ErrHandler, 1<<20)
		second := make(chan error, 4)
		j.handle(1, func(t *Token, _ []uint64, _ []byte) {
			second <- t.ReplyTo(2, nil, nil)
			second <- t.Reply(make([]uint64, MaxArgs+1), nil)
			_ = t.Reply(nil, nil)
			second <- t.Reply(nil, nil)
		})
		wait(nil, 1)
		for _, want := range []error{ErrReply, ErrConfig, ErrReply} {
			if err := <-second; !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		gone := &Token{} // of a handler that has returned
		if err := gone.Reply(nil, nil); !errors.Is(err, ErrReply) || gone.Rank() != -1 || gone.Domain() != nil {
			t.Error("after the handler: ", err)
		}
		j.handle(2, func(*Token, []uint64, []byte) {})
		wait(ErrNoReply, 2)
		j.handle(3, func(t *Token, _ []uint64, _ []byte) {
			second <- t.Reply(nil, nil)
			second <- t.ReplyTo(4, nil, nil)
		})
		j.handle(4, func(t *Token, _ []uint64, _ []byte) { second <- t.ReplyTo(4, nil, nil) })
		if err := d.Request(other, 3, nil, nil); err != nil {
			t.Fatal(err)
		}
		for _, want := range []error{ErrReply, nil, ErrReply} {
			if err := <-second; !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		told.Store(nil)
		dropped := j.worlds[other].Stats().Dropped
		if err := d.Request(other, 99, nil, nil); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { return told.Load() != nil })
		if err := *told.Load(); !errors.Is(err, ErrHandler) || !strings.Contains(err.Error(), "rank 0") || !strings.Contains(err.Error(), "99") || j.worlds[other].Stats().Dropped != dropped+1 {
			t.Error(err)
		}
		for i, err := range []error{
			d.Request(other, 1, make([]uint64, MaxArgs+1), nil), d.Request(other, 1, nil, make([]byte, 64<<10+1)),
			d.Request(5, 1, nil, nil), d.Request(-1, 1, nil, nil), j.worlds[0].Handle(firstReserved, echo), d.RequestFor(nil, other, 1, nil, nil),
		} {
			if want := []error{ErrConfig, ErrConfig, nmad.ErrRank, nmad.ErrRank, ErrConfig, ErrConfig}[i]; !errors.Is(err, want) {
				t.Errorf("%d: %v, want %v", i, err, want)
			}
		}
		if _, _, err := (&Reply{}).Wait(); !errors.Is(err, nmad.ErrNotStarted) {
			t.Error(err)
		}
		j.handle(5, echo)
		small := Reply{Size: 10}
		if err := d.RequestFor(&small, other, 5, nil, make([]byte, 11)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := small.Wait(); !errors.Is(err, nmad.ErrTruncated) {
			t.Error(err)
		}
		wait(nil, 5)
	})
}

// TestPrepare: a body that is filled in place, committed, cut short, or canceled; what is prepared takes room.
func TestPrepare(t *testing.T) {
	overAll(t, Config{Window: 2}, func(t *testing.T, j *testJob, other int) {
		var got atomic.Pointer[[]byte]
		j.handle(1, func(_ *Token, args []uint64, body []byte) {
			b := append([]byte{byte(args[0])}, body...)
			got.Store(&b)
		})
		d := j.worlds[0].Default()
		for _, n := range []int{0, 7, 1000, 5000, 64 << 10} {
			m, err := d.Prepare(other, 1, n)
			if err != nil || len(m.Body()) != n {
				t.Fatal(n, err)
			}
			gone, err := d.Prepare(other, 1, n)
			if err != nil {
				t.Fatal(err)
			}
			if ok, err := d.TryRequest(other, 1, []uint64{1}, nil); ok || err != nil {
				t.Error("there is room for a third request: ", err)
			}
			gone.Cancel()
			gone.Cancel()
			if err := gone.Commit(nil, 0); !errors.Is(err, ErrActive) || gone.Body() != nil {
				t.Error(err)
			}
			copy(m.Body(), pattern(n, 3))
			if err := m.Commit(nil, n+1); !errors.Is(err, ErrConfig) {
				t.Error(err)
			}
			got.Store(nil)
			if err := m.Commit([]uint64{9}, n-n/3); err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { return got.Load() != nil })
			if want := append([]byte{9}, pattern(n, 3)[:n-n/3]...); !bytes.Equal(*got.Load(), want) {
				t.Errorf("%d bytes are damaged", n)
			}
		}
		if _, err := d.Prepare(other, 1, -1); !errors.Is(err, ErrConfig) {
			t.Error(err)
		}
		if _, err := d.Prepare(other, 1, 64<<10+1); !errors.Is(err, ErrConfig) {
			t.Error(err)
		}
	})
}

// TestInHandler: whatever would wait fails in a handler, whichever thread runs it, and does not hang.
func TestInHandler(t *testing.T) {
	overAll(t, Config{Window: 1}, func(t *testing.T, j *testJob, other int) {
		var w *World
		errs := make(chan error, 20)
		j.handle(2, func(*Token, []uint64, []byte) {})
		j.handle(1, func(tk *Token, _ []uint64, _ []byte) {
			w = tk.Domain().world
			var r, never Reply
			d := w.Default()
			ok := true
			for ok {
				ok, _ = d.TryRequest(0, 2, nil, nil)
			}
			errs <- d.Request(0, 2, nil, nil)
			_, err := d.Prepare(0, 2, 8)
			errs <- err
			errs <- d.RequestFor(&r, 0, 1, nil, nil)
			_, err = w.Call(context.Background(), 0, "f", nil)
			errs <- err
			errs <- w.Close()
			never.sent, never.peer = true, tk.peer
			_ = w.session.Gate(0).IrecvInto(&never.req, 5, nil)
			_, _, err = never.Wait()
			errs <- err
			errs <- never.req.Wait()
			if n := d.Poll(); n != 0 {
				errs <- fmt.Errorf("Poll has run %d handlers", n)
			}
			_ = tk.Reply(nil, nil)
			close(errs)
		})
		var r Reply
		if err := j.worlds[0].Default().RequestFor(&r, other, 1, nil, nil); err != nil {
			t.Fatal(err)
		}
		n := 0
		for err := range errs {
			if n++; !errors.Is(err, ErrInHandler) {
				t.Errorf("wait %d in a handler: %v", n, err)
			}
		}
		if n != 7 {
			t.Errorf("%d waits were tried", n)
		}
		if _, _, err := r.WaitContext(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestBudget: one poll runs no more handlers than the budget, though more have come.
func TestBudget(t *testing.T) {
	for name, d := range networks(t) {
		if name == "self" {
			continue // the sender receives
		}
		t.Run(name, func(t *testing.T) {
			j := newJob(t, 2, d, Config{Window: 64, Receives: 4, Budget: 10}, false)
			defer j.close()
			n := 0
			j.handle(1, func(*Token, []uint64, []byte) { n++ })
			from, to := j.worlds[0].Default(), j.worlds[1].Default()
			for i := range 60 {
				if ok, err := from.TryRequest(1, 1, nil, make([]byte, 8)); !ok || err != nil {
					t.Fatal(i, err)
				}
			}
			most := 0
			for end := time.Now().Add(time.Minute); n < 60 && time.Now().Before(end); {
				was := n
				if got := to.Poll(); got != n-was {
					t.Errorf("%d handlers ran, Poll says %d", n-was, got)
				}
				most = max(most, n-was)
				from.Poll()
			}
			if n != 60 || most > 10 {
				t.Errorf("%d of 60 requests were handled, up to %d in a poll, the budget is 10", n, most)
			}
		})
	}
}

// TestDomains: requests go through domains of all kinds, to domains of all kinds, with and without an owner that polls.
func TestDomains(t *testing.T) {
	overAll(t, Config{Mask: 3}, func(t *testing.T, j *testJob, other int) {
		j.handle(1, echo)
		for number, access := range []nmad.Access{nmad.Shared, nmad.Serialized, nmad.Private} {
			number += 2
			var remote sync.WaitGroup
			over, ready := make(chan struct{}), make(chan struct{})
			domain, err := j.worlds[0].Domain(DomainConfig{Number: number, Access: access})
			if err != nil {
				t.Fatal(err)
			}
			remote.Go(func() { // owns the other end, and polls it
				if other == 0 {
					close(ready)
					return
				}
				d, err := j.worlds[other].Domain(DomainConfig{Number: number, Access: access})
				if err != nil {
					t.Error(err)
				}
				close(ready)
				for tries := 0; ; tries++ {
					select {
					case <-over:
						if err := d.Close(); err != nil {
							t.Error(err)
						}
						return
					default:
						d.Poll()
						rest(tries)
					}
				}
			})
			<-ready
			var r Reply
			for i := range 50 {
				body := pattern([]int{0, 100, 5000, 64 << 10}[i%4], uint64(i))
				if err := domain.RequestFor(&r, other, 1, []uint64{uint64(i)}, body); err != nil {
					t.Fatal(access, err)
				}
				args, got, err := r.WaitContext(t.Context())
				if err != nil || !bytes.Equal(got, body) || args[0] != uint64(i) {
					t.Fatalf("%v: %v, or damaged", access, err)
				}
				if err := domain.RequestTo(&r, other, number, 1, args, body); err != nil {
					t.Fatal(access, err)
				}
				if err := waits[i/4%len(waits)](&r); err != nil {
					t.Fatalf("%v: %v", access, err)
				}
				if _, got, err := r.WaitContext(t.Context()); err != nil || !bytes.Equal(got, body) {
					t.Fatalf("to %v: %v, or damaged", access, err)
				}
			}
			close(over)
			if err := domain.Close(); err != nil {
				t.Error(err)
			}
			remote.Wait()
			if err := domain.Request(other, 1, nil, nil); !errors.Is(err, ErrClosed) && !errors.Is(err, nmad.ErrPeerLost) {
				t.Error(err)
			}
		}
	})
}

// TestPrivateWaits: a request to a Private domain waits for its owner's poll, which runs it; one that names no domain
// does not wait for that.
func TestPrivateWaits(t *testing.T) {
	j := newJob(t, 2, networks(t)["shm"], Config{}, true)
	defer j.close()
	var ran atomic.Int64
	j.handle(1, func(tk *Token, _ []uint64, _ []byte) {
		ran.Add(1)
		if tk.Awaited() {
			_ = tk.Reply([]uint64{uint64(tk.Domain().Number())}, nil)
		}
	})
	owned, err := j.worlds[1].Domain(DomainConfig{Number: 7, Access: nmad.Private})
	if err != nil {
		t.Fatal(err)
	}
	d := j.worlds[0].Default()
	if err := d.RequestTo(nil, 1, 7, 1, nil, nil); err != nil {
		t.Fatal(err)
	}
	var r Reply
	if err := d.RequestFor(&r, 1, 1, nil, nil); err != nil {
		t.Fatal(err)
	}
	if args, _, err := r.WaitContext(t.Context()); err != nil || args[0] != 0 || ran.Load() != 1 {
		t.Errorf("the default domain: %v, %v; %d handlers ran", args, err, ran.Load())
	}
	until(t, func() bool { owned.Poll(); return ran.Load() == 2 })
	if err := owned.Close(); err != nil {
		t.Error(err)
	}
}

// TestMask: a thread that polls its own domain polls the others as often as the mask says.
func TestMask(t *testing.T) {
	j := newJob(t, 2, networks(t)["shm"], Config{Mask: 7}, false)
	defer j.close()
	ran := false
	j.handle(1, func(*Token, []uint64, []byte) { ran = true })
	own, err := j.worlds[1].Domain(DomainConfig{Access: nmad.Private})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		ran = false
		if ok, err := j.worlds[0].Default().TryRequest(1, 1, nil, nil); !ok || err != nil {
			t.Fatal(ok, err)
		}
		for polls := 1; !ran; polls++ {
			if own.Poll(); ran && own.polls.Load()&7 != 0 {
				t.Errorf("poll %d of the own domain has polled the default one", own.polls.Load())
			}
			j.worlds[0].Default().Poll()
			if polls > 1e6 {
				t.Fatal("the default domain was not polled")
			}
		}
	}
	if err := own.Close(); err != nil {
		t.Error(err)
	}
}

// TestNeglected: without a mask a thread polls the domains that no other thread polls as its own, and leaves the
// others alone.
func TestNeglected(t *testing.T) {
	j := newJob(t, 2, networks(t)["shm"], Config{}, false)
	defer j.close()
	w := j.worlds[1]
	own, err := w.Domain(DomainConfig{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	busy, err := w.Domain(DomainConfig{Number: 2})
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				busy.Poll()
			}
		}
	}()
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); own.Poll() {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	until("one domain is polled, and one is not", func() bool { return w.Default().neglected.Load() && !busy.neglected.Load() })
	var ran atomic.Bool
	j.handle(1, func(*Token, []uint64, []byte) { ran.Store(true) })
	if ok, err := j.worlds[0].Default().TryRequest(1, 1, nil, nil); !ok || err != nil {
		t.Fatal(ok, err)
	}
	until("a request of the domain that is neglected is handled", func() bool {
		j.worlds[0].Default().Poll()
		return ran.Load()
	})
	close(stop)
	<-stopped
	until("the other domain is not polled any more", busy.neglected.Load)
	if err := errors.Join(own.Close(), busy.Close()); err != nil {
		t.Error(err)
	}
}

// TestPeerLost: a peer that leaves ends what waits for it with its PeerError, and later requests at once.
func TestPeerLost(t *testing.T) {
	overAll(t, Config{Window: 2}, func(t *testing.T, j *testJob, other int) {
		if other == 0 {
			return
		}
		var hold atomic.Bool
		j.handle(1, func(*Token, []uint64, []byte) {})
		j.handle(2, echo)
		hold.Store(true)
		d := j.worlds[0].Default()
		var warm, r Reply
		if err := d.RequestFor(&warm, 1, 2, nil, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := warm.WaitContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := j.worlds[1].Close(); err != nil { // handles nothing any more
			t.Fatal(err)
		}
		if err := d.RequestFor(&r, 1, 2, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := d.RequestFor(&r, 1, 2, nil, nil); !errors.Is(err, ErrActive) {
			t.Error("a reply that is under way: ", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := r.WaitContext(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		blocked := make(chan error)
		go func() {
			var err error
			for err == nil {
				err = d.Request(1, 1, nil, nil)
			}
			blocked <- err
		}()
		called := make(chan error)
		go func() {
			_, err := j.worlds[0].Call(t.Context(), 1, "f", nil)
			called <- err
		}()
		if err := j.sessions[1].Close(); err != nil {
			t.Error(err)
		}
		_, _, err := r.WaitContext(t.Context())
		for what, err := range map[string]error{"reply": err, "request": <-blocked, "call": <-called, "late": d.Request(1, 1, nil, nil)} {
			var lost *nmad.PeerError
			if !errors.As(err, &lost) || lost.Rank != 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}
