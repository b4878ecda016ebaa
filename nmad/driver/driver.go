package driver

import "context"

// Header travels with every packet of the small track. Drivers transport it
// whole and look at Body only; its meaning belongs to the layer above.
// On the wire it is HeaderSize bytes, little endian, in this order.
type Header struct {
	Kind   uint8  // packet kind
	Flags  uint8  // kind-specific
	_      uint16 // zero
	Body   uint32 // bytes of body that follow in this packet
	Tag    uint64 // message tag
	Size   uint64 // bytes of the whole message
	Cookie uint32 // request identity, kind-specific
	Seq    uint32 // message number on its gate
}

// HeaderSize is the encoded size of a Header in bytes.
const HeaderSize = 32

// Driver is one network technology. Safe for concurrent use.
type Driver interface {
	// Name is what users write to choose the driver: "shm", "tcp".
	Name() string
	// Open prepares this process to accept links. It binds loopback unless
	// told otherwise.
	Open(Config) (Endpoint, error)
}

// Config tells a driver who we are.
type Config struct {
	Rank   int    // this process
	Size   int    // processes in the job
	Job    string // identifies the job on its hosts
	Secret []byte // shared by the processes of the job; both sides prove that they hold it
	Listen string // address to listen on; empty: loopback, any free port
}

// Endpoint is a driver opened in one process. Safe for concurrent use.
type Endpoint interface {
	// Addr is what a peer needs in order to Dial. It can be published.
	Addr() string
	// Dial links to the process with that rank, whose Endpoint published addr.
	Dial(ctx context.Context, rank int, addr string) (Link, error)
	// Accept waits for the next authenticated peer and says who it is.
	Accept(ctx context.Context) (rank int, l Link, err error)
	// Close stops accepting and frees what was opened; links stay.
	Close() error
}

// Link connects two processes by two tracks: the small track carries packets in
// order, the large track a stream of bytes that both sides have agreed upon
// (rendezvous). Nothing here blocks, allocates in steady state, or starts a
// goroutine. Each of the four directions (Send and SendParts, Recv, PushLarge, PullLarge)
// has one caller at a time; different ones may run in parallel. Close may
// come at any time and must be the last call once the others have returned.
type Link interface {
	// MaxBody is the largest body, in bytes, that Send takes.
	MaxBody() int
	// Send copies header and body into the network, whole or not at all.
	// false: no room now, or earlier bytes still have to leave; try again.
	// A driver that buffers flushes what is left on every call of Send, and of Flush.
	Send(h *Header, body []byte) (bool, error)
	// SendParts is Send of a body that lies in several places, of which some may be
	// empty: they go one after the other, as one body of h.Body bytes.
	SendParts(h *Header, parts [][]byte) (bool, error)
	// Flush moves buffered bytes on; false: some are left.
	Flush() (bool, error)
	// Recv fills h with the next packet's header. body, of h.Body bytes, may lie in shared
	// memory that the peer can still write: copy it, never trust it twice. It
	// stays valid until the next Recv.
	Recv(h *Header) (body []byte, ok bool, err error)
	// PushLarge moves as much of buf as fits now and says how much (0: later). The next call
	// must go on with the rest of buf, which meanwhile stays as it is: see Borrower.
	PushLarge(buf []byte) (int, error)
	// PullLarge moves what has arrived, at most len(buf), into buf. All of buf is on its way, or
	// agreed upon: a driver may let Descriptor wait for as much. The next call goes on with the
	// rest of buf, in which more of it may be already.
	PullLarge(buf []byte) (int, error)

	// Descriptor is readable once something arrived after Arm, or room came up for a
	// Send or PushLarge that was refused. The caller puts it into an epoll set
	// (level triggered); it stays the same until Close.
	Descriptor() int
	// Arm asks the peer, or the kernel, to make Descriptor readable at the next arrival (or room).
	// false: something is there already, poll instead. wantRoom: a send is waiting for room.
	Arm(wantRoom bool) bool
	// Disarm ends that and empties what Arm made readable.
	Disarm()

	// Close frees the link on this side; the peer's calls then fail with ErrPeerLost.
	Close() error
}

// Chooser is an Endpoint of a driver that is a choice between others.
type Chooser interface {
	// Choice tells which driver the links are of that were made to the process of that rank,
	// whose Endpoint published addr, and why; "" if there were none.
	Choice(rank int, addr string) (network, why string)
}

// Batcher is a Link of which each Send costs a system call.
type Batcher interface {
	// Batch has Send keep packets to itself, as many as fit into its buffer, until Flush, which must
	// follow, lets them leave in one call. It belongs to the caller of Send.
	Batch()
}

// Direct is a Link without a buffer: a packet that Send takes is gone, and Flush has never
// anything to do.
type Direct interface {
	Direct()
}

// Drainer is a Link of which a Recv in vain costs a system call.
type Drainer interface {
	// Drained says whether the last Recv handed out the last packet of all that the
	// network had when it was asked: to call it once more at once is hardly worth it. It
	// belongs to the caller of Recv.
	Drained() bool
}

// Shorter is a Link on whose small track the shortest bodies take a way of their own. It does not change.
type Shorter interface {
	// Short is the longest of these, in bytes, and says how they go, for people.
	Short() (most int, how string)
}

// Lender is a Link that can hand memory of one process to the other one, which then reads there what only
// a packet tells of.
type Lender interface {
	// Lend gives the peer a descriptor, of memory made by nmad/internal/region, once at most. It is there before any
	// packet that is sent after it. The caller keeps his own. It belongs to the caller of Send. An error: it
	// cannot be done; the link is as it was.
	Lend(fd int) error
	// Lent takes the descriptor that the peer has given, which then is the caller's, who trusts it no more than anything else
	// that comes from there. It belongs to the caller of Recv. An ErrProtocol: the peer has given none, or what is
	// none; other errors are this side's, such as no room for another descriptor, and the link is as it was.
	Lent() (fd int, err error)
}

// Borrower is a Link of which the peer reads what PushLarge was given, and writes into what
// PullLarge was given, by itself, also between the calls, until they have said that all of it
// has moved. Who wants a buffer back before that must ask for it; the track is then of no use
// any more. Neither method waits, and each belongs to the caller of its direction.
type Borrower interface {
	// ReturnPush takes back what PushLarge was given, and says how many bytes of it have moved
	// that PushLarge has not told of. false: not yet, ask again.
	ReturnPush() (moved int, ok bool)
	// ReturnPull is the same for PullLarge. It can take as long as the peer is stopped; with evict,
	// which says that the peer is given up, the link takes from the peer what it could still
	// write, if need be by ending its process: soon the answer is true.
	ReturnPull(evict bool) (moved int, ok bool)
}
