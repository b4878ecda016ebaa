package tcp

import (
	"net"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/driver/internal/stream"
)

// After how many seconds of silence the kernel asks whether a peer's host is still there, and how often; without an
// answer the link is lost after 15 s. (A process that ends is noticed at once: its kernel says so.) It does not ask
// while bytes are on the way; those it sends again for as long as the system says, a quarter of an hour by default.
// TCP_USER_TIMEOUT would shorten that, but it also breaks the connection to a peer that is merely busy and does not
// read for so long, which is what back-pressure looks like.
const (
	keepIdle     = 5
	keepInterval = 2
	keepProbes   = 5
)

// takeSocket makes the socket of the connection ours and sets it up. Options are wishes: a system that lacks one works
// without.
func takeSocket(c stream.Conn, sndbuf int) (int, error) {
	fd, err := raw.Take(c)
	if err != nil {
		return -1, err
	}
	wish := func(level, option, value int) { _ = unix.SetsockoptInt(fd, level, option, value) }
	wish(unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	wish(unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	wish(unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, keepIdle)
	wish(unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, keepInterval)
	wish(unix.IPPROTO_TCP, unix.TCP_KEEPCNT, keepProbes)
	if sndbuf > 0 {
		wish(unix.SOL_SOCKET, unix.SO_SNDBUF, sndbuf)
	}
	if sameHost(c) {
		// On loopback nothing is lost and nothing is shared, and an algorithm that paces what it sends (bbr) halves the
		// throughput.
		if unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") != nil {
			_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
		}
	}
	return fd, nil
}

// sameHost reports whether the two ends of a connection are on one host: it then goes through loopback, whatever the
// addresses.
func sameHost(c net.Conn) bool {
	here, _ := c.LocalAddr().(*net.TCPAddr)
	there, _ := c.RemoteAddr().(*net.TCPAddr)
	return here != nil && there != nil && (there.IP.IsLoopback() || there.IP.Equal(here.IP))
}
