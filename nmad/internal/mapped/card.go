package mapped

import "encoding/binary"

// Card tells another process of the host where to find memory. The zero Card names none.
type Card struct {
	PID  uint32 // of its maker, as that sees it; 0: there is no such memory
	FD   uint32 // its descriptor there
	File uint64 // the kernel's number of the memory
	Size uint64 // bytes
}

// CardBytes is the length of a Card in a message, in bytes.
const CardBytes = 24

// Put writes the Card into the first CardBytes bytes of b.
func (c Card) Put(b []byte) {
	binary.LittleEndian.PutUint32(b, c.PID)
	binary.LittleEndian.PutUint32(b[4:], c.FD)
	binary.LittleEndian.PutUint64(b[8:], c.File)
	binary.LittleEndian.PutUint64(b[16:], c.Size)
}

// CardOf reads the Card in the first CardBytes bytes of b.
func CardOf(b []byte) Card {
	return Card{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
}

// At is n bytes of the memory from that place on; ok: they lie in it.
func (m *Memory) At(place, n uint64) (b []byte, ok bool) {
	all := uint64(len(m.bytes))
	if n > all || place > all-n {
		return nil, false
	}
	return m.bytes[place : place+n : place+n], true
}

// Bytes is all of the memory. What is mapped for reading crashes when it is written.
func (m *Memory) Bytes() []byte { return m.bytes }

// Card tells others where the memory is; the zero Card: they cannot find it.
func (m *Memory) Card() Card { return m.card }
