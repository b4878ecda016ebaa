package shm

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/hello"
)

// Memory that is lent travels over the socket by which the two have met: once in either direction, a frame without
// a payload, and the descriptor. The socket wakes a sleeper only by its end, so a packet tells the side that is to look there.
// What is written before the packet is, is there when the packet is.

// Lend implements driver.Link.
func (l *link) Lend(fd int) error {
	if s := l.state.Load(); s&(closed|broken|lost) != 0 {
		return l.why(s)
	}
	g := l.calls.Calls(inSend)
	if !g.Enter() {
		return l.why(closed)
	}
	defer g.Leave()
	err := unix.Sendmsg(l.sock, hello.AppendFrame(nil, frameLent, nil), unix.UnixRights(fd), nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	if err != nil {
		return fmt.Errorf("shm: lend memory to rank %d: %w", l.rank, err)
	}
	return nil
}

// Lent implements driver.Link.
func (l *link) Lent() (fd int, err error) {
	g := l.calls.Calls(inRecv)
	if !g.Enter() {
		return -1, l.why(closed)
	}
	defer g.Leave()
	var frame [lentFrame]byte
	oob := make([]byte, unix.CmsgSpace(4))
	n, oobn, flags, _, err := unix.Recvmsg(l.sock, frame[:], oob, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	var fds []int
	if err == nil {
		fds = descriptors(oob[:oobn])
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%w: it lends memory without having given any (%v)", driver.ErrProtocol, err)
	case flags&unix.MSG_CTRUNC != 0:
		err = fmt.Errorf("this process may open no more descriptors, or more than one came along")
	case n != len(frame) || frame != [lentFrame]byte{frameLent} || len(fds) != 1:
		err = fmt.Errorf("%w: %d descriptors come with % x, in place of memory that it lends", driver.ErrProtocol, len(fds), frame[:n])
	default:
		return fds[0], nil
	}
	closeAll(fds)
	return -1, fmt.Errorf("shm: memory of rank %d: %w", l.rank, err)
}
