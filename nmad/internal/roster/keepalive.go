package roster

import (
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
// TCP_USER_TIMEOUT also ends a connection whose other side has had no room for the next byte for so long: that is the
// state of a process that is stopped, whose kernel answers and has a full window. So this process gives its kernel no
// more bytes than the window has room for (windowRoom). All of them are acknowledged, and from then on the probes
// count.
func (r *Roster) keepAlive(conn net.Conn) {
	if t, ok := conn.(*net.TCPConn); ok {
		const probes = 3
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: max(r.hostTime()/(probes+1), time.Second), Count: probes})
		r.userTimeout(t)
	}
}

// userTimeout has the kernel give a connection up when what was sent has not been acknowledged for hostTime.
func (r *Roster) userTimeout(conn *net.TCPConn) {
	control(conn, func(fd int) {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(r.hostTime().Milliseconds()))
	})
}

// control calls f with the descriptor of conn, unless conn is closed.
func control(conn *net.TCPConn, f func(fd int)) {
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}
