package roster

import (
	"math"
	"net"

	"golang.org/x/sys/unix"
)

// windowRoom returns a function that says how many bytes more the peer's kernel takes; nil if conn is not over TCP, or
// this kernel does not tell (Linux before 5.4). The function may be called by several goroutines; once the connection is
// closed it returns math.MaxInt.
func windowRoom(conn net.Conn) func() int {
	t, ok := conn.(*net.TCPConn)
	if !ok || peerWindow(t) == 0 {
		return nil
	}
	return func() int {
		outstanding := 0
		if !control(t, func(fd int) { outstanding, _ = unix.IoctlGetInt(fd, unix.SIOCOUTQ) }) {
			return math.MaxInt
		}
		// The window is read second: it begins behind what is acknowledged, and bytes that are acknowledged in between
		// are counted twice, not left out.
		return max(peerWindow(t)-outstanding, 0)
	}
}

// peerWindow returns how many bytes, from the first one that is not acknowledged, the peer's kernel takes.
func peerWindow(conn *net.TCPConn) (bytes int) {
	control(conn, func(fd int) {
		if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			bytes = int(info.Snd_wnd)
		}
	})
	return bytes
}
