package stress

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// A post is a mailbox with accounts of what went through.
type post struct {
	box     *marcel.Mailbox[uint64]
	in, out atomic.Uint64 // sums
}

// pass sends a message and, if that was possible, receives one. So that receives finds a
// message sooner or later, and one that sends finds room.
func (p *post) pass(w *round, r *rand.Rand) {
	v := r.Uint64()
	f := send(w, p.box, v)
	if r.IntN(3) == 0 {
		f = choose(p.box.Sender(v))
	}
	if !f.once(w, r) {
		return
	}
	p.in.Add(v)
	if r.IntN(3) == 0 {
		c := p.box.Receiver()
		choose(c).until(w, r)
		v = c.Value
	} else {
		recv(w, p.box, &v).until(w, r)
	}
	p.out.Add(v)
}

func (p *post) check(w *round) {
	if n := p.box.Len(); n != 0 || p.in.Load() != p.out.Load() {
		w.fail("a mailbox has %d messages left; the sums of what went in and out are %#x and %#x", n, p.in.Load(), p.out.Load())
	}
}

// A swap is where two meet and each gives the other something, through a mailbox without
// room.
type swap struct {
	box     marcel.Mailbox[uint64]
	in, out atomic.Uint64
}

// meet offers both to send and to receive; one that has done the one goes on to the other. As
// many have sent only as have received only, so none of them waits for ever.
func (s *swap) meet(w *round, r *rand.Rand) {
	v := r.Uint64()
	tx, rx := s.box.Sender(v), s.box.Receiver()
	switch marcel.SelectTimeout(upTo(r, time.Millisecond), tx, rx) {
	case 0:
		s.in.Add(v)
		recv(w, &s.box, &v).until(w, r)
		s.out.Add(v)
	case 1:
		s.out.Add(rx.Value)
		send(w, &s.box, v).until(w, r)
		s.in.Add(v)
	}
}

func (s *swap) check(w *round) {
	if s.in.Load() != s.out.Load() {
		w.fail("what was given, %#x in sum, is not what was taken, %#x", s.in.Load(), s.out.Load())
	}
}

// stream has several send to several through a mailbox that is closed in the end.
func (w *round) stream(r *rand.Rand) {
	box := marcel.NewMailbox[uint64](r.IntN(4))
	var in, out atomic.Uint64
	var sending atomic.Int32
	const senders = 2
	sending.Store(senders)
	n := r.IntN(20)
	w.team(r, senders+2, func(i int, r *rand.Rand) {
		if i >= senders {
			for v := range box.All() {
				out.Add(v)
			}
			return
		}
		for range n {
			v := r.Uint64()
			send(w, box, v).until(w, r)
			in.Add(v)
		}
		if sending.Add(-1) == 0 {
			box.Close()
		}
	})
	if in.Load() != out.Load() {
		w.fail("a stream of sum %#x came out as %#x", in.Load(), out.Load())
	}
	if _, err := box.Recv(); !errors.Is(err, marcel.ErrClosed) || !errors.Is(box.Send(1), marcel.ErrClosed) {
		w.fail("a mailbox that is closed lets a message pass: %v", err)
	}
}

// selects waits for one of several things until each of them has come once.
func (w *round) selects(r *rand.Rand) {
	var sem marcel.Semaphore
	var mu marcel.Mutex
	cond := marcel.NewCond(&mu)
	flag := false // guarded by mu
	box := marcel.NewMailbox[int](r.IntN(2))
	ch := make(chan int, r.IntN(2))
	timer := marcel.NewTimer(upTo(r, 500*time.Microsecond))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gives := []func(){
		sem.Release,
		func() { w.must(box.Send(7)) },
		func() { marcel.Blocking(func() { ch <- 8 }) },
		cancel,
		func() { mu.Lock(); flag = true; cond.Broadcast(); mu.Unlock() },
	}
	own := fork(r)
	giver := w.spawn(r, w.attr(r), func() {
		w.team(own, len(gives), func(i int, r *rand.Rand) {
			marcel.Sleep(upTo(r, 100*time.Microsecond))
			gives[i]()
		})
	})
	rx, cx := box.Receiver(), marcel.ReceiveFrom(ch)
	cases := []marcel.Case{sem.Case(), rx, cx, timer.Case(), marcel.Done(ctx), marcel.Ended(giver), cond.Case()}
	var got [7]bool
	mu.Lock()
	for left := len(got); left > 0; {
		if flag && !got[6] {
			got[6] = true
			left--
			cases[6] = marcel.After(time.Hour)
			continue
		}
		mu.Unlock()
		if r.IntN(4) == 0 {
			marcel.Yield()
		}
		mu.Lock()
		if flag != got[6] {
			continue
		}
		i := -1
		if got[6] {
			mu.Unlock()
		}
		if r.IntN(3) == 0 {
			i = marcel.SelectTimeout(upTo(r, 100*time.Microsecond), cases...)
		} else {
			i = marcel.Select(cases...)
		}
		if got[6] {
			mu.Lock()
		}
		if i < 0 || i == 6 {
			continue
		}
		if got[i] || i == 1 && rx.Value != 7 || i == 2 && cx.Value != 8 {
			w.fail("case %d of a Select came twice, or with a wrong value", i)
		}
		got[i] = true
		left--
		cases[i] = marcel.After(time.Hour)
	}
	mu.Unlock()
	w.joined(giver, nil)
	if sem.TryAcquire() || timer.TryWait() || box.Len() != 0 {
		w.fail("a Select left something behind that it took")
	}
	if _, kept := cx.Stop(); kept {
		w.fail("a Select keeps a value of a channel that it took")
	}
}
