package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pm2-go/pm2/internal/test/caller"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// callers starts callers of the kind that this rank has.
var callers *caller.Spawner

// crew is such callers and goroutines, in turn.
type crew struct {
	all sync.WaitGroup
	n   int
}

func (c *crew) run(f func()) {
	if c.n++; c.n%2 == 0 {
		c.all.Go(f)
		return
	}
	c.all.Go(callers.Go(f))
}

// wait waits for all of them.
func (c *crew) wait() { marcel.Blocking(c.all.Wait) }

// traffic is a rank's share of the messages.
type traffic struct {
	p *plan
	s *nmad.Session
	d *nmad.Domain // through which they go
	b *book
}

// tag is that of a stream; it names the domain, too.
func (t *traffic) tag(phase uint64, n int) uint64 {
	return uint64(t.d.Number())<<48 | phase<<16 | uint64(n)
}

// exchange sends to, and receives from, the peers, in the given phase, and returns when all of that has ended.
func (t *traffic) exchange(phase uint64, peers []int) {
	var c crew
	for _, peer := range peers {
		for n := range t.p.Streams {
			tag := t.tag(phase, n)
			c.run(func() { t.send(stream{t.p, t.s.Rank(), peer, tag}) })
			c.run(func() { t.recv(stream{t.p, peer, t.s.Rank(), tag}) })
		}
		// Not to ourselves: when no other rank is left no receive from any source takes it.
		if phase == 1 && t.d.Number() == 0 && peer != t.s.Rank() {
			c.run(func() { t.send(stream{t.p, t.s.Rank(), peer, anyTag}) })
		}
	}
	if phase == 1 && t.d.Number() == 0 {
		c.run(func() {
			t.recvAny(slices.DeleteFunc(slices.Clone(peers), func(rank int) bool { return rank == t.s.Rank() }))
		})
	}
	c.wait()
}

// slot is a send under way.
type slot struct {
	r     *nmad.Request
	err   error // of a send that has ended
	b     nmad.Buffer
	began time.Time
	what  string
}

// end waits for the request of the slot, and reports whether it has failed.
func (t *traffic) end(x *slot, peer int) bool {
	err := x.err
	if x.r != nil {
		err = x.r.Wait()
	}
	if x.b.Len() > 0 {
		_ = x.b.Release() // it may have been released before
	}
	bad := t.b.failed(x.what, peer, x.began, err)
	*x = slot{}
	return bad
}

// send sends all messages of a stream, some of them at a time, until one fails.
func (t *traffic) send(s stream) {
	rng, g := s.dice(3), t.d.Gate(s.to)
	var under [3]slot
	failed := false
	for i := 0; i < t.p.Messages && !failed; i++ {
		marcel.Sleep(time.Duration(rng.Int64N(int64(t.p.Pace))))
		x := &under[rng.IntN(len(under))]
		if failed = t.end(x, s.to); failed {
			break
		}
		*x = t.begin(g, s, i, rng)
		if rng.IntN(4) == 0 {
			failed = t.end(x, s.to)
		}
	}
	for k := range under {
		failed = t.end(&under[k], s.to) || failed
	}
	if failed { // and so does what comes after it
		began := time.Now()
		if !t.b.failed("send again", s.to, began, g.Start(&nmad.Operation{Match: nmad.Tag(s.tag), Buf: nil, Sync: true}).Wait()) {
			t.b.bad("%v: a send has failed, and the next one succeeds", s)
		}
	}
}

// begin starts to send a message in one of the ways there are.
func (t *traffic) begin(g *nmad.Gate, s stream, i int, rng *rand.Rand) slot {
	x := slot{began: time.Now(), what: "send"}
	switch way := rng.IntN(8); way {
	case 0:
		x.r = g.Start(&nmad.Operation{Match: nmad.Tag(s.tag), Buf: s.message(i), Sync: true})
		x.what = "ssend"
	case 1:
		x.r = g.Start(&nmad.Operation{Match: nmad.Tag(s.tag), Parts: cutUp(s.message(i), rng)})
	case 2:
		x.r = g.Start(&nmad.Operation{Match: nmad.Tag(s.tag), Data: pieces(cutUp(s.message(i), rng))})
	case 3, 4:
		if t.d.Number() == 0 && s.size(i) > 0 {
			if b, err := g.Alloc(s.size(i)); err == nil {
				s.fill(b.Bytes(), i)
				x.r, x.what = g.Start(&nmad.Operation{Match: nmad.Tag(s.tag), Buffer: b}), "lend"
				if x.b = b; rng.IntN(3) == 0 {
					_ = b.Release() // given up: it is free when the send is done
				}
				return x
			} else if !errors.Is(err, nmad.ErrNoRoom) {
				t.allocFailed(s, err)
			}
		}
		x.r = g.Isend(s.tag, s.message(i))
	case 5:
		x.err = g.Send(s.tag, s.message(i))
	default:
		x.r = g.Isend(s.tag, s.message(i))
	}
	return x
}

// allocFailed notes that there was no memory to lend. The victim may lack it; all others only if the gate has ended.
func (t *traffic) allocFailed(s stream, err error) {
	if t.s.Rank() == t.p.Victim && !t.p.Kind.harmless() {
		return
	}
	if !errors.Is(err, nmad.ErrPeerLost) {
		t.b.bad("%v: Alloc: %v", s, err)
	}
}

// recv receives all messages of a stream, until one fails.
func (t *traffic) recv(s stream) {
	rng := s.dice(4)
	for i := range t.p.Messages {
		buf := make([]byte, s.size(i)+rng.IntN(3))
		began := time.Now()
		what, got, loan, err := t.recvOne(s, buf, rng)
		if t.b.failed(what, s.from, began, err) {
			t.b.guard(buf, fmt.Sprintf("%v, message %d, %s", s, i, what))
			again := time.Now()
			if !t.b.failed("recv again", s.from, again, func() error { _, err := t.d.Gate(s.from).Recv(s.tag, nil); return err }()) {
				t.b.bad("%v: message %d is lost, and something is received in its place", s, i)
			}
			return
		}
		if wrong := s.wrong(got, i); wrong != "" {
			t.b.bad("%v: %s (%s)", s, wrong, what)
			return
		}
		loaned := loan.InPlace()
		if what == "borrow" {
			if err := loan.Release(); err != nil {
				t.b.bad("%v: release a loan: %v", s, err)
			}
		}
		t.b.moved(s.tag>>16 == 2, loaned)
	}
}

// recvOne receives one message in one of the ways there are.
func (t *traffic) recvOne(s stream, buf []byte, rng *rand.Rand) (what string, got []byte, loan nmad.Loan, err error) {
	g := t.d.Gate(s.from)
	var r *nmad.Request
	what = "recv"
	switch rng.IntN(11) {
	case 0:
		ctx, stop := context.WithTimeout(context.Background(), time.Duration(rng.IntN(20))*time.Millisecond)
		_, err := g.Probe(ctx, nmad.Tag(s.tag))
		stop()
		if errors.Is(err, context.DeadlineExceeded) {
			_, err = g.Probe(context.Background(), nmad.Tag(s.tag))
		}
		if err != nil {
			return "probe", nil, loan, err
		}
		m := g.Claim(nmad.Tag(s.tag))
		if m == nil { // an announcement goes with its gate
			if r := g.Irecv(neverTag, nil); !r.Cancel() {
				return what, nil, loan, r.Wait()
			}
			return "probe", nil, loan, errors.New("what the probe has found is not there")
		}
		r = m.Irecv(buf)
	case 1:
		r = g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Match{Tag: s.tag, Mask: 1<<50 - 1}, Buf: buf})
	case 2:
		r = g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(s.tag), Parts: cutUp(buf, rng)})
	case 3:
		r = g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(s.tag), Data: pieces(cutUp(buf, rng))})
	case 4, 5:
		for r = g.Irecv(s.tag, buf); ; r = g.Irecv(s.tag, buf) {
			if marcel.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond); rng.IntN(3) == 0 || !r.Cancel() {
				break
			}
		}
	case 6:
		r = g.Irecv(s.tag, buf)
		for {
			ctx, stop := context.WithTimeout(context.Background(), time.Duration(1+rng.IntN(15))*time.Millisecond)
			err := r.WaitContext(ctx)
			stop()
			if !errors.Is(err, context.DeadlineExceeded) {
				break
			}
		}
	case 7, 8:
		r = g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(s.tag), Buf: buf, Loan: true})
		if err := r.Wait(); err != nil {
			return "borrow", nil, loan, err
		}
		return "borrow", r.Loan().Bytes(), r.Loan(), nil
	case 9:
		r = &nmad.Request{}
		if err := g.Post(r, &nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(s.tag), Choose: func(e nmad.Envelope) []byte { return buf[:min(e.Size, uint64(len(buf)))] }}); err != nil {
			return what, nil, loan, err
		}
	default:
		n, err := g.Recv(s.tag, buf)
		return what, buf[:n], loan, err
	}
	err = r.Wait()
	return what, buf[:r.Len()], loan, err
}

// recvAny receives from any source what all peers send with anyTag, until those that are left have sent all.
func (t *traffic) recvAny(peers []int) {
	next, stopped := map[int]int{}, map[int]bool{}
	missing := func() (n int) {
		for _, peer := range peers {
			if !t.b.isGone(peer) {
				n += t.p.Messages - next[peer]
			}
		}
		return n
	}
	rng := stream{t.p, t.s.Rank(), t.s.Rank(), anyTag}.dice(5)
	there := func() bool { // what has come before its sender was lost
		_, ok := t.s.Iprobe(nmad.Tag(anyTag))
		return ok
	}
	for missing() > 0 || there() {
		buf := make([]byte, t.p.Biggest+64)
		began := time.Now()
		r := t.s.Irecv(nmad.Tag(anyTag), buf)
		for canceled := false; ; { // canceled now and then, and when no sender is left
			ctx, stop := context.WithTimeout(context.Background(), time.Duration(10+rng.IntN(50))*time.Millisecond)
			err := r.WaitContext(ctx)
			stop()
			if !errors.Is(err, context.DeadlineExceeded) {
				break
			}
			if canceled || missing() > 0 && rng.IntN(4) != 0 {
				continue
			}
			canceled = r.Cancel()
		}
		err := r.Wait()
		if errors.Is(err, nmad.ErrCanceled) {
			t.b.guard(buf, "canceled, any source")
			continue
		}
		if err != nil { // of a message that had begun to come, or none is left
			lost := &nmad.PeerError{Rank: -1}
			_ = errors.As(err, &lost)
			t.b.guard(buf, "any source")
			t.b.failed("recv any", lost.Rank, began, err)
			if stopped[lost.Rank] || lost.Rank < 0 || t.b.allGone(t.s.Size()) { // perhaps it was no message but that none is left
				return
			}
			stopped[lost.Rank], next[lost.Rank] = true, t.p.Messages // nothing comes in the place of that
			continue
		}
		s := stream{t.p, r.Source(), t.s.Rank(), anyTag}
		if next[s.from] >= t.p.Messages {
			t.b.bad("%v: a message after the last one, or after one that is lost", s)
			continue // others wait for us
		}
		if wrong := s.wrong(buf[:r.Len()], next[s.from]); wrong != "" {
			t.b.bad("%v, any source: %s", s, wrong)
		}
		next[s.from]++
		t.b.moved(false, false)
	}
	for peer, n := range next {
		if n < t.p.Messages && !t.b.isGone(peer) && t.p.Kind.harmless() {
			t.b.bad("of the messages of rank %d for any source only %d have come", peer, n)
		}
	}
}
