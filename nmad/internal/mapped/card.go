package mapped

import "encoding/binary"

// Card tells another process of the host where to find memory. The zero Card names no memory.
type Card struct {
	PID  uint32 // process that has made the memory, in its own PID name space
	FD   uint32 // descriptor of the memory in that process
	File uint64 // number of the file (inode) that the kernel has given to the memory
	Size uint64 // bytes
}

// CardBytes is the length of an encoded Card, in bytes.
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

// At returns the n bytes of the memory from the offset place on. ok is false if they do not all lie in the memory.
func (m *Memory) At(place, n uint64) (b []byte, ok bool) {
	all := uint64(len(m.bytes))
	if n > all || place > all-n {
		return nil, false
	}
	return m.bytes[place : place+n : place+n], true
}

// Bytes returns all of the memory. To write memory that is mapped for reading only is a fault that ends the program.
func (m *Memory) Bytes() []byte { return m.bytes }

// Card returns the Card by which other processes find the memory; the zero Card if they cannot.
func (m *Memory) Card() Card { return m.card }
