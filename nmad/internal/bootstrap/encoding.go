package bootstrap

import "encoding/binary"

func appendU32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func appendU64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// appendString writes the length as two bytes; longer strings are cut.
func appendString(b []byte, s string) []byte {
	s = s[:min(len(s), 1<<16-1)]
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

// reader takes values off a slice. Once something was missing it stays bad and
// returns zeros, so that a caller checks once, at the end.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.b) < n {
		r.bad = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// string reads a string of at most limit bytes.
func (r *reader) string(limit int) string {
	b := r.take(2)
	if b == nil {
		return ""
	}
	n := int(binary.LittleEndian.Uint16(b))
	if n > limit {
		r.bad = true
		return ""
	}
	return string(r.take(n))
}

// done says whether everything was there and nothing is left.
func (r *reader) done() bool { return !r.bad && len(r.b) == 0 }
