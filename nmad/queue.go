package nmad

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/lock"
	"github.com/pm2-go/pm2/pioman"
)

// Queue is a completion queue: requests that were started with it (Operation.Queue) come out of it in the order in
// which they are done. A request cannot be started again before it has come out. Session.NewQueue makes a Queue. Any
// number of threads and goroutines may call Pop and Len; one at a time may call Wait.
type Queue struct {
	session *Session

	mu    marcel.SpinLock // guards list and count; no other lock is taken inside
	list  requestQueue    // requests that are done
	count int             // length of list

	explicit shelf.Snapshot[*pioman.Engine] // engines of explicit domains whose requests come here; changed under mu

	some pioman.Completion // put sets its bit bitDone when it has added to list; Wait clears the bit
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

// Pop takes out the request that has been done for the longest time; nil if the queue is empty. It polls no gate and
// never blocks.
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

// Wait waits until a request is done, and takes it out. It fails with ErrClosed when the queue is empty and its session
// is closed, so that nothing will come any more; and as Request.Wait does. It blocks the calling thread or goroutine
// only.
func (q *Queue) Wait() (*Request, error) { return q.WaitContext(context.Background()) }

// WaitContext is Wait that also ends when ctx is done; then it returns the cause of ctx.
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
		if r := q.Pop(); r != nil { // it was put before Clear
			waiters.remove(q)
			return r, nil
		}
		if !open {
			return nil, fmt.Errorf("nmad: wait for a completion queue: rank %d: %w", q.session.cfg.Rank, ErrClosed)
		}
		var err error
		e, engines := waitsIn(q.session.cfg.Engine), q.explicit.All()
		if len(engines) == 0 || len(engines) == 1 && engines[0] == e {
			if err = q.some.WaitContext(ctx, e, bitDone); e != q.session.cfg.Engine && errors.Is(err, pioman.ErrClosed) {
				err = nil // the last private domain of the caller was closed meanwhile
			}
		} else {
			err = q.poll(ctx, e, engines)
		}
		waiters.remove(q)
		if err != nil {
			return nil, fmt.Errorf("nmad: wait for a completion queue: %w", err)
		}
	}
}

// moves notes that requests which this engine moves come to the queue.
func (q *Queue) moves(e *pioman.Engine) {
	if !q.session.valid() || e == q.session.cfg.Engine {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Contains(q.explicit.All(), e) {
		q.explicit.Add(e)
	}
}

// maxNap is the longest pause between two polls of a waiter that polls several engines.
const maxNap = time.Millisecond

// poll polls the engines of explicit domains, own, which is the engine in which the caller waits, and the session's,
// with pauses that grow to maxNap, until a request comes. It has to poll because a thread cannot sleep in several
// engines.
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
		nap, stop := context.WithTimeout(ctx, min(time.Duration(looks)*time.Microsecond, maxNap))
		err := q.some.WaitContext(nap, q.session.cfg.Engine, bitDone)
		over := nap.Err() != nil
		stop()
		if err != nil && !over {
			return err
		}
	}
	return nil
}

// queueWaiters is the set of the queues of a session in which threads wait. Close signals them when nothing can come
// any more. A thread that is about to wait clears the signal before it looks whether that has happened:
//
//	waiter: clear some; add: if closed return, else add the queue to the set; wait
//	closer: set closed; signal all queues in the set
type queueWaiters struct {
	mu     sync.Mutex // guards the fields below
	set    map[*Queue]struct{}
	closed bool
}

// add adds a queue, and reports whether a request may still come.
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

// close ends all waits, also later ones.
func (qw *queueWaiters) close() {
	qw.mu.Lock()
	defer qw.mu.Unlock()
	qw.closed = true
	for q := range qw.set {
		q.some.Signal(bitDone)
	}
}
