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

// smallSend is the sending end of the small track. Its buffer has a packet of which the kernel may have taken a
// part, or packets that are to leave together:
//
//	empty ── send ──▶ the kernel takes all: empty; a part: left; nothing: refused, empty
//	empty, left ── send with more, it fits ──▶ left
//	left ── send, flush ──▶ the kernel takes the rest: empty, and send goes on; not all of it: left (send: refused)
//
// It belongs to the caller of Send; Arm reads left and refused.
type smallSend struct {
	buf      []byte
	at, end  int    // buf[at:end] has still to leave
	left     uint64 // 1: at < end (relaxed)
	refused  uint64 // 1: the last Send was refused (relaxed)
	pair     raw.Pair
	noGather bool // sendmsg is refused here, so all bodies are copied
}

// minDirect is the length in bytes from which on a body goes to the kernel from the user's memory: to copy it
// behind its header takes longer than to name two places. Over TCP 64 KiB gain a tenth, 16 KiB lose 2 %.
const minDirect = 32 << 10

func (s *smallSend) init(maxBody int) { s.buf = make([]byte, driver.HeaderSize+maxBody) }

// send takes a packet, whole, unless earlier bytes are in the way or the kernel takes nothing of this one. Its
// body is body followed by parts; the caller has checked the lengths. With more the packet stays in the buffer, if
// it fits, until the next flush.
func (s *smallSend) send(fd int, h *driver.Header, body []byte, parts [][]byte, more bool) (bool, syscall.Errno) {
	if more && driver.HeaderSize+int(h.Body) <= len(s.buf)-s.end {
		s.put(h, body, parts)
		relaxed.Store(&s.left, 1)
		s.accepted()
		return true, 0
	}
	if s.at != s.end {
		if ok, errno := s.flush(fd); !ok || errno != 0 {
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
	if len(body) >= minDirect && parts == nil && !s.noGather {
		sent, errno = s.sendDirect(fd, h, body)
		if s.noGather = kernel.Refuses(errno); s.noGather {
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
	s.accepted()
	return true, 0
}

// sendDirect gives the kernel a packet whose body stays in place. What the kernel does not take is copied.
func (s *smallSend) sendDirect(fd int, h *driver.Header, body []byte) (sent int, errno syscall.Errno) {
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

// accepted notes that Send was not refused.
func (s *smallSend) accepted() {
	if s.refused != 0 {
		relaxed.Store(&s.refused, 0)
	}
}

// put appends a packet to the buffer, which has room for it.
func (s *smallSend) put(h *driver.Header, body []byte, parts [][]byte) {
	h.Put(s.buf[s.end:])
	s.end += driver.HeaderSize
	s.end += copy(s.buf[s.end:], body)
	s.end += driver.Gather(s.buf[s.end:], parts)
}

// flush gives the kernel the rest, and reports whether nothing is left.
func (s *smallSend) flush(fd int) (bool, syscall.Errno) {
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

// smallRecv is the receiving end of the small track: the bytes of one read, cut into packets. It belongs to the
// caller of Recv; Arm reads hasPacket.
type smallRecv struct {
	buf       []byte
	maxBody   int
	at, end   int    // buf[at:end] has arrived and not been handed out
	hasPacket uint64 // 1: a whole packet is in buf (relaxed)
	emptied   bool   // the last read brought less than there was room for: all that the kernel had
	drained   bool   // the packet returned last was the last one of such a read
}

// readAhead is how much more than one packet is read at once, in bytes.
const readAhead = 32 << 10

func (r *smallRecv) init(maxBody int) {
	r.maxBody = maxBody
	r.buf = make([]byte, driver.HeaderSize+maxBody+readAhead)
}

// next returns the next packet, if all of it has arrived.
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
	r.drained = r.emptied && r.at == r.end
	// What follows is looked at now, for Arm; a mistake in it is for later.
	whole := uint64(0)
	if more, later := r.first(); more != 0 || later != nil {
		whole = 1
	}
	if whole != r.hasPacket {
		relaxed.Store(&r.hasPacket, whole)
	}
	return packet[driver.HeaderSize:], true, nil
}

// first returns the length in bytes of the packet at the front; 0 if not all of it has arrived.
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

// read reads what the kernel has. There is room for it: the buffer holds less than one packet, and read moves that
// to the front if its rest would not fit behind it.
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
	r.emptied = r.end < len(r.buf)
	return n, errno
}
