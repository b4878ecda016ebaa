package nmad

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// Select waits for the first of several receives and something else, over each
// network, with hooks and without; nothing is allocated for a request's case.
func TestSelectRequests(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.close()
		s, stop := oneVP(t)
		defer stop()
		for _, hooked := range []bool{false, true} {
			detach := func() {}
			if hooked {
				var err error
				if detach, err = j.engines[0].Attach(s); err != nil {
					t.Fatal(err)
				}
			}
			marcel.RunOn(s, func() { selectRequests(t, j) })
			detach()
		}
	})
}

// TestWaitAnyNamesEach: of several requests that are done WaitAny names each one now and then, wherever it stands in
// the list, beside nil and such as are not done.
func TestWaitAnyNamesEach(t *testing.T) {
	j := newJob(t, 1, networks()["sim"], nil)
	g := j.sessions[0].Gate(0)
	waits := g.Irecv(9, nil)
	rs := []*Request{g.Isend(1, nil), nil, g.Isend(1, nil), waits, g.Isend(1, nil)}
	for _, i := range []int{0, 2, 4} {
		if err := rs[i].Wait(); err != nil {
			t.Fatal(err)
		}
	}
	named := map[int]int{}
	for range 500 { // each of three is named with a chance of a fifth at least
		i, err := WaitAny(t.Context(), rs...)
		if err != nil {
			t.Fatal(err)
		}
		named[i]++
	}
	if len(named) != 3 || named[0] == 0 || named[2] == 0 || named[4] == 0 {
		t.Errorf("of the requests 0, 2 and 4, which are done, it names %v", named)
	}
	waits.Cancel()
	j.close()
}

func selectRequests(t *testing.T, j *job) {
	here, there := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	const n = 3
	var in [n]*Request
	var cases [n + 2]marcel.Case
	var bufs [n][]byte
	var never marcel.Semaphore
	cases[n], cases[n+1] = never.Case(), marcel.After(time.Minute)
	for i := range in {
		bufs[i] = make([]byte, 5000)
		in[i] = here.Irecv(uint64(i), bufs[i])
		cases[i] = in[i].Case()
	}
	if i := marcel.SelectTimeout(2*time.Millisecond, cases[:]...); i != -1 {
		t.Errorf("took %d before anything was sent", i)
	}
	for _, i := range []int{1, 2, 0} {
		msg := pattern([]int{10, 5000, 300}[i], uint64(i))
		sent := make(chan error, 1)
		go func() {
			time.Sleep(200 * time.Microsecond)
			sent <- there.Send(uint64(i), msg)
		}()
		if got := marcel.Select(cases[:]...); got != i {
			t.Errorf("took %d, sent %d", got, i)
		}
		if done, err := in[i].Test(); !done || err != nil || !bytes.Equal(bufs[i][:in[i].Len()], msg) {
			t.Errorf("message %d: done %v, %v, %d bytes", i, done, err, in[i].Len())
		}
		var err error
		marcel.Blocking(func() { err = <-sent })
		if err != nil {
			t.Error(err)
		}
		cases[i] = nil
	}
	var idle Request
	if i := marcel.Select(idle.Case()); i != 0 || !errors.Is(idle.Wait(), ErrNotStarted) {
		t.Errorf("a request that was not started: took %d, %v", i, idle.Wait())
	}
}

// All that can wait for a request does, at the same time and beside its end, and it is
// started again as soon as they have returned: none is left behind, whichever way it is
// told, and what tells of one round is never taken for the next.
func TestAllKindsOfWaitersAgain(t *testing.T) {
	j := newJob(t, 2, networks()["sim"], nil)
	defer j.close()
	here, there := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kinds := []func(*Request) error{
		func(r *Request) error { return r.Wait() },
		func(r *Request) error { return r.WaitContext(ctx) },
		func(r *Request) error { marcel.Select(r.Case()); return r.Wait() },
		func(r *Request) error {
			for {
				if over, err := r.Test(); over {
					return err
				}
				runtime.Gosched()
			}
		},
	}
	var r, s Request
	buf := make([]byte, 8)
	rounds := uint64(1000)
	if testing.Short() {
		rounds = 200
	}
	for i := range rounds {
		if err := here.IrecvInto(&r, 1, buf); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		if i%2 == 0 && !errors.Is(here.IrecvInto(&r, 1, buf), ErrActive) {
			t.Fatalf("round %d: it was started while under way", i)
		}
		var all sync.WaitGroup
		for k, wait := range kinds {
			if i>>k&1 == 0 { // each set of them
				continue
			}
			all.Go(func() {
				if err := wait(&r); err != nil {
					t.Errorf("round %d, waiter %d: %v", i, k, err)
				}
			})
		}
		if i%3 == 0 {
			runtime.Gosched()
		}
		if err := there.IsendInto(&s, 1, binary.LittleEndian.AppendUint64(nil, i)); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		all.Wait()
		if err := errors.Join(r.Wait(), s.Wait()); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		if got := binary.LittleEndian.Uint64(buf); got != i {
			t.Fatalf("round %d has the message of round %d", i, got)
		}
	}
	if n := j.engines[0].Pending() + j.engines[1].Pending(); n != 0 {
		t.Errorf("%d are pending when all is done", n)
	}
}

// What a plain message needs is two lines, also in an array of requests.
func TestRequestLayout(t *testing.T) {
	const line, lines = 64, 2
	if strconv.IntSize != 64 {
		t.Skip("laid out for words of 8 bytes")
	}
	if size := reflect.TypeFor[Request]().Size(); size != line*lines {
		t.Errorf("a request has %d bytes, want %d", size, line*lines)
	}
}

// A request that is made anew is all that its message allocates, whatever the protocol.
func TestRequestsMadeAnew(t *testing.T) {
	effort.SkipIfNotInlined(t)
	p := newPair(simnet.Options{}, wide)
	for name, size := range map[string]int{"eager": 48, "rendezvous": 500} {
		msg, buf := pattern(size, 1), make([]byte, size)
		if n := testing.AllocsPerRun(500, func() {
			r, s := p.gates[1].Irecv(3, buf), p.gates[0].Isend(3, msg)
			p.settle()
			s.Wait()
			r.Wait()
		}); n != 2 {
			t.Errorf("%s: %v allocations per message, want the two requests", name, n)
		}
	}
}

// What a request says is of its last message.
func TestRequestForgets(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	var r Request
	sent := p.gates[0].Isend(3, make([]byte, 100))
	if err := p.gates[1].Post(&r, &Operation{Kind: KindRecv, Match: Match{Tag: 3, Mask: 3}, Buf: make([]byte, 10)}); err != nil {
		t.Fatal(err)
	}
	p.settle()
	mustDone(t, sent, nil)
	mustDone(t, &r, ErrTruncated)
	if e := r.Envelope(); e.Size != 100 || r.Len() != 10 {
		t.Fatalf("received %+v, %d bytes", e, r.Len())
	}
	for _, size := range []int{5, 500} { // eager, announced
		take := p.gates[0].Irecv(4, make([]byte, size))
		if err := p.gates[1].IsendInto(&r, 4, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		p.settle()
		mustDone(t, take, nil)
		mustDone(t, &r, nil)
		if e := r.Envelope(); e != (Envelope{0, 4, uint64(size)}) || r.Len() != size {
			t.Errorf("sent %d bytes: %+v, %d bytes", size, e, r.Len())
		}
	}
}

// A thread that is canceled while it waits for a message gets it, and ends at its next cancellation point.
func TestWaitsAreNoCancellationPoints(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.close()
		s, end := oneVP(t)
		defer end()
		here, there := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		q := j.sessions[0].NewQueue()
		for name, wait := range map[string]func(buf []byte) error{
			"Wait":        func(buf []byte) error { return here.Irecv(1, buf).Wait() },
			"WaitContext": func(buf []byte) error { return here.Irecv(1, buf).WaitContext(ctx) },
			"WaitAll":     func(buf []byte) error { return WaitAll(ctx, here.Irecv(1, buf)) },
			"WaitAny": func(buf []byte) error {
				_, err := WaitAny(context.Background(), nil, here.Irecv(1, buf))
				return err
			},
			"Probe": func(buf []byte) error {
				if _, err := here.Probe(ctx, Tag(1)); err != nil {
					return err
				}
				return here.Irecv(1, buf).Wait()
			},
			"Queue.Wait": func(buf []byte) error {
				var r Request
				here.Post(&r, &Operation{Kind: KindRecv, Match: Tag(1), Buf: buf, Queue: q})
				_, err := q.WaitContext(ctx)
				return err
			},
		} {
			t.Run(name, func(t *testing.T) {
				for i := range effort.Of(10) {
					waits, got := make(chan struct{}), 0
					x := s.Spawn(marcel.Attr{}, func() {
						buf := make([]byte, 3)
						close(waits)
						if err := wait(buf); err != nil {
							t.Error(err)
						}
						got = int(buf[0])
						marcel.TestCancel()
						t.Error("it was not canceled")
					})
					<-waits
					if i%2 == 0 {
						time.Sleep(time.Millisecond) // asleep, as a rule
					}
					if err := errors.Join(x.Cancel(), there.Send(1, []byte{7, 8, 9})); err != nil {
						t.Fatal(err)
					}
					if err := x.Join(); !errors.Is(err, marcel.ErrCanceled) || got != 7 {
						t.Fatalf("got %d, Join: %v", got, err)
					}
				}
			})
		}
	})
}
