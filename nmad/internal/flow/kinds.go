package flow

// Kinds of packets on the small track. docs/wire.md has the frames.
const (
	KindEager     = 1 + iota // a whole message: Tag, Size = Body, Seq; Cookie: bytes of credit given back
	KindRdv                  // announces a message: Tag, Size, Seq; Cookie: the sender's number for it
	KindRtr                  // asks for bytes of an announced message: Cookie as announced, Size: how many, Tag: from which byte on
	KindCredit               // gives credit back: Size bytes
	KindBye                  // the sender closes its session, and sends nothing more but BYEACK; Size: bytes it has ever pushed
	KindByeAck               // everything up to BYE has arrived
	KindAggregate            // several whole messages: Size of them, Seq of the first; Cookie as in EAGER; see aggregate.go
	KindLink                 // the first packets of a rail: what its dialer asks for, and the answer, Size; see nmad/linkstage.go
	KindFull                 // the sender has used all Size records, and more messages wait; see records.go
	KindRoom                 // the receiver keeps Size records from here on; see records.go
	KindLoan                 // announces a message that the receiver may map: as RDV; body: its place; see lending.go
	KindReturn               // a loan was released, or an exposed message was read; Cookie as announced
	KindNote                 // a piece of a note of an agreement; Size: bytes of the note from this piece on; see notes.go
	KindExpose               // announces a message that the kernel may read in its sender's memory: as RDV; body: its address; see exposing.go
	LastKind      = KindExpose
)

// Contexts that need not be opened. A message belongs to a context, and only receives and probes in that context find
// it.
const (
	Library        uint16 = iota // messages that the library itself sends
	DefaultContext               // messages of a program that names no context
)

// Overhead is the credit that a message takes beyond its body, in bytes: about the memory that the receiver needs to
// describe it.
const Overhead = 128

// cost returns the credit that an eager message of size bytes takes.
func cost(size int) int64 { return int64(size) + Overhead }
