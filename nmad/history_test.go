package nmad

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// A history is what threads have done with the messages of several ranks, and when: each event counts the clock. It is
// right if it is stable: there is no receive and message which would both rather have each other than what they have. A
// receive would rather have the older of two messages of a rank, and any rather than none; a message would rather go to
// the one of two receives that was posted first, if one was posted after the other, and to any rather than to none.
type history struct {
	clock  atomic.Int64
	mu     sync.Mutex
	posted []*posted
	probed []*posted // what probes have seen
	left   []*posted // messages that no receive has got
}

// posted is a receive, a claim that has got a message, or a probe that has seen one.
type posted struct {
	Match
	from       int   // a rank; anyRank
	begin, end int64 // of the posting
	taken      int64 // a cancel that took it back has begun; 0: none has
	over       int64 // it is known to have ended
	lost       bool  // it has failed
	source     int   // of its message
	tag, seq   uint64
	r          *Request
	buf        []byte
}

const anyRank = -1

func (po *posted) String() string {
	text := fmt.Sprintf("receive of context %d, tag %d, mask %#x, from %d, posted %d to %d", po.Context.numberOrDefault(), po.Tag, po.Mask, po.from, po.begin, po.end)
	switch {
	case po.lost:
		return text + ", which has failed"
	case po.taken != 0:
		return fmt.Sprintf("%s, taken back at %d", text, po.taken)
	}
	return fmt.Sprintf("%s, which got message %d of rank %d with tag %d, by %d", text, po.seq, po.source, po.tag, po.over)
}

// isFor says that the message that q has is one for p.
func (po *posted) isFor(q *posted) bool {
	return po.Context == q.Context && (po.from == anyRank || po.from == q.source) && po.Matches(q.tag)
}

// prefers says that p would rather have the message of q than what it has.
func (po *posted) prefers(q *posted) bool {
	switch {
	case !po.isFor(q):
		return false
	case po.taken != 0:
		return q.over != 0 && q.over < po.taken // q got it while p waited
	}
	return po.lost || po.source == q.source && po.seq > q.seq
}

// check says what is not stable.
func (hi *history) check(t *testing.T) {
	has := map[[2]uint64]bool{}
	for _, q := range append(hi.posted, hi.left...) {
		if q.lost || q.taken != 0 {
			continue
		}
		key := [2]uint64{uint64(q.source), q.seq}
		if has[key] {
			t.Errorf("it is received twice: %v", q)
		}
		has[key] = true
	}
	bad := func(format string, args ...any) {
		if !t.Failed() {
			t.Errorf(format, args...)
		}
	}
	for _, p := range hi.posted {
		for _, q := range hi.posted {
			if !q.lost && q.taken == 0 && p.end < q.begin && p.prefers(q) {
				bad("%v\nshould have the message of the younger\n%v", p, q)
			}
		}
		for _, q := range hi.left {
			if p.taken == 0 && p.prefers(q) {
				bad("%v\nshould have message %d of rank %d, tag %d, which no receive has", p, q.seq, q.source, q.tag)
			}
		}
		for _, q := range hi.probed {
			if p.end < q.begin && (p.prefers(q) || p.isFor(q) && !p.lost && p.taken == 0 && p.source == q.source && p.seq == q.seq) {
				bad("%v\nshould have the message that a younger probe has seen: %v", p, q)
			}
		}
	}
}

// historyThread is a thread that receives.
type historyThread struct {
	h    *history
	s    *Session
	in   []*Context // that messages come in
	rng  *rand.Rand
	t    *testing.T
	wait []*posted // that wait
	mine []*posted
	seen []*posted
}

const historyTags = 3

func (ht *historyThread) pattern() Match {
	m := Tag(ht.rng.Uint64N(historyTags))
	m.Context = ht.in[ht.rng.IntN(len(ht.in))]
	if ht.rng.IntN(3) == 0 {
		m.Mask = ht.rng.Uint64N(4)
	}
	return m
}

// fill notes what p has got.
func (po *posted) fill(h *history, e Envelope, body []byte) {
	po.over = h.clock.Add(1)
	po.source, po.tag, po.seq = e.Source, e.Tag, binary.LittleEndian.Uint64(body)
}

func (ht *historyThread) post(blocks bool) {
	p := &posted{Match: ht.pattern(), from: 1 + ht.rng.IntN(2), buf: make([]byte, 200)}
	if ht.rng.IntN(2) == 0 {
		p.from = anyRank
	}
	op := &Operation{Kind: KindRecv, Match: p.Match, Buf: p.buf}
	p.begin = ht.h.clock.Add(1)
	if p.from == anyRank {
		p.r = ht.s.job.Start(AnySource, op)
	} else if g := ht.s.Gate(p.from); p.Mask == exact && p.Context == nil && ht.rng.IntN(2) == 0 {
		p.r = g.Irecv(p.Tag, p.buf)
	} else {
		p.r = g.Start(op)
	}
	p.end = ht.h.clock.Add(1)
	ht.mine, ht.wait = append(ht.mine, p), append(ht.wait, p)
	if blocks {
		ht.finish(len(ht.wait)-1, p.r.Wait())
	}
}

// finish notes that the i-th that waits has ended.
func (ht *historyThread) finish(i int, err error) {
	p := ht.wait[i]
	ht.wait = append(ht.wait[:i], ht.wait[i+1:]...)
	switch {
	case err == nil:
		p.fill(ht.h, p.r.Envelope(), p.buf)
	case errors.Is(err, ErrPeerLost):
		p.lost = true
	default:
		ht.t.Errorf("%v: %v", p, err)
	}
}

func (ht *historyThread) claim() {
	p := &posted{Match: ht.pattern(), from: 1 + ht.rng.IntN(2), buf: make([]byte, 200)}
	p.begin = ht.h.clock.Add(1)
	var m *Message
	if ht.rng.IntN(2) == 0 {
		p.from = anyRank
		m = ht.s.Claim(p.Match)
	} else {
		m = ht.s.Gate(p.from).Claim(p.Match)
	}
	p.end = ht.h.clock.Add(1)
	if m == nil {
		return
	}
	if _, err := m.Recv(p.buf); err != nil {
		ht.t.Error(err)
		return
	}
	p.fill(ht.h, m.Envelope, p.buf)
	ht.mine = append(ht.mine, p)
}

func (ht *historyThread) probe() {
	p := &posted{Match: ht.pattern(), from: 1 + ht.rng.IntN(2), buf: make([]byte, 200)}
	p.begin = ht.h.clock.Add(1)
	var e Envelope
	n, ok := 0, false
	if ht.rng.IntN(2) == 0 {
		e, n, ok = ht.s.Peek(p.Match, p.buf)
	} else {
		e, n, ok = ht.s.Gate(p.from).Peek(p.Match, p.buf)
	}
	p.end = ht.h.clock.Add(1)
	if ok && n >= 8 {
		p.fill(ht.h, e, p.buf)
		ht.seen = append(ht.seen, p)
	}
}

// await is a probe that waits; what it has found may have gone by the time that it is looked at.
func (ht *historyThread) await() {
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(ht.rng.IntN(200))*time.Microsecond)
	defer stop()
	var err error
	if ht.rng.IntN(2) == 0 {
		_, err = ht.s.Probe(ctx, ht.pattern())
	} else {
		_, err = ht.s.Gate(1+ht.rng.IntN(2)).Probe(ctx, ht.pattern())
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrPeerLost) {
		ht.t.Error(err)
	}
}

func (ht *historyThread) run(steps int) {
	for range steps {
		n := len(ht.wait)
		switch k := ht.rng.IntN(20); {
		case k < 9:
			ht.post(false)
		case k == 9:
			ht.post(ht.rng.IntN(8) == 0)
		case k < 12:
			ht.claim()
		case k == 12:
			ht.probe()
		case k == 13:
			ht.await()
		case k < 16 && n > 0:
			i := ht.rng.IntN(n)
			p, at := ht.wait[i], ht.h.clock.Add(1)
			if p.r.Cancel() {
				p.taken = at
				ht.wait = append(ht.wait[:i], ht.wait[i+1:]...)
			}
		case n > 0:
			i := ht.rng.IntN(n)
			if over, err := ht.wait[i].r.Test(); over {
				ht.finish(i, err)
			}
		}
	}
	for len(ht.wait) > 0 {
		ht.finish(0, ht.wait[0].r.Wait()) // at the latest when the peers have left
	}
	ht.h.mu.Lock()
	defer ht.h.mu.Unlock()
	ht.h.posted, ht.h.probed = append(ht.h.posted, ht.mine...), append(ht.h.probed, ht.seen...)
}

// historyRound is one round, which returns how many messages were sent.
func historyRound(t *testing.T, d driver.Driver, seed uint64) uint64 {
	dice := rand.New(rand.NewPCG(seed, 1))
	const ranks = 3
	threads, steps := 1+dice.IntN(20), 60
	messages := threads * steps * 9 / 20 / ranks
	j := newJob(t, ranks, d, nil)
	var in [ranks][]*Context // a message is of one of two
	for rank, s := range j.sessions {
		c, err := s.OpenContext(7, 0, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		in[rank] = []*Context{nil, c}
	}
	h := &history{}
	var sent marcel.WaitGroup
	sent.Add(ranks)
	onThreads(ranks+threads, func(i int) {
		rng := rand.New(rand.NewPCG(seed, uint64(2+i)))
		if i >= ranks {
			x := &historyThread{h: h, s: j.sessions[0], in: in[0], rng: rng, t: t}
			x.run(steps)
			return
		}
		g := j.sessions[i].Gate(0)
		for n := range messages {
			b := make([]byte, 8+rng.IntN(100))
			binary.LittleEndian.PutUint64(b, uint64(n))
			var err error
			tag := rng.Uint64N(historyTags)
			if c := in[i][rng.IntN(2)]; c == nil {
				err = g.Send(tag, b)
			} else {
				err = g.Start(&Operation{Match: Match{Context: c, Tag: tag, Mask: exact}, Buf: b}).Wait()
			}
			if err != nil {
				t.Error(err)
			}
			if rng.IntN(8) == 0 {
				runtime.Gosched()
			}
		}
		sent.Done()
		if i != 0 {
			sent.Wait() // what the own rank sends comes before the last peer leaves
			if err := j.sessions[i].Close(); err != nil {
				t.Error(err)
			}
		}
	})
	for _, c := range in[0] {
		for m := j.sessions[0].Claim(Match{Context: c}); m != nil; m = j.sessions[0].Claim(Match{Context: c}) {
			p := &posted{Match: Match{Context: c}, buf: make([]byte, 200)}
			if _, err := m.Recv(p.buf); err != nil {
				t.Error(err)
				break
			}
			p.fill(h, m.Envelope, p.buf)
			h.left = append(h.left, p)
		}
	}
	got := len(h.left)
	for _, p := range h.posted {
		if !p.lost && p.taken == 0 {
			got++
		}
	}
	if got != ranks*messages {
		t.Errorf("%d messages were received or left, of %d", got, ranks*messages)
	}
	h.check(t)
	j.close()
	return uint64(ranks * messages)
}
