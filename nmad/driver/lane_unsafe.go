package driver

import (
	"sync/atomic"
	"unsafe"
)

// Lane is for the library for C (nmad/mpi/abi); no driver and no program uses it. It has the places of the state of a link in shared memory, and of the protocol over it. Code outside of Go uses it to
// send a short message, or to take the next one, itself, because a call from C into Go costs as much as the message. That
// code takes the lock of the gate, checks by these words that the case is the usual one, and then does what Link.Send or
// Link.Recv and the protocol do. It leaves all other cases to Go. nmad/mpi/abi/front/lane.h has the other side, and the
// same layout; docs/decisions/messages-from-c.md the protocol.
//
// All words but those of the segment lie in objects of Go, which a Lane keeps. They are read and written under the lock,
// unless the comment says otherwise.
type Lane struct {
	// Of the gate.
	Lock     *atomic.Uint32 // 0 free, 1 held; released by an exchange, before Incoming and Due are looked at
	Incoming unsafe.Pointer // *pointer: what other threads have left; not nil: Tend. Read without the lock
	Due      *atomic.Int32  // above 0: likewise
	Armed    *int8          // not 0: the engine sleeps on the link
	Guarded  *bool          // it has ended, or has no links
	Awake    *int           // not 0: threads that were woken are about to send
	Watched  *atomic.Uint32 // not 0: a monitor is to be told of messages

	// Of the protocol.
	Holds    *uint8         // not 0: something else is to leave
	Queue    unsafe.Pointer // *pointer; not nil: messages wait for their turn
	Answers  unsafe.Pointer // *pointer; not nil: so do answers
	Closing  *bool          // nothing more is received
	Full     *bool          // announcements wait that the peer has no room for
	Pending  *int           // requests under way
	Eager    *int           // longest message that is sent at once, bytes
	Credit   *int64         // bytes that the peer still takes; each message costs Overhead more
	Most     *int64         // what Credit can be at most
	SendSeq  *uint32        // number of the next message
	RecvSeq  *uint32        // likewise, of the peer's
	Window   *int64         // what Taken can be at most
	Taken    *int64         // bytes of the peer's that have come and were not given back
	Owed     *int64         // of these such as the next message gives back
	Sends    *uint64        // counts, for people
	Recvs    *uint64
	Sent     *uint64 // bytes
	Received *uint64
	Kind     uint64 // of such a message, in its header
	Overhead int64  // bytes

	// Of the link.
	State    *atomic.Uint32 // none of the bits of Over is set: the link works
	Sleeping *atomic.Uint32 // of the peer, in the segment; not 0 after a message is there: Tend
	WantRoom *atomic.Uint32 // likewise, not 0 after room was made
	Over     uint64
	Send     Ring
	Recv     Ring
	Inline   uint64 // bytes of a body that lies in its cell
	Line     uint64 // bytes; other bodies begin at a multiple
	Ahead    uint64 // this many cells on is the one to be fetched for writing

	Looks int64 // how often at most a waiter looks for a message before it leaves that to Go

	// Receives that were begun and are not known to Go: a ring of slips. Those from Head to Tail wait, in this order.
	Slips   unsafe.Pointer // *Slip, the first of them; nil: there are none
	Slots   uint64         // how many, less 1; that number is a power of two
	Head    atomic.Uint64  // read without the lock
	Tail    atomic.Uint64  // likewise
	Spare   int64          // bytes that further slips may be for, so that what they wait for fits into the network
	Watches atomic.Uint32  // not 0: Go looks now and then whether slips wait for long; 0: Watch. Read without the lock

	// Below is Go's alone.

	Tend  func() // does what was left, and wakes the peer
	Watch func() // sets Watches
}

// LaneSize is the part of a Lane that both sides know, in bytes.
const LaneSize = unsafe.Offsetof(Lane{}.Tend)

// Waiting says whether slips wait.
func (x *Lane) Waiting() bool { return x.Head.Load() != x.Tail.Load() }

// Slip is a receive that code outside of Go has begun. It gets its message there, or is given to Go, by whichever holder
// of the lock comes first:
//
//	SlipFree --- begun: Tail ---> SlipWaiting --- the next message is for it: Head ---> SlipDone  --- its owner has seen it ---> SlipFree
//	                                   |                                                               ^
//	                                   '--- Go takes in what was left: Head ---> SlipGiven --- waited for, or freed ---'
type Slip struct {
	State  atomic.Uint32
	Source int32          // as the program has it
	Tag    int32          // likewise
	Uses   uint32         // how often it was begun; its Handle has that
	Handle atomic.Uintptr // what the program has; 0: nothing
	Buf    uintptr        // where the message goes
	Room   uint64         // bytes there; SlipDone: of the message
	Key    uint64         // tag in the context
	Way    uintptr        // *Way
	Lane   uintptr        // *Lane
	Age    uint64         // Way.Clock when it was begun
	Comm   uintptr        // the handle of the communicator
	Place  uint64         // the lowest bits of Handle; set once
}

// States of a Slip.
const (
	SlipFree uint32 = iota
	SlipWaiting
	SlipDone
	SlipGiven
)

// Ring is one direction of a link.
type Ring struct {
	Cells  unsafe.Pointer // cells of 64 bytes, in the segment
	Bodies unsafe.Pointer // the ring of bodies, in the segment
	At     unsafe.Pointer // five words of the sender: packets sent, position in Bodies, both as the peer has released them, whether a packet was refused; four of the receiver: packets received, position in Bodies, both as they were told
	Told   unsafe.Pointer // two words in the segment, packets and position that the receiver has released
	Mask   uint64         // number of cells, less 1; these numbers are powers of two
	Size   uint64         // bytes of Bodies
	Shift  uint64         // logarithm of the number of cells
	Most   uint64         // bytes of a body
}

// Way is how messages of one context go over a Lane.
type Way struct {
	Lane       atomic.Pointer[Lane] // nil: there is none. Set last
	Posted     *int                 // receives that wait
	Unexpected *int                 // messages that wait
	Wild       unsafe.Pointer       // *pointer; not nil: receives that do not name their tag wait
	Any        *atomic.Int32        // not 0: receives from any source wait
	Clock      *atomic.Uint64       // counts such, and others that do not name their tag
	Revoked    *atomic.Bool         // the context was revoked; code outside of Go reads its word of 32 bits
	Extent     uint64               // the context, as a header's Extent has it
	Tags       uint64               // bits that all tags have
}
