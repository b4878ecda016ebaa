//go:build ofi && cgo

package ofi

import (
	"encoding/binary"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
)

// What a packet is.
const (
	kindPacket = 1 + iota // of the small track: a header, a body
	kindCredit            // nothing but the credit that all packets bring
	kindWindow            // memory that the next bytes of the large track may be read from
	kindTaken             // how many bytes of the large track its sender has read, ever
	kindHello             // the way is open
	kindBye               // the sender has closed the link
	kindPorts             // from which ports the sender is connected to the endpoint of the receiver
	kindsEnd
)

// prefix stands before each packet. On the wire it is prefixSize bytes, little endian: link, sequence
// number, token, credit, kind, and three zeros.
type prefix struct {
	link   uint32 // by its number at the receiver
	seq    uint32
	token  uint64 // which the receiver has given to the sender of this link alone
	credit uint32 // bytes that the sender has received and done with, modulo 2^32
	kind   uint8
}

const (
	prefixSize = 24
	headSize   = prefixSize + driver.HeaderSize
)

func (p *prefix) put(b []byte) {
	_ = b[prefixSize-1]
	putWord(b[0:], uint64(p.link)|uint64(p.seq)<<32)
	putWord(b[8:], p.token)
	putWord(b[16:], uint64(p.credit)|uint64(p.kind)<<32)
}

func (p *prefix) get(b []byte) bool {
	if len(b) < prefixSize {
		return false
	}
	first, last := word(b[0:]), word(b[16:])
	p.link, p.seq = uint32(first), uint32(first>>32)
	p.token = word(b[8:])
	p.credit, p.kind = uint32(last), uint8(last>>32)
	return last>>40 == 0 && p.kind > 0 && p.kind < kindsEnd
}

// window is memory of a sender, as it tells its receiver.
type window struct {
	at   uint64 // where it begins, for a remote read
	key  uint64 // that opens it
	size uint64 // bytes
}

const windowSize = 24

func (w *window) put(b []byte) {
	putWord(b[0:], w.at)
	putWord(b[8:], w.key)
	putWord(b[16:], w.size)
}

func (w *window) get(b []byte) error {
	if len(b) != windowSize {
		return fmt.Errorf("%w: a window of %d bytes, should have %d", driver.ErrProtocol, len(b), windowSize)
	}
	w.at, w.key = word(b[0:]), word(b[8:])
	if w.size = word(b[16:]); w.size == 0 || w.size > maxWindowBytes {
		return fmt.Errorf("%w: a window onto %d bytes, 1 to %d are possible", driver.ErrProtocol, w.size, maxWindowBytes)
	}
	return nil
}

// maxWindowBytes is the largest window in bytes.
const maxWindowBytes = 1 << 30

func putWord(b []byte, w uint64) { binary.LittleEndian.PutUint64(b, w) }
func word(b []byte) uint64       { return binary.LittleEndian.Uint64(b) }
