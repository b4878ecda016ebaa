package shm

import (
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/acceptor"
	"github.com/pm2-go/pm2/nmad/driver/internal/hello"
	"github.com/pm2-go/pm2/nmad/driver/internal/inflight"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/internal/sealed"
)

// parts is what a link is made of, on the way to becoming one. close frees
// whatever link has not taken.
type parts struct {
	geo     geometry
	segment int    // memfd; needed until both sides have mapped it
	bells   [2]int // eventfds that wake the dialer, the listener
	mem     mapping
	nonce   *nonce   // of this process
	theirs  evidence // of the peer's
	place   driver.Place
}

var noParts = parts{segment: -1, bells: [2]int{-1, -1}}

func (p *parts) close() {
	for _, fd := range []int{p.segment, p.bells[0], p.bells[1]} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	if p.mem.mem != nil {
		p.mem.unmap()
	}
	*p = noParts
}

// createParts makes new parts, for the dialer. close must be called in any case.
func createParts(g geometry, home func() driver.Place) (p parts, err error) {
	p = noParts
	p.geo, p.nonce = g, newNonce()
	if p.segment, err = createSegment(g); err != nil {
		return p, err
	}
	for i := range p.bells {
		if p.bells[i], err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
			p.bells[i] = -1
			return p, fmt.Errorf("cannot create an eventfd: %w", err)
		}
	}
	if p.mem, err = mapSegment(p.segment, g); err != nil {
		return p, err
	}
	p.place = p.mem.locate(g, 1, home())
	return p, nil
}

// receiveParts takes the parts that the dialer sends, and checks all that can be
// checked. close must be called in any case.
func receiveParts(c *net.UnixConn, home func() driver.Place) (p parts, err error) {
	p = noParts
	p.nonce = newNonce()
	fds, err := p.receive(c)
	if len(fds) == 3 {
		p.segment, p.bells = fds[0], [2]int{fds[1], fds[2]}
	} else {
		closeAll(fds)
		if err == nil {
			err = fmt.Errorf("%w: %d descriptors came along, should be 3", driver.ErrProtocol, len(fds))
		}
	}
	if err != nil {
		return p, err
	}
	if err := p.geo.check(); err != nil {
		return p, fmt.Errorf("%w: the segment is to have %w", driver.ErrProtocol, err)
	}
	if err := checkSegment(p.segment, p.geo); err != nil {
		return p, err
	}
	for _, fd := range p.bells {
		if err := checkBell(fd); err != nil {
			return p, err
		}
	}
	if p.mem, err = mapSegment(p.segment, p.geo); err != nil {
		return p, err
	}
	p.place = p.mem.locate(p.geo, 0, home())
	p.mem.fetch(p.geo, 1) // the dialer has chosen where it is
	return p, nil
}

// receive reads one frameSegment with its descriptors; those that came are
// returned even on error.
func (p *parts) receive(c *net.UnixConn) (fds []int, err error) {
	frame := make([]byte, segmentFrame)
	oob := make([]byte, unix.CmsgSpace(3*4))
	n, oobn, flags, _, err := c.ReadMsgUnix(frame, oob)
	if err != nil {
		return nil, acceptor.Cause(err)
	}
	fds = descriptors(oob[:oobn])
	if flags&unix.MSG_CTRUNC != 0 {
		return fds, fmt.Errorf("%w: more descriptors came along than belong there, or than this process may open", driver.ErrProtocol)
	}
	// The descriptors come with the first byte; the rest may follow.
	if n < len(frame) {
		if _, err := io.ReadFull(c, frame[n:]); err != nil {
			return fds, acceptor.Cause(err)
		}
	}
	if frame[0] != frameSegment || int(frame[1])|int(frame[2])<<8 != geometrySize+evidenceSize {
		return fds, hello.Refused("it does not send a segment (first bytes %#x)", frame[:3])
	}
	p.geo.decode(frame[3:])
	p.theirs.decode(frame[3+geometrySize:])
	return fds, nil
}

// descriptors are those that came along with a message.
func descriptors(oob []byte) (fds []int) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range msgs {
		if got, err := unix.ParseUnixRights(&msgs[i]); err == nil {
			fds = append(fds, got...)
		}
	}
	return fds
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// checkBell sees to it that ringing cannot block us. (A peer that holds the
// secret could change that later; it could also simply fill our memory.)
func checkBell(fd int) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	var link [64]byte
	// Without /proc this cannot be asked, and is taken on trust.
	if n, err := unix.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd), link[:]); err == nil && string(link[:n]) != "anon_inode:[eventfd]" {
		return fmt.Errorf("%w: a doorbell that is %q", driver.ErrProtocol, link[:n])
	}
	return nil
}

// link makes a link of the parts and the connection; on success both are its
// own. Both sides must have mapped the segment.
func (p *parts) link(c *net.UnixConn, rank int, dialer bool, w ways) (*link, error) {
	me, them := 0, 1
	if !dialer {
		me, them = 1, 0
	}
	l, err := newLink(p.mem.mem, p.geo, me)
	if err != nil {
		return nil, err
	}
	l.rank = rank
	l.bell, l.peerBell = p.bells[me], p.bells[them]
	if l.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("cannot create an epoll set: %w", err)
	}
	if l.sock, err = raw.Take(c); err == nil {
		err = raw.Interest(l.ep, unix.EPOLL_CTL_ADD, l.bell, unix.EPOLLIN)
		if err == nil {
			// Nothing comes on the socket any more; its end is the peer's end.
			err = raw.Interest(l.ep, unix.EPOLL_CTL_ADD, l.sock, unix.EPOLLRDHUP)
		}
		if err != nil {
			_ = unix.Close(l.sock)
		}
	}
	if err != nil {
		_ = unix.Close(l.ep)
		return nil, fmt.Errorf("cannot watch the peer: %w", err)
	}
	l.interval = asm.ToCycles(int64(peerCheckEvery))
	l.calls = inflight.New(numCallers, free(l.ep, l.sock, l.bell, l.peerBell))
	l.mem, l.nonce, l.evidence, l.place = p.mem, p.nonce, p.theirs, p.place
	l.meet(p.theirs.holder(l.sock), w)
	_ = unix.Close(p.segment)
	*p = noParts
	return l, nil
}

// newLink makes the part of a link that is only memory. me is 0 for the dialer,
// 1 for the listener.
func newLink(mem []byte, g geometry, me int) (*link, error) {
	out, err := view(mem, g, me)
	if err != nil {
		return nil, err
	}
	in, err := view(mem, g, 1-me)
	if err != nil {
		return nil, err
	}
	l := &link{place: driver.Place{Node: -1}}
	l.mine, l.theirs = viewFlags(mem)
	if me == 1 {
		l.mine, l.theirs = l.theirs, l.mine
	}
	l.tx.init(out, g)
	l.lt.init(out, g)
	l.rx.init(in, g)
	l.lr.init(in, g)
	return l, nil
}

// createSegment makes a sealed segment of that geometry. It has no name in any
// file system and vanishes with the last process that holds it.
func createSegment(g geometry) (fd int, err error) {
	fd, err = sealed.Create("pm2-shm", g.size(), unix.F_SEAL_SEAL)
	if err != nil {
		return -1, fmt.Errorf("cannot create a shared segment of %d bytes (%w); is the tcp driver an alternative?", g.size(), err)
	}
	return fd, nil
}

// checkSegment says whether a segment that a peer sent is what it must be.
func checkSegment(fd int, g geometry) error {
	size, err := sealed.Check(fd, "segment")
	if err != nil {
		return err
	}
	if size != g.size() {
		return fmt.Errorf("%w: a segment of %d bytes, should have %d", driver.ErrProtocol, size, g.size())
	}
	return nil
}
