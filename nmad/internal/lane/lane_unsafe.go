package lane

import (
	"sync/atomic"
	"unsafe"
)

// Lane says where the state of a gate, of its protocol, and of its link in shared memory lies. All words but those of
// the segment lie in objects of Go, which the Lane keeps alive. Go and C read and write them under Lock, unless the
// comment says otherwise. A Lane is complete before C gets its address, and is never freed.
type Lane struct {
	// Of the gate.
	Lock         *atomic.Uint32 // 0 free, 1 held; released by an exchange, before Incoming and Due are looked at
	Incoming     unsafe.Pointer // *pointer; not nil: other threads have left requests, so Tend. Read without the lock
	Due          *atomic.Int32  // above 0: other threads have left other work, so Tend. Read without the lock
	ArmedRails   *int8          // not 0: the engine sleeps on the link
	NoLinks      *bool          // the gate has no links yet, or has ended
	WokenThreads *int           // threads that were woken and are about to send
	Monitored    *atomic.Uint32 // not 0: a monitor hears of messages

	// Of the protocol.
	Holds     *uint8         // not 0: something other than messages is to leave
	Queue     unsafe.Pointer // *pointer; not nil: messages wait for their turn
	Answers   unsafe.Pointer // *pointer; not nil: answers wait for their turn
	Closing   *bool          // nothing more is received
	Full      *bool          // announcements wait because the peer has no room for them
	Pending   *int           // requests under way
	Eager     *int           // longest message that is sent at once, bytes
	Credit    *int64         // bytes that the peer still takes; each message costs Overhead more
	MaxCredit *int64         // the largest value of Credit
	SendSeq   *uint32        // number of the next message to the peer
	RecvSeq   *uint32        // number of the next message from the peer
	Window    *int64         // the largest value of Taken
	Taken     *int64         // bytes of the peer's messages for which it has no credit back
	Owed      *int64         // of Taken, bytes for which the next message gives the credit back
	Sends     *uint64        // messages, for statistics
	Recvs     *uint64        // likewise
	Sent      *uint64        // bytes, for statistics
	Received  *uint64        // likewise
	Kind      uint64         // of an eager message, in the header of its packet
	Overhead  int64          // credit that a message costs besides its bytes

	// Of the link.
	State     *atomic.Uint32 // the link works while none of EndedBits is set
	Sleeping  *atomic.Uint32 // in the segment; not 0 after a message was sent: the peer sleeps, so Tend
	WantRoom  *atomic.Uint32 // in the segment; not 0 after room was made: the peer waits for it, so Tend
	EndedBits uint64         // bits of State
	Send      Ring
	Recv      Ring
	Inline    uint64 // longest body that lies in its cell, bytes
	Line      uint64 // bytes; longer bodies begin at a multiple of it
	Ahead     uint64 // a sender fetches the cell that is so many ahead of the next one for writing

	Looks int64 // how often C looks for a message before it leaves the wait to Go

	// The slips: a ring. Those from Head to Tail wait, in this order.
	Slips       unsafe.Pointer // *Slip, the first place of the ring; nil: C begins no receives
	SlipMask    uint64         // number of places of the ring, less 1; it is a power of two
	Head        atomic.Uint64  // the oldest slip that waits. Read without the lock
	Tail        atomic.Uint64  // the place for the next slip. Read without the lock
	SlipBytes   int64          // bytes for which C may begin further slips: their messages have to fit into the network
	SlipTimerOn atomic.Uint32  // not 0: Go looks now and then whether slips wait for long; 0: a new slip needs StartSlipTimer. Read without the lock

	// The rest is Go's alone.

	Tend           func() // does the work that other threads have left, and wakes the peer. Takes the lock
	StartSlipTimer func() // has Go look now and then whether slips wait for long. Sets SlipTimerOn
}

// Size is the size of the part of a Lane that C knows, in bytes.
const Size = unsafe.Offsetof(Lane{}.Tend)

// Waiting reports whether slips wait. Any thread may call it.
func (x *Lane) Waiting() bool { return x.Head.Load() != x.Tail.Load() }

// Slip is a receive that C has begun. Under the lock of the gate, either C receives a message into it or Go takes it
// over, as a request of its own; slips are taken in the order in which they were begun:
//
//	SlipFree --- C begins it: Tail ---> SlipWaiting --- C receives the message: Head ---> SlipDone --- C ends it ---> SlipFree
//	                                         |                                                                          ^
//	                                         '--- Go takes it over: Head ---> SlipGiven --- the program's call ends it ---'
//
// While it waits, the holder of the lock owns it. In the other states the thread of the program that owns the request
// does.
type Slip struct {
	State    atomic.Uint32
	Source   int32          // rank, as the program has given it
	Tag      int32          // as the program has given it
	Uses     uint32         // how often the slip was begun; part of Handle
	Handle   atomic.Uintptr // by which the program names the request; 0: it has ended
	Buf      uintptr        // address where the message goes
	Capacity uint64         // bytes of Buf; in SlipDone those of the message
	Key      uint64         // tag within the context
	Way      uintptr        // *Way
	Lane     uintptr        // *Lane
	Age      uint64         // Way.Clock when it was begun
	Comm     uintptr        // handle of the communicator
	Index    uint64         // number of the slip in this process: the lowest bits of Handle; set once
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
	Cells   unsafe.Pointer // cells of 64 bytes, in the segment
	Bodies  unsafe.Pointer // the ring of bodies, in the segment
	At      unsafe.Pointer // of a sender five words: packets sent, position in Bodies, both as the peer has released them, whether a packet was refused; of a receiver four: packets received, position in Bodies, both as the peer was told
	Told    unsafe.Pointer // two words in the segment: packets, and position in Bodies, that the receiver has released
	Mask    uint64         // number of cells, less 1; it is a power of two
	Size    uint64         // bytes of Bodies; a power of two
	Shift   uint64         // logarithm of the number of cells
	MaxBody uint64         // longest body, bytes
}

// Way is how messages of one context go over a Lane. Go and C read its words under the lock of the gate; C also looks
// at them without it, and looks again under it.
type Way struct {
	Lane        atomic.Pointer[Lane] // nil: C moves no messages. Set last
	Posted      *int                 // receives that wait for messages
	Unexpected  *int                 // messages that wait for receives
	Wild        unsafe.Pointer       // *pointer; not nil: receives that do not name their tag wait
	Any         *atomic.Int32        // not 0: receives from any source wait
	Clock       *atomic.Uint64       // counts receives from any source, and receives that do not name their tag
	Revoked     *atomic.Bool         // the context was revoked; C reads its word of 32 bits
	ContextBits uint64               // the context, as driver.Header.SizeAndContext has it for a size of 0
	Tags        uint64               // bits that all tags of the context have
}
