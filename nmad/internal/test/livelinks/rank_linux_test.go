package livelinks

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	mrand "math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/proxy"
	"github.com/pm2-go/pm2/pioman"
)

// liveReport is how a case went for one rank.
type liveReport struct {
	Opened  bool
	OpenErr string
	Volume  int // bytes of all messages that were to be sent and received

	Right      int // requests that ended as they must without alterations
	Wrong      int // messages that arrived with other bytes than were sent
	WrongBytes int // so many bytes of them
	WrongSize  int // messages that arrived with another length
	Truncated  int // such that did not fit, though they should
	Lost       int // requests that ended with ErrPeerLost
	Protocol   int // or with ErrProtocol
	Closed     int // or with ErrClosed
	CloseErr   string
	Opening    time.Duration
	Closing    time.Duration
	Reason     string // of the first request that failed

	Odd []string // what must not be unless bytes of messages were altered, in words
	Bad []string // what must never be
}

// liveRank is one rank at work.
type liveRank struct {
	c   *liveCase
	own int
	s   *nmad.Session

	mu   sync.Mutex
	r    liveReport
	kept []keptBuffer
}

// keptBuffer is a buffer that must not change any more.
type keptBuffer struct {
	what string
	b    []byte // guards included
	sum  uint64
}

// liveSlack is how much longer than its limits something may take, on a machine that has other things to do.
const liveSlack = 40 * time.Second

var liveHash = maphash.MakeSeed()

// run is a rank's whole part in a case. thread starts a thread or goroutine and returns what waits for it.
func (lc *liveCase) run(o liveOrder, engine *pioman.Engine, thread func(func()) (wait func())) liveReport {
	cfg := lc.config
	for i, name := range lc.rails {
		inner, err := driver.Lookup(name)
		if err != nil {
			return liveReport{Bad: []string{err.Error()}}
		}
		cfg.Rails = append(cfg.Rails, proxy.Behind{Inner: inner, Tell: func(driver.Config, string) (string, func() error, error) { return o.Told[i], nil, nil }})
	}
	cfg.Rank, cfg.Engine, cfg.Rendezvous, cfg.Listen = o.Rank, engine, o.Rendezvous, strings.Join(o.Listen, ",")
	cfg.Secret = fmt.Appendf(nil, "the secret of the case with the seed %d", lc.seed)
	l := &liveRank{c: lc, own: o.Rank}
	var err error
	began := time.Now()
	l.s, err = nmad.Open(context.Background(), cfg)
	if l.r.Opening = time.Since(began); l.r.Opening > cfg.Timeout+liveSlack {
		l.bad("Open took %v, with a time limit of %v", l.r.Opening, cfg.Timeout)
	}
	if err != nil {
		l.r.OpenErr = err.Error()
		l.text("Open", err)
		return l.r
	}
	l.r.Opened = true
	l.work(thread)
	began = time.Now()
	if err := l.s.Close(); err != nil {
		l.r.CloseErr = err.Error()
		l.text("Close", err)
	}
	if l.r.Closing = time.Since(began); l.r.Closing > 2*cfg.Linger+liveSlack {
		l.bad("Close took %v, and may linger twice for %v", l.r.Closing, cfg.Linger)
	}
	for _, k := range l.kept {
		if maphash.Bytes(liveHash, k.b) != k.sum {
			l.bad("%s was written to after it had ended", k.what)
		}
	}
	l.kept = nil
	return l.r
}

func (lr *liveRank) bad(format string, args ...any) {
	lr.mu.Lock()
	defer lr.mu.Unlock()
	if len(lr.r.Bad) < 10 {
		lr.r.Bad = append(lr.r.Bad, fmt.Sprintf("rank %d: ", lr.own)+fmt.Sprintf(format, args...))
	}
}

// odd notes what may be right, by what was altered.
func (lr *liveRank) odd(format string, args ...any) {
	lr.mu.Lock()
	defer lr.mu.Unlock()
	if len(lr.r.Odd) < 5 {
		lr.r.Odd = append(lr.r.Odd, fmt.Sprintf(format, args...))
	}
}

// text checks that an error is one line that can be printed.
func (lr *liveRank) text(what string, err error) {
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		lr.bad("%s: an error that cannot be printed: %q", what, err)
	}
}

// work exchanges messages with all the others, both ways at once.
func (lr *liveRank) work(thread func(func()) func()) {
	var waits []func()
	for peer := range lr.c.size {
		if peer != lr.own {
			waits = append(waits, thread(func() { lr.send(peer) }), thread(func() { lr.recv(peer) }))
		}
	}
	if lr.own == lr.c.leaver {
		waits = append(waits, thread(func() {
			rng := mrand.New(mrand.NewPCG(lr.c.seed, 77))
			marcel.Blocking(func() { time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond) })
			_ = lr.s.Close() // once more in the end, which says the same
		}))
	}
	for _, wait := range waits {
		wait()
	}
}

// sizes of the messages from one rank to another.
func (lc *liveCase) sizes(from, to int) []int {
	rng := mrand.New(mrand.NewPCG(lc.seed, uint64(from)<<8|uint64(to)))
	sizes := make([]int, 4+rng.IntN(28))
	for i := range sizes {
		switch n := rng.IntN(20); {
		case n < 9:
			sizes[i] = rng.IntN(64)
		case n < 13:
			sizes[i] = rng.IntN(4 << 10)
		case n < 16:
			sizes[i] = 32<<10<<rng.IntN(2) - 16 + rng.IntN(32) // where protocols change
		case n < 19:
			sizes[i] = rng.IntN(200 << 10)
		default:
			sizes[i] = rng.IntN(1 << (19 + rng.IntN(4)))
		}
	}
	return sizes
}

// fill writes the i-th message from one rank to another.
func (lc *liveCase) fill(b []byte, from, to, i int) {
	x := lc.seed*0x9E3779B97F4A7C15 ^ uint64(from)<<56 ^ uint64(to)<<48 ^ uint64(i)<<40 | 1
	for ; len(b) > 0; b = b[min(8, len(b)):] {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], x)
		copy(b, w[:])
	}
}

const (
	liveTags   = 3
	liveWindow = 4
	liveGuard  = 64
)

func (lr *liveRank) send(peer int) {
	g, sizes := lr.s.Gate(peer), lr.c.sizes(lr.own, peer)
	rng := mrand.New(mrand.NewPCG(lr.c.seed, 1<<20|uint64(lr.own)<<8|uint64(peer)))
	type sent struct {
		r    *nmad.Request
		b    []byte
		loan nmad.Buffer
	}
	var under []sent
	end := func(x sent) {
		err := x.r.Wait()
		if lr.ended(peer, "send", err) && x.r.Len() != len(x.b) {
			lr.bad("a send of %d bytes says %d", len(x.b), x.r.Len())
		}
		if err == nil || x.loan == (nmad.Buffer{}) { // else a receiver may still read it where it lies
			for i := range x.b {
				x.b[i] = 0xEE // it is ours again: no receiver may see that
			}
		}
		if x.loan != (nmad.Buffer{}) {
			_ = x.loan.Release()
		}
	}
	volume := 0
	for i, n := range sizes {
		volume += n
		x := sent{b: make([]byte, n)}
		if lr.c.lends && rng.IntN(4) == 0 {
			if b, err := g.Alloc(n); err == nil {
				x.loan, x.b = b.First(n), b.Bytes()[:n]
			}
		}
		lr.c.fill(x.b, lr.own, peer, i)
		tag := uint64(i % liveTags)
		switch cut := n / 3; {
		case x.loan != (nmad.Buffer{}):
			x.r = g.Start(&nmad.Operation{Match: nmad.Tag(tag), Buffer: x.loan})
		case rng.IntN(6) == 0:
			x.r = g.Start(&nmad.Operation{Match: nmad.Tag(tag), Buf: x.b, Sync: true})
		case rng.IntN(6) == 0:
			x.r = g.Start(&nmad.Operation{Match: nmad.Tag(tag), Parts: [][]byte{x.b[:cut], x.b[cut:cut], x.b[cut:]}})
		default:
			x.r = g.Isend(tag, x.b)
		}
		if under = append(under, x); len(under) == liveWindow {
			end(under[0])
			under = under[1:]
		}
	}
	for _, x := range under {
		end(x)
	}
	lr.mu.Lock()
	lr.r.Volume += volume
	lr.mu.Unlock()
}

func (lr *liveRank) recv(peer int) {
	g, sizes := lr.s.Gate(peer), lr.c.sizes(peer, lr.own)
	rng := mrand.New(mrand.NewPCG(lr.c.seed, 2<<20|uint64(lr.own)<<8|uint64(peer)))
	type got struct {
		i     int
		r     *nmad.Request
		whole []byte // with guards
		b     []byte
		loan  bool
	}
	var under []got
	end := func(x got) {
		err := x.r.Wait()
		lr.received(peer, x.i, sizes[x.i], x.r, x.b, x.loan, err)
		for i := range liveGuard {
			if x.whole[i] != 0xA5 || x.whole[len(x.whole)-1-i] != 0xA5 {
				lr.bad("receive %d from rank %d has written beside its buffer", x.i, peer)
				break
			}
		}
		sum := maphash.Bytes(liveHash, x.whole)
		lr.mu.Lock()
		lr.kept = append(lr.kept, keptBuffer{fmt.Sprintf("the buffer of receive %d from rank %d (%v)", x.i, peer, err), x.whole, sum})
		lr.mu.Unlock()
	}
	volume := 0
	for i, n := range sizes {
		volume += n
		room := n
		switch rng.IntN(8) {
		case 0:
			room = n / 2
		case 1:
			room = n + rng.IntN(5000)
		}
		x := got{i: i, whole: bytes.Repeat([]byte{0xA5}, room+2*liveGuard)}
		x.b = x.whole[liveGuard:][:room:room]
		tag := uint64(i % liveTags)
		switch cut := room / 3; rng.IntN(6) {
		case 0:
			x.r = g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(tag), Parts: [][]byte{x.b[:cut], x.b[cut:]}})
		case 1, 2:
			x.r, x.loan = g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(tag), Buf: x.b, Loan: true}), true
		default:
			x.r = g.Irecv(tag, x.b)
		}
		if under = append(under, x); len(under) == liveWindow {
			end(under[0])
			under = under[1:]
		}
	}
	for _, x := range under {
		end(x)
	}
	lr.mu.Lock()
	lr.r.Volume += volume
	lr.mu.Unlock()
}

// received judges a receive of the i-th message, of n bytes.
func (lr *liveRank) received(peer, i, n int, r *nmad.Request, b []byte, loan bool, err error) {
	count := func(to *int, n int) {
		lr.mu.Lock()
		*to += n
		lr.mu.Unlock()
	}
	got := b
	inPlace := false
	if loan && err == nil {
		x := r.Loan()
		got, inPlace = x.Bytes(), x.InPlace()
		defer x.Release()
	}
	if errors.Is(err, nmad.ErrTruncated) {
		lr.text("receive", err)
		if n <= len(b) {
			count(&lr.r.Truncated, 1)
			return
		}
		err = nil // as it should: there was less room on purpose
	} else if err == nil && n > len(b) && !inPlace {
		lr.odd("receive %d from rank %d: a message of %d bytes, room for %d, and no error; it says %d of %d", i, peer, n, len(b), r.Len(), r.Size())
		count(&lr.r.WrongSize, 1)
		return
	}
	if !lr.ended(peer, "receive", err) {
		return
	}
	want := make([]byte, n)
	lr.c.fill(want, peer, lr.own, i)
	if !inPlace {
		want = want[:min(n, len(b))]
	}
	if r.Len() != len(want) {
		lr.odd("receive %d from rank %d: %d of %d bytes of a message of %d, room for %d", i, peer, r.Len(), r.Size(), n, len(b))
		count(&lr.r.WrongSize, 1)
		return
	}
	if got = got[:len(want)]; !bytes.Equal(got, want) {
		wrong := 0
		for k := range got {
			if got[k] != want[k] {
				wrong++
			}
		}
		lr.odd("receive %d from rank %d: %d of %d bytes are wrong; in place: %v", i, peer, wrong, len(want), inPlace)
		count(&lr.r.Wrong, 1)
		count(&lr.r.WrongBytes, wrong)
	}
}

// ended judges how a request ended, and says whether well.
func (lr *liveRank) ended(peer int, what string, err error) bool {
	lr.mu.Lock()
	closed := lr.own == lr.c.leaver && errors.Is(err, nmad.ErrClosed)
	if err != nil && lr.r.Reason == "" {
		lr.r.Reason = err.Error()
	}
	switch {
	case err == nil:
		lr.r.Right++
	case closed:
		lr.r.Closed++
	case errors.Is(err, nmad.ErrProtocol):
		lr.r.Protocol++
	case errors.Is(err, nmad.ErrPeerLost):
		lr.r.Lost++
	}
	lr.mu.Unlock()
	if err == nil {
		return true
	}
	var why *nmad.PeerError
	if !closed && (!errors.As(err, &why) || why.Rank != peer || why.Reason == "" || !errors.Is(err, nmad.ErrPeerLost) && !errors.Is(err, nmad.ErrProtocol)) {
		lr.bad("a %s with rank %d ended with %v: want an error that names it, and the reason", what, peer, err)
	}
	lr.text(what, err)
	return false
}
