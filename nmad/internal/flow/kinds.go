package flow

// Kinds of packets on the small track. docs/wire.md has the frames.
const (
	KindEager     = 1 + iota // a whole message: Tag, Size = Body, Seq; Cookie: credit given back
	KindRdv                  // announces a message: Tag, Size, Seq; Cookie: the sender's name for it
	KindRtr                  // asks for bytes of an announced message: Cookie as announced, Size: how many, Tag: from which byte on
	KindCredit               // gives credit back: Size bytes
	KindBye                  // the last packet but acknowledgements: the sender has closed its session; Size: bytes it has ever pushed
	KindByeAck               // everything up to BYE was taken in
	KindAggregate            // several whole messages: Size of them, Seq of the first; Cookie as in EAGER; see aggregate.go
	KindLink                 // the first packets of a rail: what its dialler asks for, and the answer, Size; see nmad/linkstage.go
	KindFull                 // all records are used, Size of them, and messages wait; see records.go
	KindRoom                 // so many records are kept from here on: Size
	KindLoan                 // announces a message that can be read where it lies: as RDV; body: where; see lending.go
	KindReturn               // a loan was released, or what was exposed was read; Cookie as announced
	KindNote                 // a piece of a note of an agreement: Size: bytes of it from there on; see nmad/internal/consensus/note.go
	KindExpose               // announces a message that can be read in its sender's memory: as RDV; body: its address; see exposing.go
	LastKind      = KindExpose
)

// Contexts: the key of a message is its context and its tag, and nothing that is for messages of one context finds those
// of another.
const (
	Library uint16 = iota // what the library itself sends
	Plain                 // what a program sends that names none
)

// Overhead is what a message costs of the credit beyond its body, in bytes:
// about what the receiver needs to keep it.
const Overhead = 128

// cost is what an eager message of that size takes of the credit.
func cost(size int) int64 { return int64(size) + Overhead }
