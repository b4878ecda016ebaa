package nmad

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// Queue is a completion queue: requests that were started with it (SendOp.Queue,
// RecvOp.Queue) come out of it when they are done, in that order. Before that a request
// cannot be started again. NewQueue makes one. Any number of threads and
// goroutines may Pop; one at a time may Wait.
type Queue struct {
	engine *pioman.Engine

	mu    marcel.SpinLock // innermost
	list  requestQueue
	count int

	some pioman.Completion // its bit finished: list is not empty, as far as Wait is concerned
}

// NewQueue makes a completion queue for requests of this session.
func (s *Session) NewQueue() *Queue { return &Queue{engine: s.cfg.Engine} }

// put adds a request that is done, and wakes who waits.
func (q *Queue) put(r *Request) {
	r.completion.Signal(finished)
	q.mu.Lock()
	q.list.push(r)
	q.count++
	q.mu.Unlock()
	q.some.Signal(finished)
}

// Pop takes the request that has been done for longest out of the queue; nil: there is
// none. It moves nothing on and never blocks.
func (q *Queue) Pop() *Request {
	q.mu.Lock()
	r := q.list.pop()
	if r != nil {
		q.count--
	}
	q.mu.Unlock()
	if r != nil {
		r.completion.Signal(free)
	}
	return r
}

// Len returns how many requests are in the queue.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count
}

// Wait blocks the calling thread or goroutine until a request is done, and takes it
// out. It fails when ctx is done, with its cause, and as Request.Wait does.
func (q *Queue) Wait(ctx context.Context) (*Request, error) {
	for {
		if r := q.Pop(); r != nil {
			return r, nil
		}
		q.some.Reset()
		if r := q.Pop(); r != nil { // put before the Reset
			return r, nil
		}
		if err := q.some.WaitContext(ctx, q.engine, finished); err != nil {
			return nil, fmt.Errorf("nmad: wait for a completion queue: %w", err)
		}
	}
}
