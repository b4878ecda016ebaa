package piomantest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/pioman"
)

// waitFor is Wait for at most d.
func (s *scene) waitFor(c *pioman.Completion, bits uint32, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return c.WaitContext(ctx, s.e, bits)
}

// givingUp: waits with limits end when these do, with the reason, and leave the completion as it was; what comes in
// time is not missed.
func givingUp(t *testing.T, w World) {
	s := w.stage(t)
	n := s.rounds(60)
	cause := errors.New("enough")
	s.crowd(1, func(k int) {
		var c pioman.Completion
		for i := range n {
			short := time.Duration(1+i%5) * 100 * time.Microsecond
			if err := s.waitFor(&c, 1, short); !errors.Is(err, context.DeadlineExceeded) {
				s.Errorf("limit: %v", err)
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			timer := time.AfterFunc(short, func() { cancel(cause) })
			if err := c.WaitContext(ctx, s.e, 1); !errors.Is(err, cause) {
				s.Errorf("context: %v", err)
			}
			timer.Stop()
			cancel(nil)
			if c.Status() != 0 {
				s.Errorf("status %#x after waits that gave up", c.Status())
			}
			timer = time.AfterFunc(short, func() { c.Signal(4) })
			if err := s.waitFor(&c, 4, patience); err != nil {
				s.Error(err)
			}
			timer.Stop()
			c.Reset()
		}
		if err := c.Wait(s.e, 0); !errors.Is(err, pioman.ErrNoBits) {
			s.Error(err)
		}
	})
}

// anyAndAll: Wait is for the first bit, WaitAll for the last.
func anyAndAll(t *testing.T, w World) {
	s := w.stage(t)
	n := s.rounds(500)
	s.crowd(2, func(k int) {
		const bits = 5
		var tasks [bits]pioman.Task
		var c pioman.Completion
		var ran [bits]bool
		for i := range tasks {
			tasks[i].Init("bit", func(*pioman.Task) pioman.Status { ran[i] = true; return pioman.Done }, pioman.OneShot)
		}
		for i := range n {
			c.Reset()
			clear(ran[:])
			for b := range tasks {
				tasks[b].Notify(&c, 1<<b)
			}
			for b := range tasks {
				s.submit(&tasks[(b+i)%bits])
			}
			const all = 1<<bits - 1
			if i%2 == 0 {
				if err := c.Wait(s.e, all); err != nil || c.Status()&all == 0 {
					s.Errorf("any: %v, status %#x", err, c.Status())
				}
			}
			if err := c.WaitAll(s.e, all); err != nil || !c.TestAll(all) {
				s.Errorf("all: %v, status %#x", err, c.Status())
			}
			if ran != [bits]bool{true, true, true, true, true} {
				s.Errorf("ran: %v", ran)
			}
		}
	})
}

// severalWaiters: many wait for one completion, for different bits; each is woken by its own.
func severalWaiters(t *testing.T, w World) {
	s := w.stage(t)
	n := s.rounds(200)
	const each = 3
	crowd := s.size(each)
	if crowd > 30 {
		t.Skip("more kinds of callers than bits")
	}
	words := make([]pioman.Completion, n)
	var arrived [2]atomic.Int64
	var all sync.WaitGroup
	all.Go(func() {
		for i := range words {
			for b := range crowd {
				words[i].Signal(1 << ((b*7 + i) % crowd)) // maybe twice the same
			}
			words[i].Signal(1<<crowd - 1)
		}
	})
	s.crowd(each, func(k int) {
		for i := range words {
			c := &words[i]
			var err error
			if (i+k)%3 == 0 {
				err = c.WaitAll(s.e, 1<<crowd-1)
			} else {
				err = c.Wait(s.e, 1<<k)
			}
			if err != nil || !c.Test(1<<k) {
				s.Errorf("waiter %d: %v, status %#x", k, err, c.Status())
				return
			}
			arrived[i%2].Add(1)
		}
	})
	s.finishes("signals", all.Wait)
	if got := arrived[0].Load() + arrived[1].Load(); got != int64(crowd*n) {
		t.Errorf("%d waits ended of %d", got, crowd*n)
	}
}
