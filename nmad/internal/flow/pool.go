package flow

import (
	"math/bits"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Message is an unexpected message: an eager one with its body, or the announcement of a rendezvous.
type Message struct {
	match.Arrival[Message]
	size   uint64 // bytes of the whole message
	body   []byte // eager: the data, in a buffer of the pool; loaned: the data in the sender's memory; else nil
	class  int8   // eager: size class of the buffer; -1 if there is no buffer
	eager  bool   // all of the message is here; else it is the announcement of a rendezvous
	cookie uint32 // rendezvous: the sender's number for it
	loaned bool   // rendezvous: announced by LOAN, and mapped here

	address uint64 // rendezvous: address in the sender's memory, if announced by EXPOSE; else 0
	context uint16
}

// Size classes of the pool: buffers of class c have 1 << (minClass + c) bytes.
const (
	minClass = 6
	maxClass = 40
)

// messagePool keeps the memory of unexpected messages to be used again. The credit given to the peer (credit.go) bounds
// the memory in use; limit bounds what the pool keeps.
type messagePool struct {
	messages shelf.Spares[Message]             // their number is at most maxMessages
	buffers  [maxClass - minClass + 1][][]byte // by class
	bytes    int                               // bytes of all buffers
	limit    int                               // the largest kept; further buffers are left to the collector
}

// maxMessages is the largest number of messages that the pool keeps, of about 160 bytes each.
const maxMessages = 4096

// classOf returns the class of the smallest buffer that has size bytes; -1 for 0 bytes.
func classOf(size int) int8 {
	if size == 0 {
		return -1
	}
	return int8(max(bits.Len(uint(size-1)), minClass) - minClass)
}

// get returns a message whose body has room for size bytes.
func (mp *messagePool) get(size int) *Message {
	m := mp.messages.Get()
	m.Init(m)
	m.class = classOf(size)
	if m.class < 0 {
		return m
	}
	c := &mp.buffers[m.class]
	if n := len(*c); n > 0 {
		m.body = (*c)[n-1][:size]
		(*c)[n-1] = nil
		*c = (*c)[:n-1]
		mp.bytes -= cap(m.body)
	} else {
		m.body = make([]byte, size, 1<<(int(m.class)+minClass))
	}
	return m
}

// put takes a message back into the pool. The caller must not use its body any more.
func (mp *messagePool) put(m *Message) {
	if m.class >= 0 && mp.bytes+cap(m.body) <= mp.limit {
		mp.buffers[m.class] = append(mp.buffers[m.class], m.body)
		mp.bytes += cap(m.body)
	}
	m.body, m.loaned, m.class = nil, false, -1
	if mp.messages.Len() < maxMessages {
		mp.messages.Put(m)
	}
}

// Bytes returns the size of the whole message, in bytes.
func (m *Message) Bytes() uint64 { return m.size }

// Body returns all of an eager or a loaned message; nil of any other.
func (m *Message) Body() []byte { return m.body }

// Loaned reports whether Body lies in the memory of the sender.
func (m *Message) Loaned() bool { return m.loaned }
