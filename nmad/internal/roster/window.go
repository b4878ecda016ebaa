package roster

import (
	"math"
	"net"

	"golang.org/x/sys/unix"
)

// windowRoom returns a function that says how many bytes more the peer's kernel takes; nil if conn is not over TCP, or
// this kernel does not tell (Linux before 5.4). Several goroutines may call the function at once; once the connection
// is closed it returns math.MaxInt.
func windowRoom(conn net.Conn) func() int {
	t, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	if info := tcpInfo(t); info == nil || info.Snd_wnd == 0 {
		return nil
	}
	return func() int {
		info := tcpInfo(t)
		if info == nil {
			return math.MaxInt
		}
		// The window begins behind what is acknowledged. On one side of a connection Bytes_acked counts the opening of
		// the connection as a byte; so the difference may be 1 too small.
		unacknowledged := min(int(info.Bytes_sent-info.Bytes_retrans-info.Bytes_acked)+1, int(info.Unacked)*int(info.Snd_mss))
		return max(int(info.Snd_wnd)-unacknowledged-int(info.Notsent_bytes), 0)
	}
}

// tcpInfo returns what the kernel tells of conn; nil if conn is closed.
func tcpInfo(conn *net.TCPConn) (info *unix.TCPInfo) {
	control(conn, func(fd int) {
		if x, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			info = x
		}
	})
	return info
}
