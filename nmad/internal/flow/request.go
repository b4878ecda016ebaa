package flow

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver"
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
//	               Matched -> Done, Choosing or Answering           its message is taken from the unexpected ones
//	               Posted -> Done                                   cancelled
//	news:  Noticed                                                  an unexpected message has come; never a request
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

// Request is a send or a receive of a Flow: what a plain one needs, in 112 bytes. The owner sets its fields before the
// request starts, and reads them once it is done; all other fields belong to the Flow.
type Request struct {
	Entry match.Entry[Request] // tag, age; place in the table of posted receives

	State   atomic.Uint32 // Fresh, Started, Over
	Stage   Stage
	Op      Op // the owner's
	Heard   Heard
	Counted bool // it counts as pending

	UsesRare bool   // its Rare says something
	Wakes    bool   // the owner's
	Context  uint16 // of its tag

	// Valid once it is done.
	N    int    // bytes sent or received
	Size uint64 // recv: bytes of the whole message
	err  *error // how it ended; nil: well

	Data Payload

	Link *Request // next in whichever queue holds it, also one of the owner
	Rare *Rare    // nil: it never needed one; it is kept for the next use
}

// What State can be.
const (
	Fresh   uint32 = iota // the owner has never started it
	Started               // the owner has, and its end is told otherwise, if it has ended
	Over                  // it has ended: the last touch, by the holder of the lock, or while only the owner knows it
)

// Heard is how the owner hears that a request is done.
type Heard uint8

const (
	ByState Heard = iota // State is set, unless it UsesRare, or something is Watched
	ByStage              // the owner looks at Stage; the request is not among those that Finished gives, nor counted
	Told                 // Finished gives it, because a waiter, or a trace, is to be told
)

// Until is what a send waits for before it is done.
type Until uint8

const (
	Taken    Until = iota // the network has all of it, and of a long one its receiver has what it wants
	Received              // its receive is posted
)

// Rare is what is out of the ordinary about a request. All zero, unless it UsesRare.
type Rare struct {
	Pieces // where the message lies, or goes, in place of one piece

	Wild     match.Wild[Request] // recv, or probe, that does not name tag and source: what it is for, place in a list
	Anywhere bool                // recv from any source
	Chooses  bool                // recv: the owner gives the buffer when the message has come
	Loans    bool                // recv: it takes loans
	Pin      uint8               // recv: 1 + the rail that a rendezvous is to take; 0: as the strategy wants
	From     int                 // recv from any source: rank of the sender
	Lease    *Lease              // recv that takes loans: its loan, once it is done
	Leased   uint32              // the generation of Lease then

	Until    Until                      // send
	Priority int8                       // send
	Where    *[LoanCard + LoanBody]byte // send of memory that the peer may be loaned: what its LOAN says, if it is the first; nil: of other memory

	held  *Message // Matched, Choosing: that message
	flat  *bounce  // send: the bytes of a short Data
	short bool     // its Data has fewer bytes than it says
}

// Err says how it ended.
func (r *Request) Err() error {
	if r.err == nil {
		return nil
	}
	return *r.err
}

// EndsWith sets how it ends.
func (r *Request) EndsWith(err error) {
	r.err = nil
	if err != nil {
		why := err
		r.err = &why
	}
}

// Op is what a request is for.
type Op uint8

// What a request is for.
const (
	OpSend   Op = iota
	OpRecv      // a receive, or a probe
	OpResume    // a receive that has chosen its buffer
)

// pieces is where a message lies that is not in one piece; nil: it is.
func (r *Request) pieces() *Pieces {
	if !r.UsesRare || r.Rare.Parts == nil && r.Rare.Data == nil {
		return nil
	}
	return &r.Rare.Pieces
}

// anywhere says that a receive is from any source.
func (r *Request) anywhere() bool { return r.UsesRare && r.Rare.Anywhere }

// chooses says that the owner gives the buffer when the message has come.
func (r *Request) chooses() bool { return r.UsesRare && r.Rare.Chooses }

// Synchronous says that a send is done only when its receive is posted.
func (r *Request) Synchronous() bool { return r.UsesRare && r.Rare.Until == Received }

// Scatter has the message lie in these parts.
func (r *Request) Scatter(parts [][]byte) {
	r.Rare.Parts, r.Data = parts, Payload{Size: driver.Length(parts)}
}

// Held is the envelope of the message that a receive is to choose its buffer for.
func (r *Request) Held() (tag, size uint64) { return r.Rare.held.Tag, r.Rare.held.size }

// Describe makes the message lie as d says. If a send may go eagerly, Describe copies its bytes at once: they would be
// copied in any case. The caller must not hold the lock of the Flow.
func (r *Request) Describe(d Data) {
	x := r.Rare
	r.Data = Payload{Size: max(d.Size(), 0)}
	if x.Data = d; r.Op != OpSend || r.Data.Size > BounceSize {
		return
	}
	x.flat = newBounce()
	b := x.flat.buf[:r.Data.Size]
	n := x.gather(&cursor{}, b, len(b)+1)
	clear(b[n:])
	x.short = n < len(b)
	x.Data = nil
	r.Data.Set(b)
}

// foldUp takes back what Describe has set up.
func (r *Request) foldUp() {
	x := r.Rare
	x.flat.at, x.flat.end = 0, 0
	bounces.Put(x.flat)
	x.flat, r.Data.base = nil, nil
}

// shortage is how a request ends as far as its Data goes.
func (f *Flow) shortage(r *Request) error {
	if !r.UsesRare || !r.Rare.short {
		return nil
	}
	return fmt.Errorf("nmad: message of rank %d, tag %#x: %w: it says %d", f.Rank, r.Entry.Tag, ErrData, r.Data.Size)
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
