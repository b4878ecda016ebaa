package am

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/rma"
)

// An active message is a message of nmad. Its tag is its header:
//
//	bits 63      1: an answer, whose receive waits for exactly this tag
//	     61..62  kind: request, reply, credit
//	     56..60  0
//	     54..55  where the body is: behind the arguments, placed, follows (long.go)
//	     53      the requester awaits an answer
//	     48..52  how many arguments
//	     40..47  credit: how many requests of the receiver were handled since the last credit
//	     32..39  of a request and of an answer: the number of the request, modulo 256
//	     0..31   the handler's id
//
// The message is the arguments, 8 bytes each in little endian, and the body. The requester must know the tag of an
// answer before it comes, so an answer has the rest of its header in a word before the arguments:
//
//	bits 0..7 status, 8..15 credit, 16..23 how many arguments, 24..63 0

// messageKind is the kind of an active message; answers have none, but answerBit.
type messageKind uint8

const (
	kindRequest messageKind = iota
	kindReply               // to a handler of the requester
	kindCredit              // nothing but credit
	numKinds
)

const (
	answerBit = 1 << 63

	// MaxArgs is how many arguments a message has at most, of 64 bits each.
	MaxArgs  = 16
	argsRoom = 8 * MaxArgs // bytes
	wordSize = 8           // bytes of the word of an answer
)

// bodyPlace is where the body of a message is.
type bodyPlace uint8

const (
	bodyWithin  bodyPlace = iota // behind the arguments
	bodyPlaced                   // in memory of the receiver, where the sender has put it
	bodyFollows                  // it comes as a message of its own
	numBodyPlaces
)

// head is the tag of a message, decoded.
type head struct {
	kind   messageKind
	where  bodyPlace
	wants  bool // of a request: the requester awaits an answer
	args   int  // how many
	credit int
	seq    uint8 // number of the request
	id     ID
}

// bit is 1 for true.
func bit(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// tag encodes the head.
func (h *head) tag() uint64 {
	return uint64(h.kind)<<61 | uint64(h.where)<<54 | bit(h.wants)<<53 | uint64(h.args)<<48 |
		uint64(h.credit)<<40 | uint64(h.seq)<<32 | uint64(h.id)
}

// answerTag is the tag of the answer to a request.
func answerTag(seq uint8) uint64 { return answerBit | uint64(seq)<<32 }

// dataTag is the tag of the body that follows a message, in the context of long ones. The number is that of the
// request, or of the request that the message replies to.
func (h *head) dataTag() uint64 { return answerBit | uint64(h.kind)<<61 | uint64(h.seq)<<32 }

// decode decodes the tag of a message of n bytes, other than an answer, and checks it. Errors are ErrMessage.
func decode(tag uint64, n int) (h head, err error) {
	h = head{
		kind: messageKind(tag >> 61 & 3), where: bodyPlace(tag >> 54 & 3), wants: tag>>53&1 != 0,
		args: int(tag >> 48 & 31), credit: int(tag >> 40 & 255), seq: uint8(tag >> 32), id: ID(tag),
	}
	switch {
	case tag&answerBit != 0 || h.kind >= numKinds || h.where >= numBodyPlaces || tag>>56&31 != 0:
		return h, fmt.Errorf("%w: tag %#x", ErrMessage, tag)
	case h.args > MaxArgs || 8*h.args > n:
		return h, fmt.Errorf("%w: %d arguments in %d bytes", ErrMessage, h.args, n)
	case h.wants && h.kind != kindRequest || h.kind == kindCredit && (n != 0 || h.args != 0 || h.where != bodyWithin),
		h.where != bodyWithin && n != 8*h.args+placeBytes, h.where == bodyFollows && h.kind == kindReply && h.credit == 0:
		return h, fmt.Errorf("%w: tag %#x of %d bytes", ErrMessage, tag, n)
	}
	return h, nil
}

// answerStatus is how a request that awaits an answer has ended.
type answerStatus uint8

const (
	statusAnswered  answerStatus = iota // the handler has replied
	statusUnhandled                     // there is no handler of that id
	statusSilent                        // the handler has returned without a reply
	statusNoKey                         // of a long request: there is no such memory
	statusBeyond                        // of a long request: the memory is shorter
	statusGone                          // of a long request: the World of the memory was closed
	numStatuses
)

// statusErrors are the errors for the statuses of a long request.
var statusErrors = [numStatuses]error{statusNoKey: rma.ErrKey, statusBeyond: rma.ErrRange, statusGone: rma.ErrClosed}

// refusalOf is the status for an error of the memory of a long request.
func refusalOf(err error) answerStatus {
	switch {
	case errors.Is(err, rma.ErrRange):
		return statusBeyond
	case errors.Is(err, rma.ErrClosed):
		return statusGone
	}
	return statusNoKey
}

// answerWord is the word of an answer, decoded.
type answerWord struct {
	status answerStatus
	credit int
	args   int // how many
}

// put encodes the word into the first 8 bytes of b.
func (v *answerWord) put(b []byte) {
	binary.LittleEndian.PutUint64(b, uint64(v.status)|uint64(v.credit)<<8|uint64(v.args)<<16)
}

// decodeAnswer decodes the word of an answer, and checks it. Errors are ErrMessage.
func decodeAnswer(b []byte) (v answerWord, err error) {
	if len(b) < wordSize {
		return v, fmt.Errorf("%w: an answer of %d bytes", ErrMessage, len(b))
	}
	w := binary.LittleEndian.Uint64(b)
	v = answerWord{status: answerStatus(w), credit: int(w >> 8 & 255), args: int(w >> 16 & 255)}
	if v.status >= numStatuses || w>>24 != 0 || v.credit == 0 || v.args > MaxArgs || wordSize+8*v.args > len(b) {
		return v, fmt.Errorf("%w: an answer of %d bytes that begins with %#x", ErrMessage, len(b), w)
	}
	return v, nil
}

// putArgs encodes arguments into b.
func putArgs(b []byte, args []uint64) {
	for i, a := range args {
		binary.LittleEndian.PutUint64(b[8*i:], a)
	}
}

// getArgs decodes the n arguments at the beginning of b.
func getArgs(to *[MaxArgs]uint64, b []byte, n int) []uint64 {
	for i := range n {
		to[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return to[:n:n]
}
