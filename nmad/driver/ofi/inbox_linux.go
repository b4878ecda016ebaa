//go:build ofi && cgo

package ofi

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// inbox is the packets of a link that have arrived and were not received: a ring of bytes. The one that polls the
// port puts them in, the caller of Recv takes them out. The sender knows where each packet will lie, and
// sends none for which there is no place, as far as the receiver's credit tells.
//
//	[length (8)] [header, as on the wire] [body] [to the next multiple of 8]
type inbox struct {
	ring []byte        // made when the first packet comes
	tail atomic.Uint64 // bytes put in, ever
	head atomic.Uint64 // bytes that are free again, ever: what the sender is told
	_    [128]byte
	seen atomic.Uint64 // bytes handed out, ever, the last packet included
	free uint64        // head, before the last packet that was handed out
}

const (
	recordHead = 8
	inboxSize  = 128 << 10
	owed       = inboxSize / 4 // bytes of which the sender is told though no packet goes to it
	skip       = ^uint64(0)    // in the place of a length: the next record is at the beginning of the ring
)

// place says where a packet of that many bytes, with its header, lies in an inbox, and what the tail is then.
// false: there is no room.
func place(tail, head uint64, packet int) (at, next uint64, ok bool) {
	n := uint64(recordHead+packet+7) &^ 7
	if at = tail % inboxSize; at+n > inboxSize {
		tail += inboxSize - at
	}
	return tail, tail + n, tail+n-head <= inboxSize
}

// put adds a packet: its header and body. false: there is no room for it.
func (b *inbox) put(packet []byte) bool {
	if b.ring == nil {
		b.ring = make([]byte, inboxSize)
	}
	tail := b.tail.Load()
	at, next, ok := place(tail, b.head.Load(), len(packet))
	if !ok {
		return false
	}
	if at != tail {
		putWord(b.ring[tail%inboxSize:], skip)
	}
	record := b.ring[at%inboxSize:]
	putWord(record, uint64(len(packet)))
	copy(record[recordHead:], packet)
	asm.StoreRelease64(&b.tail, next)
	return true
}

// empty reports whether nothing is there that was not handed out.
func (b *inbox) empty() bool { return b.tail.Load() == b.seen.Load() }

// next hands the next packet out. What the last call has handed out may be overwritten.
func (b *inbox) next() (packet []byte, ok bool) {
	seen := b.seen.Load()
	b.free = seen
	if b.tail.Load() == seen {
		b.release()
		return nil, false
	}
	if b.free-b.head.Load() >= owed/2 {
		b.release()
	}
	n := word(b.ring[seen%inboxSize:])
	if n == skip {
		seen += inboxSize - seen%inboxSize
		n = word(b.ring)
	}
	_, next, _ := place(seen, seen, int(n))
	at := seen%inboxSize + recordHead
	asm.StoreRelease64(&b.seen, next)
	return b.ring[at : at+n], true
}

// release tells how much is free.
func (b *inbox) release() {
	if b.head.Load() != b.free {
		asm.StoreRelease64(&b.head, b.free)
	}
}
