package roster

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// hostLimit is how long a host may be unreachable before it is lost, unless Config.Silence is longer. The kernels of both
// hosts measure that, so a process that does not run is not lost for it.
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
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(r.hostTime().Milliseconds()))
	})
}
