package mapped

import "encoding/binary"

// Handle tells another process of the host where to find memory. The zero Handle names no memory.
type Handle struct {
	PID  uint32 // process that has made the memory, in its own PID name space
	FD   uint32 // descriptor of the memory in that process
	File uint64 // number of the file (inode) that the kernel has given to the memory
	Size uint64 // bytes
}

// HandleBytes is the length of an encoded Handle, in bytes.
const HandleBytes = 24

// Put writes the Handle into the first HandleBytes bytes of b.
func (c Handle) Put(b []byte) {
	binary.LittleEndian.PutUint32(b, c.PID)
	binary.LittleEndian.PutUint32(b[4:], c.FD)
	binary.LittleEndian.PutUint64(b[8:], c.File)
	binary.LittleEndian.PutUint64(b[16:], c.Size)
}

// HandleOf reads the Handle in the first HandleBytes bytes of b.
func HandleOf(b []byte) Handle {
	return Handle{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
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

// Handle returns the Handle by which other processes find the memory; the zero Handle if they cannot.
func (m *Memory) Handle() Handle { return m.handle }
