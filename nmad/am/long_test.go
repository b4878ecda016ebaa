package am

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/fault"
	"github.com/pm2-go/pm2/nmad/rma"
)

// overMemories runs a test over each network, with memory of all ranks: over shm it is mapped, where a wrapper is
// around that it is not.
func overMemories(t *testing.T, cfg Config, f func(t *testing.T, j *testJob, other int)) {
	all := networks(t)
	shm, err := driver.Lookup("shm")
	if err != nil {
		t.Fatal(err)
	}
	all["fault:shm"] = fault.Driver{Inner: shm}
	for name, d := range all {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			defer stopScheduler(t)
			size := 2
			if name == "self" {
				size = 1
			}
			j := newJobWith(t, size, d, cfg, true, true, 0)
			defer j.close()
			f(t, j, size-1)
		})
	}
}

// memoryOf makes memory of each kind at a rank.
func (j *testJob) memoryOf(rank, bytes int) map[string]*rma.Region {
	j.t.Helper()
	made, err := j.memories[rank].Make(bytes)
	registered, err2 := j.memories[rank].Register(make([]byte, bytes+1)[1:])
	if err := errors.Join(err, err2); err != nil {
		j.t.Fatal(err)
	}
	return map[string]*rma.Region{"made": made, "registered": registered}
}

// segmentOf has all ranks allocate.
func (j *testJob) segmentOf(bytes int) []*rma.Segment {
	j.t.Helper()
	all, errs := make([]*rma.Segment, len(j.memories)), make(chan error)
	for rank, w := range j.memories {
		go func() {
			var err error
			all[rank], err = w.Alloc(bytes)
			errs <- err
		}()
	}
	for range j.memories {
		if err := <-errs; err != nil {
			j.t.Fatal(err)
		}
	}
	return all
}

const longRoom = 1<<20 + 100

// TestLong: long requests, and long replies, through domains of all kinds into memory of all kinds: their handlers
// find the bytes in that memory.
func TestLong(t *testing.T) {
	overMemories(t, Config{Mask: EachPoll}, func(t *testing.T, j *testJob, other int) {
		segments := j.segmentOf(longRoom)
		here, there := j.memoryOf(0, longRoom), j.memoryOf(other, longRoom)
		w := j.worlds[0]
		serialized, err := w.Domain(DomainConfig{Number: 5, Access: nmad.Serialized})
		private, err2 := w.Domain(DomainConfig{Number: 6, Access: nmad.Private})
		if other != 0 {
			_, err3 := j.worlds[other].Domain(DomainConfig{Number: 5, Access: nmad.Serialized})
			err2 = errors.Join(err2, err3)
		}
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		type wanted struct {
			body []byte
			back rma.Ref // where replies go
		}
		var now atomic.Pointer[wanted]
		var wrong atomic.Int64
		answers := make(chan struct{}, 8)
		check := func(body []byte) {
			if !bytes.Equal(body, now.Load().body) {
				wrong.Add(1)
			}
		}
		j.handle(1, func(tk *Token, args []uint64, body []byte) {
			check(body)
			if len(args) != 2 || args[1] != 1<<60 {
				wrong.Add(1)
			}
			if tk.Awaited() {
				_ = tk.Reply(args, nil)
			} else if err := tk.ReplyLong(now.Load().back, 2, args, now.Load().body, nil); err != nil {
				panic(err)
			}
		})
		j.handle(2, func(tk *Token, args []uint64, body []byte) {
			if check(body); tk.Rank() != other || args[0] != uint64(len(body)) || tk.ReplyLong(now.Load().back, 2, nil, nil, nil) == nil {
				wrong.Add(1)
			}
			answers <- struct{}{}
		})
		refs := map[string][2]rma.Ref{"segment": {segments[other].At(other, 7), segments[0].At(0, 13)}}
		if other == 0 {
			refs["segment"] = [2]rma.Ref{segments[0].At(0, 7), segments[0].At(0, 7)}
		}
		for kind := range there {
			refs[kind] = [2]rma.Ref{there[kind].Ref(3), here[kind].Ref(50)}
		}
		for name, d := range map[string]*Domain{"default": w.Default(), "serialized": serialized, "private": private} {
			for kind, ref := range refs {
				for i, n := range []int{0, 1, 8, 4096, 9000, 100_001, 1 << 20} {
					src := pattern(n, uint64(i))
					now.Store(&wanted{bytes.Clone(src), ref[1]})
					args := []uint64{uint64(n), 1 << 60}
					fails := func(err error) {
						if err != nil {
							t.Fatalf("%s, %s, %d bytes: %v", name, kind, n, err)
						}
					}
					var local rma.Event
					fails(d.RequestLong(nil, ref[0], 1, args, src, &local))
					for tries := 0; len(answers) == 0; tries++ {
						d.Poll()
						rest(tries)
					}
					<-answers
					fails(local.Wait())
					var r Reply
					fails(d.RequestLong(&r, ref[0], 1, args, src, nil))
					clear(src) // it was copied
					_, _, err := r.WaitContext(t.Context())
					fails(err)
					if wrong.Load() != 0 {
						t.Fatalf("%s, %s, %d bytes: the wrong bytes, or arguments", name, kind, n)
					}
				}
			}
		}
		fails := errors.Join(private.Close(), serialized.Close())
		for _, all := range []map[string]*rma.Region{here, there} {
			for _, g := range all {
				fails = errors.Join(fails, g.Close())
			}
		}
		if fails != nil {
			t.Error(fails)
		}
	})
}

// TestLongOrder: long requests are handled in their turn among others.
func TestLongOrder(t *testing.T) {
	overMemories(t, Config{Window: 8}, func(t *testing.T, j *testJob, other int) {
		const n = 200
		kinds := j.memoryOf(other, 64*70_000)
		var next, wrong atomic.Uint64
		j.handle(1, func(_ *Token, args []uint64, body []byte) {
			if args[0] != next.Load() || !bytes.Equal(body, pattern(int(args[1]), args[0])) {
				wrong.Add(1)
			}
			next.Add(1)
		})
		d := j.worlds[0].Default()
		for i := range uint64(n) {
			size := []int{0, 60_000, 8, 900, 40_000, 9000}[i%6]
			body, args := pattern(size, i), []uint64{i, uint64(size)}
			var err error
			switch g := kinds[[]string{"made", "registered"}[i/3%2]]; i % 3 {
			case 0:
				err = d.Request(other, 1, args, body)
			default:
				err = d.RequestLong(nil, g.Ref(i%64*70_000), 1, args, body, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		until(t, func() bool { return next.Load() == n })
		if wrong.Load() != 0 {
			t.Errorf("%d of %d requests came out of order, or damaged", wrong.Load(), n)
		}
	})
}

// TestLongRefusals: what is wrong with the memory fails at the call, or, where only the target knows, with the reply,
// or is told there; nothing is handled or harmed.
func TestLongRefusals(t *testing.T) {
	var told atomic.Pointer[error]
	overMemories(t, Config{OnError: func(err error) { told.Store(&err) }}, func(t *testing.T, j *testJob, other int) {
		d := j.worlds[0].Default()
		j.handle(1, func(tk *Token, args []uint64, body []byte) { _ = tk.Reply(args, nil) })
		var r Reply
		ask := func(at rma.Ref, n int) error {
			err := d.RequestLong(&r, at, 1, nil, make([]byte, n), nil)
			if err == nil {
				_, _, err = r.WaitContext(t.Context())
			}
			return err
		}
		for kind, g := range j.memoryOf(other, 100) {
			closed, ref := j.memoryOf(other, 100)[kind], g.Ref(0)
			fails := func(what string, err, want error) {
				t.Helper()
				if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), fmt.Sprint("rank ", other)) {
					t.Errorf("%s, %s: %v, want %v", kind, what, err, want)
				}
			}
			fails("fine", ask(ref, 100), nil)
			fails("too long", ask(ref, 101), rma.ErrRange)
			fails("before the beginning", ask(ref.Add(-1), 8), rma.ErrRange)
			fails("before it was closed", ask(closed.Ref(0), 8), nil)
			if err := closed.Close(); err != nil {
				t.Fatal(err)
			}
			fails("closed", ask(closed.Ref(0), 8), rma.ErrKey)
			fails("closed, at the target", d.forced(&r, closed.Ref(0), 8), rma.ErrKey)
			fails("too long, at the target", d.forced(&r, ref, 101), rma.ErrRange)
			told.Store(nil)
			if err := d.forced(nil, closed.Ref(0), 8); err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { return told.Load() != nil })
			fails("told", *told.Load(), rma.ErrKey)
			b, _ := ref.AppendBinary(nil)
			b[8]++ // of the key
			forged, _ := rma.ParseRef(b)
			fails("forged", ask(forged, 8), rma.ErrKey)
			var local rma.Event
			fails("an event of its own", d.RequestLong(nil, ref, 1, nil, nil, &local), nil)
			fails("waits", local.Wait(), nil)
			fails("fine again", ask(ref, 100), nil)
			if other != 0 {
				j.handle(2, func(tk *Token, _ []uint64, _ []byte) { // the memory is the replier's own
					err := tk.ReplyLong(ref, 1, nil, nil, nil)
					told.Store(&err)
					_ = tk.Reply(nil, nil)
				})
				told.Store(nil)
				if err := d.Request(other, 2, nil, nil); err != nil {
					t.Fatal(err)
				}
				until(t, func() bool { return told.Load() != nil })
				fails("reply to other memory", *told.Load(), rma.ErrRef)
			}
		}
		for _, g := range j.memoryOf(other, 8) { // and credit comes back
			if err := errors.Join(ask(g.Ref(0), 8), g.Close()); err != nil {
				t.Error(err)
			}
		}
		if err := d.RequestLong(nil, rma.Ref{}.Add(8), 1, nil, nil, nil); err == nil {
			t.Error("the zero Ref is one of memory")
		}
		if u := d.peerList.All()[0].underWay; u != 0 {
			t.Errorf("%d requests are under way at the end", u)
		}
	})
}

// forced is RequestLong that does not look at the memory first, as when it is closed meanwhile: the target has to.
func (d *Domain) forced(r *Reply, at rma.Ref, n int) error {
	p, err := d.to(at.Rank())
	if err == nil && r != nil {
		err = r.prepare(p, 1)
	}
	if err != nil {
		return err
	}
	m, err := p.room(nil, nil, false, true)
	if err != nil {
		return err
	}
	h := head{id: 1, wants: r != nil, where: bodyFollows}
	p.number(&h, r)
	if r != nil {
		if err := r.listen(h.seq); err != nil {
			return err
		}
		r.sent = true
	}
	if err := p.sendLong(m, &h, at, nil, make([]byte, n), nil); err != nil || r == nil {
		return err
	}
	_, _, err = r.Wait()
	return err
}

// TestLongInHandler: handlers send long requests where there is room, and there fail rather than wait.
func TestLongInHandler(t *testing.T) {
	overMemories(t, Config{Window: 1}, func(t *testing.T, j *testJob, other int) {
		for kind, g := range j.memoryOf(0, 100_000) {
			var came atomic.Int64
			j.handle(2, func(_ *Token, _ []uint64, body []byte) {
				if bytes.Equal(body, pattern(len(body), 1)) {
					came.Add(1)
				}
			})
			errs := make(chan error, 2)
			j.handle(1, func(tk *Token, _ []uint64, _ []byte) {
				for range cap(errs) {
					errs <- tk.Domain().RequestLong(nil, g.Ref(0), 2, nil, pattern(100_000, 1), nil)
				}
			})
			if err := j.worlds[0].Default().Request(other, 1, nil, nil); err != nil {
				t.Fatal(err)
			}
			first, second := <-errs, <-errs
			if other == 0 { // its own request, which runs the handler, has the room
				first = nil
				came.Add(1)
			}
			if other != 0 && first != nil {
				t.Fatal(kind, first)
			}
			until(t, func() bool { return came.Load() == 1 })
			until(t, func() bool { // credit has come back, for the next kind
				for _, p := range j.worlds[other].Default().peerList.All() {
					p.mu.Lock()
					n := p.underWay
					p.mu.Unlock()
					if n > 0 {
						return false
					}
				}
				return true
			})
			if first != nil || !errors.Is(second, ErrInHandler) {
				t.Errorf("%s: %v, %v", kind, first, second)
			}
		}
	})
}

// TestLongNowhere: without memory nothing long is sent, and what comes is refused.
func TestLongNowhere(t *testing.T) {
	overAll(t, Config{}, func(t *testing.T, j *testJob, other int) {
		m, err := rma.OpenAmong(j.sessions[0], rma.FirstContext, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		g, err := m.Make(10)
		if err != nil {
			t.Fatal(err)
		}
		d := j.worlds[0].Default()
		if err := d.RequestLong(nil, g.Ref(0), 1, nil, nil, nil); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "Config.Memory") {
			t.Error(err)
		}
		j.handle(1, echo)
		if err := d.forced(&Reply{}, g.Ref(0), 10); !errors.Is(err, rma.ErrKey) {
			t.Error(err)
		}
		if other == 0 {
			return
		}
		if _, err := Open(j.sessions[1], Config{Memory: m, Context: 50000}); !errors.Is(err, ErrConfig) {
			t.Error("memory of another session: ", err)
		}
	})
}

// TestLongCloses: memory that long requests are on their way into is closed when they are there; of one whose body
// does not come when the world closes.
func TestLongCloses(t *testing.T) {
	for _, name := range []string{"tcp", "shm"} {
		t.Run(name, func(t *testing.T) {
			j := newJobWith(t, 2, networks(t)[name], Config{}, true, true, 0)
			handled := make(chan struct{}, 1)
			j.handle(1, func(*Token, []uint64, []byte) { handled <- struct{}{} })
			g := j.memoryOf(1, 8)["registered"]
			p, err := j.worlds[0].Default().to(1)
			if err != nil {
				t.Fatal(err)
			}
			m, err := p.room(nil, nil, false, true)
			if err != nil {
				t.Fatal(err)
			}
			h := head{id: 1, where: bodyFollows}
			p.number(&h, nil)
			put := m.buf[front:]
			_, _ = g.Ref(0).AppendBinary(put[:0])
			put[rma.RefBytes] = 8
			if err := p.send(m, h.tag(), front, placeBytes); err != nil {
				t.Fatal(err)
			}
			if err := j.worlds[0].Default().Request(1, 1, nil, nil); err != nil { // behind it
				t.Fatal(err)
			}
			lands := func() bool {
				for _, p := range j.worlds[1].Default().peerList.All() {
					if len(p.bodies()) > 0 && p.bodies()[0].posted.Load() {
						return true
					}
				}
				return false
			}
			until(t, lands)
			closed := make(chan error, 1)
			go func() { closed <- g.Close() }()
			select {
			case err := <-closed:
				t.Errorf("the memory was closed under a body that comes: %v", err)
			case <-handled:
				t.Error("a request overtakes one whose body has not come")
			case <-time.After(20 * time.Millisecond):
			}
			j.close()
			if err := <-closed; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLongAllocatesNothing: long requests and replies allocate nothing in steady state, apart from what nmad does for
// messages that come before their receives.
func TestLongAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, name := range []string{"self", "shm", "unix"} {
		t.Run(name, func(t *testing.T) {
			size := 2
			if name == "self" {
				size = 1
			}
			j := newJobWith(t, size, networks(t)[name], Config{}, false, true, 0)
			defer j.close()
			segments := j.segmentOf(1 << 20)
			from, to, last := j.worlds[0].Default(), j.worlds[size-1].Default(), size-1
			var there, back rma.Event
			body, replies := make([]byte, 60_000), 0
			j.handle(1, func(tk *Token, args []uint64, body []byte) {
				_ = tk.ReplyLong(segments[0].At(0, 300_000), 2, args, body, &back)
			})
			j.handle(2, func(*Token, []uint64, []byte) { replies++ })
			args := make([]uint64, 4)
			turn := func() {
				was := replies
				if err := from.RequestLong(nil, segments[0].At(last, 0), 1, args, body, &there); err != nil {
					t.Fatal(err)
				}
				for replies == was {
					to.Poll()
					from.Poll()
				}
				for _, e := range []*rma.Event{&there, &back} {
					for done, err := e.Test(); !done; done, err = e.Test() {
						if to.Poll(); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			for range 100 {
				turn()
			}
			most := 0.05
			if name == "unix" {
				most += 2 // nmad's, for what is announced before its receive is posted
			}
			if got := testing.AllocsPerRun(200, turn); got > most {
				t.Errorf("%v allocations for a long request and a long reply", got)
			}
		})
	}
}
