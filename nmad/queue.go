package nmad

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/lock"
	"github.com/pm2-go/pm2/pioman"
)

// Queue is a completion queue: requests that were started with it (Op.Queue)
// come out of it when they are done, in that order. Before that a request cannot be
// started again. NewQueue makes one. Any number of threads and
// goroutines may Pop; one at a time may Wait.
type Queue struct {
	session *Session

	mu    marcel.SpinLock // innermost
	list  requestQueue
	count int

	explicit atomic.Pointer[[]*pioman.Engine] // those of explicit domains whose requests come here; changed under mu

	some pioman.Completion // its bit finished: list is not empty, as far as Wait is concerned
}

// NewQueue makes a completion queue for requests of this session.
func (s *Session) NewQueue() *Queue { return &Queue{session: s} }

// put adds a request that is done, and wakes the thread that waits.
func (q *Queue) put(r *Request) {
	r.completion.Signal(bitDone)
	q.mu.Lock()
	q.list.push(r)
	q.count++
	q.mu.Unlock()
	q.some.Signal(bitDone)
}

// Pop takes the request out of the queue that has been done for the longest time; nil: there is
// none. It polls no gate and never blocks.
func (q *Queue) Pop() *Request {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	r := q.list.pop()
	if r != nil {
		q.count--
	}
	q.mu.Unlock()
	if r != nil {
		r.completion.Signal(bitReusable)
	}
	return r
}

// Len returns how many requests are in the queue.
func (q *Queue) Len() int {
	if q == nil {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count
}

// Wait blocks the calling thread or goroutine, and no other one, until a request is done, and takes it out. It fails with
// ErrClosed when the queue is empty and its session closed, so that no request will come any more; and as Request.Wait
// does.
func (q *Queue) Wait() (*Request, error) { return q.WaitContext(context.Background()) }

// WaitContext is Wait until ctx is done; then it returns its cause.
func (q *Queue) WaitContext(ctx context.Context) (*Request, error) {
	if q == nil || !q.session.valid() {
		return nil, errNoSession
	}
	ctx = orBackground(ctx)
	waiters := &q.session.queueWaiters
	for {
		if r := q.Pop(); r != nil {
			return r, nil
		}
		q.some.Clear(bitDone)
		open := waiters.add(q)
		if r := q.Pop(); r != nil { // put before the Clear
			waiters.remove(q)
			return r, nil
		}
		if !open {
			return nil, fmt.Errorf("nmad: wait for a completion queue: rank %d: %w", q.session.cfg.Rank, ErrClosed)
		}
		var err error
		e, engines := waitsIn(q.session.cfg.Engine), q.explicit.Load()
		if engines == nil || len(*engines) == 1 && (*engines)[0] == e {
			if err = q.some.WaitContext(ctx, e, bitDone); e != q.session.cfg.Engine && errors.Is(err, pioman.ErrClosed) {
				err = nil // the last private domain of the caller was closed meanwhile
			}
		} else {
			err = q.poll(ctx, e, *engines)
		}
		waiters.remove(q)
		if err != nil {
			return nil, fmt.Errorf("nmad: wait for a completion queue: %w", err)
		}
	}
}

// moves notes that requests which this engine moves on come here.
func (q *Queue) moves(e *pioman.Engine) {
	if !q.session.valid() || e == q.session.cfg.Engine {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []*pioman.Engine
	if old := q.explicit.Load(); old != nil {
		all = *old
	}
	if !slices.Contains(all, e) {
		all = append(slices.Clone(all), e)
		q.explicit.Store(&all)
	}
}

// longestNap is the longest pause of a waiter that polls the domains that no other thread polls.
const longestNap = time.Millisecond

// poll polls explicit domains, and own, the engine in which the caller waits, ever more rarely, until a request comes. No
// sleep in the kernel is for several engines.
func (q *Queue) poll(ctx context.Context, own *pioman.Engine, engines []*pioman.Engine) error {
	for looks := 0; !q.some.Test(bitDone); looks++ {
		for _, e := range engines {
			e.Poll()
		}
		own.Poll()
		q.session.cfg.Engine.Poll()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if looks < lock.SpinTries {
			continue
		}
		nap, stop := context.WithTimeout(ctx, min(time.Duration(looks)*time.Microsecond, longestNap))
		err := q.some.WaitContext(nap, q.session.cfg.Engine, bitDone)
		over := nap.Err() != nil
		stop()
		if err != nil && !over {
			return err
		}
	}
	return nil
}

// queueWaiters are the queues of a session that threads wait for. Close signals
// them once nothing can come any more; a thread that is about to wait looks whether that has happened
// after it has cleared the signal:
//
//	waiter: some.Clear; add: closed? else into the set; wait
//	closer: closed; signal all in the set
type queueWaiters struct {
	mu     sync.Mutex // of both below
	set    map[*Queue]struct{}
	closed bool
}

// add says whether it makes sense to wait.
func (qw *queueWaiters) add(q *Queue) bool {
	qw.mu.Lock()
	defer qw.mu.Unlock()
	if qw.closed {
		return false
	}
	if qw.set == nil {
		qw.set = map[*Queue]struct{}{}
	}
	qw.set[q] = struct{}{}
	return true
}

func (qw *queueWaiters) remove(q *Queue) {
	qw.mu.Lock()
	defer qw.mu.Unlock()
	delete(qw.set, q)
}

// close ends the waits, and those to come.
func (qw *queueWaiters) close() {
	qw.mu.Lock()
	defer qw.mu.Unlock()
	qw.closed = true
	for q := range qw.set {
		q.some.Signal(bitDone)
	}
}
