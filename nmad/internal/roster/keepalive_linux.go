package roster

import (
	"net"

	"golang.org/x/sys/unix"
)

// userTimeout has the kernel give a connection up when what was sent has not been acknowledged for the time of a lost host: keep-alive says nothing then.
func (r *Roster) userTimeout(conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(r.hostTime().Milliseconds()))
	})
}
