package am

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/shelf"
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
	session       *nmad.Session
	cfg           Config
	defaultDomain *Domain
	handlers      atomic.Pointer[handlers] // replaced as a whole; mu serializes changes
	calls         outgoingCalls
	served        served

	mu             marcel.SpinLock         // callbacks take it
	domains        shelf.Snapshot[*Domain] // that are open; mu serializes changes
	earlyGreetings map[int][]domainAddress // senders of greetings, by number of a domain that is not open yet; mu
	closedNumbers  map[int]bool            // numbers of domains that were closed, which are not used again; mu
	closed         bool                    // no domain opens any more; mu
	dropped        atomic.Uint64           // greetings that were malformed

	neglects atomic.Bool  // some domain is neglected
	lastLook atomic.Int64 // asm.Cycles of the last lookAround

	control          *nmad.Context // of greetings
	greetingReceives []*greetingReceive
	stopMonitor      func() // ends the monitor of gates
	close            sync.Once
	ended            atomic.Bool // no receive for greetings is posted any more
	failure          error       // what Close returns; written within close
}

// handlers are the handlers of a world, which do not change: World.handle makes a new value.
type handlers struct {
	few  [64]Handler    // of the ids below 64
	more map[ID]Handler // of the others
}

// greetingReceive is a receive for greetings. Before a domain sends a peer anything else it sends a greeting to the
// peer's default domain, so that the peer posts receives for it. A greeting has no bytes, but a tag:
//
//	bits 0..15 domain of the sender, 16..31 domain that it sends to, 32..39 Window, 40..63 Medium / 1024
type greetingReceive struct {
	world  *World
	req    nmad.Request
	op     nmad.Operation
	active atomic.Bool // it is posted, or its callback runs
}

// Domain is a queue of active messages of its own, over a domain of nmad: handlers run when its gates are polled.
// Safe for concurrent use, unless it is Private: then for its owner alone.
type Domain struct {
	world        *World
	nmadDomain   *nmad.Domain
	ownsNmad     bool // nmadDomain was opened for this domain, and is closed with it
	number       int
	access       nmad.Access
	shortContext *nmad.Context // of short messages to domains of the same number; nil: they go as plain messages
	longContext  *nmad.Context // of messages longer than shortSize, and of bodies that follow
	closed       atomic.Bool
	close        sync.Once
	failure      error // what Close returns; written within close

	homePeers []atomic.Pointer[peer] // by rank, the peer of requests that name no domain; nil until Domain.to has found it

	mu       marcel.SpinLock // callbacks take it
	peers    map[domainAddress]*peer
	peerList shelf.Snapshot[*peer] // the same peers, for pollers, which take no lock; mu serializes changes

	// Of a Private domain: the peers that have sent a greeting, and that its owner has not opened yet. mu serializes
	// changes.
	greetings shelf.Snapshot[domainAddress]

	tasks     [2]pioman.Task // each posts the parked receives; the second those that are parked while the first runs
	hasParked atomic.Bool    // some receive is parked
	polling   atomic.Uint32  // 1: the owner of a Private domain polls; the owner writes
	_         [64]byte
	polls     atomic.Uint64 // calls of Poll
	_         [56]byte

	neglected atomic.Bool   // no thread calls Poll; see World.lookAround
	pollsSeen atomic.Uint64 // polls at the last lookAround
}

// domainAddress names a domain of another process: its rank, and the number of the domain there.
type domainAddress struct{ rank, domain int }

// callOutcome is how a call has ended.
type callOutcome uint64

// outgoingCalls are the calls that this process has made and that have not ended.
type outgoingCalls struct {
	world       *World
	longContext *nmad.Context // of arguments and results longer than a body

	mu        marcel.SpinLock          // callbacks take it; it guards what follows
	last      uint64                   // number of the last call
	open      map[uint64]*outgoingCall // by number
	closedErr error                    // why no call begins any more; nil while calls may begin
}

// outgoingCall is a call of this process. Its caller sets rank and args; the handler or thread that takes it out of
// outgoingCalls.open sets how it has ended, and signals done.
type outgoingCall struct {
	rank   int
	args   []byte            // a long argument for the own process, which is not sent
	begun  atomic.Bool       // of a call to the own process: its request has been handled
	done   pioman.Completion // bit 0: the call has ended
	end    callOutcome
	result []byte
	err    error        // why there is no outcome; if nil, end tells how the call has ended
	req    nmad.Request // receives a long result
	op     nmad.Operation
}

// Func is a function that other processes call (Call): ctx ends when the caller gives up, or dies, or the world is
// closed; args is the function's own.
type Func func(ctx context.Context, from int, args []byte) ([]byte, error)

// served are the functions of this process, and the calls of them that run.
type served struct {
	world *World
	work  sync.WaitGroup // of threads

	mu        marcel.SpinLock // callbacks take it; it guards what follows
	names     map[string]Func
	run       map[callID]context.CancelCauseFunc // the calls that run, with what cancels their contexts
	threads   int                                // that run calls, or tell callers of a refusal
	closedErr error                              // why no call runs any more; nil while calls may run
}

// callID is a call of another process.
type callID struct {
	rank   int
	number uint64
}

// peer is a domain of another process, or the own one, as a domain of this process sees it. Requests to a peer are
// numbered, and handled there in the order of their numbers, whichever way they have come. Each request reserves an
// answer and a buffer, so there are at most Config.Window of them that were sent and, as far as the sender knows, not
// handled; and neither side waits for room to answer. The target gives the room back as credit:
//
//	requester:  underWay = requests sent - credit that has come back   <= Window
//	target:     received - paid = requests that came - credit given back    <= Window
//	            owed = those of them that were handled: this credit goes with the next message to the requester,
//	                   or, from half a Window on, by a message of its own
type peer struct {
	domain       *Domain
	rank         int
	domainNumber int // number of its domain
	gate         *nmad.Gate
	sameNumber   bool                  // gate is between domains of the same number
	shortContext *nmad.Context         // of short messages, answers and credit; if nil they go as plain messages of gate
	failure      atomic.Pointer[error] // why it has failed; nil before
	ended        context.Context       // done once failure is set
	cancelEnded  context.CancelFunc    // ends ended
	greeting     *nmad.Request         // of the greeting to the peer

	_ [64]byte

	mu       marcel.SpinLock       // callbacks take it; it guards what follows
	underWay int                   // requests
	seq      uint8                 // number of the next request
	owed     int                   // requests of the peer that were handled, and whose credit is still to be given back
	short    shelf.Spares[Message] // with a buffer for a short message
	long     shelf.Spares[Message] // with a buffer of Medium
	leaving  *Message              // handed to nmad, and perhaps not sent yet
	awaited  *Reply                // answers of requests under way
	parked   *postedReceive        // receives that the next poll posts

	outgoingBodies shelf.Spares[outgoingBody]
	incomingBodies []*incomingBody // all that were made

	paid atomic.Uint32 // requests of the peer whose credit was given back, ever; written under mu, read by countReceived

	_ [64]byte

	// nmad runs the callbacks of one gate one at a time: they alone touch what follows, but for the atomic fields.
	received uint32            // requests that have come, ever
	nextSeq  uint8             // number of the request to be handled next
	early    *[256]keptRequest // requests that came before their turn, by number; nil before the first one
	token    Token             // of the handler that runs
	args     [MaxArgs]uint64   // its arguments
	// Handlers that have run since the last poll began. Callbacks count, and Domain.begin sets it to 0; of two writes
	// at the same time one may be lost.
	ranThisPoll  atomic.Uint32
	spareBuffers [][]byte         // buffers for early requests
	receives     []*postedReceive // set before others see the peer
	ranEver      atomic.Uint64    // handlers, ever
	droppedEver  atomic.Uint64    // messages that were dropped, ever
}

// keptRequest is a request that came before its turn, or before its body.
type keptRequest struct {
	head    head
	data    []byte
	present bool          // the request has come
	body    *incomingBody // receives its body; nil if the body does not follow
}

// Message is a request whose body the caller writes in place (Domain.Prepare). One thread at a time uses it, until
// Commit or Cancel.
//
// Its buffer has room for the word of an answer, for arguments, and for the body. The body begins at front; the
// arguments end there, whatever their number.
type Message struct {
	peer *peer
	req  nmad.Request
	op   nmad.Operation
	buf  []byte
	next *Message // in peer.leaving; under the peer's mu

	id   ID
	size int
	open atomic.Bool // prepared, and neither committed nor canceled
}

// Reply is the answer to a request, which the requester awaits: by Wait, WaitContext, Test, or Case in a marcel.Select.
// The zero value is ready for Domain.RequestFor; once the answer has come it is ready for the next request. It must not
// be copied. It allocates its buffer at the first use. Any number of threads may wait for it; one at a time sends a
// request for it.
type Reply struct {
	// Size is the longest body that is expected, in bytes; 0: Limits.Medium. It is set before the first use.
	Size int

	req  nmad.Request // receives the answer
	buf  []byte
	peer *peer // to which the last request went; nil before the first one
	id   ID    // of the handler there
	args [MaxArgs]uint64

	next          *Reply      // in peer.awaited
	creditPending bool        // it is in peer.awaited, and its credit was not taken; under the peer's mu
	creditErr     error       // what was wrong with the credit; nil if nothing was. Under the peer's mu
	listening     atomic.Bool // req receives the answer to the last request, not to one before; harvest reads it
	sent          bool        // the request was sent; the requester's
}

// outgoingBody is the body of a long message, as a message that leaves this process.
type outgoingBody struct {
	peer  *peer
	req   nmad.Request
	op    nmad.Operation
	local *rma.Event // done when the body has left; may be nil
}

// incomingBody receives the body of a long message into memory of this process. The callbacks of the gate alone touch
// it, but for hold, inUse and posted.
type incomingBody struct {
	peer     *peer
	head     head
	data     []byte // of the message: arguments and place
	req      nmad.Request
	op       nmad.Operation
	hold     rma.Hold    // keeps the memory open; under the peer's mu
	inUse    bool        // it is in use; under the peer's mu
	complete bool        // the body has come; under the peer's mu
	err      error       // why there is no such memory: then the body is dropped
	posted   atomic.Bool // req has not ended; callbacks write, releaseAll and Close read
}

// postedReceive is a receive for messages of a peer. Its callback posts it again, or parks it until the next poll.
type postedReceive struct {
	peer   *peer
	req    nmad.Request
	op     nmad.Operation
	next   *postedReceive // in peer.parked; under the peer's mu
	active atomic.Bool    // it is posted or parked, or its callback runs; else it is not posted any more
}

// Token describes to a handler the message that it handles, and answers it. Only the handler's thread uses it, until
// the handler returns.
type Token struct {
	peer    *peer // that has sent the message; nil once the handler has returned
	head    head
	replied bool
	paid    bool // the credit of the request was given back, or is owed
}
