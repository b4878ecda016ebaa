package flow

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Stage is how far a request has come.
//
//	send:  Idle -> Queued -> Done                                   eager
//	               Queued -> Leaving -> Done                        and the network had no room for all of it
//	               Queued -> Announced -> Pushing -> Done           rendezvous
//	recv:  Idle -> Posted -> Done                                   eager
//	               Posted -> Answering -> Pulling -> Done           rendezvous
//	                         Answering <-> Deferred                 until a rail has become idle
//	               Posted -> Choosing -> as from Posted             late choice of the buffer
//	               Posted -> Done                                   cancelled
//
// A message that several rails share is asked for in chunks: its send is Announced, its
// receive Answering or Deferred, until the last one was, though bytes of the first may be
// moving already. leaving.go has what it means to leave; a receive of no bytes leaves, too, in the stage
// Pulling, with its RTR. A send that finds room goes through Queued without standing in the queue; a
// receive whose message is there already goes through Posted without standing
// in the table. From every stage but Idle a failure leads to Done. From Done
// the owner may start the request again.
type Stage uint8

const (
	Idle      Stage = iota
	Queued          // send: waits for room, or for its turn
	Leaving         // send: some of its packet lies in the driver's buffer
	Announced       // send: RDV is out, RTR is awaited
	Pushing         // send: the bytes go out, or wait for those before them
	Posted          // recv: no message yet
	Matched         // recv: the message is there, and is not dealt with yet
	Choosing        // recv: the message is there, its owner is asked for the buffer
	Answering       // recv: RTR waits for room
	Deferred        // recv: RTR waits until a rail is idle
	Pulling         // recv: the bytes come in, or wait for those before them
	Done
	Noticed // no request, but the news that an unexpected message has come; see Flow.Finished
)

// String names the stage as the drawing does.
func (s Stage) String() string {
	return [...]string{"idle", "queued", "leaving", "announced", "pushing", "posted", "matched", "choosing", "answering", "deferred", "pulling", "done", "noticed"}[s]
}

// Request is a send or a receive of a Flow. What belongs to its owner is set before it starts and read once it is
// done; everything else belongs to the Flow. What short messages touch comes first.
type Request struct {
	Entry match.Entry[Request] // tag, age; place in the table of posted receives

	Stage   Stage
	Op      Op   // the owner's
	Private bool // the owner looks at Stage; it is not among those that Finished gives, nor counted
	Told    bool // Finished gives it when it is done, because a waiter, or a trace, is to be told; else, if it is neither Private nor Special, and nothing is Watched, Over is set
	Counted bool // it counts as pending
	Special bool // some of what is out of the ordinary is set
	Sync    bool // send: done only when the receive is posted
	Lends   bool // send: of memory that the peer may be lent, at Place
	Loans   bool // recv: it takes loans

	Over atomic.Uint32 // 1: done; set as the last touch, by the holder of the lock, or while only the owner knows it; see Told

	// Valid once it is done.
	N    int    // bytes sent or received
	From int    // recv: rank of the sender
	Err  error  // how it ended
	Size uint64 // recv: bytes of the whole message

	Data Payload

	Link   *Request // next in whichever queue holds it, also one of the owner
	want   int      // rendezvous: bytes that both sides agreed upon; unknown: the sender has not heard yet
	moved  int      // rendezvous: of them, already moved
	asked  int      // rendezvous: of them, already asked for
	next   cursor   // rendezvous in parts: where asked is
	chunks int32    // rendezvous: chunks of it in queues of streams
	cookie uint32   // rendezvous: the sender's name for it

	// Out of the ordinary. All zero unless Special; so may Data be in pieces.
	Lease    *Lease              // recv that takes loans: its loan, once it is done
	Leased   uint32              // the generation of Lease then
	Wild     match.Wild[Request] // recv, or probe, that does not name tag and source: what it is for, place in a list
	held     *Message            // Matched, Choosing: that message
	flat     *bounce             // send: the bytes of a short Data
	Place    int                 // send that Lends: where in that memory it lies, in bytes
	Priority int8                // send
	Pin      uint8               // recv: 1 + the rail that a rendezvous is to take; 0: as the strategy wants
	Anywhere bool                // recv from any source
	Chooses  bool                // recv: the owner gives the buffer when the message has come
	lent     bool                // send: it was announced as a loan
	short    bool                // its Data has fewer bytes than it says
}

// Op is what a request is for.
type Op uint8

// What a request is for.
const (
	OpSend   Op = iota
	OpRecv      // a receive, or a probe
	OpResume    // a receive that has chosen its buffer
)

// Plain takes back all that is out of the ordinary.
func (r *Request) Plain() {
	r.Special = false
	r.Sync, r.Lends, r.Loans, r.Lease, r.held, r.flat = false, false, false, nil, nil, nil
	r.Wild.Probe = false
	r.Priority, r.Pin, r.Anywhere, r.Chooses, r.lent, r.short = 0, 0, false, false, false, false
	r.Data.Parts, r.Data.Data = nil, nil
}

// Held is the envelope of the message that a receive is to choose its buffer for.
func (r *Request) Held() (tag, size uint64) { return r.held.Tag, r.held.size }

// Describe has the payload of a send lie as d says. What may go eagerly is taken out of it at
// once: it would be copied in any case. To be called outside of the lock of the Flow.
func (r *Request) Describe(d Data) {
	r.Data.SetData(d)
	if r.Data.Size > BounceSize {
		return
	}
	s := bounces.get()
	r.short = r.Data.read(s.buf[:r.Data.Size])
	r.Data.Buf, r.Data.Data = s.buf[:r.Data.Size], nil
	r.flat = s
}

// foldUp takes back what Describe has set up.
func (r *Request) foldUp() {
	r.flat.at, r.flat.end = 0, 0
	bounces.put(r.flat)
	r.flat, r.Data.Buf = nil, nil
}

// shortage is how a request ends as far as its Data goes.
func (r *Request) shortage() error {
	if !r.Special || !r.short {
		return nil
	}
	return fmt.Errorf("nmad: message of rank %d, tag %#x: %w: it says %d", r.From, r.Entry.Tag, ErrData, r.Data.Size)
}

// Queue is a first-in-first-out queue of requests.
type Queue struct{ head, tail *Request }

// Empty says that there is none.
func (q *Queue) Empty() bool { return q.head == nil }

// Push adds r, which must be in no other one.
func (q *Queue) Push(r *Request) {
	r.Link = nil
	if q.head == nil {
		q.head = r
	} else {
		q.tail.Link = r
	}
	q.tail = r
}

// Pop takes the oldest; nil: there is none.
func (q *Queue) Pop() *Request {
	r := q.head
	if r != nil {
		q.head = r.Link
		r.Link = nil
	}
	return r
}

func (q *Queue) remove(r *Request) {
	var rest Queue
	for x := q.Pop(); x != nil; x = q.Pop() {
		if x != r {
			rest.Push(x)
		}
	}
	*q = rest
}

// prepend puts all of x before what is there, and empties x.
func (q *Queue) prepend(x *Queue) {
	if x.head == nil {
		return
	}
	if x.tail.Link = q.head; q.head == nil {
		q.tail = x.tail
	}
	q.head, x.head = x.head, nil
}

// Progress is, of a rendezvous, how many bytes both sides have agreed upon, as far as is known, and how many have moved.
func (r *Request) Progress() (want, moved int) { return r.want, r.moved }
