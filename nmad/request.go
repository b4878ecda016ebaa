package nmad

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/pioman"
)

// stage is how far a request has come. Written under the lock of its gate.
//
//	send:  idle -> queued -> done                                   eager
//	               queued -> announced -> pushing -> done           rendezvous
//	recv:  idle -> posted -> done                                   eager
//	               posted -> answering -> pulling -> done           rendezvous
//
// A send that finds room goes through queued without standing in the queue; a
// receive whose message is there already goes through posted without standing
// in the table. From every stage but idle a failure leads to done. From done
// the owner may start the request again.
type stage uint8

const (
	idle      stage = iota
	queued          // send: waits for room, or for its turn
	announced       // send: RDV is out, RTR is awaited
	pushing         // send: the bytes go out, or wait for those before them
	posted          // recv: no message yet
	answering       // recv: RTR waits for room
	pulling         // recv: the bytes come in, or wait for those before them
	done
)

func (s stage) String() string {
	return [...]string{"idle", "queued", "announced", "pushing", "posted", "answering", "pulling", "done"}[s]
}

// finished is the bit of a request's completion.
const finished = 1

// Request is a send or a receive that has been started. The zero value is ready
// for IsendInto and IrecvInto. It must not be copied once it was started. Any
// number of threads may Test or Wait for it; any thread may start it again once it is
// done and all of them have returned.
type Request struct {
	entry // tag; place in the table of posted receives

	gate *Gate
	buf  []byte
	n    int // bytes sent or received; written under the lock, read after done
	err  error

	link   *Request // next in whichever queue holds it
	want   int      // rendezvous: bytes that both sides agreed upon
	moved  int      // rendezvous: of them, already moved
	size   uint64   // recv, rendezvous: bytes of the whole message
	cookie uint32   // rendezvous: the sender's name for it
	began  int64    // cycles: when it started, if a trace is recorded; else 0

	stage   stage
	private bool // its owner looks at stage under the lock; nobody waits for completion
	needed  bool // the engine counts it as pending

	started    atomic.Bool // claimed at least once; a claimer sets it
	completion pioman.Completion
}

// claim makes r ours to start.
func (r *Request) claim() error {
	if r.started.Swap(true) && !r.completion.Test(finished) {
		return fmt.Errorf("nmad: start a request again: %w: wait for it first", ErrActive)
	}
	return nil
}

// prepare sets the fields that a new operation begins with.
func (r *Request) prepare(g *Gate, tag uint64, buf []byte, private bool) {
	r.tag, r.req = tag, r
	r.gate, r.buf = g, buf
	r.n, r.err, r.want, r.moved = 0, nil, 0, 0
	r.private, r.needed = private, false
	r.began = stamp()
	if !private {
		r.completion.Reset()
	}
}

// Tag returns the tag of the message.
func (r *Request) Tag() uint64 { return r.tag }

// Len returns how many bytes were sent, or received into the buffer. It is valid
// once the request is done.
func (r *Request) Len() int { return r.n }

// Test says whether the request is done, and, if so, how it ended. If not, it
// moves the request's gate on, once. It never blocks.
func (r *Request) Test() (bool, error) {
	if !r.started.Load() {
		return false, ErrIdle
	}
	if !r.completion.Test(finished) {
		r.gate.poll()
		if !r.completion.Test(finished) {
			return false, nil
		}
	}
	return true, r.err
}

// Wait blocks the calling thread or goroutine, and nobody else, until the
// request is done, and says how it ended. It polls the request's gate for a few
// microseconds while no other thread is ready on the VP, and then leaves the
// work to the engine. Waiting again for a request that is done gives the same
// answer. ErrInHandler and ErrClosed of package pioman say that it
// could not be waited for here and now; the request is not done then.
func (r *Request) Wait() error {
	if !r.started.Load() {
		return ErrIdle
	}
	if !r.completion.Test(finished) {
		if err := r.gate.wait(r); err != nil {
			return err
		}
	}
	return r.err
}

// requestQueue is a first-in-first-out queue through Request.link.
type requestQueue struct{ head, tail *Request }

func (q *requestQueue) empty() bool { return q.head == nil }

func (q *requestQueue) push(r *Request) {
	r.link = nil
	if q.head == nil {
		q.head = r
	} else {
		q.tail.link = r
	}
	q.tail = r
}

func (q *requestQueue) remove(r *Request) {
	var rest requestQueue
	for x := q.pop(); x != nil; x = q.pop() {
		if x != r {
			rest.push(x)
		}
	}
	*q = rest
}

func (q *requestQueue) pop() *Request {
	r := q.head
	if r != nil {
		q.head = r.link
		r.link = nil
	}
	return r
}
