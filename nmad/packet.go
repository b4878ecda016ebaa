package nmad

// Kinds of packets on the small track. docs/wire.md has the frames.
const (
	kindEager     = 1 + iota // a whole message: Tag, Size = Body, Seq; Cookie: credit given back
	kindRdv                  // announces a message: Tag, Size, Seq; Cookie: the sender's name for it
	kindRtr                  // asks for an announced message: Cookie as announced, Size: bytes wanted, Tag as announced
	kindCredit               // gives credit back: Size bytes
	kindBye                  // the last packet but acknowledgements: the sender has closed its session; Size: bytes it has ever pushed
	kindByeAck               // everything up to BYE was taken in
	kindAggregate            // several whole messages: Size of them, Seq of the first; Cookie as in EAGER; see aggregate.go
	kindLink                 // the first packet of a first rail: the answer to who has dialled it, Size; see linking.go
	kindFull                 // all records are used, Size of them, and messages wait; see records.go
	kindRoom                 // so many records are kept from here on: Size
	kindLoan                 // announces a message that can be read where it lies: as RDV; body: where; see lending.go
	kindReturn               // a loan was released; Cookie as announced
	kindNote                 // a piece of a note of an agreement: Size: bytes of it from there on; see note.go
	lastKind      = kindNote
)

// overhead is what a message costs of the credit beyond its body, in bytes:
// about what the receiver needs to keep it.
const overhead = 128

// cost is what an eager message of that size takes of the credit.
func cost(size int) int64 { return int64(size) + overhead }
