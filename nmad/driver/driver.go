package driver

import (
	"context"
	"errors"

	"github.com/pm2-go/pm2/sched/topo"
)

// Driver is one network technology. Safe for concurrent use.
type Driver interface {
	// Name is what users write to choose the driver: "shm", "tcp".
	Name() string
	// Open prepares this process to accept links. It binds loopback unless told otherwise.
	Open(Config) (Endpoint, error)
}

// Endpoint is a driver opened in one process. Safe for concurrent use.
type Endpoint interface {
	// Addr is what a peer needs in order to Dial. It can be published.
	Addr() string
	// Dial links to the process with that rank, whose Endpoint published addr.
	Dial(ctx context.Context, rank int, addr string) (Link, error)
	// Accept waits for the next authenticated peer, and returns its rank and the link to it.
	Accept(ctx context.Context) (rank int, l Link, err error)
	// Choice returns, for people, the name of the driver of the links to the process of that rank, whose Endpoint has
	// published addr, and why it was chosen; "" if the driver has no choice, or has not chosen.
	Choice(rank int, addr string) (network, why string)
	// Close stops accepting and frees what was opened; links stay.
	Close() error
}

// Caps is what a link can do, and what its calls cost. It does not change.
type Caps struct {
	MaxBody    int      // the largest body that Send takes, in bytes
	MaxBodyWhy string   // why Send takes no larger one, for people; "" if the driver does not tell
	Short      int      // the longest body that takes a way of its own on the small track, in bytes; -1 if none does
	ShortHow   string   // which way that is, for people
	Syscalls   bool     // each Send, and each Recv in vain, is a system call: packets should leave together
	Buffered   bool     // Send may leave bytes in the link for Flush to move on
	Process    int      // PID of the peer, as this process sees it, if memory that the peer makes may be mapped here; else 0
	Fetches    bool     // Fetch may read the peer's memory
	Exposes    bool     // messages should be announced with their address, for the peer to Fetch: processes share CPUs
	Borrows    bool     // the peer reads what Push was given, and writes what Pull was given, between the calls
	Echoes     bool     // the link has one end: what Send and Push are given is there for Recv and Pull of the same link at once
	Remote     int      // the shortest put or get that had better go by the link's RemoteMemory, in bytes; 0: it has none
	Locality   Locality // near which processors it lies
}

// Link connects two processes by two tracks: the small track carries packets in order, the large track a stream of
// bytes that both sides have agreed upon (rendezvous). Nothing here blocks, allocates in steady state, or starts a
// goroutine. Each of the four directions (Send with Flush, Recv, Push, Pull) has one caller at a time; different ones
// may run in parallel. Close may come at any time and must be the last call once the others have returned.
//
// The interface has the calls of all links. Caps says which of them a link lacks, and [BasicLink] implements
// these. A link around another one embeds that one, and implements only the calls that it changes.
type Link interface {
	// Caps says what the link can do.
	Caps() Caps

	// Send copies a packet into the network, whole or not at all: header, body, and the parts behind it, of which some
	// may be empty; together h.Body bytes. It returns false if there is no room now, or earlier bytes still have to
	// leave: the caller tries again later. With more the caller promises a Flush soon: a buffered link may keep the
	// packet until then, or until its buffer is full. A buffered link moves what is left on at every call of Send
	// without more.
	Send(h *Header, body []byte, parts [][]byte, more bool) (bool, error)
	// Flush moves buffered bytes on, and reports whether none are left.
	Flush() (bool, error)
	// Recv fills h with the next packet's header. body, of h.Body bytes, may lie in shared memory that the peer can
	// still write: copy it, never trust it twice. It stays valid until the next Recv. A link whose look at the network
	// is expensive may return false once without looking; it looks at the next call.
	Recv(h *Header) (body []byte, ok bool, err error)

	// Push moves as much of buf as fits now, and returns how many bytes; 0 if there is no room. The next call must go
	// on with the rest of buf, which meanwhile stays as it is.
	Push(buf []byte) (int, error)
	// Pull moves what has arrived, at most len(buf), into buf. All of buf is on its way, or agreed upon: a link may let
	// Descriptor wait for as much, and leave the network alone for some microseconds in which more of it arrives. The
	// next call goes on with the rest of buf, in which more of it may be already.
	Pull(buf []byte) (int, error)
	// ReturnPush takes back what Push was given of a link that Borrows, before all of it has moved, and returns how
	// many bytes have moved that Push has not returned. ok is false if the peer may still read: the caller asks again.
	// It does not wait. The track cannot be used any more.
	ReturnPush() (moved int, ok bool)
	// ReturnPull is the same for Pull. It can take as long as the peer is stopped. With evict the caller has given the
	// peer up: the link takes from the peer what it could still write, if need be by ending its process, so ok is soon
	// true.
	ReturnPull(evict bool) (moved int, ok bool)

	// Fetch reads the memory of the peer from that address on into buf, which nothing else touches until the call
	// returns. It returns how many bytes of buf are what the peer has exposed: all, or 0 if the peer has withdrawn that
	// memory or is about to be lost. It fails with errors.ErrUnsupported if that memory cannot be read; the link stays
	// as it was. It counts as a call of Pull.
	Fetch(buf []byte, address uint64) (int, error)
	// Withdraw ends for good what this side has exposed, which may change from here on: no Fetch of the peer that has
	// not returned yet, or comes later, returns any of it. It may be called at any time.
	Withdraw()

	// Descriptor is readable once something arrived after Arm, or room came up for a Send or Push that was refused. The
	// caller puts it into an epoll set (level triggered); it stays the same until Close. It is -1 if the kernel cannot
	// wait for the link.
	Descriptor() int
	// Arm asks the peer, or the kernel, to make Descriptor readable at the next arrival, and with wantRoom also when a
	// send that waits has room. It returns false if something is there already: the caller polls instead, and what an
	// earlier call has asked for may have been taken back.
	Arm(wantRoom bool) bool
	// Disarm undoes Arm, and empties what has become readable.
	Disarm()

	// Close frees the link on this side; the peer's calls then fail with ErrPeerLost.
	Close() error
}

// BasicLink is embedded by links that neither borrow nor read their peer's memory.
type BasicLink struct{}

// ReturnPush implements Link: nothing was borrowed.
func (BasicLink) ReturnPush() (int, bool) { return 0, true }

// ReturnPull implements Link: nothing was borrowed.
func (BasicLink) ReturnPull(bool) (int, bool) { return 0, true }

// Fetch implements Link: it cannot.
func (BasicLink) Fetch([]byte, uint64) (int, error) { return 0, errors.ErrUnsupported }

// Withdraw implements Link: nothing was exposed.
func (BasicLink) Withdraw() {}

// Locality is where a link lies, on a machine where some processors are nearer to it than others.
type Locality struct {
	Node int         // NUMA node, by its number in the system; -1 for none in particular
	CPUs topo.CPUSet // of this process, from which polling the link is cheap; an empty set stands for all of them
	Why  string      // how that was decided, or why not; for people
}
