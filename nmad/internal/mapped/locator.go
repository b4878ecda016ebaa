package mapped

import "encoding/binary"

// Locator tells another process of the host where to find memory. The zero Locator names no memory.
type Locator struct {
	PID  uint32 // process that has made the memory, in its own PID name space
	FD   uint32 // descriptor of the memory in that process
	File uint64 // number of the file (inode) that the kernel has given to the memory
	Size uint64 // bytes
}

// LocatorBytes is the length of an encoded Locator, in bytes.
const LocatorBytes = 24

// Put writes the Locator into the first LocatorBytes bytes of b.
func (l Locator) Put(b []byte) {
	binary.LittleEndian.PutUint32(b, l.PID)
	binary.LittleEndian.PutUint32(b[4:], l.FD)
	binary.LittleEndian.PutUint64(b[8:], l.File)
	binary.LittleEndian.PutUint64(b[16:], l.Size)
}

// LocatorOf reads the Locator in the first LocatorBytes bytes of b.
func LocatorOf(b []byte) Locator {
	return Locator{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
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

// Locator returns the Locator by which other processes find the memory; the zero Locator if they cannot.
func (m *Memory) Locator() Locator { return m.locator }
