package flow

import "unsafe"

// Payload is the memory in which a message lies, or to which it goes, if that is one piece. Of a message in Pieces it
// has only the size.
type Payload struct {
	base *byte // nil if the message is in Pieces, or empty
	Size int   // bytes
}

// Set makes buf the memory of the message.
func (pl *Payload) Set(buf []byte) { pl.base, pl.Size = unsafe.SliceData(buf), len(buf) }

// address returns the address of the message in this process, for another process that reads it.
func (pl *Payload) address() uint64 { return uint64(uintptr(unsafe.Pointer(pl.base))) }

// Buf returns the memory of the message; nil if the message is in Pieces.
func (pl *Payload) Buf() []byte {
	if pl.base == nil {
		return nil
	}
	return unsafe.Slice(pl.base, pl.Size)
}
