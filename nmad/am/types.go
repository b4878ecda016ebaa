package am

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
	"github.com/pm2-go/pm2/pioman"
)

// ID names a handler, in all processes of the job. The 256 highest are the package's.
type ID uint32

// firstReserved is the first of the package's own.
const firstReserved ID = 1<<32 - 256

// Handler handles a message: a request or, named by Token.ReplyTo, a reply. args and body are valid until it returns.
// It is run by the thread that polls, perhaps a hook of the scheduler, so it must neither block nor wait
// (ErrInHandler); it may Reply, TryRequest, and start requests of nmad. Those of messages from one domain of a peer
// run one at a time; of different peers and domains several may run at once. If it panics the program ends.
type Handler func(t *Token, args []uint64, body []byte)

// World is the active messages of a session of nmad: handlers, which all domains reach, and domains. Safe for
// concurrent use.
type World struct {
	s        *nmad.Session
	cfg      Config
	def      *Domain
	handlers atomic.Pointer[handlers]
	calls    outgoingCalls
	served   served

	mu      marcel.SpinLock           // callbacks take it
	domains atomic.Pointer[[]*Domain] // that are open; mu serializes changes
	waiting map[int][]domainAddress   // greetings of domains that were not opened yet, by their numbers; mu
	gone    map[int]bool              // numbers of domains that were closed, which are not used again; mu
	closed  bool                      // mu
	dropped atomic.Uint64

	neglects atomic.Bool  // some domain is neglected
	looked   atomic.Int64 // cycles: when lookAround last did

	control *nmad.Context
	hellos  []*hello
	stop    func() // the monitor
	close   sync.Once
	ended   atomic.Bool
	failure error
}

// handlers are those of a world. It does not change.
type handlers struct {
	few  [64]Handler // of the lowest ids
	more map[ID]Handler
}

// hello is a receive for greetings: each peer tells, by the default domain, before it sends anything else, so that
// receives are posted for it.
//
//	tag    bits 0..15 domain of the sender, 16..31 domain that it sends to, 32..39 Window, 40..63 Medium / 1024
type hello struct {
	w      *World
	req    nmad.Request
	op     nmad.Op
	cycles atomic.Bool
}

// Domain is a queue of active messages of its own, over a domain of nmad: handlers run when its gates are polled.
// Safe for concurrent use, unless it is Private: then for its owner alone.
type Domain struct {
	w       *World
	nm      *nmad.Domain
	own     bool // nm was opened for this one
	number  int
	access  nmad.Access
	in      *nmad.Context // of short messages between domains of the same number; nil: the plain one
	long    *nmad.Context // of long ones
	closed  atomic.Bool
	close   sync.Once
	failure error // what Close returned

	home []atomic.Pointer[peer] // where requests go that name no domain, by rank

	mu    marcel.SpinLock // callbacks take it
	peers map[domainAddress]*peer
	all   atomic.Pointer[[]*peer] // the same, for those that poll

	greetings atomic.Pointer[greeting] // of a Private domain: peers that its owner has not opened yet

	tasks   [2]pioman.Task // each posts what was parked; there is another one where one runs
	due     atomic.Bool    // there is something
	polling atomic.Uint32  // 1: the owner of a Private domain polls; it writes it
	_       [64]byte
	polls   atomic.Uint64 // calls of Poll
	_       [56]byte

	neglected atomic.Bool   // no thread calls Poll; see World.lookAround
	seen      atomic.Uint64 // polls at the last look
}

// domainAddress is a domain of another process.
type domainAddress struct{ rank, far int }

// greeting is a peer that has said that it is about to send.
type greeting struct {
	from domainAddress
	next *greeting
}

// callOutcome is how a call has ended.
type callOutcome uint64

// outgoingCalls are those that this process has made.
type outgoingCalls struct {
	w    *World
	long *nmad.Context

	mu   marcel.SpinLock // callbacks take it
	last uint64
	open map[uint64]*outgoingCall
	why  error // no more begin
}

// outgoingCall is one that waits for its end.
type outgoingCall struct {
	rank   int
	args   []byte            // a long argument for the own process, which is not sent
	begun  atomic.Bool       // one of the own process: its function runs
	over   pioman.Completion // bit 1
	end    callOutcome
	result []byte
	err    error
	req    nmad.Request // of a long result
	op     nmad.Op
}

// Func is a function that other processes call (Call): ctx ends when the caller gives up, or dies, or the world is
// closed; args is the function's own.
type Func func(ctx context.Context, from int, args []byte) ([]byte, error)

// served are the functions of this process, and the calls of them that run.
type served struct {
	w    *World
	work sync.WaitGroup

	mu      marcel.SpinLock // callbacks take it
	names   map[string]Func
	run     map[callID]context.CancelCauseFunc
	threads int   // that run calls, or tell why they do not
	why     error // no more run
}

// callID is a call of another process.
type callID struct {
	rank   int
	number uint64
}

// peer is a domain of another process, or the own one, as a domain of this process sees it. Requests are numbered,
// and handled in the order of their numbers, whichever way they have come. Of the requests that were sent and not
// handled yet, as far as the sender knows, there are at most Config.Window: so many answers and buffers are reserved
// by them, and no side waits for the other one's room to answer.
//
//	requester:  under way = sent - credit that has come back   <= Window
//	target:     came - credit that was given back              <= Window
//	            owed = the part of that which was handled: goes with the next message, or, from half of Window on, by one of its own
type peer struct {
	d    *Domain
	rank int
	far  int // number of its domain
	gate *nmad.Gate
	near bool          // gate is one between domains of the same number
	in   *nmad.Context // of short messages, answers and credit; nil: the plain one
	why  atomic.Pointer[error]
	over context.Context // done once why is set: for threads that wait
	end  context.CancelFunc
	hi   *nmad.Request // that told the peer of this one

	_ [64]byte

	mu       marcel.SpinLock
	underWay int            // requests
	seq      uint8          // of the next request
	owed     int            // requests of the peer's
	short    *Message       // that may be used
	long     *Message       // the same, with a buffer of Medium
	leaving  *Message       // that nmad has not sent yet, as far as is known
	awaited  *Reply         // requests under way that await answers
	parked   *postedReceive // receives that wait for the next poll to be posted

	followings *following // that may be used
	landings   []*landing // all that were made

	paid atomic.Uint32 // requests of the peer's whose credit was given back, ever; written under mu

	_ [64]byte

	// Calls on behalf of one gate come one at a time: they alone touch what follows.
	all   uint32            // requests that have come, ever
	next  uint8             // number of the request to be handled next
	early *[256]keptRequest // requests that came before their turn, by number; nil: none ever did
	token Token             // of the handler that runs
	args  [MaxArgs]uint64   // its arguments
	spent atomic.Uint32     // handlers that ran since the last poll began, which sets it to 0: of the two writes one may be lost
	spare [][]byte          // buffers of early requests
	slots []*postedReceive  // set once
	ran   atomic.Uint64     // handlers
	lost  atomic.Uint64     // messages that were dropped
}

// keptRequest is a request that came before its turn, or its body.
type keptRequest struct {
	head    head
	data    []byte
	here    bool
	landing *landing // its body follows; nil: it does not
}

// Message is a request whose body is filled in place (Domain.Prepare). It is for one thread, up to Commit or Cancel.
//
// Its buffer is room for the word of an answer, for arguments, and for the body: what is before the body is put
// directly before it.
type Message struct {
	p    *peer
	req  nmad.Request
	op   nmad.Op
	buf  []byte
	next *Message // in the list of the peer's that it is in

	id   ID
	size int
	open atomic.Bool // prepared, and neither committed nor cancelled
}

// Reply is the answer to a request, which the requester awaits. The zero value is ready for Domain.RequestFor, again
// and again, each time once Wait has given the answer. It must not be copied. It allocates its buffer at the first
// use.
type Reply struct {
	// Size is the longest body that is expected, in bytes; 0: Limits.Medium. It is set before the first use.
	Size int

	req  nmad.Request
	buf  []byte
	p    *peer // to which the request went; nil: none did
	id   ID
	args [MaxArgs]uint64

	next    *Reply      // in awaited
	credits bool        // it is in awaited, and its credit was not taken; under the peer's mu
	bad     error       // what was wrong with the credit; likewise
	posted  atomic.Bool // the receive of the answer is: before, req is that of the last one. The requester writes it, those that look for room read it
	begun   bool        // RequestFor has succeeded, and Wait has not given the answer
}

// following is a body that is on its way out.
type following struct {
	p     *peer
	req   nmad.Request
	op    nmad.Op
	local *rma.Event
	next  *following // in the list of the peer's
}

// landing is a body that comes into memory of this process. Calls on behalf of the gate alone touch it, but for hold,
// busy and posted.
type landing struct {
	p      *peer
	head   head
	data   []byte // arguments and place
	req    nmad.Request
	op     nmad.Op
	hold   rma.Hold    // under the peer's mu
	busy   bool        // it is in use; likewise
	there  bool        // the body is
	err    error       // why there is no such memory
	posted atomic.Bool // the receive is under way
}

// postedReceive is a receive that is posted again and again.
type postedReceive struct {
	p      *peer
	req    nmad.Request
	op     nmad.Op
	next   *postedReceive // in parked
	cycles atomic.Bool    // it is posted, parked, or about to be
}

// Token is what a handler has of the message that it handles. It is valid, and used by the handler's thread alone,
// until the handler returns.
type Token struct {
	p       *peer // nil: the handler has returned
	head    head
	replied bool
	paid    bool // its credit has gone with the answer, or was owed
}
