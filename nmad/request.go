package nmad

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/pioman"
)

// stage is how far a request has come. Written under the lock of its gate.
//
//	send:  idle -> queued -> done                                   eager
//	               queued -> leaving -> done                        and the network had no room for all of it
//	               queued -> announced -> pushing -> done           rendezvous
//	recv:  idle -> posted -> done                                   eager
//	               posted -> answering -> pulling -> done           rendezvous
//	                         answering <-> deferred                 until a rail has become idle
//	               posted -> choosing -> as from posted             late choice of the buffer
//	               posted -> done                                   cancelled
//
// A message that several rails share is asked for in chunks: its send is announced, its
// receive answering or deferred, until the last one was, though bytes of the first may be
// moving already. leaving.go has what it means to leave; a receive of no bytes leaves, too, in the stage
// pulling, with its RTR. A send that finds room goes through queued without standing in the queue; a
// receive whose message is there already goes through posted without standing
// in the table. From every stage but idle a failure leads to done. From done
// the owner may start the request again.
type stage uint8

const (
	idle      stage = iota
	queued          // send: waits for room, or for its turn
	leaving         // send: some of its packet lies in the driver's buffer
	announced       // send: RDV is out, RTR is awaited
	pushing         // send: the bytes go out, or wait for those before them
	posted          // recv: no message yet
	matched         // recv: the message is there, and is not dealt with yet
	choosing        // recv: the message is there, its owner is asked for the buffer
	answering       // recv: RTR waits for room
	deferred        // recv: RTR waits until a rail is idle
	pulling         // recv: the bytes come in, or wait for those before them
	done
)

func (s stage) String() string {
	return [...]string{"idle", "queued", "leaving", "announced", "pushing", "posted", "matched", "choosing", "answering", "deferred", "pulling", "done"}[s]
}

// How the owner of a request hears that it is done. Most requests are done before anybody
// sleeps for them: then that is a word which the holder of the gate's lock writes, and
// nothing else. Who is about to sleep says so before, under the lock, and is told
// through the completion, which knows who waits.
//
//	             under mu                            told, when the lock was let go
//	not told --- complete: over = 1, the last touch
//	   | listen, under mu
//	 told ------ complete: into Gate.over, or its Queue, or upcalls ----> completion.Signal, the last touch
//
// A request never changes its way once it is done, so whoever has seen the one or the other
// may start it again, and nobody else touches it.

// Bits of a request's completion.
const (
	finished = 1 << iota // it has ended
	free                 // and may be started again: nobody but its owner knows it any more
)

// Request is a send or a receive that has been started. The zero value is ready
// for IsendInto and IrecvInto. It must not be copied once it was started. Any
// number of threads may Test or Wait for it; any thread may start it again once it is
// done and all of them have returned.
//
// What every short message touches is in the first three lines, by the order of the fields:
// windows of many requests would else not fit into the first cache. Altogether it has six, so that the
// requests of an array begin on lines.
type Request struct {
	entry match.Entry[Request] // tag, age; place in the table of posted receives

	gate *Gate // any source: the one to the own rank

	stage   stage
	op      uint8 // what is to be begun
	private bool  // its owner looks at stage under the lock; nobody waits for completion
	needed  bool  // its gate counts it as pending
	told    bool  // who waits is told through the completion; set under the lock
	rouses  bool  // and it is a thread in a blocking call: see Gate.awake
	special bool  // some of what is out of the ordinary is set

	// The second line.

	completion pioman.Completion
	over       atomic.Uint32 // 1: done, and not told; written by the holder of the lock, or while nobody else knows it
	started    atomic.Bool   // claimed at least once; a claimer sets it
	n          int           // bytes sent or received; written under the lock, read after done
	from       int           // recv: rank of the sender; likewise
	err        error
	size       uint64 // recv: bytes of the whole message

	// The third one.

	began int64 // cycles: when it started, if a trace is recorded; else 0
	data  payload

	link   *Request // next in whichever queue holds it
	want   int      // rendezvous: bytes that both sides agreed upon; unknown: the sender has not heard yet
	moved  int      // rendezvous: of them, already moved
	asked  int      // rendezvous: of them, already asked for
	next   cursor   // rendezvous in parts: where asked is
	chunks int      // rendezvous: chunks of it in queues of movers
	cookie uint32   // rendezvous: the sender's name for it

	// Out of the ordinary. All zero unless special; so may data be in pieces.
	sync     bool                  // send: done only when the receive is posted
	short    bool                  // its Data has fewer bytes than it says
	lends    bool                  // send: of a Buffer, which is given back when it is done
	lent     bool                  // send: it was announced as a loan
	loans    bool                  // recv: it takes loans
	priority int8                  // send
	wild     match.Wild[Request]   // recv, or probe, that does not name tag and source: what it is for, place in a list
	any      *Session              // recv from any source
	chooser  func(Envelope) []byte // recv: gives the buffer when the message has come
	held     *message              // matched, choosing: that message
	flat     *tray                 // send: the bytes of a short Data
	notify   func(*Request)        // called when it is done
	queue    *Queue                // gets it when it is done
	lease    *lease                // recv: its loan, once it is done
	leased   uint32                // recv: lease.turn then
	page     int32                 // send: of a Buffer: where that is
	pin      uint8                 // recv: 1 + the rail that a rendezvous is to take; 0: as the strategy wants
}

func fresh() *Request {
	r := &Request{}
	r.started.Store(true)
	return r
}

// claim makes r ours to start.
func (r *Request) claim() error {
	if r.over.Load() != 0 {
		return nil // what most are that are used again
	}
	return r.claimAnew()
}

func (r *Request) claimAnew() error {
	if !r.started.Load() && !r.started.Swap(true) {
		return nil
	}
	if !r.completion.Test(free) {
		return fmt.Errorf("nmad: start a request again: %w: wait for it first", ErrActive)
	}
	return nil
}

// prepare sets the fields that a new operation begins with.
func (r *Request) prepare(g *Gate, tag uint64, buf []byte, private bool) {
	r.entry.Tag, r.entry.Of = tag, r
	r.gate, r.from = g, g.rank
	if r.special {
		r.plain()
	}
	r.data.buf, r.data.size = buf, len(buf)
	r.n, r.err = 0, nil
	r.private, r.needed, r.told, r.rouses = private, false, false, false
	r.began = stamp()
	if !private {
		asm.StoreRelease32(&r.over, 0) // whoever is to see it gets r through a lock
		r.completion.Reset()
	}
}

// ended says that r is done: nothing of it changes until it is started again.
func (r *Request) ended() bool { return r.over.Load() != 0 || r.completion.Test(finished) }

// listen has who waits for r be told through its completion, unless r has ended. It takes the
// lock of the gate.
func (r *Request) listen() {
	if r.any != nil {
		return // told from the start
	}
	r.gate.enter()
	if r.stage != done {
		r.told = true
	}
	r.gate.release()
}

// plain takes back all that is out of the ordinary.
func (r *Request) plain() {
	r.special = false
	r.sync, r.short, r.priority, r.wild.Probe = false, false, 0, false
	r.data.parts, r.data.data = nil, nil
	r.any, r.chooser, r.held, r.notify, r.queue, r.pin = nil, nil, nil, nil, nil, 0
	r.lends, r.lent, r.loans, r.lease = false, false, false, nil
}

// Tag returns the tag of the message. That of a receive that did not name it is valid
// once the request is done, as are Source, Size and Envelope.
func (r *Request) Tag() uint64 {
	if r == nil {
		return 0
	}
	return r.entry.Tag
}

// Source returns, of a receive, the rank of the sender.
func (r *Request) Source() int {
	if r == nil {
		return -1
	}
	return r.from
}

// Size returns the bytes of the whole message, also of one that was truncated.
func (r *Request) Size() uint64 {
	if r == nil {
		return 0
	}
	return r.size
}

// Envelope returns Source, Tag and Size.
func (r *Request) Envelope() Envelope {
	if r == nil {
		return Envelope{}
	}
	return Envelope{r.from, r.entry.Tag, r.size}
}

// Len returns how many bytes were sent, or received into the buffer. It is valid
// once the request is done.
func (r *Request) Len() int {
	if r == nil {
		return 0
	}
	return r.n
}

// Test says whether the request is done, and, if so, how it ended. If not, it
// moves the request's gate on, once. It never blocks.
func (r *Request) Test() (bool, error) {
	if r == nil || !r.started.Load() {
		return false, ErrIdle
	}
	if !r.ended() {
		r.poll()
		if !r.ended() {
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
	if r == nil {
		return ErrIdle
	}
	if !r.ended() {
		if !r.started.Load() {
			return ErrIdle
		}
		if err := r.wait(); err != nil {
			return err
		}
	}
	return r.err
}

// poll moves on what r depends on, once.
func (r *Request) poll() {
	if r.any != nil {
		r.any.poll()
		return
	}
	r.gate.poll()
}

func (r *Request) wait() error {
	if r.any != nil { // all gates may matter: the wait polls the engine
		return r.gate.sleep(r, false)
	}
	return r.gate.wait(r)
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

// prepend puts all of x before what is there, and empties x.
func (q *requestQueue) prepend(x *requestQueue) {
	if x.head == nil {
		return
	}
	if x.tail.link = q.head; q.head == nil {
		q.tail = x.tail
	}
	q.head, x.head = x.head, nil
}

func (q *requestQueue) pop() *Request {
	r := q.head
	if r != nil {
		q.head = r.link
		r.link = nil
	}
	return r
}
