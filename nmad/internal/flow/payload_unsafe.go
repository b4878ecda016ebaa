package flow

import "unsafe"

// Payload is the one piece of memory in which a message lies, or goes; or only how long it is, if it does not lie in one
// piece: Pieces.
type Payload struct {
	base *byte
	Size int // bytes
}

// Set has the message lie in buf.
func (pl *Payload) Set(buf []byte) { pl.base, pl.Size = unsafe.SliceData(buf), len(buf) }

// address is where it begins, for another process.
func (pl *Payload) address() uint64 { return uint64(uintptr(unsafe.Pointer(pl.base))) }

// Buf is that piece; nil: it does not lie in one.
func (pl *Payload) Buf() []byte {
	if pl.base == nil {
		return nil
	}
	return unsafe.Slice(pl.base, pl.Size)
}
