package pio

import "golang.org/x/sys/unix"

// maxIovecs is how many pieces one system call takes at most.
const maxIovecs = 64

// vector returns the pieces of bufs from byte skip on, without empty ones, for a system call. The caller holds mu.
func (s *direction) vector(bufs [][]byte, skip int) []unix.Iovec {
	if s.vec == nil {
		s.vec = new([maxIovecs]unix.Iovec)
	}
	n := 0
	for _, b := range bufs {
		b, skip = b[min(skip, len(b)):], max(skip-len(b), 0)
		if len(b) == 0 {
			continue
		}
		s.vec[n].Base = &b[0]
		s.vec[n].SetLen(len(b))
		if n++; n == len(s.vec) {
			break
		}
	}
	return s.vec[:n]
}

// advance returns bufs without the pieces within the first n bytes, and without empty pieces after them; skip is how
// many bytes of the first piece that is left belong to the n.
func advance(bufs [][]byte, n int) (rest [][]byte, skip int) {
	for len(bufs) > 0 && n >= len(bufs[0]) {
		n -= len(bufs[0])
		bufs = bufs[1:]
	}
	return bufs, n
}
