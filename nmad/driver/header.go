package driver

import (
	"encoding/binary"
	"fmt"
)

// Header travels with every packet of the small track. Drivers transport it whole and look at Body only; its meaning
// belongs to the layer above. On the wire it is HeaderSize bytes, little endian, in this order.
type Header struct {
	Kind    uint8  // packet kind
	Flags   uint8  // kind-specific
	Context uint16 // of the tag; on the wire it follows Size
	Body    uint32 // bytes of body that follow in this packet
	Tag     uint64 // message tag
	Size    uint64 // bytes of the whole message, 48 bits
	Cookie  uint32 // name of a rendezvous; of an eager packet the credit that its sender gives back, in bytes
	Seq     uint32 // message number on its gate
}

// HeaderSize is the encoded size of a Header in bytes.
const HeaderSize = 32

// Put writes the header in its wire form into b[:HeaderSize]; b must be at least that long. It does not allocate.
func (h *Header) Put(b []byte) {
	_ = b[HeaderSize-1]
	binary.LittleEndian.PutUint64(b[0:], h.Word(0))
	binary.LittleEndian.PutUint64(b[8:], h.Tag)
	binary.LittleEndian.PutUint64(b[16:], h.SizeAndContext())
	binary.LittleEndian.PutUint32(b[24:], h.Cookie)
	binary.LittleEndian.PutUint32(b[28:], h.Seq)
}

// Get reads the wire form from b[:HeaderSize]. It fails with ErrProtocol if b is shorter or the reserved bytes are not
// zero; h.Body is whatever the peer wrote, for the caller to bound.
func (h *Header) Get(b []byte) error {
	if len(b) < HeaderSize {
		return fmt.Errorf("header of %d bytes, needs %d: %w", len(b), HeaderSize, ErrProtocol)
	}
	if reserved := h.SetWord(binary.LittleEndian.Uint64(b[0:])); reserved != 0 {
		return fmt.Errorf("reserved bytes of a header are %#x: %w", reserved, ErrProtocol)
	}
	h.Tag = binary.LittleEndian.Uint64(b[8:])
	h.SetSizeAndContext(binary.LittleEndian.Uint64(b[16:]))
	h.Cookie = binary.LittleEndian.Uint32(b[24:])
	h.Seq = binary.LittleEndian.Uint32(b[28:])
	return nil
}

// Word returns the first eight bytes of the wire form as one little-endian word: kind, flags, 16 reserved bits, body. A
// driver over shared memory has a mark of its own in the reserved bits, so that one word, written atomically, says that
// a packet has come, of which kind, and how long it is.
func (h *Header) Word(reserved uint16) uint64 {
	return uint64(h.Kind) | uint64(h.Flags)<<8 | uint64(reserved)<<16 | uint64(h.Body)<<32
}

// SetWord is the inverse of Word: it sets Kind, Flags and Body, and returns the reserved bits.
func (h *Header) SetWord(w uint64) (reserved uint16) {
	h.Kind, h.Flags, h.Body = uint8(w), uint8(w>>8), uint32(w>>32)
	return uint16(w >> 16)
}

// sizeBits is how many bits of SizeAndContext are Size.
const sizeBits = 48

// MaxMessage is the largest Size of a header that has a Context.
const MaxMessage = 1<<sizeBits - 1

// SizeAndContext returns Size and Context as one word of the wire form. A Size above MaxMessage, in a header without
// Context, takes the whole word.
func (h *Header) SizeAndContext() uint64 { return h.Size | uint64(h.Context)<<sizeBits }

// SetSizeAndContext is the inverse of SizeAndContext.
func (h *Header) SetSizeAndContext(w uint64) { h.Size, h.Context = w&MaxMessage, uint16(w>>sizeBits) }

// Length returns the number of bytes of all parts together.
func Length(parts [][]byte) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}

// Gather copies the parts one after the other into dst, as far as there is room, and returns how many bytes that were.
func Gather(dst []byte, parts [][]byte) int {
	n := 0
	for _, p := range parts {
		n += copy(dst[n:], p)
	}
	return n
}
