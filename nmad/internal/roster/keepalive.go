package roster

import (
	"math"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// hostLimit is how long a host may be unreachable before it is lost, unless Config.Silence is longer. The kernels of both
// hosts measure that, so a process that does not run is not lost for it.
//
// While nothing is on its way, the kernel sends keep-alive probes, which the kernel of the other side answers. While bytes
// are on their way it sends none, and TCP_USER_TIMEOUT bounds the time until they are acknowledged. But TCP_USER_TIMEOUT
// also ends a connection whose other side has had no room for the next byte for so long, which is what happens if the
// process there is stopped: its kernel answers, and has a full window. So this process gives its kernel no more bytes
// than the window has room for (windowRoom): all of them are acknowledged, and from then on the probes count.
const hostLimit = 3 * time.Second

// keepAlive has the kernel report the loss of a whole host after hostTime.
func (r *Roster) keepAlive(conn net.Conn) {
	if t, ok := conn.(*net.TCPConn); ok {
		const probes = 3
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: max(r.hostTime()/(probes+1), time.Second), Count: probes})
		r.userTimeout(t)
	}
}

// userTimeout has the kernel give a connection up when what was sent has not been acknowledged for the time of a lost
// host: keep-alive says nothing then.
func (r *Roster) userTimeout(conn *net.TCPConn) {
	control(conn, func(fd int) {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(r.hostTime().Milliseconds()))
	})
}

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

// control calls f with the descriptor of conn, and reports whether conn is open.
func control(conn *net.TCPConn, f func(fd int)) bool {
	raw, err := conn.SyscallConn()
	return err == nil && raw.Control(func(fd uintptr) { f(int(fd)) }) == nil
}
