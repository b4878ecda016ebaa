package roster

import (
	"math"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// hostLimit is how long a host may be unreachable before it is lost, unless Config.Silence is longer. The kernels of
// both hosts measure that, so a process that does not run is not lost for it.
const hostLimit = 3 * time.Second

// keepAlive has the kernel report the loss of a whole host after hostTime. While nothing is on its way, the kernel
// sends probes, which the kernel of the other side answers. While bytes are on their way it sends none, and
// TCP_USER_TIMEOUT bounds the time until they are acknowledged.
//
// TCP_USER_TIMEOUT also ends a connection whose other side has had no room for the next byte for so long, such as a
// process that is stopped, whose kernel has a full window. So this process gives its kernel no more bytes than the
// window has room for (windowRoom). All of them are acknowledged, and from then on the probes count.
func (r *Roster) keepAlive(conn net.Conn) {
	if t, ok := conn.(*net.TCPConn); ok {
		const probes = 3
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: max(r.hostTime()/(probes+1), time.Second), Count: probes})
		control(t, func(fd int) {
			_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(r.hostTime().Milliseconds()))
		})
	}
}

// hostTime returns how long a host may be unreachable before its processes are lost.
func (r *Roster) hostTime() time.Duration { return max(r.cfg.Silence, hostLimit) }

// windowRoom returns a function that returns how many bytes more the peer's kernel takes, math.MaxInt once conn is
// closed; nil if conn is not over TCP, or this kernel does not tell (Linux before 5.4).
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

// control calls f with the descriptor of conn, unless conn is closed.
func control(conn *net.TCPConn, f func(fd int)) {
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}
