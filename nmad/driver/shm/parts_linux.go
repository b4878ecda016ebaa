package shm

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// parts are what a link is made of, while it is being made. Each side has all of its parts before it tells the
// other one to go on, so that the lack of one is never taken for the loss of a peer. close frees the parts that
// link has not taken.
type parts struct {
	geo          geometry
	segment      int             // memfd; needed until both sides have mapped it
	bells        [2]int          // eventfds that wake the dialer, and the listener
	mem          *mapped.Memory  // the segment; nil: none
	sock         int             // the connection, as a descriptor that Go's poller does not know
	epoll        int             // set of the own bell and sock
	nonce        *nonce          // of this process
	peerEvidence evidence        // of the peer's nonce
	locality     driver.Locality // of what arrives
}

var noParts = parts{segment: -1, bells: [2]int{-1, -1}, sock: -1, epoll: -1}

func (p *parts) close() {
	raw.Close(p.segment, p.bells[0], p.bells[1], p.sock, p.epoll)
	_ = p.mem.Vacate() // else it stays mapped
	*p = noParts
}

// createParts makes new parts for the dialer: all but those of watch. The caller calls close in any case.
func createParts(g geometry, home func() driver.Locality) (p parts, err error) {
	p = noParts
	p.geo, p.nonce = g, newNonce()
	if p.segment, err = createSegment(g); err != nil {
		return p, err
	}
	for i := range p.bells {
		if p.bells[i], err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
			p.bells[i] = -1
			return p, fmt.Errorf("cannot create a doorbell: %w", os.NewSyscallError("eventfd2", err))
		}
	}
	if p.mem, err = mapped.Map(p.segment, g.size(), true); err != nil {
		return p, err
	}
	p.locality = locate(p.mem, g, 1, home())
	return p, nil
}

// receiveParts receives the parts that the dialer sends, and checks what can be checked: all but those of watch.
// An ErrProtocol or ErrRefused is for the dialer to know, an ErrPeerLost is the dialer's end, any other error a
// lack of this process. The caller calls close in any case.
func receiveParts(c *net.UnixConn, home func() driver.Locality) (p parts, err error) {
	p = noParts
	p.nonce = newNonce()
	if err := p.receive(c); err != nil {
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
	if p.mem, err = mapped.Map(p.segment, p.geo.size(), true); err != nil {
		return p, err
	}
	p.locality = locate(p.mem, p.geo, 0, home())
	populate(p.mem, p.geo, 1) // the dialer has chosen where it is
	return p, nil
}

// numSegment is how many descriptors come with a frameSegment.
const numSegment = 3

// receive reads one frameSegment with its descriptors.
func (p *parts) receive(c *net.UnixConn) error {
	// The descriptors come with the first byte; of the frame, head is what all frames have.
	var head [meet.HeadSize]byte
	oob := make([]byte, unix.CmsgSpace(numSegment*4))
	n, oobn, flags, _, err := c.ReadMsgUnix(head[:], oob)
	fds := descriptors(oob[:oobn])
	if len(fds) == numSegment {
		p.segment, p.bells = fds[0], [2]int{fds[1], fds[2]}
	} else {
		raw.Close(fds...)
	}
	var payload []byte
	if err == nil {
		if _, err = io.ReadFull(c, head[n:]); err == nil {
			payload, err = meet.ReadPayload(c, frameSegment, head)
		}
	}
	switch {
	case errors.Is(err, driver.ErrRefused), errors.Is(err, driver.ErrLack):
		return err
	case err != nil && ended(err):
		return fmt.Errorf("%w: it sends no segment: %w", driver.ErrPeerLost, meet.Cause(err))
	case err != nil:
		return fmt.Errorf("cannot receive the segment: %w", meet.Cause(err))
	case flags&unix.MSG_CTRUNC != 0 && len(fds) < numSegment:
		return fmt.Errorf("cannot receive the segment: %w: %d descriptors of %d", os.NewSyscallError("recvmsg", unix.EMFILE), len(fds), numSegment)
	case flags&unix.MSG_CTRUNC != 0:
		return fmt.Errorf("%w: more descriptors came along than belong there", driver.ErrProtocol)
	case len(fds) != numSegment:
		return fmt.Errorf("%w: %d descriptors came along, should be %d", driver.ErrProtocol, len(fds), numSegment)
	case len(payload) != geometrySize+evidenceSize:
		return fmt.Errorf("%w: a segment is announced by %d bytes, should be %d", driver.ErrProtocol, len(payload), geometrySize+evidenceSize)
	}
	p.geo.decode(payload)
	p.peerEvidence.decode(payload[geometrySize:])
	return nil
}

// ended reports whether err is the end of the connection, by the peer or because the time was up. Otherwise this
// process may not make the system call.
func ended(err error) bool {
	var call *os.SyscallError
	return !errors.As(err, &call) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE)
}

// descriptors returns the descriptors that came with a message.
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

// checkBell makes sure that to ring the bell cannot block this process. (A peer that holds the secret could change
// that later; it could also simply fill our memory.)
func checkBell(fd int) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	var link [64]byte
	// Without /proc this cannot be asked, and is taken on trust.
	if n, err := unix.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd), link[:]); err == nil && string(link[:n]) != "anon_inode:[eventfd]" {
		return fmt.Errorf("%w: a doorbell that is %q", driver.ErrProtocol, link[:n])
	}
	return nil
}

// watch makes the epoll set by which side me hears its bell and the end of the connection. Nothing else comes by
// that connection any more; its end is the peer's end.
func (p *parts) watch(c *net.UnixConn, me int) (err error) {
	if p.sock, err = raw.Take(c); err != nil {
		return err
	}
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		p.epoll = -1
		return fmt.Errorf("cannot watch the peer: %w", os.NewSyscallError("epoll_create1", err))
	}
	if err = raw.Interest(p.epoll, unix.EPOLL_CTL_ADD, p.bells[me], unix.EPOLLIN); err == nil {
		err = raw.Interest(p.epoll, unix.EPOLL_CTL_ADD, p.sock, unix.EPOLLRDHUP)
	}
	if err != nil {
		return fmt.Errorf("cannot watch the peer: %w", os.NewSyscallError("epoll_ctl", err))
	}
	return nil
}

// link makes a link of side me of the parts, which are the link's from then on. Both sides must have mapped the
// segment.
func (p *parts) link(rank, me int, w longPaths) (driver.Link, error) {
	l, err := newLink(p.mem.Bytes(), p.geo, me)
	if err != nil {
		return nil, err
	}
	l.bell, l.peerBell = p.bells[me], p.bells[1-me]
	l.epoll, l.sock = p.epoll, p.sock
	l.interval = asm.ToCycles(int64(peerCheckEvery))
	l.Init(Name, rank, l.free)
	l.mem, l.nonce, l.evidence, l.locality = p.mem, p.nonce, p.peerEvidence, p.locality
	l.peerPID = processOf(l.sock)
	l.setPeer(p.peerEvidence.heldBy(l.peerPID), w)
	_ = unix.Close(p.segment)
	*p = noParts
	return l, nil
}

// newLink makes the part of a link that is only memory. me is 0 for the dialer, 1 for the listener.
func newLink(mem []byte, g geometry, me int) (*link, error) {
	out, err := view(mem, g, me)
	if err != nil {
		return nil, err
	}
	in, err := view(mem, g, 1-me)
	if err != nil {
		return nil, err
	}
	l := &link{locality: driver.Locality{Node: -1}}
	l.ownFlags, l.peerFlags = viewFlags(mem)
	if me == 1 {
		l.ownFlags, l.peerFlags = l.peerFlags, l.ownFlags
	}
	l.smallTx.init(out, g)
	l.largeTx.init(out, g)
	l.smallRx.init(in, g)
	l.largeRx.init(in, g)
	return l, nil
}

// createSegment makes a sealed segment of that geometry. It has no name in any file system and vanishes with the last
// process that holds it.
func createSegment(g geometry) (fd int, err error) {
	fd, err = mapped.Create("pm2-shm", g.size(), unix.F_SEAL_SEAL)
	if err != nil {
		return -1, fmt.Errorf("cannot create a shared segment of %d bytes: %w", g.size(), err)
	}
	return fd, nil
}

// checkSegment refuses a segment that is not what the peer has announced.
func checkSegment(fd int, g geometry) error {
	size, _, err := mapped.Check(fd, "segment")
	if err != nil {
		return err
	}
	if size != g.size() {
		return fmt.Errorf("%w: a segment of %d bytes, should have %d", driver.ErrProtocol, size, g.size())
	}
	return nil
}
