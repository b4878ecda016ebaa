package flow

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Stage is the state of a request.
//
//	send:  NotStarted -> Queued -> Finished                           eager
//	                     Queued -> Leaving -> Finished                eager, and the kernel had no room for all of the packet
//	                     Queued -> Announced -> Pushing -> Finished   rendezvous
//	recv:  NotStarted -> Posted -> Finished                           eager
//	                     Posted -> Answering -> Pulling -> Finished   rendezvous
//	                               Answering <-> Deferred             until a rail has become idle
//	                     Posted -> Choosing -> as from Posted         late choice of the buffer
//	                     Matched -> Finished, Choosing or Answering   the receive takes an unexpected message
//	                     Posted -> Finished                           canceled
//	news:  Noticed                                                    an unexpected message has come; never a request
//
// The receiver asks for a message that several rails share chunk by chunk. Until it has asked for the last chunk, the
// send stays Announced, and the receive Answering or Deferred, though bytes of the first chunk may be moving already.
// leaving.go explains Leaving; a receive of no bytes, which is Pulling, also waits there for its RTR to leave the
// driver's buffer. A send that finds room passes through Queued without being put into the queue. A receive whose
// message is there already passes through Posted without being put into the table. From every stage but NotStarted a
// failure leads to Finished. Once the request is done the program may start the request again.
type Stage uint8

const (
	NotStarted Stage = iota // not started
	Queued                  // send: it waits for room, or for its turn
	Leaving                 // send: a part of its packet lies in the driver's buffer
	Announced               // send: the RDV has left, and the receiver has not asked for all bytes yet
	Pushing                 // send: the bytes go out, or wait for those before them
	Posted                  // recv: no message has come yet
	Matched                 // recv: the message is there, and deliver has not handled it yet
	Choosing                // recv: the message is there, and the gate chooses the buffer
	Answering               // recv: the RTR waits for room
	Deferred                // recv: the RTR waits until a rail is idle
	Pulling                 // recv: the bytes come in, or wait for those before them
	Finished                // the protocol needs nothing more of it
	Noticed                 // no request, but the news that an unexpected message has come; see Flow.Finished
)

// String returns the name of the stage, in lower case.
func (s Stage) String() string {
	return [...]string{
		"not started", "queued", "leaving", "announced", "pushing", "posted", "matched", "choosing", "answering", "deferred",
		"pulling", "finished", "noticed",
	}[s]
}

// Request is a send or a receive of a Flow: what an ordinary one needs, in 112 bytes. The gate sets Entry.Tag, Kind,
// Notify, Context, Data and Extras before it starts the request, and reads N, Size and Err once the request is done. In
// between the request belongs to the Flow, under the lock of the gate, except for State.
type Request struct {
	Entry match.Entry[Request] // tag and age; place in the table of posted receives

	State   atomic.Uint32 // StateNotStarted, StateStarted or StateDone; the gate and Finish write it, any thread reads it
	Stage   Stage
	Kind    RequestKind
	Notify  Notify // how a waiter learns that the request is done
	Counted bool   // Pending counts the request

	UsesExtras  bool   // Extras is in use; else nothing in it counts
	WakesThread bool   // for the gate; the Flow does not look at it
	Context     uint16 // number of the context of the tag

	// The result, valid once the request is done.
	N    int    // bytes sent, or received into the buffer
	Size uint64 // recv: bytes of the whole message
	err  *error // nil: it has succeeded

	Data Payload // where the message lies, or goes, if that is one piece of memory

	Next   *Request // the next request in the queue that holds this one; the gate's queues use it, too
	Extras *Extras  // what few requests need; nil until the first such use, kept for later ones
}

// The end of a request has two moments, which two words tell apart:
//
//	finished   the protocol needs nothing more of it: Stage is Finished, which the holder of the gate's lock sees
//	done       the program may look at the result and start it again: State is StateDone, or the completion of
//	           nmad's request has its done bit; any thread sees that, without the lock
//
// Finish does both at once if no thread sleeps for the request, and no callback or queue gets it. Otherwise the gate
// passes it on after Finish, and it is done later.

// Values of Request.State.
const (
	StateNotStarted uint32 = iota // the gate has never started the request
	StateStarted                  // the gate has started it; if it is done, the waiter learns that in another way than by State
	StateDone                     // it is done: stored as the last access, under the lock or before other threads know the request
)

// Notify says how a waiter learns that a request is done.
type Notify uint8

const (
	NotifyState Notify = iota // Finish sets State, unless the request uses Extras or a monitor watches: then Finished gives the request
	NotifyNone                // the gate looks at Stage, under the lock; the request neither comes out of Finished nor counts as pending
	NotifyGate                // Finished gives the request, because a waiter sleeps or a trace is recorded
)

// Extras is the part of a request that few requests need. It is zero unless UsesExtras is set.
type Extras struct {
	Pieces // where the message lies, or goes, if that is not one piece of memory

	Wild            match.Wild[Request] // recv, or probe, that does not name tag and source: its pattern, and place in a list
	Anywhere        bool                // recv from any source
	Chooses         bool                // recv: the gate chooses the buffer when the message has come
	Loans           bool                // recv: it takes loans
	Pin             uint8               // recv: 1 + the rail that a rendezvous is to take; 0: the strategy decides
	From            int                 // recv from any source: rank of the sender
	Lease           *Lease              // recv that takes loans: its loan, once the receive is finished
	LeaseGeneration uint32              // recv that takes loans: Lease.Generation of its loan

	Sync      bool                          // send: it is done only when its receive is posted; else when the network has all of it
	Priority  int8                          // send: strategy.Item.Priority
	LoanPlace *[LoanLocator + LoanBody]byte // send of memory that the peer may read: the body of a first LOAN; nil for other memory

	message *Message // recv that is Matched or Choosing: its message
	bounce  *bounce  // send of a short Data: a copy of its bytes
	short   bool     // the Data has fewer bytes than its Size
}

// Err returns how the request has ended.
func (r *Request) Err() error {
	if r.err == nil {
		return nil
	}
	return *r.err
}

// SetErr sets what Err returns.
func (r *Request) SetErr(err error) {
	r.err = nil
	if err != nil {
		why := err
		r.err = &why
	}
}

// RequestKind says what a request does.
type RequestKind uint8

const (
	RequestSend   RequestKind = iota // a send
	RequestRecv                      // a receive, or a probe
	RequestResume                    // a receive whose buffer the gate has chosen, or that has claimed its message
)

// pieces returns where the message lies, or goes; nil if that is one piece of memory, Data.
func (r *Request) pieces() *Pieces {
	if !r.UsesExtras || r.Extras.Parts == nil && r.Extras.Data == nil {
		return nil
	}
	return &r.Extras.Pieces
}

// anywhere reports whether a receive is from any source.
func (r *Request) anywhere() bool { return r.UsesExtras && r.Extras.Anywhere }

// chooses reports whether the gate chooses the buffer of a receive when the message has come.
func (r *Request) chooses() bool { return r.UsesExtras && r.Extras.Chooses }

// Synchronous reports whether a send is done only when its receive is posted.
func (r *Request) Synchronous() bool { return r.UsesExtras && r.Extras.Sync }

// Scatter sets the parts in which the message lies, or to which it goes. The gate calls it before it starts the
// request.
func (r *Request) Scatter(parts [][]byte) {
	r.Extras.Parts, r.Data = parts, Payload{Size: driver.Length(parts)}
}

// HeldMessage returns the envelope of the message for which the gate is to choose the buffer of a receive.
func (r *Request) HeldMessage() (tag, size uint64) {
	return r.Extras.message.Tag, r.Extras.message.size
}

// Describe makes d the memory in which the message lies, or to which it goes. The gate calls it before it starts the
// request, without the lock of the Flow, because Describe calls the methods of d. Of a short send, up to BounceSize
// bytes, it copies the bytes at once: they would be copied in any case.
func (r *Request) Describe(d Data) {
	x := r.Extras
	r.Data = Payload{Size: max(d.Size(), 0)}
	if x.Data = d; r.Kind != RequestSend || r.Data.Size > BounceSize {
		return
	}
	x.bounce = newBounce()
	b := x.bounce.buf[:r.Data.Size]
	n := x.gather(&cursor{}, b, len(b)+1)
	clear(b[n:])
	x.short = n < len(b)
	x.Data = nil
	r.Data.Set(b)
}

// freeBounce gives back the bounce buffer of a send that Describe has copied.
func (r *Request) freeBounce() {
	x := r.Extras
	x.bounce.at, x.bounce.end = 0, 0
	bounces.Put(x.bounce)
	x.bounce, r.Data.base = nil, nil
}

// dataError returns ErrData if the request's Data had fewer bytes than its Size; else nil.
func (f *Flow) dataError(r *Request) error {
	if !r.UsesExtras || !r.Extras.short {
		return nil
	}
	return fmt.Errorf("nmad: message of rank %d, tag %#x: %w: it says %d", f.PeerRank, r.Entry.Tag, ErrData, r.Data.Size)
}

// Queue is a first-in-first-out queue of requests.
type Queue struct{ head, tail *Request }

// Empty reports whether the queue has no request.
func (q *Queue) Empty() bool { return q.head == nil }

// Push adds r, which must be in no other queue.
func (q *Queue) Push(r *Request) {
	r.Next = nil
	if q.head == nil {
		q.head = r
	} else {
		q.tail.Next = r
	}
	q.tail = r
}

// Pop takes out the oldest request; nil if there is none.
func (q *Queue) Pop() *Request {
	r := q.head
	if r != nil {
		q.head = r.Next
		r.Next = nil
	}
	return r
}

// remove takes out r, if it is there. It walks the whole queue.
func (q *Queue) remove(r *Request) {
	var rest Queue
	for x := q.Pop(); x != nil; x = q.Pop() {
		if x != r {
			rest.Push(x)
		}
	}
	*q = rest
}
