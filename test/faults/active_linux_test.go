package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/am"
)

// Handlers. The arguments are the number of the stream and that in the stream.
const (
	handleAsk   am.ID = 1         // Reply
	handleFlood am.ID = 2         // nothing
	handleIdle  am.ID = 3         // Reply, to a request of no stream
	handlePing  am.ID = 70        // ReplyTo handlePong
	handlePong  am.ID = 1<<31 + 3 //
)

// Streams of active messages, from each rank to each, each of one caller: they come in order.
const (
	asked    = iota // through the default domain
	askedOwn        // through a domain of the rank's own
	flooded
	pinged
	streams
)

// ownDomain is the number of a domain of the rank's own that is not private; of a private one privateDomain, which
// others do not reach.
const (
	ownDomain     = 50
	privateDomain = 51
)

// active has this rank send active messages to all, answer those of all, and call functions of all.
type active struct {
	*theme
	w     *am.World
	come  [][streams]atomic.Uint64 // by rank: what handlers have seen. The handlers of a stream run one at a time: they write it
	sent  []leaving                // by rank, each part written by the caller of the stream
	waits atomic.Int64             // functions that wait for their contexts

	mu    sync.Mutex // handlers take it for a few instructions
	pongs []map[uint64]bool
}

// leaving is what a rank has sent to another one.
type leaving struct {
	N      [streams]uint64 // that have come for sure, if the gate lives; of asked ones that were answered, once one has failed
	Failed [streams]bool   // more may have come: the gate of a domain may be lost alone
}

// sizeOf draws how long the body of a message is, in bytes.
func (h *active) sizeOf(s stream, i int) int {
	rng := rand.New(rand.NewPCG(s.key(i), 17))
	return []int{0, rng.IntN(9), rng.IntN(64), rng.IntN(1100), rng.IntN(h.p.Medium + 1)}[rng.IntN(5)]
}

// body is that of the i-th message of a stream.
func (h *active) body(s stream, i int) []byte {
	b := make([]byte, h.sizeOf(s, i))
	s.fill(b, i)
	return b
}

func (h *active) stream(from, to int, n uint64) stream { return stream{h.p, from, to, askTag | n} }

// active is the theme.
func (t *traffic) active() {
	h := &active{come: make([][streams]atomic.Uint64, t.p.Size), sent: make([]leaving, t.p.Size), pongs: make([]map[uint64]bool, t.p.Size)}
	for rank := range h.pongs {
		h.pongs[rank] = map[uint64]bool{}
	}
	var stop func()
	h.theme, stop = t.newTheme("am", 2)
	defer stop()
	rng := stream{t.p, t.s.Rank(), t.s.Rank(), askTag}.dice(18)
	cfg := am.Config{Window: t.p.Window, Medium: t.p.Medium, Receives: []int{0, 4, 8}[rng.IntN(3)], OnError: func(err error) { h.b.bad("am: %v", err) }}
	cfg.Mask = []uint64{0, 7, am.EachPoll}[rng.IntN(3)]
	cfg.Budget = []int{0, 2 * max(cfg.Receives, 32)}[rng.IntN(2)]
	w, err := am.Open(t.s, cfg)
	if err != nil {
		h.b.bad("am: Open: %v", err)
		h.agreed(0, false)
		return
	}
	h.w = w
	h.serve()
	number, access := ownDomain, t.p.Accesses[t.s.Rank()]
	if access == nmad.Private {
		number = privateDomain
	}
	var own *am.Domain
	if access != nmad.Private { // before others send to it
		if own, err = w.Domain(am.DomainConfig{Number: number, Access: access}); err != nil {
			h.b.bad("am: Domain: %v", err)
		}
	}
	if h.agreed(0, err == nil) {
		var c crew
		for peer := range t.p.Size {
			c.run(func() { h.ask(w.Default(), asked, peer) })
			c.run(func() { h.flood(peer) })
			c.run(func() { h.ping(peer) })
			c.run(func() { h.call(peer) })
		}
		c.run(func() {
			if access == nmad.Private {
				if own, err = w.Domain(am.DomainConfig{Number: number, Access: access}); err != nil {
					h.b.bad("am: Domain: %v", err)
					return
				}
				defer h.closeDomain(own)
			}
			for k := range t.p.Size { // one after the other: a serialized domain has one caller at a time
				h.ask(own, askedOwn, (t.s.Rank()+k)%t.p.Size)
			}
		})
		c.wait()
		h.settle()
	}
	h.agreed(2, true)
	if access != nmad.Private {
		h.closeDomain(own)
	}
	if err := w.Close(); err != nil && t.p.Kind.harmless() {
		h.b.bad("am: Close: %v", err)
	}
}

func (h *active) closeDomain(d *am.Domain) {
	if err := d.Close(); err != nil && h.p.Kind.harmless() {
		h.b.bad("am: close a domain: %v", err)
	}
}

// serve names the handlers and the functions.
func (h *active) serve() {
	own := h.s.Rank()
	errs := []error{
		h.w.Handle(handleAsk, func(t *am.Token, args []uint64, body []byte) {
			if from := t.Rank(); h.took(from, args, body) {
				s := h.stream(from, own, args[0]|answerOf)
				if err := t.Reply([]uint64{args[1], ^args[1]}, h.body(s, int(args[1]))); err != nil && !errors.Is(err, nmad.ErrPeerLost) {
					h.b.bad("am: reply to rank %d: %v", from, err)
				}
			}
		}),
		h.w.Handle(handleIdle, func(t *am.Token, _ []uint64, _ []byte) {
			if t.Awaited() {
				_ = t.Reply(nil, nil)
			}
		}),
		h.w.Handle(handleFlood, func(t *am.Token, args []uint64, body []byte) { h.took(t.Rank(), args, body) }),
		h.w.Handle(handlePing, func(t *am.Token, args []uint64, body []byte) {
			if from := t.Rank(); h.took(from, args, body) {
				s := h.stream(from, own, args[0]|answerOf)
				if err := t.ReplyTo(handlePong, args, h.body(s, int(args[1]))); err != nil && !errors.Is(err, nmad.ErrPeerLost) {
					h.b.bad("am: reply to rank %d by a handler: %v", from, err)
				}
			}
		}),
		h.w.Handle(handlePong, func(t *am.Token, args []uint64, body []byte) { h.ponged(t.Rank(), args, body) }),
		h.w.Serve("turn", func(_ context.Context, _ int, b []byte) ([]byte, error) {
			slices.Reverse(b)
			return b, nil
		}),
		h.w.Serve("fail", func(context.Context, int, []byte) ([]byte, error) { return nil, errors.New("as told") }),
		h.w.Serve("panic", func(context.Context, int, []byte) ([]byte, error) { panic("as told") }),
		h.w.Serve("relay", func(ctx context.Context, from int, b []byte) ([]byte, error) {
			return h.w.Call(ctx, from, "turn", b)
		}),
		h.w.Serve("wait", func(ctx context.Context, _ int, _ []byte) ([]byte, error) {
			h.waits.Add(1)
			defer h.waits.Add(-1)
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}
	if err := errors.Join(errs...); err != nil {
		h.b.bad("am: %v", err)
	}
}

// took checks a request that has come, and reports whether it is the next one of its stream, and right.
func (h *active) took(from int, args []uint64, body []byte) bool {
	if len(args) != 2 || args[0] >= streams || from < 0 || from >= h.p.Size {
		h.b.bad("am: a request from rank %d has the arguments %v", from, args)
		return false
	}
	next := &h.come[from][args[0]]
	if want := next.Load(); args[1] != want {
		h.b.bad("am: request %d of stream %d from rank %d comes where %d is due", args[1], args[0], from, want)
		return false
	}
	next.Add(1)
	if wrong := differs(body, h.body(h.stream(from, h.s.Rank(), args[0]), int(args[1]))); wrong >= 0 {
		h.b.bad("am: byte %d of %d of request %d of stream %d from rank %d is wrong", wrong, len(body), args[1], args[0], from)
		return false
	}
	h.b.did("requests handled")
	return true
}

// ponged looks at a reply that a handler has come for.
func (h *active) ponged(from int, args []uint64, body []byte) {
	if len(args) != 2 || args[0] != pinged {
		h.b.bad("am: a reply from rank %d has the arguments %v", from, args)
		return
	}
	if wrong := differs(body, h.body(h.stream(h.s.Rank(), from, pinged|answerOf), int(args[1]))); wrong >= 0 {
		h.b.bad("am: byte %d of %d of the reply %d of rank %d is wrong", wrong, len(body), args[1], from)
	}
	h.mu.Lock()
	twice := h.pongs[from][args[1]]
	h.pongs[from][args[1]] = true
	h.mu.Unlock()
	if twice {
		h.b.bad("am: reply %d of rank %d comes twice", args[1], from)
	}
}

// ask asks a rank through a domain, some requests at a time, until one fails.
func (h *active) ask(d *am.Domain, n uint64, to int) {
	s := h.stream(h.s.Rank(), to, n)
	rng := s.dice(19)
	far := d.Number()
	if n == askedOwn && (h.p.Accesses[to] == nmad.Private || d.Number() == privateDomain) && to != h.s.Rank() {
		far = 0
	}
	var under [4]struct {
		am.Reply
		i     int
		began time.Time
	}
	next, failed := 0, false
	for next < 2*h.p.times() && !failed {
		marcel.Sleep(time.Duration(rng.Int64N(int64(h.p.Pace))))
		begun := 0
		for ; begun < 1+rng.IntN(len(under)) && !failed; begun++ {
			x := &under[begun]
			x.i, x.began = next, time.Now()
			if failed = h.failed("ask", to, x.began, d.RequestTo(&x.Reply, to, far, handleAsk, []uint64{n, uint64(next)}, h.body(s, next))); failed {
				break
			}
			next++
		}
		for k := range begun {
			if h.answered(s, &under[k].Reply, n, under[k].i, under[k].began, rng) {
				failed = true
			} else if !failed {
				h.sent[to].N[n]++
			}
		}
		h.sent[to].Failed[n] = failed
	}
	if h.isLost(to) {
		h.again("ask", to, func() error {
			err := d.RequestTo(&under[0].Reply, to, far, handleIdle, nil, nil)
			if err == nil {
				_, _, err = under[0].Wait()
			}
			return err
		})
	}
}

// answered waits for an answer and checks it. It reports whether there is none.
func (h *active) answered(s stream, r *am.Reply, n uint64, i int, began time.Time, rng *rand.Rand) bool {
	var args []uint64
	var body []byte
	var err error
	for waited := false; !waited; {
		ctx, stop := context.Background(), func() {}
		if rng.IntN(3) == 0 {
			ctx, stop = context.WithTimeout(ctx, time.Duration(1+rng.IntN(20))*time.Millisecond)
		}
		args, body, err = r.WaitContext(ctx)
		stop()
		waited = !errors.Is(err, context.DeadlineExceeded)
	}
	if h.failed("answer", s.to, began, err) {
		return true
	}
	want := h.body(h.stream(s.from, s.to, n|answerOf), i)
	if wrong := differs(body, want); wrong >= 0 || !slices.Equal(args, []uint64{uint64(i), ^uint64(i)}) {
		h.b.bad("am, %v: the answer to request %d is %v, and byte %d of %d is wrong", s, i, args, wrong, len(body))
	}
	h.b.did("requests answered")
	return false
}

// flood sends requests without a pause.
func (h *active) flood(to int) {
	h.pour(flooded, handleFlood, to, h.p.Flood, true)
}

// ping sends requests that are answered by a handler.
func (h *active) ping(to int) {
	h.pour(pinged, handlePing, to, h.p.Flood/4, false)
}

// pour sends requests whose answers are not awaited, until one fails.
func (h *active) pour(n uint64, id am.ID, to, times int, tight bool) {
	s, d := h.stream(h.s.Rank(), to, n), h.w.Default()
	rng := s.dice(20)
	for i := range times {
		if !tight || rng.IntN(20) == 0 {
			marcel.Sleep(time.Duration(rng.Int64N(int64(h.p.Pace))) / 4)
		}
		began, body := time.Now(), h.body(s, i)
		args := []uint64{n, uint64(i)}
		var err error
		if rng.IntN(3) == 0 {
			for sent := false; !sent && err == nil; {
				if sent, err = d.TryRequest(to, id, args, body); !sent && err == nil {
					d.Poll()
					marcel.Sleep(100 * time.Microsecond)
				}
			}
		} else {
			err = d.Request(to, id, args, body)
		}
		if h.failed("pour", to, began, err) {
			h.again("pour", to, func() error { return d.Request(to, handleIdle, nil, nil) })
			return
		}
		h.sent[to].N[n]++
	}
}

// call calls functions of a rank.
func (h *active) call(to int) {
	s := h.stream(h.s.Rank(), to, streams)
	rng := s.dice(21)
	for i := range h.p.times() {
		marcel.Sleep(time.Duration(rng.Int64N(int64(h.p.Pace))))
		args := make([]byte, []int{0, rng.IntN(100), rng.IntN(h.p.Medium), rng.IntN(4 * h.p.Medium)}[rng.IntN(4)])
		s.fill(args, i)
		want := slices.Clone(args)
		slices.Reverse(want)
		name := []string{"turn", "turn", "relay", "fail", "panic", "wait", "none"}[rng.IntN(7)]
		ctx, stop := context.Background(), func() {}
		if name == "wait" {
			ctx, stop = context.WithTimeout(ctx, time.Duration(rng.IntN(30))*time.Millisecond)
		}
		began := time.Now()
		got, err := h.w.Call(ctx, to, name, args)
		stop()
		if errors.Is(err, nmad.ErrPeerLost) {
			h.failed("call", to, began, err)
			h.again("call", to, func() error { _, err := h.w.Call(context.Background(), to, "turn", nil); return err })
			return
		}
		remote := (*am.RemoteError)(nil)
		var right bool
		switch name {
		case "turn", "relay":
			right = err == nil && differs(got, want) < 0
		case "fail":
			right = errors.As(err, &remote) && remote.Text == "as told" && remote.Rank == to
		case "panic":
			right = errors.Is(err, am.ErrPanicked)
		case "wait":
			right = errors.Is(err, context.DeadlineExceeded)
		default:
			right = errors.Is(err, am.ErrUnknown)
		}
		if !right && !h.lacks() {
			h.b.bad("am: call %d of rank %d, %s of %d B, gives %d B and %v", i, to, name, len(args), len(got), err)
			return
		}
		h.b.did("calls returned")
	}
}

// settle waits until all has come that those have sent that live, and looks whether that is all.
func (h *active) settle() {
	d := h.w.Default()
	poll := func() { d.Poll() }
	told := gather(h.theme, 1, func(peer int) leaving { return h.sent[peer] })
	told[h.s.Rank()] = &h.sent[h.s.Rank()]
	for rank, sent := range told {
		if sent == nil {
			continue
		}
		began := time.Now()
		for n, want := range sent.N {
			come := &h.come[rank][n]
			if !h.until(fmt.Sprintf("%d requests of stream %d, beyond %d,", want, n, come.Load()), rank, poll, func() bool { return come.Load() >= want }) {
				break
			}
			if got := come.Load(); got != want && !h.isLost(rank) && !sent.Failed[n] {
				h.b.bad("am: rank %d has sent %d requests of stream %d, and %d have come", rank, want, n, got)
			}
		}
		pongs := func() int {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.pongs[rank])
		}
		if !h.until("replies by a handler", rank, poll, func() bool { return pongs() >= int(h.sent[rank].N[pinged]) }) {
			h.failed("settle", rank, began, context.Cause(h.lost[rank]))
		} else if got := pongs(); got != int(h.sent[rank].N[pinged]) {
			h.b.bad("am: rank %d was asked %d times for a reply by a handler, and gives %d", rank, h.sent[rank].N[pinged], got)
		}
	}
	for began := time.Now(); h.waits.Load() > 0; marcel.Sleep(time.Millisecond) {
		poll() // what gives them up may not have been handled
		if time.Since(began) > 30*time.Second {
			h.b.bad("am: %d functions go on to wait for contexts whose callers have given up, or are lost", h.waits.Load())
			return
		}
	}
	if dropped := h.w.Stats().Dropped; dropped > 0 {
		h.b.bad("am: %d messages were dropped", dropped)
	}
}
