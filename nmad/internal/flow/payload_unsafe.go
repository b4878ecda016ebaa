package flow

import "unsafe"

// Payload is the one piece of memory in which a message lies, or goes; or only how long it is, if it does not lie in one
// piece: Pieces.
type Payload struct {
	base *byte
	Size int // bytes
}

// Set has the message lie in buf.
func (p *Payload) Set(buf []byte) { p.base, p.Size = unsafe.SliceData(buf), len(buf) }

// address is where it begins, for another process.
func (p *Payload) address() uint64 { return uint64(uintptr(unsafe.Pointer(p.base))) }

// Buf is that piece; nil: it does not lie in one.
func (p *Payload) Buf() []byte {
	if p.base == nil {
		return nil
	}
	return unsafe.Slice(p.base, p.Size)
}
