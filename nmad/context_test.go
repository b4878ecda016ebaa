package nmad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// openContext opens a context in those sessions of a job that are its group.
func (j *job) openContext(number int, ranks ...int) []*Context {
	j.t.Helper()
	all := make([]*Context, len(j.sessions))
	for _, rank := range ranks {
		var err error
		if all[rank], err = j.sessions[rank].OpenContext(number, ranks...); err != nil {
			j.t.Fatal(err)
		}
	}
	return all
}

// sendIn sends a message in a context.
func sendIn(t *testing.T, g *Gate, c *Context, tag uint64, msg []byte) *Request {
	t.Helper()
	r := &Request{}
	if err := g.Post(r, &Operation{Match: Match{Context: c, Tag: tag}, Buf: msg}); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestContexts: messages with one tag in several contexts, of any size, go to the receives of their context, by all
// kinds of receives, also if they come before it is opened.
func TestContexts(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		defer j.moving()()
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		plain := one.Start(&Operation{Kind: KindRecv, Match: Match{}, Buf: make([]byte, 8)})
		anyPlain := j.sessions[1].Irecv(Match{}, make([]byte, 8))
		sizes := []int{0, 1, 300, 70_000}
		for at, number := range []int{2, 65535} {
			early, err := j.sessions[0].OpenContext(number, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			var sends []*Request
			for _, size := range sizes {
				sends = append(sends, sendIn(t, zero, early, 7, pattern(size, uint64(number+size))))
			}
			if at == 0 { // they are there
				for {
					h := one.enter()
					n := h.flow.Ledger().Unexpected
					h.unlock()
					if n == len(sizes) {
						break
					}
					one.poll()
				}
			}
			c, err := j.sessions[1].OpenContext(number, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			m := Match{Tag: 7, Mask: exact, Context: c}
			if _, ok := one.Iprobe(Match{Tag: 8, Mask: exact, Context: c}); ok {
				t.Error("a probe finds another tag")
			}
			kinds := []func(buf []byte) *Request{
				func(buf []byte) *Request { return one.Start(&Operation{Kind: KindRecv, Match: m, Buf: buf}) },
				func(buf []byte) *Request {
					if e, err := one.Probe(t.Context(), Match{Context: c}); err != nil || e.Tag != 7 {
						t.Errorf("probe: %+v, %v", e, err)
					}
					return one.Start(&Operation{Kind: KindRecv, Match: Match{Context: c}, Buf: buf})
				},
				func(buf []byte) *Request {
					if e, err := j.sessions[1].Probe(t.Context(), m); err != nil || e.Source != 0 {
						t.Errorf("probe: %+v, %v", e, err)
					}
					return j.sessions[1].Claim(m).Irecv(buf)
				},
				func(buf []byte) *Request { return j.sessions[1].Irecv(Match{Context: c}, buf) },
			}
			for i, size := range sizes {
				buf := make([]byte, size)
				r := kinds[i](buf)
				if err := WaitAll(t.Context(), r, sends[i]); err != nil || r.Source() != 0 || r.Tag() != 7 || !bytes.Equal(buf, pattern(size, uint64(number+size))) {
					t.Errorf("context %d, %d bytes: %v, %+v", number, size, err, r.Envelope())
				}
			}
		}
		for _, r := range []*Request{plain, anyPlain} {
			if over, _ := r.Test(); over {
				t.Errorf("a receive of no context got %+v", r.Envelope())
			}
			if err := zero.Send(7, []byte("plain")); err != nil {
				t.Fatal(err)
			}
		}
		if err := WaitAll(t.Context(), plain, anyPlain); err != nil {
			t.Error(err)
		}
		j.close()
	})
}

// TestContextBetweenNumbers: gates between domains of different numbers carry messages of all contexts of their
// domains, each for itself; a receive from any source in such a context does not see them.
func TestContextBetweenNumbers(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.moving()()
		seven, nine := j.domain(DomainConfig{}, 7)[0], j.domain(DomainConfig{}, 9)[1]
		from, err := seven.OpenContext(5, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		to, err := nine.OpenContext(5, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		there, here := seven.To(1, 9), nine.To(0, 7)
		elsewhere := nine.Irecv(Match{Context: to}, make([]byte, 8))
		for _, size := range []int{0, 1, 300, 70_000} {
			plain := sendIn(t, there, nil, 7, pattern(size, 1))
			inContext := sendIn(t, there, from, 7, pattern(size, 2))
			buf := make([]byte, size)
			m := Match{Tag: 7, Mask: exact, Context: to}
			if e, err := here.Probe(t.Context(), m); err != nil || e.Size != uint64(size) {
				t.Errorf("probe: %+v, %v", e, err)
			}
			r := here.Start(&Operation{Kind: KindRecv, Match: m, Buf: buf})
			if err := WaitAll(t.Context(), r, inContext); err != nil || !bytes.Equal(buf, pattern(size, 2)) {
				t.Errorf("%d bytes in the context: %v, or damaged", size, err)
			}
			r = here.Irecv(7, buf)
			if err := WaitAll(t.Context(), r, plain); err != nil || !bytes.Equal(buf, pattern(size, 1)) {
				t.Errorf("%d bytes in no context: %v, or damaged", size, err)
			}
		}
		if err := there.Post(&Request{}, &Operation{Match: Match{Context: to}}); !errors.Is(err, ErrConfig) {
			t.Errorf("with a context of another domain: %v", err)
		}
		if over, err := elsewhere.Test(); over {
			t.Errorf("a receive from any source has got a message of another gate: %+v, %v", elsewhere.Envelope(), err)
		}
		j.close()
	})
}

// TestContextEnds: a receive from any source fails when all of the group of its context have ended, whether it was
// posted before, or its context opened after that; one in a context that others may send in waits.
func TestContextEnds(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		defer j.moving()()
		two, three := j.openContext(2, 0, 1), j.openContext(3, 0, 1, 2)
		s := j.sessions[0]
		buf := make([]byte, 8)
		lost, waits := s.Irecv(Match{Context: two[0]}, buf), s.Irecv(Match{Context: three[0]}, buf)
		kept := sendIn(t, j.sessions[1].Gate(0), two[1], 9, []byte("kept"))
		if err := WaitAll(t.Context(), lost, kept); err != nil { // it is the message's
			t.Fatal(err)
		}
		lost = s.Irecv(Match{Context: two[0]}, buf)
		last := sendIn(t, j.sessions[1].Gate(0), three[1], 5, []byte("last"))
		if err := WaitAll(t.Context(), last, waits); err != nil {
			t.Fatal(err)
		}
		waits = s.Irecv(Match{Context: three[0]}, buf)
		if err := j.sessions[1].Close(); err != nil {
			t.Fatal(err)
		}
		if err := lost.WaitContext(t.Context()); !errors.Is(err, ErrPeerLost) {
			t.Errorf("all that may send have left: %v", err)
		}
		late, err := s.OpenContext(4, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(Match{Context: late}, buf); !errors.Is(err, ErrPeerLost) {
			t.Errorf("all that may send have left before: %v", err)
		}
		if over, err := waits.Test(); over {
			t.Errorf("a sender lives: %v", err)
		}
		if err := sendIn(t, j.sessions[2].Gate(0), three[2], 1, []byte("alive")).Wait(); err != nil {
			t.Fatal(err)
		}
		if err := waits.WaitContext(t.Context()); err != nil || waits.Source() != 2 {
			t.Errorf("%v, %+v", err, waits.Envelope())
		}
		waits = s.Irecv(Match{Context: three[0]}, buf)
		if waits.Cancel(); !errors.Is(waits.Wait(), ErrCanceled) {
			t.Error("a receive in a context cannot be canceled")
		}
		waits = s.Irecv(Match{Context: three[0]}, buf)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := waits.Wait(); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if _, err := s.OpenContext(7, 0); !errors.Is(err, ErrClosed) {
			t.Errorf("opened after Close: %v", err)
		}
		j.close()
	})
}

// TestContextRefuses: what cannot be a context, or has another group, is an error that starts nothing.
func TestContextRefuses(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		defer j.moving()()
		s := j.sessions[0]
		c := j.openContext(2, 0, 1)[0]
		for what, open := range map[string]struct {
			number int
			ranks  []int
			want   error
		}{
			"the library's": {0, []int{0}, ErrConfig}, "that of no context": {1, []int{0}, ErrConfig}, "below": {-1, []int{0}, ErrConfig},
			"above": {65536, []int{0}, ErrConfig}, "open": {2, []int{0, 1}, ErrConfig}, "a rank too many": {3, []int{0, 3}, ErrRank},
			"a negative rank": {3, []int{0, -1}, ErrRank}, "without the own rank": {3, []int{1, 2}, ErrRank}, "of none": {3, nil, ErrRank},
		} {
			if _, err := s.OpenContext(open.number, open.ranks...); !errors.Is(err, open.want) {
				t.Errorf("%s: %v, want %v", what, err, open.want)
			}
		}
		other := j.domain(DomainConfig{}, 1)[0]
		for what, op := range map[string]func(r *Request) error{
			"send":    func(r *Request) error { return s.Gate(2).Post(r, &Operation{Match: Match{Context: c}}) },
			"receive": func(r *Request) error { return s.Gate(2).Post(r, &Operation{Kind: KindRecv, Match: Match{Context: c}}) },
			"receive, made anew": func(*Request) error {
				return s.Gate(2).Start(&Operation{Kind: KindRecv, Match: Match{Context: c}, Buf: nil}).Wait()
			},
			"probe":            func(*Request) error { _, err := s.Gate(2).Probe(context.Background(), Match{Context: c}); return err },
			"send in a domain": func(r *Request) error { return other.Gate(1).Post(r, &Operation{Match: Match{Context: c}}) },
			"any source in another": func(r *Request) error {
				return other.Post(AnySource, r, &Operation{Kind: KindRecv, Match: Match{Context: c}})
			},
			"made anew":        func(*Request) error { return other.Irecv(Match{Context: c}, nil).Wait() },
			"probe in another": func(*Request) error { _, err := other.Probe(context.Background(), Match{Context: c}); return err },
		} {
			var r Request
			if err := op(&r); !errors.Is(err, ErrRank) && !errors.Is(err, ErrConfig) {
				t.Errorf("%s: %v", what, err)
			}
			if _, err := r.Test(); !errors.Is(err, ErrNotStarted) {
				t.Errorf("%s: the request was started: %v", what, err)
			}
		}
		j.close()
	})
}

// TestEndAtFirst: a receive from any source ends with the first process of its group that does, if that was asked for
// before or after that end; one whose message is there gets it; in a context of which that was not asked it goes on
// waiting for those that are left.
func TestEndAtFirst(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		for _, before := range []bool{true, false} {
			j := newJob(t, 3, d, nil)
			stop := j.moving()
			s := j.sessions[0]
			patient, hasty := j.openContext(2, 0, 1, 2), j.openContext(3, 0, 1, 2)
			if before {
				hasty[0].EndAtFirst()
			}
			sendIn(t, j.sessions[1].Gate(0), hasty[1], 5, []byte("there"))
			if _, err := s.Gate(1).Probe(t.Context(), Match{Context: hasty[0], Tag: 5, Mask: exact}); err != nil {
				t.Fatal(err)
			}
			waits := s.Irecv(Match{Context: hasty[0], Tag: 9, Mask: exact}, nil)
			goesOn := s.Irecv(Match{Context: patient[0]}, make([]byte, 5))
			if err := j.sessions[2].Close(); err != nil {
				t.Fatal(err)
			}
			if !before {
				lostWait(t, s.Gate(2).Irecv(1, nil), 2) // it is known here
				if over, _ := waits.Test(); over {
					t.Error("a receive has ended with the first process of its group, and was not to")
				}
				hasty[0].EndAtFirst()
			}
			lostWait(t, waits, 2)
			buf := make([]byte, 5)
			if r := s.Irecv(Match{Context: hasty[0], Tag: 5, Mask: exact}, buf); r.Wait() != nil || string(buf) != "there" {
				t.Errorf("a message that is there: %q, %v", buf, r.Wait())
			}
			lostWait(t, s.Irecv(Match{Context: hasty[0]}, nil), 2)
			if over, _ := goesOn.Test(); over {
				t.Error("a receive has ended with the first process of its group, in another context")
			}
			sendIn(t, j.sessions[1].Gate(0), patient[1], 6, []byte("other"))
			if err := goesOn.Wait(); err != nil {
				t.Error(err)
			}
			stop()
			j.close()
		}
	})
}

// TestContextClose: a context in which something waits stays open; one in which nothing does gives its number back, as
// often as one likes, and its receives see nothing of the one before.
func TestContextClose(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.moving()()
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		for round := range 20 {
			all := j.openContext(7, 0, 1)
			waits := one.Start(&Operation{Kind: KindRecv, Match: Match{Context: all[1], Tag: 1, Mask: exact}, Buf: make([]byte, 8)})
			if err := all[1].Close(); !errors.Is(err, ErrActive) {
				t.Fatalf("round %d: closed while a receive waits: %v", round, err)
			}
			wild := j.sessions[1].Irecv(Match{Context: all[1], Tag: 2, Mask: exact}, make([]byte, 8))
			sent := []*Request{sendIn(t, zero, all[0], 1, []byte("exact")), sendIn(t, zero, all[0], 2, []byte("any")), sendIn(t, zero, all[0], 3, []byte("left"))}
			for _, r := range append(sent, waits, wild) {
				if err := r.Wait(); err != nil {
					t.Fatal(err)
				}
			}
			for _, there := one.Iprobe(Match{Context: all[1], Tag: 3, Mask: exact}); !there; _, there = one.Iprobe(Match{Context: all[1], Tag: 3, Mask: exact}) {
			}
			if err := all[1].Close(); !errors.Is(err, ErrActive) {
				t.Fatalf("round %d: closed while a message waits: %v", round, err)
			}
			if _, err := all[1].Recv(0, 3, make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
			for _, c := range all {
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		j.close()
	})
}

// TestRevoke: a revoked context ends what waits in it, at all processes of its group, and what is started later; others
// go on; the group still agrees, also without a process that has died meanwhile; and a long send ends when its receiver
// drops what comes.
func TestRevoke(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 4, d, nil)
		defer j.moving()()
		all, other := j.openContext(7, 0, 1, 3), j.openContext(8, 0, 1, 3)
		waits := []*Request{
			j.sessions[1].Gate(0).Start(&Operation{Kind: KindRecv, Match: Match{Context: all[1], Tag: 1, Mask: exact}, Buf: make([]byte, 8)}),
			j.sessions[1].Irecv(Match{Context: all[1], Tag: 1, Mask: exact}, make([]byte, 8)),
			j.sessions[0].Gate(3).Start(&Operation{Kind: KindRecv, Match: Match{Context: all[0]}, Buf: make([]byte, 8)}),
		}
		stays := j.sessions[1].Irecv(Match{Context: other[1]}, make([]byte, 8))
		long := sendIn(t, j.sessions[0].Gate(1), all[0], 9, pattern(1<<20, 1))
		if err := all[3].Revoke(); err != nil {
			t.Fatal(err)
		}
		for i, r := range waits {
			if err := r.Wait(); !errors.Is(err, ErrRevoked) {
				t.Errorf("receive %d: %v", i, err)
			}
		}
		for _, rank := range []int{0, 1, 3} {
			for !all[rank].Revoked() {
				j.sessions[rank].Engine().Poll()
			}
			if err := all[rank].Send(0, 1, nil); !errors.Is(err, ErrRevoked) {
				t.Errorf("rank %d sends: %v", rank, err)
			}
			if err := j.sessions[rank].Gate(0).Post(&Request{}, &Operation{Match: Match{Context: all[rank]}}); !errors.Is(err, ErrRevoked) {
				t.Errorf("rank %d posts: %v", rank, err)
			}
		}
		if err := long.Wait(); err != nil {
			t.Errorf("a long send to a process that drops: %v", err)
		}
		sendIn(t, j.sessions[0].Gate(1), other[0], 1, []byte("other"))
		if err := stays.Wait(); err != nil {
			t.Errorf("in another context: %v", err)
		}
		results := make(chan Agreement, 3)
		for _, rank := range []int{0, 1, 3} {
			go func() {
				a, err := all[rank].Agree(t.Context(), 6+uint64(rank))
				if err != nil {
					t.Error(err)
				}
				results <- a
			}()
		}
		for range 3 {
			if a := <-results; a.Value != 6&7&9 || len(a.Failed) != 0 {
				t.Errorf("agreed: %+v", a)
			}
		}
		j.close()
	})
}

// TestLateInContext: a process opens a context that others have revoked, and in which they wait for it to agree,
// before.
func TestLateInContext(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		defer j.moving()()
		results := make(chan Agreement, 3)
		agree := func(c *Context) {
			a, err := c.Agree(t.Context(), 1)
			if err != nil {
				t.Error(err)
			}
			results <- a
		}
		for _, rank := range []int{1, 2} {
			c, err := j.sessions[rank].OpenContext(7, 0, 1, 2)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Revoke(); err != nil {
				t.Fatal(err)
			}
			go agree(c)
		}
		for s := j.sessions[0].agreements; s.pendingCount.Load() == 0; {
			j.sessions[0].Engine().Poll()
		}
		time.Sleep(20 * time.Millisecond) // all of it has come, perhaps
		late, err := j.sessions[0].OpenContext(7, 0, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		waits := j.sessions[0].Gate(1).Start(&Operation{Kind: KindRecv, Match: Match{Context: late}, Buf: make([]byte, 8)})
		if err := waits.Wait(); !errors.Is(err, ErrRevoked) {
			t.Error(err)
		}
		go agree(late)
		for range 3 {
			if a := <-results; a.Value != 1 || len(a.Failed) != 0 {
				t.Errorf("agreed: %+v", a)
			}
		}
		if n := j.sessions[0].agreements.pendingCount.Load(); n != 0 {
			t.Errorf("notes of %d contexts are kept", n)
		}
		j.close()
	})
}

// TestAgreeInContexts: groups agree beside each other, and beside the job, each in its own order; of the lost each
// names those of its own.
func TestAgreeInContexts(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 4, d, nil)
		defer j.moving()()
		groups := [][]int{{0, 1, 2, 3}, {1, 2}, {0, 3}, {2, 3, 1}}
		var contexts [][]*Context
		for i, g := range groups {
			contexts = append(contexts, j.openContext(10+i, g...))
		}
		j.sessions[1].Close()
		over := make(chan error)
		n := 0
		for i, g := range groups {
			var failed []int
			for _, rank := range g {
				if rank == 1 {
					failed = []int{1}
				}
			}
			for _, rank := range g {
				if rank == 1 {
					continue
				}
				n++
				go func() {
					for round := range uint64(20) {
						a, err := contexts[i][rank].Agree(t.Context(), 1<<40|round)
						if err == nil && (a.Value != 1<<40|round || !slices.Equal(a.Failed, failed)) {
							err = fmt.Errorf("group %v, rank %d, round %d: %+v", g, rank, round, a)
						}
						if err != nil {
							over <- err
							return
						}
					}
					over <- nil
				}()
			}
		}
		for range n {
			if err := <-over; err != nil {
				t.Error(err)
			}
		}
		j.close()
	})
}
