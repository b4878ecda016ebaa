package stream

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
)

// maxMove is how many bytes of the large track one call moves at most: as long as the kernel copies, a garbage
// collection waits.
const maxMove = 1 << 20

// DefaultWakeBytes is a value of Network.WakeBytes: fewer bytes of a long message are not worth a wake.
const DefaultWakeBytes = 512 << 10

// link is one side of a link. doc.go says how it works.
type link struct {
	driver.BasicLink
	// Read by all directions, written rarely.
	life.Life
	maxBody int // bytes
	fd      [numTracks]int
	epoll   int // epoll set of both sockets: the Descriptor
	_       [padding]byte

	// One part for each direction; its caller owns it.
	smallTx  smallSend
	_        [padding]byte
	smallRx  smallRecv
	_        [padding]byte
	largeTx  struct{ refused uint64 } // refused is 1: the last Push found no room (relaxed)
	_        [padding]byte
	largeRx  lowWater
	pace     pacing
	_        [padding]byte
	armed    [numTracks]uint32 // events for which the epoll set waits at each socket; 0: the socket is not in the set; of Arm and Disarm
	_        [padding]byte
	locality driver.Locality
}

// padding separates what different cores write, in bytes.
const padding = 128

// newLink makes a link of the sockets, which are its own from then on.
func newLink(n *Network, s *sockets, rank, peerBody int) *link {
	l := &link{maxBody: min(n.MaxBody, peerBody), fd: s.fd, epoll: s.epoll, locality: s.locality}
	own := *s
	*s = noSockets
	l.Init(n.Name, rank, own.close)
	l.smallTx.init(l.maxBody)
	l.smallRx.init(l.maxBody)
	l.largeRx.init(n.WakeBytes)
	return l
}

// Caps implements driver.Link. The largest body is the smaller one of what the two sides offer.
func (l *link) Caps() driver.Caps {
	return driver.Caps{
		MaxBody: l.maxBody, MaxBodyWhy: "it has to fit a link's buffer", Short: minDirect - 1, ShortHow: "copied behind its header, one write",
		Syscalls: true, Buffered: true, Locality: l.locality,
	}
}

// Send implements driver.Link: one system call, and none if the header is wrong, or with more. What the kernel takes no
// more of stays in the buffer of the link.
func (l *link) Send(h *driver.Header, body []byte, parts [][]byte, more bool) (bool, error) {
	if size := len(body) + driver.Length(parts); int(h.Body) != size || size > l.maxBody {
		return false, fmt.Errorf("%s: send to rank %d: %w: %d bytes, header says %d, at most %d",
			l.Name, l.Rank, driver.ErrBody, size, h.Body, l.maxBody)
	}
	if err := l.Begin(life.Send); err != nil {
		return false, err
	}
	ok, errno := l.smallTx.send(l.fd[trackSmall], h, body, parts, more)
	l.Leave(life.Send)
	if errno != 0 {
		return false, l.lost("sendto", errno)
	}
	return ok, nil
}

// Flush implements driver.Link.
func (l *link) Flush() (bool, error) {
	if err := l.Begin(life.Send); err != nil {
		return false, err
	}
	ok, errno := l.smallTx.flush(l.fd[trackSmall])
	l.Leave(life.Send)
	if errno != 0 {
		return false, l.lost("sendto", errno)
	}
	return ok, nil
}

// Recv implements driver.Link: one system call, none if the last one brought more than one packet, or all that there
// were. body lies in the buffer of the link.
func (l *link) Recv(h *driver.Header) (body []byte, ok bool, err error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
		return nil, false, l.Why(s)
	}
	if body, ok, err = l.smallRx.next(h); ok {
		return body, ok, nil
	}
	if err == nil {
		if l.smallRx.drained {
			// The network has given all that it had a moment ago: a look at once is hardly worth it.
			l.smallRx.drained = false
			return nil, false, nil
		}
		if !l.Enter(life.Recv) {
			return nil, false, l.Why(life.Closed)
		}
		n, errno := l.smallRx.read(l.fd[trackSmall])
		l.Leave(life.Recv)
		switch {
		case errno == unix.EAGAIN || errno == unix.EINTR:
			return nil, false, nil
		case errno != 0 || n == 0:
			return nil, false, l.lost("recvfrom", errno)
		}
		body, ok, err = l.smallRx.next(h)
	}
	if err != nil {
		return nil, false, l.Break(err)
	}
	return body, ok, nil
}

// Push implements driver.Link: one system call, straight from buf.
func (l *link) Push(buf []byte) (int, error) {
	if err := l.Begin(life.Push); err != nil {
		return 0, err
	}
	if len(buf) == 0 {
		l.Leave(life.Push)
		return 0, nil
	}
	n, errno := raw.Send(l.fd[trackLarge], buf[:min(len(buf), maxMove)])
	l.Leave(life.Push)
	switch errno {
	case 0:
		if l.largeTx.refused != 0 {
			relaxed.Store(&l.largeTx.refused, 0)
		}
		return n, nil
	case unix.EAGAIN, unix.EINTR:
		relaxed.Store(&l.largeTx.refused, 1)
		return 0, nil
	}
	return 0, l.lost("sendto", errno)
}

// Pull implements driver.Link: one system call, straight into buf; none while the stream is paused, see pacing.
func (l *link) Pull(buf []byte) (int, error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
		return 0, l.Why(s)
	}
	if len(buf) == 0 || l.pace.paused(len(buf)) {
		return 0, nil
	}
	if !l.Enter(life.Pull) {
		return 0, l.Why(life.Closed)
	}
	n, errno := raw.Recv(l.fd[trackLarge], buf[:min(len(buf), maxMove)])
	l.largeRx.setRemaining(l.fd[trackLarge], len(buf)-n)
	l.Leave(life.Pull)
	l.pace.looked(n, len(buf))
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return 0, nil
	case errno != 0 || n == 0:
		return 0, l.lost("recvfrom", errno)
	}
	return n, nil
}

// Descriptor implements driver.Link.
func (l *link) Descriptor() int { return l.epoll }

// Arm implements driver.Link. One caller of Arm and Disarm at a time, beside whatever the directions do. It makes two
// system calls, and one more to wait for many bytes of the large track.
func (l *link) Arm(wantRoom bool) bool {
	if l.State.Load()&(life.Closed|life.Broken) != 0 || relaxed.Load(&l.smallRx.hasPacket) != 0 {
		return false
	}
	// Bytes that Send left in the buffer have to leave, whichever thread waits for it.
	var want [numTracks]bool
	want[trackSmall] = relaxed.Load(&l.smallTx.left) != 0 || wantRoom && relaxed.Load(&l.smallTx.refused) != 0
	want[trackLarge] = wantRoom && relaxed.Load(&l.largeTx.refused) != 0
	if wantRoom && !want[trackSmall] && !want[trackLarge] {
		return false // what waited has gone meanwhile
	}
	for t, w := range want {
		events := uint32(unix.EPOLLIN)
		if w {
			events |= unix.EPOLLOUT
		}
		if !l.interest(t, events) {
			return false
		}
	}
	return l.changeMark((*lowWater).raise)
}

// Disarm implements driver.Link.
func (l *link) Disarm() {
	l.changeMark((*lowWater).lower)
	for t := range numTracks {
		l.interest(t, 0)
	}
}

// changeMark raises or lowers the mark for a sleeper. It returns false if the link is closed.
func (l *link) changeMark(change func(*lowWater, int)) bool {
	if !l.Enter(life.Arm) {
		return false
	}
	change(&l.largeRx, l.fd[trackLarge])
	l.Leave(life.Arm)
	return true
}

// interest sets the events for which the epoll set waits at a socket; with 0 the socket leaves the set. It returns
// false if the link is closed.
func (l *link) interest(track int, events uint32) bool {
	if l.armed[track] == events {
		return true
	}
	if !l.Enter(life.Arm) {
		return false
	}
	op := unix.EPOLL_CTL_MOD
	switch {
	case l.armed[track] == 0:
		op = unix.EPOLL_CTL_ADD
	case events == 0:
		op = unix.EPOLL_CTL_DEL
	}
	err := raw.Interest(l.epoll, op, l.fd[track], events)
	l.Leave(life.Arm)
	if err == nil {
		l.armed[track] = events
	}
	return err == nil
}

// lost notes that the connection has ended, as a system call says. errno 0 is the regular end of the stream.
func (l *link) lost(call string, errno syscall.Errno) error {
	if errno == 0 {
		return l.Lose(nil)
	}
	return l.Lose(kernel.Explain(os.NewSyscallError(call, errno)))
}

// Close implements driver.Link. Bytes that Flush has not moved on are lost. The descriptors are closed once no call is
// under way.
func (l *link) Close() error {
	if l.End() {
		l.Drain()
	}
	return nil
}
