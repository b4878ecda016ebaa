package flow

import (
	"math/bits"

	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Message is one that arrived before its receive was posted: an eager one with
// its body, or the announcement of a rendezvous.
type Message struct {
	match.Arrival[Message]
	size   uint64 // bytes of the whole message
	body   []byte // eager: the data, in a buffer of the pool; loaned: in the sender's memory
	class  int8   // eager: size class of that buffer; -1: none
	eager  bool   // it has come whole; else it is the announcement of a rendezvous
	cookie uint32 // rendezvous: the name that the sender has given it
	loaned bool   // rendezvous: the sender lends it

	address uint64 // rendezvous: where it lies in the sender's memory; 0: the sender has not said it
	context uint16

	free *Message // in the pool: the next one
}

// Size classes of the pool are powers of two from 64 bytes on.
const (
	smallestClass = 6
	largestClass  = 40
)

// messagePool keeps the memory of unexpected messages for the next ones. It is under the lock of its gate. The credit
// given to the peer (see credit.go) bounds the memory in use; limit bounds what the pool keeps.
type messagePool struct {
	messages *Message
	buffers  [largestClass - smallestClass + 1][][]byte
	kept     int // bytes of all buffers
	limit    int // what kept may be at most; beyond it buffers go to the collector
	count    int // how many messages the pool has
}

// messagesKept is how many empty messages the pool keeps, about 160 bytes each.
const messagesKept = 4096

func classOf(size int) int8 {
	if size == 0 {
		return -1
	}
	return int8(max(bits.Len(uint(size-1)), smallestClass) - smallestClass)
}

// get returns a message whose body has room for size bytes.
func (mp *messagePool) get(size int) *Message {
	m := mp.messages
	if m == nil {
		m = &Message{}
		m.Init(m)
	} else {
		mp.messages = m.free
		mp.count--
		m.free = nil
	}
	m.class = classOf(size)
	if m.class < 0 {
		return m
	}
	c := &mp.buffers[m.class]
	if n := len(*c); n > 0 {
		m.body = (*c)[n-1][:size]
		(*c)[n-1] = nil
		*c = (*c)[:n-1]
		mp.kept -= cap(m.body)
	} else {
		m.body = make([]byte, size, 1<<(int(m.class)+smallestClass))
	}
	return m
}

// put takes a message back. Its body must not be used any more.
func (mp *messagePool) put(m *Message) {
	if m.class >= 0 && mp.kept+cap(m.body) <= mp.limit {
		mp.buffers[m.class] = append(mp.buffers[m.class], m.body)
		mp.kept += cap(m.body)
	}
	m.body, m.loaned, m.class = nil, false, -1
	if mp.count < messagesKept {
		m.free = mp.messages
		mp.messages = m
		mp.count++
	}
}

// Bytes is the size of the message, Body what has come of it.
func (m *Message) Bytes() uint64 { return m.size }

// Body is what has come of it: all of an eager message, or of one that is loaned, where it lies; else nothing.
func (m *Message) Body() []byte { return m.body }

// Loaned says that it lies in the memory of its sender.
func (m *Message) Loaned() bool { return m.loaned }
