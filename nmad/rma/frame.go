package rma

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// inlineBytes is the longest put that travels with its request, in bytes.
const inlineBytes = 8 << 10

// What a request asks for.
const (
	askWake     uint8 = 1 + iota // wake the waiters for signals
	askPut                       // write the bytes behind the head
	askLong                      // write bytes that come as a message of their own, in contextData
	askGet                       // send bytes
	askAtomic                    // change a word
	askLearn                     // say which way there is to this memory
	askBreak                     // fail the collective calls of a World (number): a rank (in the place of the bytes) was lost
	askCombine                   // change a run of words: behind the head are the operands, and then the values to compare with
	askReturn                    // give up the key of this memory, which is the sender's, and answer once no put or get by it is under way
	askReturned                  // tell that the sender uses no key of memory of the receiver any more; it has no answer
	asks
)

// wireRequest is what one process asks of another, in a message of contextRequests:
//
//	 0 ask, 1 kind of word, 2 operation, or signal's, 3 whether there is a signal; 4 index; 8 number: the tag of the answer
//	16 key; 24 offset; 32 bytes; 40 operand; 48 value to compare with
//	56 key of the signal; 64 its offset; 72 its index; 76 zero
//	80 the bytes of a put, or words
//
// Numbers are in little endian.
type wireRequest struct {
	ask               uint8
	kind              wordKind
	op                AtomicOp // of an atomic; of a put with a signal 0 and 1: SignalSet and SignalAdd
	signals           bool
	number            uint64
	at                Ref    // its rank is the target's
	bytes             uint64 // bytes
	operand, compared uint64 // the operand, and the value to compare with; of askCombine v is 1 if previous values are asked for
	signalAt          Ref
}

// headBytes is the length of a request without what follows it, in bytes.
const headBytes = 80

func (q *wireRequest) encode(b *[headBytes]byte) {
	*b = [headBytes]byte{q.ask, uint8(q.kind), uint8(q.op)}
	if q.signals {
		b[3] = 1
	}
	le := binary.LittleEndian
	le.PutUint32(b[4:], q.at.index)
	le.PutUint64(b[8:], q.number)
	le.PutUint64(b[16:], q.at.key)
	le.PutUint64(b[24:], q.at.offset)
	le.PutUint64(b[32:], q.bytes)
	le.PutUint64(b[40:], q.operand)
	le.PutUint64(b[48:], q.compared)
	le.PutUint64(b[56:], q.signalAt.key)
	le.PutUint64(b[64:], q.signalAt.offset)
	le.PutUint32(b[72:], q.signalAt.index)
}

// decode reads a request to this process, whose rank it is given, and returns the bytes behind its head; false: no
// process that follows the protocol sends such a message.
func (q *wireRequest) decode(rank int, b []byte) (body []byte, ok bool) {
	if len(b) < headBytes {
		return nil, false
	}
	le := binary.LittleEndian
	*q = wireRequest{
		ask: b[0], kind: wordKind(b[1]), op: AtomicOp(b[2]), signals: b[3] == 1, number: le.Uint64(b[8:]),
		at:    Ref{key: le.Uint64(b[16:]), offset: le.Uint64(b[24:]), rank: uint32(rank), index: le.Uint32(b[4:])},
		bytes: le.Uint64(b[32:]), operand: le.Uint64(b[40:]), compared: le.Uint64(b[48:]),
		signalAt: Ref{key: le.Uint64(b[56:]), offset: le.Uint64(b[64:]), rank: uint32(rank), index: le.Uint32(b[72:])},
	}
	body = b[headBytes:]
	puts := q.ask == askPut || q.ask == askLong
	switch {
	case q.ask == 0 || q.ask >= asks || b[3] > 1 || le.Uint32(b[76:]) != 0:
		return nil, false
	case q.ask == askPut && q.bytes != uint64(len(body)), q.ask != askPut && q.ask != askCombine && len(body) > 0:
		return nil, false
	case q.signals && (!puts || q.op > AtomicOp(SignalAdd)), !q.signals && puts && q.op != 0:
		return nil, false
	case q.ask == askAtomic && (q.kind >= kinds || !q.kind.takes(q.op) || q.bytes != q.kind.bytes()):
		return nil, false
	case q.ask == askCombine && !q.combines(body):
		return nil, false
	}
	return body, true
}

// Ways to memory of another process, in an answer to askLearn.
const (
	wayMessages uint8 = iota
	wayMapped         // the answer has the locator by which to map it
	wayKernel         // the answer has its address, for copies of the kernel
	wayRemote         // the answer has the key of the network; also in answers to askPut, askLong and askGet
	ways
)

// wireReply is the answer to a request, in a message of contextReplies whose tag is the request's number:
//
//	0 status, 1 way; 8 previous value of the word; 16 size of the memory; 24 its address
//	32 a locator, or the address of the page, or the key of the network
//	64 the bytes of a get, or previous values of words
type wireReply struct {
	status  uint8
	way     uint8
	old     uint64
	size    uint64 // bytes
	at      uint64
	page    uint64
	locator mapped.Locator
	remote  driver.RemoteKey
}

// replyBytes is the length of an answer without what follows it, in bytes.
const replyBytes = 64

func (rp *wireReply) encode(b *[replyBytes]byte) {
	*b = [replyBytes]byte{rp.status, rp.way}
	le := binary.LittleEndian
	le.PutUint64(b[8:], rp.old)
	le.PutUint64(b[16:], rp.size)
	le.PutUint64(b[24:], rp.at)
	switch rp.way {
	case wayMapped:
		rp.locator.Put(b[32:])
	case wayRemote:
		le.PutUint64(b[24:], rp.remote.Address)
		le.PutUint64(b[32:], rp.remote.Key)
	default:
		le.PutUint64(b[32:], rp.page)
	}
}

// decode reads an answer; false: no process that follows the protocol sends it.
func (rp *wireReply) decode(b *[replyBytes]byte) (ok bool) {
	le := binary.LittleEndian
	*rp = wireReply{status: b[0], way: b[1], old: le.Uint64(b[8:]), size: le.Uint64(b[16:]), at: le.Uint64(b[24:])}
	switch rp.way {
	case wayMapped:
		rp.locator = mapped.LocatorOf(b[32:])
	case wayRemote:
		rp.remote = driver.RemoteKey{Address: rp.at, Key: le.Uint64(b[32:])}
	default:
		rp.page = le.Uint64(b[32:])
	}
	return rp.status < statuses && rp.way < ways
}
