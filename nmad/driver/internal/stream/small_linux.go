package stream

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
)

// smallSend is the sending end of the small track: the buffer of a packet, of
// which the kernel may have taken a part only, or of those that are to leave together:
//
//	empty ── send ──▶ the kernel takes all: empty; a part: left; nothing: refused, empty
//	empty, left ── send with more, fits ──▶ left
//	left ── send, flush ──▶ the kernel takes the rest: empty, and on; not: left (send: refused)
//
// It belongs to the caller of Send; Arm reads left and refused.
type smallSend struct {
	buf     []byte
	at, end int    // buf[at:end] has still to leave
	left    uint64 // 1: at < end (relaxed)
	refused uint64 // 1: the last Send was refused (relaxed)
	pair    raw.Pair
	copies  bool // bodies of all lengths are copied: sendmsg is refused here
}

// straight is the length of a body from which on it goes to the kernel straight from the
// memory of the user, in bytes: to copy it first takes longer than to name two places. Over TCP
// 64 KiB gain a tenth, 16 KiB lose 2 %.
const straight = 32 << 10

func (s *smallSend) init(maxBody int) { s.buf = make([]byte, driver.HeaderSize+maxBody) }

// send takes a packet, whole, unless an earlier one is in the way or the kernel
// takes nothing at all of this one. Its body is body and then parts, checked by the
// caller. With more it stays here as long as it fits, until the next flush.
func (s *smallSend) send(fd int, h *driver.Header, body []byte, parts [][]byte, more bool) (bool, syscall.Errno) {
	if more && driver.HeaderSize+int(h.Body) <= len(s.buf)-s.end {
		s.put(h, body, parts)
		relaxed.Store(&s.left, 1)
		s.taken()
		return true, 0
	}
	if s.at != s.end {
		if ok, errno := s.moveOn(fd); !ok || errno != 0 {
			relaxed.Store(&s.refused, 1)
			return false, errno
		}
		if more {
			return s.send(fd, h, body, parts, more) // now it fits
		}
	}
	n := driver.HeaderSize + int(h.Body)
	var sent int
	var errno syscall.Errno
	if len(body) >= straight && parts == nil && !s.copies {
		sent, errno = s.sendStraight(fd, h, body)
		if s.copies = kernel.Refuses(errno); s.copies {
			s.end = 0
			return s.send(fd, h, body, parts, more)
		}
	} else {
		s.put(h, body, parts)
		sent, errno = raw.Send(fd, s.buf[:n])
	}
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		s.end = 0
		relaxed.Store(&s.refused, 1)
		return false, 0
	case errno != 0:
		s.end = 0
		return false, errno
	case sent < n:
		s.at = sent
		relaxed.Store(&s.left, 1)
	default:
		s.end = 0
	}
	s.taken()
	return true, 0
}

// sendStraight hands a packet to the kernel whose body stays where it is; what is left of it then is copied.
func (s *smallSend) sendStraight(fd int, h *driver.Header, body []byte) (sent int, errno syscall.Errno) {
	h.Put(s.buf)
	s.end = driver.HeaderSize + len(body)
	if sent, errno = s.pair.SendPair(fd, s.buf[:driver.HeaderSize], body); errno != 0 {
		return sent, errno
	}
	if there := max(sent-driver.HeaderSize, 0); there < len(body) {
		copy(s.buf[driver.HeaderSize+there:], body[there:])
	}
	return sent, 0
}

// taken notes that Send was not refused.
func (s *smallSend) taken() {
	if s.refused != 0 {
		relaxed.Store(&s.refused, 0)
	}
}

// put adds a packet to the buffer, in which there is room for it.
func (s *smallSend) put(h *driver.Header, body []byte, parts [][]byte) {
	h.Put(s.buf[s.end:])
	s.end += driver.HeaderSize
	s.end += copy(s.buf[s.end:], body)
	s.end += driver.Gather(s.buf[s.end:], parts)
}

// moveOn gives the kernel what is left; true: nothing is any more.
func (s *smallSend) moveOn(fd int) (bool, syscall.Errno) {
	if s.at == s.end {
		return true, 0
	}
	n, errno := raw.Send(fd, s.buf[s.at:s.end])
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return false, 0
	}
	if s.at += n; errno != 0 || s.at < s.end {
		return false, errno
	}
	s.at, s.end = 0, 0
	relaxed.Store(&s.left, 0)
	return true, 0
}

// smallRecv is the receiving end of the small track: what one read brought, cut
// into packets. It belongs to the caller of Recv; Arm reads whole.
type smallRecv struct {
	buf     []byte
	maxBody int
	at, end int    // buf[at:end] has arrived and not been handed out
	whole   uint64 // 1: a whole packet is among it (relaxed)
	short   bool   // the last read brought less than there was room for: all that the kernel had
	drained bool   // the packet that was handed out last was the last of such a read
}

// readAhead is how much more than one packet is read at once, in bytes.
const readAhead = 32 << 10

func (r *smallRecv) init(maxBody int) {
	r.maxBody = maxBody
	r.buf = make([]byte, driver.HeaderSize+maxBody+readAhead)
}

// next hands out the next packet, if all of it has arrived.
func (r *smallRecv) next(h *driver.Header) (body []byte, ok bool, err error) {
	n, err := r.first()
	if n == 0 || err != nil {
		return nil, false, err
	}
	packet := r.buf[r.at : r.at+n]
	if err := h.Get(packet); err != nil {
		return nil, false, err
	}
	r.at += n
	r.drained = r.short && r.at == r.end
	// What follows is looked at now, for Arm; a mistake in it is for later.
	whole := uint64(0)
	if more, later := r.first(); more != 0 || later != nil {
		whole = 1
	}
	if whole != r.whole {
		relaxed.Store(&r.whole, whole)
	}
	return packet[driver.HeaderSize:], true, nil
}

// first gives the length in bytes of the packet at the front, 0 if not all of it
// is there.
func (r *smallRecv) first() (int, error) {
	if r.end-r.at < driver.HeaderSize {
		return 0, nil
	}
	var h driver.Header
	if err := h.Get(r.buf[r.at:]); err != nil {
		return 0, err
	}
	if int64(h.Body) > int64(r.maxBody) {
		return 0, fmt.Errorf("%w: a body of %d bytes, at most %d", driver.ErrProtocol, h.Body, r.maxBody)
	}
	if n := driver.HeaderSize + int(h.Body); n <= r.end-r.at {
		return n, nil
	}
	return 0, nil
}

// read brings in what the kernel has. There is room for it: less than a whole
// packet is waiting in the buffer, which is moved to the front if its rest
// would not fit behind it.
func (r *smallRecv) read(fd int) (int, syscall.Errno) {
	switch {
	case r.at == r.end:
		r.at, r.end = 0, 0
	case len(r.buf)-r.at < driver.HeaderSize+r.maxBody:
		r.end = copy(r.buf, r.buf[r.at:r.end])
		r.at = 0
	}
	n, errno := raw.Recv(fd, r.buf[r.end:])
	r.end += n
	r.short = r.end < len(r.buf)
	return n, errno
}
